package webpage

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/client"
)

const (
	cookieName   = "trapeze_session"
	sessionLasts = 12 * time.Hour
	linkLasts    = time.Minute
	maxLinks     = 2000                // that wait to be opened; a principal always has one
	maxLinksOf   = 8                   // of one principal
	maxEndedOf   = 100                 // sessions of one principal that were signed out
	sealedFor    = "trapeze session 3" // the version of what cookies hold
	chunk        = 3500                // bytes of one cookie: browsers keep 4,096 with its name
	maxChunks    = 5
)

// session is what the cookie of a session holds.
type session struct {
	ID    string    `json:"id"`
	Of    string    `json:"of"` // the principal, with its workspace
	Token string    `json:"token"`
	Began time.Time `json:"began"`
	Until time.Time `json:"until"`
}

// ownerOf names the principal of a session.
func ownerOf(me client.Me) string { return me.Workspace + "/" + string(me.Role) + "/" + me.Name }

// signedOut is the sessions of one principal that were ended before their time.
type signedOut struct {
	ids    map[string]time.Time // when they would have ended
	before time.Time            // all that began until then have ended
}

// sessions seals sessions into cookies, so that they outlive a restart of the server. It also keeps the links by which people sign in.
type sessions struct {
	seal cipher.AEAD
	now  func() time.Time
	// secure: see Options.
	secure bool

	mu    sync.Mutex
	links map[string]session    // by the code in the link
	back  map[string]time.Time  // until when attempts to sign in at the issuer last that came back, by state
	ended map[string]*signedOut // by principal
	over  chan struct{}         // closed when a session is ended before its time; then there is another
}

func newSessions(key [32]byte, now func() time.Time, secure bool) *sessions {
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic(err) // AES has keys of 32 bytes
	}
	seal, err := cipher.NewGCMWithRandomNonce(block)
	if err != nil {
		panic(err) // for blocks of another size
	}
	return &sessions{seal: seal, now: now, secure: secure, links: map[string]session{}, back: map[string]time.Time{}, ended: map[string]*signedOut{}, over: make(chan struct{})}
}

// begin returns a new session of a token, which ends with it.
func (s *sessions) begin(of, token string, expires time.Time) session {
	now := s.now().UTC()
	until := now.Add(sessionLasts)
	if !expires.IsZero() && expires.Before(until) {
		until = expires.UTC()
	}
	return session{ID: rand.Text(), Of: of, Token: token, Began: now, Until: until}
}

// link keeps a session for the person who opens a link with the code that it returns, once, within a minute. Where a principal has too
// many such links, the oldest ends.
func (s *sessions) link(of, token string) (code string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, own, oldest := s.now(), 0, ""
	for code, l := range s.links {
		switch {
		case now.After(l.Until):
			delete(s.links, code)
		case l.Of == of:
			if own++; oldest == "" || l.Until.Before(s.links[oldest].Until) {
				oldest = code
			}
		}
	}
	if own >= maxLinksOf || own > 0 && len(s.links) >= maxLinks {
		delete(s.links, oldest)
	}
	code = rand.Text()
	s.links[code] = session{Of: of, Token: token, Until: now.Add(linkLasts)}
	return code
}

// linkOf returns the principal of a link that counts, and leaves the link.
func (s *sessions) linkOf(code string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.links[code].Of
}

// redeem returns the principal and the token of a link's code, and ends the link.
func (s *sessions) redeem(code string) (of, token string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, ok := s.links[code]
	delete(s.links, code)
	return l.Of, l.Token, ok && !s.now().After(l.Until)
}

// end ends a session before its time. So that nobody can fill the memory, a principal that ends very many ends all that it has.
func (s *sessions) end(ended session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.over)
	s.over = make(chan struct{})
	now := s.now()
	e := s.ended[ended.Of]
	if e == nil {
		e = &signedOut{ids: map[string]time.Time{}}
		s.ended[ended.Of] = e
	}
	for id, until := range e.ids {
		if now.After(until) {
			delete(e.ids, id)
		}
	}
	if e.ids[ended.ID] = ended.Until; len(e.ids) > maxEndedOf {
		clear(e.ids)
		e.before = now
	}
}

// anyEnd is closed when a session is ended before its time.
func (s *sessions) anyEnd() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over
}

// lasts reports whether a session is not over.
func (s *sessions) lasts(in session) bool { return !s.now().After(in.Until) && s.counts(in) }

// counts reports whether a session was not ended before its time.
func (s *sessions) counts(in session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.ended[in.Of]
	if e == nil {
		return true
	}
	_, ended := e.ids[in.ID]
	return !ended && in.Began.After(e.before)
}

// errNoSession is the refusal of a request without a session that counts.
var errNoSession = &client.Error{Status: http.StatusUnauthorized, Code: client.Unauthenticated, Message: "you are not signed in", Hint: "run trapeze web, and open the link"}

// of returns the session of a request.
func (s *sessions) of(r *http.Request) (session, error) {
	in, ok := s.sealed(r)
	if !ok || !s.lasts(in) {
		return session{}, errNoSession
	}
	return in, nil
}

// sealed returns what the cookies of a request hold, which may be over.
func (s *sessions) sealed(r *http.Request) (in session, ok bool) {
	var text strings.Builder
	for n := range maxChunks {
		c, err := r.Cookie(chunkName(n))
		if err != nil {
			break
		}
		text.WriteString(c.Value)
	}
	ok = s.unseal(text.String(), sealedFor, &in)
	return in, ok
}

// cookies returns the cookies of a session: one, or several for a long token. Those of an earlier session that it does not need are removed.
func (s *sessions) cookies(r *http.Request, in session) ([]*http.Cookie, error) {
	sealed, err := s.sealUp(in, sealedFor)
	if err != nil {
		return nil, err
	}
	if len(sealed) > chunk*maxChunks {
		return nil, &client.Error{
			Status: http.StatusForbidden, Code: client.TooLarge, Message: "the token is too long for a session of the page",
			Hint: "have the issuer put fewer claims into its ID tokens",
		}
	}
	list := s.noCookies(r)
	for n := 0; sealed != ""; n++ {
		part := sealed[:min(len(sealed), chunk)]
		sealed = sealed[len(part):]
		list[n] = s.cookieOf(r, chunkName(n), part, int(sessionLasts.Seconds()))
	}
	return list, nil
}

// noCookies removes the cookies of a session.
func (s *sessions) noCookies(r *http.Request) []*http.Cookie {
	list := make([]*http.Cookie, maxChunks)
	for n := range list {
		list[n] = s.cookieOf(r, chunkName(n), "", -1)
	}
	return list
}

// chunkName is the name of the cookie with a part of a session.
func chunkName(n int) string {
	if n == 0 {
		return cookieName
	}
	return cookieName + "_" + strconv.Itoa(n)
}

// sealUp seals what only this server reads, for a purpose.
func (s *sessions) sealUp(v any, purpose string) (string, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	return base64.RawURLEncoding.EncodeToString(s.seal.Seal(nil, nil, b, []byte(purpose))), nil
}

// unseal reads what sealUp sealed for the same purpose.
func (s *sessions) unseal(text, purpose string, v any) bool {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		b, err = s.seal.Open(nil, nil, b, []byte(purpose))
	}
	return err == nil && json.Unmarshal(b, v) == nil
}

// protected reports whether a browser calls with TLS.
func (s *sessions) protected(r *http.Request) bool {
	return r.TLS != nil || s.secure && !onLoopback(r.Host)
}

// sameScheme refuses a form of a page that came without TLS to a server that browsers call with it: somebody on the way may have written that page. The guard of the API
// compares the host of the origin alone.
func (s *sessions) sameScheme(r *http.Request) bool {
	return r.Method == http.MethodGet || !s.protected(r) || !strings.HasPrefix(strings.ToLower(r.Header.Get("Origin")), "http:")
}

func (s *sessions) cookieOf(r *http.Request, name, value string, age int) *http.Cookie {
	secure := s.protected(r)
	return &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: secure, SameSite: http.SameSiteStrictMode}
}

// onLoopback reports whether a browser on this machine calls without the proxy.
func onLoopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

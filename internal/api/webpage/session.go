package webpage

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
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
	sealedFor    = "trapeze session 2" // the version of what cookies hold
)

// session is what the cookie of a session holds.
type session struct {
	ID    string    `json:"id"`
	Of    string    `json:"of"` // the principal, with its workspace
	Token string    `json:"token"`
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
	ended map[string]*signedOut // by principal
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
	return &sessions{seal: seal, now: now, secure: secure, links: map[string]session{}, ended: map[string]*signedOut{}}
}

// begin returns a new session of a token.
func (s *sessions) begin(of, token string) session {
	return session{ID: rand.Text(), Of: of, Token: token, Until: s.now().Add(sessionLasts).UTC()}
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

// counts reports whether a session was not ended before its time.
func (s *sessions) counts(in session) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := s.ended[in.Of]
	if e == nil {
		return true
	}
	_, ended := e.ids[in.ID]
	return !ended && in.Until.Add(-sessionLasts).After(e.before)
}

// errNoSession is the refusal of a request without a session that counts.
var errNoSession = &client.Error{Status: http.StatusUnauthorized, Code: client.Unauthenticated, Message: "you are not signed in", Hint: "run trapeze web, and open the link"}

// of returns the session of a request.
func (s *sessions) of(r *http.Request) (session, error) {
	c, err := r.Cookie(cookieName)
	if err != nil {
		return session{}, errNoSession
	}
	b, err := base64.RawURLEncoding.DecodeString(c.Value)
	if err != nil {
		return session{}, errNoSession
	}
	b, err = s.seal.Open(nil, nil, b, []byte(sealedFor))
	if err != nil {
		return session{}, errNoSession
	}
	var in session
	if err := json.Unmarshal(b, &in); err != nil || s.now().After(in.Until) {
		return session{}, errNoSession
	}
	if !s.counts(in) {
		return session{}, errNoSession
	}
	return in, nil
}

// cookie returns the cookie of a session.
func (s *sessions) cookie(r *http.Request, in session) (*http.Cookie, error) {
	b, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	sealed := base64.RawURLEncoding.EncodeToString(s.seal.Seal(nil, nil, b, []byte(sealedFor)))
	return s.cookieOf(r, sealed, int(sessionLasts.Seconds())), nil
}

func (s *sessions) cookieOf(r *http.Request, value string, age int) *http.Cookie {
	secure := r.TLS != nil || s.secure && !onLoopback(r.Host)
	return &http.Cookie{Name: cookieName, Value: value, Path: "/", MaxAge: age, HttpOnly: true, Secure: secure, SameSite: http.SameSiteStrictMode}
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

// signInPath is the page to sign in, which goes on to next.
func signInPath(next string) string {
	if next == "" || next == "/" {
		return "/sign-in"
	}
	return "/sign-in?next=" + url.QueryEscape(next)
}

// local returns a path of this server to go on to; anything else is the overview.
func local(next string) string {
	u, err := url.Parse(next)
	if err != nil || u.IsAbs() || u.Host != "" || !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsAny(next, "\\\r\n\t") {
		return "/"
	}
	return next
}

// signIn shows how to sign in, or signs in the person who opens a link.
func (p *pages) signIn(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	next := local(q.Get("next"))
	if !q.Has("code") {
		p.write(w, http.StatusOK, "signin", page{Title: "Sign in", Body: signInBody{Next: next}})
		return
	}
	if site := r.Header.Get("Sec-Fetch-Site"); site == "cross-site" || site == "same-site" { // it may be somebody else's
		p.write(w, http.StatusOK, "signin", page{Title: "Sign in", Body: signInBody{Next: next, Code: q.Get("code")}})
		return
	}
	p.open(w, r, q.Get("code"), next)
}

// open signs in by the code of a link.
func (p *pages) open(w http.ResponseWriter, r *http.Request, code, next string) {
	of, token, ok := p.sessions.redeem(code)
	if !ok {
		p.write(w, http.StatusForbidden, "signin", page{Title: "Sign in", Body: signInBody{Next: next, Problem: "This link was used before, or is older than a minute."}})
		return
	}
	p.admit(w, r, of, token, next)
}

// signInBody is what the page to sign in shows.
type signInBody struct {
	Next    string
	Code    string // of a link that was opened from elsewhere
	Problem string
	Done    bool
}

// signInByForm signs in with a token that was typed in, or with a link from elsewhere.
func (p *pages) signInByForm(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	token, next := strings.TrimSpace(r.PostFormValue("token")), local(r.PostFormValue("next"))
	if code := r.PostFormValue("code"); code != "" {
		p.open(w, r, code, next)
		return
	}
	c, err := p.connect(token)
	var me client.Me
	if err == nil {
		me, err = c.Me(r.Context())
	}
	if err != nil {
		p.write(w, http.StatusForbidden, "signin", page{Title: "Sign in", Body: signInBody{Next: next, Problem: "This token does not count here."}})
		return
	}
	p.admit(w, r, ownerOf(me), token, next)
}

// admit begins a session. The page that goes on is not a redirect: a browser that comes from a link elsewhere sends a strict cookie
// only with what it asks for from then on.
func (p *pages) admit(w http.ResponseWriter, r *http.Request, of, token, next string) {
	cookie, err := p.sessions.cookie(r, p.sessions.begin(of, token))
	if err != nil {
		p.refuse(w, r, nil, err)
		return
	}
	http.SetCookie(w, cookie)
	p.write(w, http.StatusOK, "signin", page{Title: "Signed in", Body: signInBody{Next: next, Done: true}})
}

// signOut ends the session of a request.
func (p *pages) signOut(w http.ResponseWriter, r *http.Request) {
	if s, err := p.sessions.of(r); err == nil {
		p.sessions.end(s)
	}
	http.SetCookie(w, p.sessions.cookieOf(r, "", -1))
	http.Redirect(w, r, "/sign-in", http.StatusSeeOther)
}

// Link is a link by which a person signs in.
type Link struct {
	Path    string    `json:"path"` // of the server, to be opened once
	Expires time.Time `json:"expires"`
}

// makeLink answers a program that has a token with a link that signs in with it, once, within a minute.
func (p *pages) makeLink(w http.ResponseWriter, r *http.Request) {
	token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	var err error = errNoSession
	var code string
	if ok {
		var c *client.Client
		if c, err = p.connect(token); err == nil {
			var me client.Me
			if me, err = c.Me(r.Context()); err == nil {
				code = p.sessions.link(ownerOf(me), token)
			}
		}
	}
	if err != nil {
		problem(w, err)
		return
	}
	answer(w, http.StatusOK, "application/json", Link{Path: "/sign-in?code=" + code, Expires: p.sessions.now().Add(linkLasts).UTC()})
}

package webpage

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// Issuer signs people in (OpenID Connect), and sends them back to /sign-in/back.
type Issuer interface {
	// Name is what people know it by.
	Name() string
	// Begin returns the URL at which a person signs in. State, nonce and verifier (PKCE) are secrets of this attempt.
	Begin(ctx context.Context, state, nonce, verifier string) (url string, err error)
	// Finish returns the person's token for a code that came back, from the issuer that says that it is by; empty: it says nothing.
	Finish(ctx context.Context, code, by, nonce, verifier string) (token string, err error)
}

const (
	attemptCookie = "trapeze_sign_in"
	attemptLasts  = 10 * time.Minute
	maxAttempts   = 10_000              // that came back and are remembered
	attemptFor    = "trapeze sign-in 1" // the version of what the cookie of an attempt holds
)

// attempt is a sign-in that has begun, in a cookie of the browser that began it: nobody can make another browser finish it.
type attempt struct {
	State    string    `json:"state"`
	Nonce    string    `json:"nonce"`
	Verifier string    `json:"verifier"`
	Next     string    `json:"next"`
	Until    time.Time `json:"until"`
}

// beginPath is the path to sign in at the issuer, which goes on to next.
func beginPath(next string) string {
	if next == "" || next == "/" {
		return "/sign-in/issuer"
	}
	return "/sign-in/issuer?next=" + url.QueryEscape(next)
}

// beginAtIssuer sends a person to the issuer.
func (p *pages) beginAtIssuer(w http.ResponseWriter, r *http.Request) {
	next := local(r.URL.Query().Get("next"))
	if p.issuer == nil {
		p.showSignIn(w, http.StatusNotFound, signInBody{Next: next, Problem: "This server has no issuer at which people sign in."})
		return
	}
	// A verifier of PKCE has at least 43 characters.
	a := attempt{State: rand.Text(), Nonce: rand.Text(), Verifier: rand.Text() + rand.Text(), Next: next, Until: p.now().Add(attemptLasts).UTC()}
	at, err := p.issuer.Begin(r.Context(), a.State, a.Nonce, a.Verifier)
	sealed := ""
	if err == nil {
		sealed, err = p.sessions.sealUp(a, attemptFor)
	}
	if err != nil {
		p.notSignedIn(w, next, err)
		return
	}
	http.SetCookie(w, p.attemptCookie(r, sealed, int(attemptLasts.Seconds())))
	http.Redirect(w, r, at, http.StatusSeeOther)
}

// attemptCookie is a cookie that comes along when the issuer sends the browser back, which a strict one would not.
func (p *pages) attemptCookie(r *http.Request, value string, age int) *http.Cookie {
	c := p.sessions.cookieOf(r, attemptCookie, value, age)
	c.Path, c.SameSite = "/sign-in/", http.SameSiteLaxMode
	return c
}

// backFromIssuer signs in a person whom the issuer sends back.
func (p *pages) backFromIssuer(w http.ResponseWriter, r *http.Request) {
	var a attempt
	c, err := r.Cookie(attemptCookie)
	http.SetCookie(w, p.attemptCookie(r, "", -1)) // an attempt counts once
	q := r.URL.Query()
	if err != nil || p.issuer == nil || !p.sessions.unseal(c.Value, attemptFor, &a) || p.now().After(a.Until) ||
		subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(a.State)) != 1 || !p.sessions.first(a) {
		p.showSignIn(w, http.StatusForbidden, signInBody{Next: "/", Problem: "This sign-in was not begun in this browser, was finished before, or began more than ten minutes ago. Begin again."})
		return
	}
	next := local(a.Next)
	if code := q.Get("error"); code != "" {
		p.log.WarnContext(r.Context(), "the issuer signed nobody in", "error", clipped(code))
		p.showSignIn(w, http.StatusForbidden, signInBody{Next: next, Problem: "The issuer did not sign you in."})
		return
	}
	token, err := p.issuer.Finish(r.Context(), q.Get("code"), q.Get("iss"), a.Nonce, a.Verifier)
	var me client.Me
	if err == nil {
		var api *client.Client
		if api, err = p.connect(token); err == nil {
			me, err = api.Me(r.Context())
		}
	}
	if err != nil {
		p.notSignedIn(w, next, err)
		return
	}
	p.admit(w, r, p.sessions.begin(ownerOf(me), token, me.Expires), next)
}

// first reports whether an attempt has not come back before. It is remembered until it is over; of very many, as somebody makes who wants to fill the memory, the
// issuer alone says that a code counts once.
func (s *sessions) first(a attempt) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	maps.DeleteFunc(s.back, func(_ string, until time.Time) bool { return now.After(until) })
	if len(s.back) >= maxAttempts {
		clear(s.back)
	}
	_, before := s.back[a.State]
	s.back[a.State] = a.Until
	return !before
}

// notSignedIn says why a person was not signed in.
func (p *pages) notSignedIn(w http.ResponseWriter, next string, err error) {
	status, problem := http.StatusForbidden, err.Error()
	if refused, ok := errors.AsType[*client.Error](err); ok {
		problem = refused.Message + ": " + refused.Hint
	}
	p.showSignIn(w, status, signInBody{Next: next, Problem: problem})
}

// renewable reports whether a person whose session is over goes to the issuer again: the token ended with it, and as long as the issuer's own session lasts,
// it gives a new one and asks nothing. Only a page that is opened can go there.
func (p *pages) renewable(r *http.Request) bool {
	if mode := r.Header.Get("Sec-Fetch-Mode"); p.issuer == nil || mode != "" && mode != "navigate" {
		return false
	}
	in, ok := p.sessions.sealed(r)
	return ok && !strings.HasPrefix(in.Token, "tz_") && p.sessions.counts(in)
}

// clipped is the beginning of a text of others, for the log.
func clipped(s string) string { return s[:min(len(s), 100)] }

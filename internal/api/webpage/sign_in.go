package webpage

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client"
)

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
		p.showSignIn(w, http.StatusOK, signInBody{Next: next})
		return
	}
	if of := p.replaced(r, q.Get("code")); of != "" || looksAhead(r) {
		p.showSignIn(w, http.StatusOK, signInBody{Next: next, Code: q.Get("code"), Replaces: of})
		return
	}
	p.open(w, r, q.Get("code"), next)
}

// looksAhead reports whether nobody may have meant to open a link: another site opened it, which may be somebody else's link, or a program that only looks at
// links, such as a browser that fetches pages ahead.
func looksAhead(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	purpose := r.Header.Get("Sec-Purpose") + r.Header.Get("Purpose") + r.Header.Get("X-Moz") + r.Header.Get("X-Purpose")
	return r.Method != http.MethodGet || site == "cross-site" || site == "same-site" || purpose != ""
}

// replaced returns the principal whose session in this browser the link of another would end; empty: none.
func (p *pages) replaced(r *http.Request, code string) string {
	in, err := p.sessions.of(r)
	if of := p.sessions.linkOf(code); err != nil || of == "" || of == in.Of {
		return ""
	}
	_, of, _ := strings.Cut(in.Of, "/")
	return of
}

// open signs in by the code of a link.
func (p *pages) open(w http.ResponseWriter, r *http.Request, code, next string) {
	of, token, ok := p.sessions.redeem(code)
	if !ok {
		p.showSignIn(w, http.StatusForbidden, signInBody{Next: next, Problem: "This link was used before, or is older than a minute."})
		return
	}
	c, err := p.connect(token)
	var me client.Me
	if err == nil {
		me, err = c.Me(r.Context())
	}
	if err != nil {
		p.refuse(w, r, nil, err)
		return
	}
	p.admit(w, r, p.sessions.begin(of, token, me.Expires), next)
}

// signInBody is what the page to sign in shows.
type signInBody struct {
	Next string
	Code string // of a link that is opened once the person says so
	// Replaces is the principal whose session the link would end.
	Replaces string
	Problem  string
	Done     bool

	Issuer string // at which people sign in; empty: there is none
	Begin  string // the path to go there
}

// showSignIn shows how to sign in.
func (p *pages) showSignIn(w http.ResponseWriter, status int, body signInBody) {
	if p.issuer != nil {
		body.Issuer, body.Begin = p.issuer.Name(), beginPath(body.Next)
	}
	p.write(w, status, "signin", page{Title: "Sign in", Body: body})
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
		p.showSignIn(w, http.StatusForbidden, signInBody{Next: next, Problem: "This token does not count here."})
		return
	}
	p.admit(w, r, p.sessions.begin(ownerOf(me), token, me.Expires), next)
}

// admit begins a session. The page that goes on is not a redirect: a browser that comes from a link elsewhere sends a strict cookie
// only with what it asks for from then on.
func (p *pages) admit(w http.ResponseWriter, r *http.Request, in session, next string) {
	cookies, err := p.sessions.cookies(r, in)
	if err != nil {
		p.refuse(w, r, nil, err)
		return
	}
	setCookies(w, r, cookies)
	p.write(w, http.StatusOK, "signin", page{Title: "Signed in", Body: signInBody{Next: next, Done: true}})
}

// signOut ends the session of a request, if the page that was left was shown to its principal.
func (p *pages) signOut(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if v, err := p.enter(r); err == nil {
		if err := asShown(r, ownerOf(v.me), "this page is of %s: sign out here to end that session"); err != nil {
			p.refuse(w, r, v, err)
			return
		}
	}
	if s, err := p.sessions.of(r); err == nil {
		p.sessions.end(s)
	}
	setCookies(w, r, p.sessions.noCookies(r))
	http.Redirect(w, r, "/sign-in", http.StatusSeeOther)
}

// setCookies sets cookies, and removes those that the browser has.
func setCookies(w http.ResponseWriter, r *http.Request, list []*http.Cookie) {
	for _, c := range list {
		if _, err := r.Cookie(c.Name); c.MaxAge > 0 || err == nil {
			http.SetCookie(w, c)
		}
	}
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

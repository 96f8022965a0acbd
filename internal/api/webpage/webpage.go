package webpage

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"

	"github.com/trapezehq/trapeze/internal/api/inprocess"
	"github.com/trapezehq/trapeze/internal/api/webpage/form"
)

//go:embed static
var staticFiles embed.FS

// Options of the page.
type Options struct {
	// Key seals the cookies of sessions. Only the server knows it.
	Key [32]byte
	// Now is the clock; nil means time.Now.
	Now func() time.Time
	// Log gets errors that are not refusals; nil means slog.Default().
	Log *slog.Logger
	// Turn waits for the turn of a principal to have a page made, or refuses it; leave ends the turn. nil: pages are made at once.
	Turn func(ctx context.Context, workspace, role, name string) (leave func(), err error)
	// Secure keeps the cookies of sessions to TLS, which a proxy does; on this machine they are also for a call without.
	Secure bool
	// Issuer signs people in; nil: there is none.
	Issuer Issuer
}

// Paths are the patterns of [http.ServeMux] that the handler of [New] serves.
func Paths() []string {
	return []string{"/{$}", "/tasks", "/tasks/", "/inbox", "/tickets/", "/dead", "/agents/", "/figures", "/alerts", "/alerts/", "/record", "/record/", "/find", "/policy", "/memory/", "/conversations/", "/live", "/sign-in", "/sign-in/", "/sign-out", "/static/"}
}

// pages serves the pages.
type pages struct {
	api      http.RoundTripper
	sessions *sessions
	issuer   Issuer // nil: there is none
	now      func() time.Time
	turn     func(ctx context.Context, workspace, role, name string) (leave func(), err error)
	log      *slog.Logger
	mux      *http.ServeMux
	digest   string // of the static files: their addresses change with them
}

// New returns the handler of the page over the handler of the HTTP API.
func New(api http.Handler, o Options) http.Handler {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	if o.Turn == nil {
		o.Turn = func(context.Context, string, string, string) (func(), error) { return func() {}, nil }
	}
	p := &pages{api: inprocess.Transport(api), sessions: newSessions(o.Key, o.Now, o.Secure), issuer: o.Issuer, now: o.Now, turn: o.Turn, log: o.Log, mux: http.NewServeMux(), digest: digestOf()}
	p.routes()
	return p
}

func (p *pages) routes() {
	p.mux.HandleFunc("GET /static/", p.static)
	p.mux.HandleFunc("GET /sign-in", p.signIn)
	p.mux.HandleFunc("POST /sign-in", p.signInByForm)
	p.mux.HandleFunc("POST /sign-in/link", p.makeLink)
	p.mux.HandleFunc("GET /sign-in/issuer", p.beginAtIssuer)
	p.mux.HandleFunc("GET /sign-in/back", p.backFromIssuer)
	p.mux.HandleFunc("POST /sign-out", p.signOut)
	p.mux.HandleFunc("GET /live", p.live)
	for _, routes := range []map[string]shower{pageRoutes(), fileRoutes(), formRoutes()} {
		for pattern, show := range routes {
			p.mux.Handle(pattern, p.signedIn(show))
		}
	}
}

// Pages are the patterns of the pages that people see who have signed in.
func Pages() []string { return slices.Sorted(maps.Keys(pageRoutes())) }

// pageRoutes are the pages that people see who have signed in, by pattern. Each follows what changes.
func pageRoutes() map[string]shower {
	return map[string]shower{
		"GET /{$}":                          (*visit).overview,
		"GET /tasks":                        (*visit).tasks,
		"GET /tasks/{task}":                 (*visit).story,
		"GET /tasks/{task}/hops/{hop}":      (*visit).handoff,
		"GET /tasks/{task}/compare":         (*visit).compare,
		"GET /tasks/{task}/route":           (*visit).route,
		"GET /inbox":                        (*visit).inbox,
		"GET /tickets/{ticket}":             (*visit).ticket,
		"GET /dead":                         (*visit).dead,
		"GET /agents/{agent}":               (*visit).agent,
		"GET /figures":                      (*visit).figurePage,
		"GET /alerts":                       (*visit).alerts,
		"GET /record":                       (*visit).record,
		"GET /conversations/{conversation}": (*visit).conversation,
		"GET /find":                         (*visit).find,
		"GET /policy":                       (*visit).policy,
		"GET /memory/{memory}":              (*visit).memory,
	}
}

// fileRoutes are the files that they save.
func fileRoutes() map[string]shower {
	return map[string]shower{
		"GET /record/checkpoint":               (*visit).checkpoint,
		"GET /tasks/{task}/hops/{hop}/receipt": (*visit).receipt,
		"GET /tasks/{task}/record/{format}":    (*visit).export,
	}
}

// formRoutes are what they do.
func formRoutes() map[string]shower {
	return map[string]shower{
		"POST /tasks":                        (*visit).cancelTasks,
		"POST /alerts/{verb}":                (*visit).actOnAlert,
		"POST /tickets/{ticket}/{verb}":      (*visit).actOnTicket,
		"POST /dead":                         (*visit).actOnDead,
		"POST /tasks/{task}/takeover":        (*visit).takeOver,
		"POST /tasks/{task}/cancel":          (*visit).cancel,
		"POST /tasks/{task}/complete":        (*visit).complete,
		"POST /tasks/{task}/send":            (*visit).send,
		"POST /agents/{agent}/circuit/reset": (*visit).resetCircuit,
		"POST /agents/{agent}/{readiness}":   (*visit).setReadiness,
	}
}

// ServeHTTP implements [http.Handler].
func (p *pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "+
		"form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	if !p.sessions.sameScheme(r) {
		p.refuse(w, r, nil, &client.Error{Status: http.StatusForbidden, Code: client.NotPermitted, Message: "the form is of a page without TLS", Hint: "open the page by its https address"})
		return
	}
	if _, pattern := p.mux.Handler(r); pattern == "" {
		v, _ := p.enter(r) // those who have signed in have the menu
		p.refuse(w, r, v, &client.Error{Status: http.StatusNotFound, Code: client.NotFound, Message: fmt.Sprintf("there is no page at %.200q", r.URL.Path), Hint: "check the address, or go to the overview"})
		return
	}
	p.mux.ServeHTTP(w, r)
}

// shower answers a request of a person who has signed in.
type shower func(v *visit, w http.ResponseWriter, r *http.Request) error

// visit is one request of a person who has signed in.
type visit struct {
	*pages
	session session
	api     *client.Client
	admin   admin.Client
	me      client.Me
}

// oversees reports whether the person may read what others do. Nobody else is shown alerts, figures, holds and erasures: an attempt would be recorded as refused.
func (v *visit) oversees() bool { return v.me.Role != client.RoleAgent }

// connect returns a client of the API with a token.
func (p *pages) connect(token string) (*client.Client, error) {
	return client.New("http://localhost", token, client.Options{HTTP: &http.Client{Transport: p.api}, Retries: -1, UserAgent: "trapeze-page"})
}

// enter returns the visit of the session that a request has. Without a session that counts it fails with code unauthenticated.
func (p *pages) enter(r *http.Request) (*visit, error) {
	s, err := p.sessions.of(r)
	if err != nil {
		return nil, err
	}
	c, err := p.connect(s.Token)
	if err != nil {
		return nil, err
	}
	me, err := c.Me(r.Context())
	if err != nil {
		return nil, err
	}
	return &visit{pages: p, session: s, api: c, admin: admin.New(c), me: me}, nil
}

// signedIn serves people who have signed in, and sends others to do so.
func (p *pages) signedIn(show shower) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, err := p.enter(r)
		if errors.Is(err, client.Unauthenticated) && r.Method == http.MethodGet {
			path := signInPath(r.URL.RequestURI())
			if p.renewable(r) {
				path = beginPath(r.URL.RequestURI())
			}
			http.Redirect(w, r, path, http.StatusSeeOther)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, maxPage)
		if err == nil && r.Method == http.MethodPost {
			err = asShown(r, ownerOf(v.me), "send it as %s if that is what you want, or sign in as the other again")
		}
		if as, bad := url.PathUnescape(r.Header.Get("Trapeze-As")); err == nil && as != "" && (bad != nil || as != ownerOf(v.me)) { // a part of a page that was shown to another
			err = &client.Error{Status: http.StatusConflict, Code: client.Conflict, Message: "the page was shown to another principal", Hint: "load the page again"}
		}
		if err == nil {
			err = v.inTurn(show, w, r)
		}
		switch {
		case err == nil:
		case r.Method == http.MethodPost:
			p.refuseForm(w, r, v, err)
		default:
			p.refuse(w, r, v, err)
		}
	})
}

// asShown refuses a form of a page that was shown to another principal than now: somebody else has signed in since then, in another tab. Every form names to whom it was
// shown. The hint of the refusal names the principal of now.
func asShown(r *http.Request, now, hint string) error {
	if err := r.ParseForm(); err != nil {
		return form.Invalid("the form is malformed: "+err.Error(), "load the page again, and send the form from there")
	}
	shown := r.PostForm.Get("as")
	switch shown {
	case now:
		return nil
	case "":
		return form.Invalid("the form does not name the principal that its page was shown to", "load the page again, and send the form from there")
	}
	if own, name, _ := strings.Cut(now, "/"); strings.HasPrefix(shown, own+"/") {
		shown, now = shown[len(own)+1:], name
	}
	return &client.Error{
		Status: http.StatusConflict, Code: client.Conflict, Message: fmt.Sprintf("the page was shown to %.300s, and %s has signed in since then", shown, now), Hint: fmt.Sprintf(hint, now),
	}
}

// inTurn answers a request in the turn of the principal: one that asks for many pages at once leaves processors to others.
func (v *visit) inTurn(show shower, w http.ResponseWriter, r *http.Request) error {
	leave, err := v.turn(r.Context(), v.me.Workspace, string(v.me.Role), v.me.Name)
	if err != nil {
		return &client.Error{Status: http.StatusTooManyRequests, Code: client.Throttled, Message: err.Error(), Hint: "load the page again in a second"}
	}
	defer leave()
	return show(v, w, r)
}

const (
	maxForm = 64 << 10  // bytes of a form of somebody who has not signed in
	maxPage = 512 << 10 // of others: a page of dead letters has the routes of all, as they were and as they are changed
)

// static serves scripts and styles. Their addresses have a digest, so that they are kept for as long as a browser likes.
func (p *pages) static(w http.ResponseWriter, r *http.Request) {
	if r.URL.Query().Get("v") == p.digest {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	http.ServeFileFS(w, r, staticFiles, path.Clean(r.URL.Path)[1:])
}

func digestOf() string {
	files, err := staticFiles.ReadDir("static")
	if err != nil {
		panic(err) // embedded
	}
	sum := sha256.New()
	for _, f := range files {
		b, err := staticFiles.ReadFile("static/" + f.Name())
		if err != nil {
			panic(err) // embedded
		}
		sum.Write(b)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

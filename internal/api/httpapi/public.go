package httpapi

import (
	"embed"
	"net/http"
	"strings"
	"sync"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/negotiation"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/api/httpapi/schema"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

//go:embed docs
var docsFiles embed.FS

// open adds the routes that need no token: health, readiness, and the description of the API.
func (s *service) open() {
	s.static("/openapi.json", "application/openapi+json", sync.OnceValue(s.description)) // most servers are never asked for it
	for path, f := range map[string][2]string{
		"/docs":          {"docs/index.html", "text/html; charset=utf-8"},
		"/docs/docs.js":  {"docs/docs.js", "text/javascript; charset=utf-8"},
		"/docs/docs.css": {"docs/docs.css", "text/css; charset=utf-8"},
	} {
		b, err := docsFiles.ReadFile(f[0])
		if err != nil {
			panic(err) // embedded
		}
		s.static(path, f[1], func() []byte { return b })
	}
	for _, path := range s.opts.Resource.Paths {
		s.static(path, "application/json", func() []byte { return s.opts.Resource.Document })
	}
	s.probes()
	s.router.Mux().HandleFunc("/", s.nowhere)
}

// description returns the OpenAPI document.
func (s *service) description() []byte {
	spec, err := schema.Document(s.router.API())
	if err != nil {
		panic(err) // tests cover it
	}
	return spec
}

// static serves a document that does not change.
func (s *service) static(path, media string, document func() []byte) {
	s.router.Mux().HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", media)
		h.Set("Content-Security-Policy", "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
		_, _ = w.Write(document()) // the client is gone
	})
}

// nowhere answers requests that match no route: 404, or 405 if another method would. A browser gets a page.
func (s *service) nowhere(w http.ResponseWriter, r *http.Request) {
	allowed := s.allowed(r)
	if len(allowed) == 0 {
		if s.pages != nil && negotiation.SelectQValue(r.Header.Get("Accept"), []string{"application/json", "text/html"}) == "text/html" {
			s.pages.ServeHTTP(w, r)
			return
		}
		endpoint.ProblemOf(refusal.New(refusal.NotFound, "see /docs or /openapi.json for the calls of this API; a client needs the address of the server without a path[](doctor)", "there is nothing at %.200q", r.URL.Path)).Write(w)
		return
	}
	p := endpoint.ProblemOf(refusal.New(refusal.Invalid, "use "+strings.Join(allowed, " or "), "the method %s is not allowed here", r.Method))
	p.Status = http.StatusMethodNotAllowed
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	p.Write(w)
}

// allowed lists the methods of a path. One that is a route itself, such as /v1/tasks/import, is no id of another route.
func (s *service) allowed(r *http.Request) (methods []string) {
	item := s.router.API().Paths[r.URL.Path]
	if item == nil {
		item = &huma.PathItem{}
	}
	own := map[string]*huma.Operation{http.MethodGet: item.Get, http.MethodPost: item.Post, http.MethodPut: item.Put, http.MethodDelete: item.Delete}
	known := item.Get != nil || item.Post != nil || item.Put != nil || item.Delete != nil
	for _, m := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
		probe := r.Clone(r.Context())
		probe.Method = m
		_, pattern := s.router.Mux().Handler(probe)
		if known && own[m] != nil || !known && pattern != "/" && pattern != "" {
			methods = append(methods, m)
		}
	}
	return methods
}

package httpapi

import (
	"embed"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/trapezehq/trapeze/internal/refusal"
)

//go:embed docs
var docsFiles embed.FS

// open serves what needs no token: is the process alive, can it work, and what is there to call.
func (s *service) open() {
	loosen(s.api.OpenAPI())
	spec, err := json.MarshalIndent(s.api.OpenAPI(), "", "  ")
	if err != nil {
		panic(err) // the same bytes on every start: a test would have seen it
	}
	s.static("/openapi.json", "application/openapi+json", append(spec, '\n'))
	for path, f := range map[string][2]string{
		"/docs":          {"docs/index.html", "text/html; charset=utf-8"},
		"/docs/docs.js":  {"docs/docs.js", "text/javascript; charset=utf-8"},
		"/docs/docs.css": {"docs/docs.css", "text/css; charset=utf-8"},
	} {
		b, err := docsFiles.ReadFile(f[0])
		if err != nil {
			panic(err) // it is embedded
		}
		s.static(path, f[1], b)
	}
	s.mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		plain(w, map[string]string{"status": "alive", "version": s.opts.Version})
	})
	s.mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if err := s.app.Err(); err != nil {
			problemOf(refusal.New(refusal.Unavailable, "look into the server's log", "not ready: %s", err)).write(w)
			return
		}
		plain(w, map[string]string{"status": "ready"})
	})
	s.mux.HandleFunc("/", s.nowhere)
}

func plain(w http.ResponseWriter, v any) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h["Cache-Control"] = noStore
	_ = marshal(w, v) // the client is gone
}

func (s *service) static(path, media string, b []byte) {
	s.mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
		h := w.Header()
		h.Set("Content-Type", media)
		h.Set("Content-Security-Policy", "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
		_, _ = w.Write(b) // the client is gone
	})
}

// nowhere answers what no route takes.
func (s *service) nowhere(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, m := range []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete} {
		probe := r.Clone(r.Context())
		probe.Method = m
		if _, pattern := s.mux.Handler(probe); pattern != "/" && pattern != "" {
			allowed = append(allowed, m)
		}
	}
	if len(allowed) == 0 {
		problemOf(refusal.New(refusal.NotFound, "/docs shows people what there is, /openapi.json tells programs", "there is nothing at %.200q", r.URL.Path)).write(w)
		return
	}
	p := problemOf(refusal.New(refusal.Invalid, "use "+strings.Join(allowed, " or "), "%s is not what this is called with", r.Method))
	p.Status = http.StatusMethodNotAllowed
	w.Header().Set("Allow", strings.Join(allowed, ", "))
	p.write(w)
}

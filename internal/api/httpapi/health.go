package httpapi

import (
	"net/http"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// probes adds what load balancers and supervisors ask without a token: whether the process is alive, and whether it is ready for changes.
// A policy file that is not in force is told, but leaves the server ready: the policy before it goes on.
func (s *service) probes() {
	s.router.Mux().HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		endpoint.Plain(w, map[string]string{"status": "alive", "version": s.opts.Version})
	})
	s.router.Mux().HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		select {
		case <-s.opts.Stopping().Done():
			endpoint.ProblemOf(refusal.New(refusal.Unavailable, "call another server", "not ready: the server is stopping or drained")).Write(w)
			return
		default:
		}
		if err := s.app.Positions.Err(); err != nil {
			hint := "see the log of the server"
			if s.app.Positions.ReadOnly() {
				hint = "free some space on the disk of the server; reads go on, and writing continues by itself"
			}
			if s.app.Positions.Apart() {
				hint = "[the status of the cluster](cluster status), with the token of an administrator, says which servers this one hears: start the others, or see why it cannot reach them; writing continues by itself"
			}
			endpoint.ProblemOf(refusal.New(refusal.Unavailable, hint, "not ready: %s", err)).Write(w)
			return
		}
		standing := map[string]string{"status": "ready"}
		if err := s.app.Policies.Err(); err != nil {
			standing["policy"] = "the policy file is not in force; the log of the server and trapeze policy reload say why" // no details without a token
		}
		endpoint.Plain(w, standing)
	})
}

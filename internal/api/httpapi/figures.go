package httpapi

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// metricsPath is the path of scrapes. Like all calls under /v1 they need a token.
const metricsPath = "/metrics"

// figures adds the routes of figures.
func (s *service) figures() {
	op := s.router.Operation(endpoint.Route{
		Method: http.MethodGet, Path: metricsPath, ID: "get-metrics", Summary: "Get the figures of the server, in the format of Prometheus", Tag: endpoint.TagRecord,
		About: "For principals that may read everything: auditors, operators and admins. It has the figures of their workspace and of the process. " +
			"docs/metrics.md lists them.",
	})
	op.Responses = map[string]*huma.Response{"200": {
		Description: "The figures", Content: map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}
	s.router.Raw(op, s.scrape)
}

func (s *service) scrape(w http.ResponseWriter, r *http.Request) error {
	c := endpoint.Caller(r.Context())
	if err := c.May(identity.ReadAny, "read the figures of the server"); err != nil {
		return err
	}
	if s.opts.Metrics == nil {
		return refusal.New(refusal.Unavailable, "ask the operator of the server", "this server gives no figures")
	}
	h, err := s.opts.Metrics(c.Workspace)
	if err != nil {
		return err
	}
	h.ServeHTTP(w, r)
	return nil
}

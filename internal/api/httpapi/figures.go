package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/figure"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/figures"
)

// metricsPath is the path of scrapes. Like all calls under /v1 they need a token.
const metricsPath = "/metrics"

// statsQuery selects handoffs.
type statsQuery struct {
	endpoint.Reading
	Span figure.Span `query:"span" doc:"Only handoffs that ended in the last 5 minutes, hour or day; an hour if omitted."`
	By   figure.By   `query:"by" doc:"What they are grouped by; agents if omitted."`
}

// figures adds the routes of figures.
func (s *service) figures() {
	op := s.router.Operation(endpoint.Route{
		Method: http.MethodGet, Path: metricsPath, ID: "get-metrics", Summary: "Get the figures of the server, in the format of Prometheus", Tag: endpoint.TagRecord,
		About: "For principals that may read everything: auditors, operators and admins. It has the figures of their workspace; in the workspace default, those of the process, too. " +
			"docs/metrics.md lists them.",
	})
	op.Responses = map[string]*huma.Response{"200": {
		Description: "The figures", Content: map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}}},
	}}
	s.router.Raw(op, s.scrape)
	endpoint.Read(s.router, endpoint.Route{
		Path: "/v1/stats", ID: "show-stats", Summary: "Sum up the handoffs that ended lately", Tag: endpoint.TagRecord,
		About: "How long handoffs took, how many failed, and which: percentiles for all, and for each agent, kind or reason. For operators and auditors.",
	}, func(ctx context.Context, c caller.Caller, in *statsQuery) (figures.Stats, error) {
		return s.app.Figures.ShowStats(ctx, c, figures.StatsInput{Span: in.Span, By: in.By})
	})
}

func (s *service) scrape(w http.ResponseWriter, r *http.Request) error {
	c := endpoint.Caller(r.Context())
	if err := c.May(identity.ReadAny, "read the figures of the server"); err != nil {
		return err
	}
	if s.opts.Metrics == nil {
		return refusal.New(refusal.Conflict, "ask the operator of the server", "this server gives no figures")
	}
	h, err := s.opts.Metrics(c.Workspace)
	if err != nil {
		return err
	}
	h.ServeHTTP(w, r)
	return nil
}

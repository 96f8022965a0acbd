package figures

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/figure"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// StatsInput says which handoffs are summed up, and how.
type StatsInput struct {
	Span figure.Span // that they ended in; "" means the last hour
	By   figure.By   // what they are grouped by; "" means agents
}

// Stats sums up the handoffs of a workspace that ended lately.
type Stats struct {
	Span   figure.Span     `json:"span"`
	By     figure.By       `json:"by"`
	Since  time.Time       `json:"since" doc:"They ended at this time or later. If there were too many for the span, it is later than the span says."`
	Until  time.Time       `json:"until"`
	All    figure.Group    `json:"all" doc:"All handoffs."`
	Groups []figure.Group  `json:"groups" doc:"The handoffs of each agent, kind or reason; those with most handoffs first."`
	Series []figure.Bucket `json:"series" doc:"All handoffs in 60 parts of equal length of the span, the oldest first."`
}

// ShowStats sums up the handoffs that ended lately. It is for principals that may read anything.
func (f *Figures) ShowStats(ctx context.Context, c caller.Caller, in StatsInput) (Stats, error) {
	if err := c.May(identity.ReadAny, "read the figures of the server"); err != nil {
		return Stats{}, f.access.Refused(ctx, c.Workspace, c.Actor(), "stats", "", err)
	}
	if f.source == nil {
		return Stats{}, refusal.New(refusal.Conflict, "ask the operator of the server", "this server gives no figures")
	}
	if in.Span == "" {
		in.Span = figure.Span1h
	}
	if in.By == "" {
		in.By = figure.ByAgent
	}
	if !figure.Spans.Has(in.Span) || !figure.Bys.Has(in.By) {
		return Stats{}, refusal.New(refusal.Invalid, "use the span 5m, 1h or 24h, and group by agent, kind or reason", "%.40q by %.40q is not a way to sum up handoffs", in.Span, in.By)
	}
	if !f.source.Ready() {
		return Stats{}, refusal.New(refusal.Unavailable, "repeat the call in some seconds", "the server has just started, and is still counting its record")
	}
	now := f.now().UTC()
	list, since := f.source.Recent(c.Workspace, now.Add(-in.Span.Duration()))
	return Stats{
		Span: in.Span, By: in.By, Since: since, Until: now, All: figure.GroupOf("", list), Groups: figure.GroupsOf(list, in.By),
		Series: figure.SeriesOf(list, now.Add(-in.Span.Duration()), now),
	}, nil
}

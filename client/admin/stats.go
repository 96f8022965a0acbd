package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/trapezehq/trapeze/client/wire"
)

// Quantiles are percentiles of a duration, in seconds.
type Quantiles struct {
	Count int     `json:"count"` // handoffs that got so far
	P50   float64 `json:"p50"`
	P95   float64 `json:"p95"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
}

// StatsGroup is some handoffs that ended, summed up. Rates and shares are from 0 to 1.
type StatsGroup struct {
	Name         string    `json:"name"` // of the agent, kind or reason; empty: no agent was reached
	Ended        int       `json:"ended"`
	Failed       int       `json:"failed"` // those of them that used up all receivers and retries
	FailureRate  float64   `json:"failure_rate"`
	Retries      int       `json:"retries"`    // offers that were made again to the same receiver
	Lost         int       `json:"lost"`       // those whose receiver then failed the task, or lost it by its silence or for lack of progress
	MostHops     int       `json:"most_hops"`  // the most hops that a task had made with one of them
	Delivery     Quantiles `json:"delivery"`   // from the request until a receiver had seen the offer
	Acceptance   Quantiles `json:"acceptance"` // from the request until a receiver had accepted
	Packed       int       `json:"packed"`     // handoffs whose envelope was packed; the averages of tokens and completeness are of these
	Budgeted     int       `json:"budgeted"`   // those of them that had a token budget; the average utilisation is of these
	Tokens       float64   `json:"tokens"`
	Utilisation  float64   `json:"utilisation"`
	Completeness float64   `json:"completeness"`
	Slowest      []string  `json:"slowest"`    // at most 5 handoffs
	Failures     []string  `json:"failures"`   // at most 5 handoffs, the newest first
	Retried      []string  `json:"retried"`    // at most 5 handoffs, those with most offers that were made again first
	Incomplete   []string  `json:"incomplete"` // at most 5 handoffs, the least complete first
	Largest      []string  `json:"largest"`    // at most 5 handoffs, those whose packed envelopes have most tokens first
	Losses       []string  `json:"losses"`     // at most 5 handoffs whose receivers failed or lost the task, the newest first
	Farthest     []string  `json:"farthest"`   // at most 5 handoffs of the tasks with most hops: of each task, its last
}

// Stats sums up the handoffs that ended lately.
type Stats struct {
	Span   string       `json:"span"`
	By     string       `json:"by"`
	Since  time.Time    `json:"since"` // later than the span says if there were too many handoffs
	Until  time.Time    `json:"until"`
	All    StatsGroup   `json:"all"`
	Groups []StatsGroup `json:"groups"` // those with most handoffs first
	// Series is all handoffs in 60 parts of equal length of the span, the oldest first.
	Series []StatsBucket `json:"series"`
}

// StatsBucket is the handoffs that ended in one part of a span.
type StatsBucket struct {
	At     time.Time `json:"at"` // when it begins
	Ended  int       `json:"ended"`
	Failed int       `json:"failed"` // those of them that used up all receivers and retries
	P50    float64   `json:"p50"`    // from the request until a receiver had accepted, in seconds
	P95    float64   `json:"p95"`
}

// StatsOptions say which handoffs are summed up, and how.
type StatsOptions struct {
	Span string // that they ended in, of [StatsSpans]; empty: the last hour
	By   string // what they are grouped by, of [StatsBys]; empty: agents
}

// StatsSpans lists the values of [StatsOptions].Span.
func StatsSpans() []string { return []string{"5m", "1h", "24h"} }

// StatsBys lists the values of [StatsOptions].By.
func StatsBys() []string { return []string{"agent", "kind", "reason"} }

// Stats sums up the handoffs that ended lately. It is for operators and auditors.
func (c Client) Stats(ctx context.Context, o StatsOptions) (Stats, error) {
	q := wire.Query{}
	q.Text("span", o.Span)
	q.Text("by", o.By)
	return call[Stats](ctx, c, http.MethodGet, q, nil, "stats")
}

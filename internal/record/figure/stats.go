package figure

import (
	"cmp"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// By is what handoffs are grouped by. The set is closed.
type By string

// The ways to group handoffs.
const (
	ByAgent  By = "agent"
	ByKind   By = "kind"
	ByReason By = "reason"
)

// Bys lists every way to group handoffs.
var Bys = event.NewSet("a way to group", ByAgent, ByKind, ByReason)

// Span is a time for which handoffs are summed up. The set is closed.
type Span string

// The spans.
const (
	Span5m  Span = "5m"
	Span1h  Span = "1h"
	Span24h Span = "24h"
)

// Spans lists every span.
var Spans = event.NewSet("a span", Span5m, Span1h, Span24h)

// Duration is the length of the span; 0 if there is none such.
func (s Span) Duration() time.Duration {
	switch s {
	case Span5m:
		return 5 * time.Minute
	case Span1h:
		return time.Hour
	case Span24h:
		return Window
	}
	return 0
}

// Group is some handoffs that ended, summed up.
type Group struct {
	Name         string    `json:"name" doc:"The agent, kind or reason; empty: no agent was reached."`
	Ended        int       `json:"ended" doc:"Handoffs that ended."`
	Failed       int       `json:"failed" doc:"Those of them that used up all receivers and retries."`
	FailureRate  float64   `json:"failure_rate" doc:"From 0 to 1."`
	Retries      int       `json:"retries" doc:"Offers that were made again to the same receiver."`
	Lost         int       `json:"lost" doc:"Those of them whose receiver then failed the task, or lost it by its silence or for lack of progress."`
	MostHops     int       `json:"most_hops" doc:"The most hops that a task had made with one of them."`
	Delivery     Quantiles `json:"delivery" doc:"From the request until a receiver had seen the offer."`
	Acceptance   Quantiles `json:"acceptance" doc:"From the request until a receiver had accepted."`
	Packed       int       `json:"packed" doc:"Handoffs whose envelope was packed for a receiver; the averages of tokens and completeness are of these."`
	Budgeted     int       `json:"budgeted" doc:"Those of them that had a token budget; the average utilisation is of these."`
	Tokens       float64   `json:"tokens" doc:"Average tokens of packed envelopes."`
	Utilisation  float64   `json:"utilisation" doc:"Average share of the token budget that packed envelopes with a budget use, from 0 to 1."`
	Completeness float64   `json:"completeness" doc:"Average share of references in packed envelopes that could be resolved, from 0 to 1."`
	Slowest      []string  `json:"slowest" doc:"The handoffs that took longest until they were accepted, the slowest first."`
	Failures     []string  `json:"failures" doc:"The handoffs that failed last, the newest first."`
	Retried      []string  `json:"retried" doc:"The handoffs with most offers that were made again."`
	Incomplete   []string  `json:"incomplete" doc:"The handoffs whose envelopes have most references that could not be resolved, the least complete first."`
	Largest      []string  `json:"largest" doc:"The handoffs whose packed envelopes have most tokens."`
	Losses       []string  `json:"losses" doc:"The handoffs whose receivers failed or lost the task, the newest first."`
	Farthest     []string  `json:"farthest" doc:"The handoffs of the tasks with most hops: of each task, its last."`
}

// Behind is the number of handoffs that a group names.
const Behind = 5

// GroupOf sums up handoffs, which are given from the oldest to the newest.
func GroupOf(name string, list []Handoff) Group {
	g := Group{
		Name: name, Ended: len(list), Slowest: Slowest(list, Behind), Failures: FailedOf(list, Behind), Retried: Retried(list, Behind), Incomplete: Incomplete(list, Behind),
		Largest: Largest(list, Behind), Losses: LostOf(list, Behind), Farthest: Farthest(list, Behind),
	}
	var delivery, acceptance []time.Duration
	for i := range list {
		h := &list[i]
		g.Retries += h.Retries
		g.MostHops = max(g.MostHops, h.Hops)
		if h.Lost {
			g.Lost++
		}
		if h.Failed {
			g.Failed++
		}
		if h.Seen() {
			delivery = append(delivery, h.Delivery)
		}
		if h.Accepted() {
			acceptance = append(acceptance, h.Acceptance)
		}
		if h.Completeness >= 0 {
			g.Packed++
			g.Tokens += float64(h.Tokens)
			g.Completeness += h.Completeness
		}
		if h.Utilisation >= 0 {
			g.Budgeted++
			g.Utilisation += h.Utilisation
		}
	}
	g.Delivery, g.Acceptance = QuantilesOf(delivery), QuantilesOf(acceptance)
	if g.Ended > 0 {
		g.FailureRate = float64(g.Failed) / float64(g.Ended)
	}
	if g.Packed > 0 {
		n := float64(g.Packed)
		g.Tokens, g.Completeness = g.Tokens/n, g.Completeness/n
	}
	if g.Budgeted > 0 {
		g.Utilisation /= float64(g.Budgeted)
	}
	return g
}

// GroupsOf sums up handoffs by what they have in common: most handoffs first, then by name.
func GroupsOf(list []Handoff, by By) []Group {
	of := map[string][]Handoff{}
	for i := range list {
		name := list[i].Agent
		switch by {
		case ByKind:
			name = string(list[i].Kind)
		case ByReason:
			name = string(list[i].Reason)
		case ByAgent:
		}
		of[name] = append(of[name], list[i])
	}
	groups := make([]Group, 0, len(of))
	for name, some := range of {
		groups = append(groups, GroupOf(name, some))
	}
	slices.SortFunc(groups, func(a, b Group) int { return cmp.Or(cmp.Compare(b.Ended, a.Ended), cmp.Compare(a.Name, b.Name)) })
	return groups
}

// Bucket is the handoffs that ended in one part of a span.
type Bucket struct {
	At     time.Time `json:"at" doc:"When it begins."`
	Ended  int       `json:"ended" doc:"Handoffs that ended in it."`
	Failed int       `json:"failed" doc:"Those of them that used up all receivers and retries."`
	P50    float64   `json:"p50" doc:"Median time from the request until a receiver had accepted, in seconds."`
	P95    float64   `json:"p95" doc:"Seconds."`
}

// Buckets is how many parts a span has in [SeriesOf].
const Buckets = 60

// SeriesOf sums up handoffs, given from the oldest to the newest, in parts of equal length of the time from since until until.
func SeriesOf(list []Handoff, since, until time.Time) []Bucket {
	all, part := make([]Bucket, Buckets), max(until.Sub(since)/Buckets, 1)
	accepted := make([][]time.Duration, Buckets)
	for i := range all {
		all[i].At = since.Add(time.Duration(i) * part)
	}
	for i := range list {
		h := &list[i]
		n := min(max(int(h.Ended.Sub(since)/part), 0), Buckets-1)
		all[n].Ended++
		if h.Failed {
			all[n].Failed++
		}
		if h.Accepted() {
			accepted[n] = append(accepted[n], h.Acceptance)
		}
	}
	for i := range all {
		q := QuantilesOf(accepted[i])
		all[i].P50, all[i].P95 = q.P50, q.P95
	}
	return all
}

package figure

import (
	"cmp"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// Window is the longest time for which ended handoffs are kept.
const Window = 24 * time.Hour

// Handoff is a handoff that has ended.
type Handoff struct {
	Workspace string
	Task      string
	N         int    // its number in the task
	Agent     string // that received it, or was reached last; "": none was
	Kind      event.Kind
	Reason    event.Reason
	Requested time.Time
	Ended     time.Time
	Outcome   event.Stage
	Failed    bool // see [HandoffsFailed]
	Retries   int
	Hops      int  // of the task, with this one; 0: it did not move the task
	Lost      bool // its receiver then failed the task, or lost it by its silence or for lack of progress

	Delivery   time.Duration // from the request until the offer was first seen; see Seen
	Acceptance time.Duration // from the request until it was accepted; see Accepted

	Tokens       int     // of the packed envelope
	Completeness float64 // of the packed envelope; below 0: it was not packed
	Utilisation  float64 // of the packed envelope; below 0: it was not packed, or for no budget

	fullness float64 // see [EnvelopeFullness]; below 0: as Utilisation
	seen     bool
	accepted bool
}

// ID is the id of the handoff.
func (h *Handoff) ID() string { return event.HandoffID(h.Task, h.N) }

// Seen reports whether a receiver has seen the offer, accepted or rejected it.
func (h *Handoff) Seen() bool { return h.seen }

// Accepted reports whether a receiver has accepted.
func (h *Handoff) Accepted() bool { return h.accepted }

// compact is a [Handoff] in half the space, with few pointers for the garbage collector to follow: there are thousands.
type compact struct {
	workspace, task, agent              string
	requested, ended                    int64 // in nanoseconds since 1970
	delivery, acceptance                time.Duration
	completeness, utilisation, fullness float64
	n, retries, hops, tokens            int32
	kind, reason, outcome               int8 // places in their sets; -1: none
	failed, lost, seen, accepted        bool
}

var (
	kinds   = event.Kinds.Values()
	reasons = event.Reasons.Values()
	stages  = event.Stages.Values()
)

func compacted(h *Handoff) compact {
	//nolint:gosec // small numbers, and places in small sets
	return compact{
		h.Workspace, h.Task, h.Agent, h.Requested.UnixNano(), h.Ended.UnixNano(), h.Delivery, h.Acceptance, h.Completeness, h.Utilisation, h.fullness,
		int32(h.N), int32(h.Retries), int32(h.Hops), int32(h.Tokens),
		int8(slices.Index(kinds, h.Kind)), int8(slices.Index(reasons, h.Reason)), int8(slices.Index(stages, h.Outcome)), h.Failed, h.Lost, h.seen, h.accepted,
	}
}

func (k *compact) handoff() Handoff {
	return Handoff{
		Workspace: k.workspace, Task: k.task, N: int(k.n), Agent: k.agent, Kind: valueAt(kinds, k.kind), Reason: valueAt(reasons, k.reason),
		Requested: timeAt(k.requested), Ended: timeAt(k.ended), Outcome: valueAt(stages, k.outcome), Failed: k.failed, Retries: int(k.retries), Hops: int(k.hops), Lost: k.lost,
		Delivery: k.delivery, Acceptance: k.acceptance, Tokens: int(k.tokens), Completeness: k.completeness, Utilisation: k.utilisation,
		fullness: k.fullness, seen: k.seen, accepted: k.accepted,
	}
}

func valueAt[T ~string](set []T, i int8) T {
	if i < 0 {
		return ""
	}
	return set[i]
}

func timeAt(nanoseconds int64) time.Time { return time.Unix(0, nanoseconds).UTC() }

// ring keeps the handoffs that ended last.
type ring struct {
	most    int
	list    []compact // the oldest first, from start on, then from 0
	start   int
	added   int       // that were ever added
	dropped time.Time // when the newest that was dropped for lack of space had ended
}

// at returns the handoff that was the nth to be added; nil if it is no longer kept, or if n is 0.
func (r *ring) at(n int) *compact {
	if n <= r.added-len(r.list) {
		return nil
	}
	return &r.list[(n-1)%r.most]
}

func (r *ring) add(h *Handoff) {
	r.added++
	if len(r.list) < r.most {
		r.list = append(r.list, compacted(h))
		return
	}
	r.dropped = timeAt(r.list[r.start].ended)
	r.list[r.start] = compacted(h)
	r.start = (r.start + 1) % len(r.list)
}

// of calls each for the handoffs of a workspace that ended at or after a time, the oldest first.
func (r *ring) of(workspace string, from time.Time, each func(Handoff)) {
	for i := range r.list {
		k := &r.list[(r.start+i)%len(r.list)]
		if k.workspace == workspace && !timeAt(k.ended).Before(from) {
			each(k.handoff())
		}
	}
}

// since lists the handoffs of a workspace that ended at or after a time.
func (r *ring) since(workspace string, from time.Time) (list []Handoff, complete time.Time) {
	r.of(workspace, from, func(h Handoff) { list = append(list, h) })
	complete = from
	if r.dropped.After(from) {
		complete = r.dropped
	}
	return list, complete
}

// Quantiles are percentiles of a duration.
type Quantiles struct {
	Count int     `json:"count" doc:"Handoffs that got so far."`
	P50   float64 `json:"p50" doc:"Median, in seconds."`
	P95   float64 `json:"p95" doc:"Seconds."`
	P99   float64 `json:"p99" doc:"Seconds."`
	Max   float64 `json:"max" doc:"Seconds."`
}

// QuantilesOf returns the percentiles of durations by the nearest rank; zeros if there are none. It sorts them.
func QuantilesOf(all []time.Duration) Quantiles {
	if len(all) == 0 {
		return Quantiles{}
	}
	slices.Sort(all)
	rank := func(percent int) float64 { return all[(len(all)*percent+99)/100-1].Seconds() }
	return Quantiles{Count: len(all), P50: rank(50), P95: rank(95), P99: rank(99), Max: all[len(all)-1].Seconds()}
}

// Slowest returns the ids of up to n accepted handoffs, the slowest first.
func Slowest(list []Handoff, n int) []string {
	return most(list, n, (*Handoff).Accepted, func(a, b *Handoff) int { return cmp.Compare(b.Acceptance, a.Acceptance) })
}

// Retried returns the ids of up to n handoffs with offers that were made again, those with most first.
func Retried(list []Handoff, n int) []string {
	return most(list, n, func(h *Handoff) bool { return h.Retries > 0 }, func(a, b *Handoff) int { return cmp.Compare(b.Retries, a.Retries) })
}

// Incomplete returns the ids of up to n handoffs whose packed envelopes have references that could not be resolved, the least complete first.
func Incomplete(list []Handoff, n int) []string {
	return most(list, n, func(h *Handoff) bool { return h.Completeness >= 0 && h.Completeness < 1 },
		func(a, b *Handoff) int { return cmp.Compare(a.Completeness, b.Completeness) })
}

// Largest returns the ids of up to n handoffs with packed envelopes, those with most tokens first.
func Largest(list []Handoff, n int) []string {
	return most(list, n, func(h *Handoff) bool { return h.Completeness >= 0 }, func(a, b *Handoff) int { return cmp.Compare(b.Tokens, a.Tokens) })
}

// LostOf returns the ids of up to n handoffs whose receivers failed or lost the task, the newest first.
func LostOf(list []Handoff, n int) []string {
	return most(list, n, func(h *Handoff) bool { return h.Lost }, func(a, b *Handoff) int { return b.Ended.Compare(a.Ended) })
}

// Farthest returns the ids of up to n handoffs that moved tasks, those of tasks with most hops first: of each task, its last.
func Farthest(list []Handoff, n int) []string {
	last := map[string]int{}
	for i := range list {
		if list[i].Hops > 0 {
			last[list[i].Task] = list[i].N
		}
	}
	return most(list, n, func(h *Handoff) bool { return h.Hops > 0 && last[h.Task] == h.N }, func(a, b *Handoff) int { return cmp.Compare(b.Hops, a.Hops) })
}

// most returns the ids of the first n of the handoffs that are meant, in an order, and else from the oldest to the newest.
func most(list []Handoff, n int, meant func(*Handoff) bool, order func(a, b *Handoff) int) []string {
	var of []*Handoff
	for i := range list {
		if h := &list[i]; meant(h) {
			of = append(of, h)
		}
	}
	slices.SortStableFunc(of, order)
	ids := []string{}
	for _, h := range of[:min(n, len(of))] {
		ids = append(ids, h.ID())
	}
	return ids
}

// FailedOf returns the ids of up to n failed handoffs, the newest first.
func FailedOf(list []Handoff, n int) []string {
	ids := []string{}
	for i := len(list) - 1; i >= 0 && len(ids) < n; i-- {
		if list[i].Failed {
			ids = append(ids, list[i].ID())
		}
	}
	return ids
}

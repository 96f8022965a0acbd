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

// ring keeps the handoffs that ended last.
type ring struct {
	most    int
	list    []Handoff // the oldest first, from start on, then from 0
	start   int
	added   int       // that were ever added
	dropped time.Time // when the newest that was dropped for lack of space had ended
}

// at returns the handoff that was the nth to be added; nil if it is no longer kept, or if n is 0.
func (r *ring) at(n int) *Handoff {
	if n <= r.added-len(r.list) {
		return nil
	}
	return &r.list[(n-1)%r.most]
}

func (r *ring) add(h Handoff) {
	r.added++
	if len(r.list) < r.most {
		r.list = append(r.list, h)
		return
	}
	r.dropped = r.list[r.start].Ended
	r.list[r.start] = h
	r.start = (r.start + 1) % len(r.list)
}

// since lists the handoffs of a workspace that ended at or after a time.
func (r *ring) since(workspace string, from time.Time) (list []Handoff, complete time.Time) {
	for i := range r.list {
		h := &r.list[(r.start+i)%len(r.list)]
		if h.Workspace == workspace && !h.Ended.Before(from) {
			list = append(list, *h)
		}
	}
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

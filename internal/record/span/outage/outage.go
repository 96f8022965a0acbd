package outage

import (
	"log/slog"
	"sync"
	"time"
)

// every is the shortest time between two lines about the same outage.
const every = time.Minute

// Report logs the outages of one receiver. It is safe for concurrent use. Make it with [New].
type Report struct {
	log        *slog.Logger
	down, back string

	mu    sync.Mutex
	since time.Time // when the outage began; zero: there is none
	said  time.Time // when it was logged last
	lost  int       // since it began
}

// New returns a report to a log, with the messages for an outage and for its end.
func New(log *slog.Logger, down, back string) *Report {
	return &Report{log: log, down: down, back: back}
}

// Failed notes that something could not be sent, and how many things were lost by that; 0: none, or they are sent again.
func (r *Report) Failed(err error, lost int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := time.Now()
	r.lost += lost
	switch {
	case r.since.IsZero():
		r.since = now
		r.log.Warn(r.down, r.with("error", err)...)
	case now.Sub(r.said) >= every:
		r.log.Warn(r.down, r.with("since", r.since.UTC().Format(time.RFC3339), "error", err)...)
	default:
		return
	}
	r.said = now
}

// Sent notes that something was sent: an outage is over.
func (r *Report) Sent() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.since.IsZero() {
		return
	}
	r.log.Info(r.back, r.with("after", time.Since(r.since).Round(time.Second).String())...)
	r.since, r.said, r.lost = time.Time{}, time.Time{}, 0
}

// with adds how many things were lost, if any were.
func (r *Report) with(attributes ...any) []any {
	if r.lost > 0 {
		attributes = append(attributes, "lost", r.lost)
	}
	return attributes
}

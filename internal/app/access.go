package app

import (
	"context"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	"github.com/trapezehq/trapeze/internal/ledger"
	"github.com/trapezehq/trapeze/internal/refusal"
)

// What is on record beside the changes: reads of content, exports, and attempts that were refused. These entries go
// to a stream per principal, without compare-and-set, so that they never make a task's writer retry.
type (
	// ContentRead: a principal was given content of a task.
	ContentRead struct {
		Task   string `json:"task"`
		What   string `json:"what"`
		Digest string `json:"digest,omitempty"`
	}
	// Exported: a principal was given records.
	Exported struct {
		What   string `json:"what"`
		Format string `json:"format"`
	}
	// Refused: a principal was told no. Suppressed counts the refusals before it that the rate limit kept out.
	Refused struct {
		Verb       string `json:"verb"`
		Subject    string `json:"subject,omitempty"`
		Code       string `json:"code"`
		Message    string `json:"message"`
		Suppressed int    `json:"suppressed,omitempty"`
	}
)

// accessEvent is one of the three.
type accessEvent interface{ EventName() string }

var accessEvents = []accessEvent{ContentRead{}, Exported{}, Refused{}}

// EventName is "content-read".
func (ContentRead) EventName() string { return "content-read" }

// EventName is "record-exported".
func (Exported) EventName() string { return "record-exported" }

// EventName is "attempt-refused".
func (Refused) EventName() string { return "attempt-refused" }

// Refusals of one principal that are put on record: this many at once, then so many per second.
const (
	refusalBurst = 20
	refusalRate  = 2
)

type accessLog struct {
	ledger   ledger.Ledger
	codec    *ledger.Codec[accessEvent]
	now      func() time.Time
	limiters *lru.Cache[string, *limiter]
}

type limiter struct {
	rate       *rate.Limiter
	suppressed chan int // holds the count; a channel of one is the lock
}

func (l *accessLog) append(ctx context.Context, c Caller, ev accessEvent) error {
	coded, err := l.codec.Encode(ev)
	if err != nil {
		return err
	}
	e := ledger.Entry{
		Stream: ledger.StreamOf(c.Workspace, kindAccess, string(c.Role)+":"+c.Name),
		Time:   l.now().UTC().Truncate(time.Microsecond), Actor: c.actor(), Events: []ledger.Event{coded},
	}
	if _, err := l.ledger.Append(ctx, e, ledger.Any); err != nil {
		return refuseAppend(err)
	}
	return nil
}

// read records, before it is answered, that the caller gets content.
func (l *accessLog) read(ctx context.Context, c Caller, task, what, digest string) error {
	if c.isSystem() {
		return nil
	}
	return l.append(ctx, c, ContentRead{Task: task, What: what, Digest: digest})
}

// refused records an attempt that was refused, within the rate limit. It returns err, so that a use case can end
// with it. That a refusal could not be recorded changes nothing for its caller.
func (l *accessLog) refused(ctx context.Context, c Caller, verb, subject string, err error) error {
	r, ok := refusal.As(err)
	if !ok || c.isSystem() || c.Workspace == "" || r.Code == refusal.Unknown || r.Code == refusal.Unavailable {
		return err
	}
	lim, ok := l.limiters.Get(c.Workspace + "/" + c.String())
	if !ok {
		lim = &limiter{rate: rate.NewLimiter(refusalRate, refusalBurst), suppressed: make(chan int, 1)}
		lim.suppressed <- 0
		l.limiters.Add(c.Workspace+"/"+c.String(), lim)
	}
	n := <-lim.suppressed
	if !lim.rate.AllowN(l.now(), 1) {
		lim.suppressed <- n + 1
		return err
	}
	lim.suppressed <- 0
	ev := Refused{Verb: verb, Subject: clip(subject, 128), Code: string(r.Code), Message: clip(r.Message, 512), Suppressed: n}
	_ = l.append(ctx, c, ev) //nolint:errcheck // see above
	return err
}

// clip shortens text to at most n bytes, at a character's end.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}

package access

import (
	"context"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/time/rate"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
)

// The limit of recorded refusals of one principal: a burst, and a rate per second.
const (
	refusalBurst = 20
	refusalRate  = 2
)

// Log records reads, exports and refusals.
type Log struct {
	ledger   ledger.Ledger
	codec    *ledger.Codec[event]
	now      func() time.Time
	limiters limiters
	listed   listings // when each list was last recorded
	discreet bool
}

// Discreet has the log record no message of a refusal that may quote what the caller sent: that could not be erased. Call it before others.
func (l *Log) Discreet() { l.discreet = true }

// quotes reports whether the messages of a code may quote what the caller sent.
func quotes(c refusal.Code) bool { return c == refusal.Invalid || c == refusal.TooLarge }

// Kind is the kind of the streams of this log: one per principal.
const Kind = "access"

// stranger is the principal of entries on callers without a valid credential.
const stranger = "system/stranger"

// Stranger returns the actor for a caller without a valid credential.
func Stranger() ledger.Actor { return ledger.Actor{Principal: stranger} }

func isSystem(a ledger.Actor) bool {
	return strings.HasPrefix(a.Principal, "system/") && a.Principal != stranger
}

// limiters is a cache by principal. An interface: the methods of the cache's type are not compiled again in each package that
// holds a [Log].
type limiters interface {
	Get(principal string) (*limiter, bool)
	PeekOrAdd(principal string, own *limiter) (before *limiter, found, evicted bool)
}

// New returns a log of accesses in a ledger.
func New(l ledger.Ledger, now func() time.Time) (*Log, error) {
	cache, err := lru.New[string, *limiter](4096)
	if err != nil {
		return nil, err
	}
	listed, err := lru.New[string, time.Time](4096)
	if err != nil {
		return nil, err
	}
	return &Log{ledger: l, codec: ledger.NewCodec(events...), now: now, limiters: cache, listed: listed}, nil
}

// limiter bounds the recorded refusals of a principal, and counts the others.
type limiter struct {
	rate       *rate.Limiter
	mu         sync.Mutex
	suppressed int
}

// take reports whether a refusal is to be recorded and, if so, how many before it were not.
func (l *limiter) take(now time.Time) (before int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.rate.AllowN(now, 1) {
		l.suppressed++
		return 0, false
	}
	before, l.suppressed = l.suppressed, 0
	return before, true
}

// give counts refusals that could not be recorded.
func (l *limiter) give(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.suppressed += n
}

// Append records an event durably.
func (l *Log) Append(ctx context.Context, workspace string, by ledger.Actor, ev event) error {
	_, err := l.AppendEntry(ctx, workspace, by, ev)
	return err
}

// AppendEntry is Append, and returns the entry with its position.
func (l *Log) AppendEntry(ctx context.Context, workspace string, by ledger.Actor, ev event) (ledger.Entry, error) {
	coded, err := l.codec.Encode(ev)
	if err != nil {
		return ledger.Entry{}, err
	}
	e := ledger.Entry{
		Stream: ledger.StreamOf(workspace, Kind, strings.Replace(by.Principal, "/", ":", 1)),
		Time:   l.now().UTC().Truncate(time.Microsecond), Actor: by, Events: []ledger.Event{coded},
	}
	if e.Position, err = l.ledger.Append(ctx, e, ledger.Any); err != nil {
		return e, stream.Refuse(err)
	}
	return e, nil
}

// Read records that the caller gets content. Call it before the answer.
func (l *Log) Read(ctx context.Context, workspace string, by ledger.Actor, task, what, digest string) error {
	if isSystem(by) {
		return nil
	}
	return l.Append(ctx, workspace, by, ContentRead{Task: task, What: what, Digest: digest})
}

// ReadAll records that the caller gets several items of one kind. Call it before the answer.
func (l *Log) ReadAll(ctx context.Context, workspace string, by ledger.Actor, task, what string, items []string) error {
	if isSystem(by) || len(items) == 0 {
		return nil
	}
	return l.Append(ctx, workspace, by, ContentRead{Task: task, What: what, Items: items})
}

// Refused records a refused attempt, within the rate limit. It returns err, so that a use case can return its result. A
// failure to record changes nothing for the caller.
func (l *Log) Refused(ctx context.Context, workspace string, by ledger.Actor, verb, subject string, err error) error {
	r, ok := refusal.As(err)
	if !ok || isSystem(by) || workspace == "" || r.Code == refusal.Unknown || r.Code == refusal.Unavailable {
		return err
	}
	lim := l.limiter(workspace, by.Principal)
	n, ok := lim.take(l.now())
	if !ok {
		return err
	}
	ev := Refused{Verb: verb, Subject: refusal.Clip(subject, 128), Code: string(r.Code), Message: refusal.Clip(r.Message, 512), Suppressed: n}
	if l.discreet && quotes(r.Code) {
		ev.Message = ""
	}
	if l.Append(ctx, workspace, by, ev) != nil {
		lim.give(n + 1)
	}
	return err
}

func (l *Log) limiter(workspace, principal string) *limiter {
	name := workspace + "/" + principal
	if lim, ok := l.limiters.Get(name); ok {
		return lim
	}
	lim := &limiter{rate: rate.NewLimiter(refusalRate, refusalBurst)}
	if first, ok, _ := l.limiters.PeekOrAdd(name, lim); ok { // another goroutine was first
		return first
	}
	return lim
}

package app

import (
	"context"
	"errors"
	"fmt"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/trapezehq/trapeze/internal/ledger"
	"github.com/trapezehq/trapeze/internal/refusal"
)

// maxTries bounds how often a decision is made anew because others wrote to the stream first. Each round somebody
// wins, so only a stream with that many writers at once can use it up.
const maxTries = 200

// streamPage is how many entries of a stream are read at a time.
const streamPage = 500

// aggregate is one sort of stream: how its events are coded and folded, and a cache of folds.
type aggregate[S any, E ledger.Named] struct {
	kind   string
	ledger ledger.Ledger
	codec  *ledger.Codec[E]
	fold   func(S, E) S
	now    func() time.Time
	cache  *lru.Cache[ledger.Stream, folded[S]]
}

// folded is a stream's state, and what a writer to it must know. It is never changed in place.
type folded[S any] struct {
	state   S
	head    ledger.Position
	version uint64
	keys    []keyed
}

// keyed remembers a call that carried an idempotency key.
type keyed struct {
	key, request string
	at           ledger.Position
}

// outcome is what a call came to.
type outcome[S any] struct {
	State  S
	At     ledger.Position
	Events []ledger.Event
	Repeat bool // the call had happened before; this is its first outcome
}

func newAggregate[S any, E ledger.Named](kind string, l ledger.Ledger, fold func(S, E) S, now func() time.Time, size int,
	prototypes []E,
) (*aggregate[S, E], error) {
	cache, err := lru.New[ledger.Stream, folded[S]](size)
	if err != nil {
		return nil, fmt.Errorf("cache of %s: %w", kind, err)
	}
	return &aggregate[S, E]{kind: kind, ledger: l, codec: ledger.NewCodec(prototypes...), fold: fold, now: now, cache: cache}, nil
}

// load is the stream's state. A fresh one has every entry that was acknowledged before the call.
func (a *aggregate[S, E]) load(ctx context.Context, s ledger.Stream, fresh bool) (folded[S], error) {
	f, cached := a.cache.Get(s)
	if cached && !fresh {
		return f, nil
	}
	for {
		entries, err := a.ledger.Stream(ctx, s, f.head, streamPage)
		if err != nil {
			return f, unavailable(err)
		}
		for _, e := range entries {
			if f, err = a.apply(f, e); err != nil {
				return f, err
			}
		}
		if len(entries) < streamPage {
			break
		}
	}
	if f.head > 0 {
		a.keep(s, f)
	}
	return f, nil
}

func (a *aggregate[S, E]) apply(f folded[S], e ledger.Entry) (folded[S], error) {
	events, err := a.codec.DecodeAll(e.Events)
	if err != nil {
		return f, fmt.Errorf("entry %d: %w", e.Position, err)
	}
	for _, ev := range events {
		f.state = a.fold(f.state, ev)
	}
	f.head, f.version = e.Position, e.Version
	if e.Key != "" {
		f.keys = append(f.keys[:len(f.keys):len(f.keys)], keyed{e.Key, e.Request, e.Position})
	}
	return f, nil
}

// keep puts the newer of f and what is cached into the cache.
func (a *aggregate[S, E]) keep(s ledger.Stream, f folded[S]) {
	if old, ok := a.cache.Peek(s); !ok || old.head < f.head {
		a.cache.Add(s, f)
	}
}

// do makes one decision on a stream. decide may be called several times, with newer states; its events become one
// entry. No events means that nothing needs to change.
func (a *aggregate[S, E]) do(ctx context.Context, c Caller, s ledger.Stream, request string,
	decide func(S, time.Time) ([]E, error),
) (outcome[S], error) {
	if err := c.checkKey(); err != nil {
		return outcome[S]{}, err
	}
	key := digestKey(c)
	fresh := false
	for range maxTries {
		f, err := a.load(ctx, s, fresh)
		if err != nil {
			return outcome[S]{}, err
		}
		if out, done, err := a.repeated(ctx, s, f, key, request); done {
			return out, err
		}
		now := a.now().UTC().Truncate(time.Microsecond)
		events, err := decide(f.state, now)
		if err != nil && fresh || err == nil && len(events) == 0 {
			return outcome[S]{State: f.state, At: f.head}, err
		}
		if err != nil {
			fresh = true
			continue
		}
		out, err := a.append(ctx, c, s, f, key, request, events, now)
		if !errors.Is(err, ledger.ErrConflict) {
			return out, err
		}
		fresh = true
	}
	return outcome[S]{}, refusal.New(refusal.Unavailable, "repeat the call", "too many others are writing to %s", s)
}

// repeated finds a call that was made before under the same key.
func (a *aggregate[S, E]) repeated(ctx context.Context, s ledger.Stream, f folded[S], key, request string) (outcome[S], bool, error) {
	if key == "" {
		return outcome[S]{}, false, nil
	}
	for _, k := range f.keys {
		if k.key != key {
			continue
		}
		if k.request != request {
			return outcome[S]{}, true, refusal.New(refusal.Conflict, "use a new key for a new request",
				"the idempotency key was used for another request before")
		}
		out, err := a.asOf(ctx, s, k.at)
		return out, true, err
	}
	return outcome[S]{}, false, nil
}

// asOf is the outcome of an entry: the state that it led to.
func (a *aggregate[S, E]) asOf(ctx context.Context, s ledger.Stream, at ledger.Position) (outcome[S], error) {
	var f folded[S]
	for f.head < at {
		entries, err := a.ledger.Stream(ctx, s, f.head, streamPage)
		if err != nil {
			return outcome[S]{}, unavailable(err)
		}
		for _, e := range entries {
			if f, err = a.apply(f, e); err != nil {
				return outcome[S]{}, err
			}
			if e.Position == at {
				return outcome[S]{State: f.state, At: at, Events: e.Events, Repeat: true}, nil
			}
		}
		if len(entries) < streamPage {
			break
		}
	}
	return outcome[S]{}, fmt.Errorf("%s has no entry %d", s, at)
}

func (a *aggregate[S, E]) append(ctx context.Context, c Caller, s ledger.Stream, f folded[S], key, request string, events []E,
	now time.Time,
) (outcome[S], error) {
	coded, err := a.codec.EncodeAll(events)
	if err != nil {
		return outcome[S]{}, fmt.Errorf("%s: %w", s, err)
	}
	e := ledger.Entry{Stream: s, Version: f.version + 1, Time: now, Actor: c.actor(), Key: key, Request: request, Events: coded}
	if key == "" {
		e.Request = ""
	}
	e.Position, err = a.ledger.Append(ctx, e, f.head)
	if errors.Is(err, ledger.ErrUnknown) {
		e.Position, err = a.settle(s, e, f.head)
	}
	if err != nil {
		return outcome[S]{}, refuseAppend(err)
	}
	next, err := a.apply(f, e)
	if err != nil {
		return outcome[S]{}, err
	}
	a.keep(s, next)
	return outcome[S]{State: next.state, At: e.Position, Events: coded}, nil
}

// settle looks whether an entry of unknown outcome is in its stream. Not finding it proves nothing: it may come yet.
func (a *aggregate[S, E]) settle(s ledger.Stream, e ledger.Entry, after ledger.Position) (ledger.Position, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	found, err := a.ledger.Stream(ctx, s, after, 1)
	if err != nil || len(found) == 0 {
		return 0, ledger.ErrUnknown
	}
	ours, err1 := e.Encode()
	theirs, err2 := found[0].Encode()
	if err1 != nil || err2 != nil || string(ours) != string(theirs) {
		return 0, ledger.ErrConflict // the place is taken, so ours can never come
	}
	return found[0].Position, nil
}

// refuseAppend turns a ledger's error into a refusal. A conflict stays what it is.
func refuseAppend(err error) error {
	switch {
	case errors.Is(err, ledger.ErrConflict):
		return err
	case errors.Is(err, ledger.ErrUnknown):
		return refusal.New(refusal.Unknown, "repeat the call with the same idempotency key; it will not happen twice",
			"it may or may not have happened")
	case errors.Is(err, ledger.ErrTooLarge):
		return refusal.New(refusal.TooLarge, "put large things elsewhere and refer to them", "the request is too large to be recorded")
	case errors.Is(err, ledger.ErrInvalid):
		return refusal.New(refusal.Invalid, "leave out what cannot be recorded", "%s", err)
	}
	return unavailable(err)
}

func unavailable(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return refusal.New(refusal.Unavailable, "repeat the call", "the call ended before it could be answered")
	}
	return refusal.New(refusal.Unavailable, "look at /readyz and the server's log; nothing was changed", "the record cannot be used now: %s",
		publicCause(err))
}

// publicCause keeps paths and other internals out of answers.
func publicCause(err error) string {
	if errors.Is(err, ledger.ErrUnavailable) {
		return "it does not accept writes"
	}
	return "it could not be read"
}

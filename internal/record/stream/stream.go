package stream

import (
	"context"
	"errors"
	"fmt"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"github.com/hashicorp/golang-lru/v2/simplelru"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// maxTries bounds how often a decision is repeated because another writer was first. One writer wins each round, so that
// only a stream with that many concurrent writers reaches it.
const maxTries = 200

// streamPage is the number of entries of a stream that are read at a time.
const streamPage = 500

// Kind is one kind of stream, such as all tasks: the codec and the fold of its events, and a cache of folds.
//
// It is an interface so that packages that hold one do not each compile its methods again.
type Kind[S any, E ledger.Named] interface {
	// Load returns the state of a stream. With fresh it has every entry that was acknowledged before the call.
	Load(ctx context.Context, s ledger.Stream, fresh bool) (Folded[S], error)
	// LoadAt returns the state of the stream of an entry, such as one that a follower receives, up to that entry at least.
	LoadAt(ctx context.Context, e ledger.Entry) (Folded[S], error)
	// Do makes one decision on a stream. decide may be called several times, with newer states; its events become one
	// entry. No events means that nothing needs to change.
	Do(ctx context.Context, w Write, s ledger.Stream, decide func(S, time.Time) ([]E, error)) (Outcome[S], error)
	// AsOf returns the outcome of an earlier entry, with the state after it.
	AsOf(ctx context.Context, s ledger.Stream, at ledger.Position) (Outcome[S], error)
	// Learn brings the cached fold of a stream, if there is one, up to an entry that another node may have made. Without it, only fresh reads
	// see what other nodes do.
	Learn(e ledger.Entry)
	// Purge empties the cache.
	Purge()
	// Codec returns the codec of the events of this kind.
	Codec() *ledger.Codec[E]
}

// Options configure the streams of a kind.
type Options[S, E any] struct {
	// Cached is the number of folds that are cached, above 0.
	Cached int
	// Remember bounds the idempotency keys that a stream remembers: at least that many of the newest, at most twice as
	// many. It is for streams that do not end; with 0, all are remembered.
	Remember int
	// Weigh returns the bytes of a state. Of folds of more than 32 KiB only the last 16 are cached, and none of more than 512 KiB, so that
	// the cache is bounded in bytes and not only in number. With nil, all are cached.
	Weigh func(*S) int
	// Ended reports whether little is asked of a stream in a state any more: only the last 512 such folds are cached, or 4096 if Far says that streams are read from
	// other machines. With nil, none has ended.
	Ended func(*S) bool
	Far   bool
	// InPlace folds by changing its argument, which is not shared, for states that are large to copy. With nil, the fold
	// function of [New] is used.
	InPlace func(*S, ...E)
	// Run calls a decision and returns after it: see [Workers.Run]. With nil, decisions are made on the goroutine of the call.
	Run func(func())
	// Current lets a fresh read of a stream that is cached wait for what the caches learn, instead of reading the stream: all entries must be told to
	// [Kind.Learn]. With nil, every fresh read reads the stream.
	Current *Current
	// Absent caches that a stream does not exist, too, where callers cannot name any number of those.
	Absent bool
}

// kind implements [Kind].
type kind[S any, E ledger.Named] struct {
	name   string
	ledger ledger.Ledger
	codec  *ledger.Codec[E]
	fold   func(*S, ...E)
	now    func() time.Time
	caches []simplelru.LRUCache[ledger.Stream, *Folded[S]] // usual and, where folds differ, large and ended: a fold is in one of them
	none   *Folded[S]                                      // of a stream that does not exist
	weigh  func(*S) int                                    // nil: no fold is too large
	ended  func(*S) bool                                   // nil: none has ended
	most   int                                             // keys to remember; 0: all
	run    func(func())                                    // calls a decision
	news   news

	current *Current // nil: fresh reads read the stream
	absent  bool     // it is cached that a stream does not exist
}

// Folded is the state of a stream with its head. It never changes once it is cached.
type Folded[S any] struct {
	State   S
	Head    ledger.Position // its newest entry; 0 for a stream that does not exist
	version uint64
	at      int64 // of the newest entry, in nanoseconds since 1970: a time.Time is three words
	keys    keys
}

// Write identifies a call: the actor, and the digests of (principal, idempotency key) and of the request's body. Both are
// empty for a call without a key.
type Write struct {
	Actor                ledger.Actor
	Key, Request, Before string // Before is the request as earlier versions of the program recorded it; empty: none did.
	// Made is told of the entry, also when it was made by an earlier call with the same key; nil: nobody is.
	Made func(ledger.Position)
	// New expects the stream not to exist yet, which saves a read. If it does exist, only time is lost.
	New bool
}

func (w Write) made(at ledger.Position) {
	if w.Made != nil {
		w.Made(at)
	}
}

// Outcome is the outcome of a call. The state is shared and must not be changed; nil if the call failed.
type Outcome[S any] struct {
	State  *S
	At     ledger.Position
	Events []ledger.Event
	Repeat bool // the call had happened before; this is its first outcome
}

// New returns a kind of stream. name is for errors. It fails if o.Cached is not above 0.
func New[S any, E ledger.Named](name string, l ledger.Ledger, fold func(S, E) S, now func() time.Time, prototypes []E,
	o Options[S, E],
) (Kind[S, E], error) {
	k := &kind[S, E]{
		name: name, ledger: l, codec: ledger.NewCodec(prototypes...), fold: o.InPlace, now: now,
		none: new(Folded[S]), weigh: o.Weigh, ended: o.Ended, most: o.Remember, run: o.Run, current: o.Current, absent: o.Absent,
	}
	sizes := []int{usual: o.Cached, large: largeFolds, ended: endedFolds}
	if o.Far {
		sizes[ended] = farEnded
	}
	if o.Weigh == nil && o.Ended == nil {
		sizes = sizes[:usual+1]
	}
	for _, size := range sizes {
		cache, err := lru.New[ledger.Stream, *Folded[S]](size)
		if err != nil {
			return nil, fmt.Errorf("cache of %s: %w", name, err)
		}
		k.caches = append(k.caches, cache)
	}
	if k.fold == nil {
		k.fold = oneByOne(fold)
	}
	if k.run == nil {
		k.run = func(decide func()) { decide() }
	}
	return k, nil
}

func oneByOne[S, E any](fold func(S, E) S) func(*S, ...E) {
	return func(s *S, events ...E) {
		for _, e := range events {
			*s = fold(*s, e)
		}
	}
}

func (k *kind[S, E]) Load(ctx context.Context, s ledger.Stream, fresh bool) (Folded[S], error) {
	f, err := k.load(ctx, s, fresh)
	return *f, err
}

// load is Load. Its result is shared.
func (k *kind[S, E]) load(ctx context.Context, s ledger.Stream, fresh bool) (*Folded[S], error) {
	f, cached := k.get(s)
	if cached && fresh && k.current.Await(ctx) {
		f, cached = k.get(s)
		fresh = !cached
	}
	if cached && !fresh {
		return f, nil
	}
	if !cached {
		f = k.none
	}
	before := k.news.until()
	for own := false; ; {
		entries, err := k.ledger.Stream(ctx, s, f.Head, streamPage)
		if err != nil {
			return f, Unavailable(err)
		}
		if len(entries) > 0 && !own {
			f, own = f.copy(), true
		}
		for _, e := range entries {
			if err := k.apply(f, e); err != nil {
				return f, err
			}
		}
		if len(entries) < streamPage {
			if own || f == k.none && k.absent {
				k.keepSince(before, s, f)
			}
			return f, nil
		}
	}
}

func (f *Folded[S]) copy() *Folded[S] {
	own := *f
	return &own
}

// LoadAt folds the entry itself, without a read, if its writer has not cached the fold yet.
func (k *kind[S, E]) LoadAt(ctx context.Context, e ledger.Entry) (Folded[S], error) {
	before := k.news.until()
	f, cached := k.get(e.Stream)
	if !cached {
		f = k.none
	}
	switch {
	case f.Head >= e.Position:
		return *f, nil
	case f.version+1 != e.Version:
		return k.Load(ctx, e.Stream, true)
	}
	f = f.copy()
	if err := k.apply(f, e); err != nil {
		return *f, err
	}
	k.keepSince(before, e.Stream, f)
	return *f, nil
}

func (k *kind[S, E]) Do(ctx context.Context, w Write, s ledger.Stream,
	decide func(S, time.Time) ([]E, error),
) (Outcome[S], error) {
	fresh, refused, before := false, error(nil), (*Folded[S])(nil) // before is the state that decided nothing
	for range maxTries {
		f := k.none
		if !w.New || fresh {
			var err error
			if f, err = k.load(ctx, s, fresh); err != nil {
				return Outcome[S]{}, err
			}
		}
		if f == before { // it was the newest: the decision stands
			return Outcome[S]{State: &f.State, At: f.Head}, refused
		}
		if out, done, err := k.repeated(ctx, s, f, w); done {
			return out, err
		}
		now := k.now().UTC().Truncate(time.Microsecond)
		events, err := k.decide(decide, f, now)
		if nothing := err != nil || len(events) == 0; nothing && fresh {
			return Outcome[S]{State: &f.State, At: f.Head}, err
		} else if nothing { // without an append, only a fresh read shows that the state is the newest
			fresh, refused, before = true, err, f
			continue
		}
		out, err := k.append(ctx, w, s, f, events, now)
		if !errors.Is(err, ledger.ErrConflict) {
			return out, err
		}
		fresh = true
	}
	return Outcome[S]{}, refusal.New(refusal.Unavailable, "repeat the call", "too many calls are writing to %s at once", s)
}

// decide makes a decision on a state. The state is passed on by value in there only: it is large for the stack of a call.
func (k *kind[S, E]) decide(decide func(S, time.Time) ([]E, error), f *Folded[S], now time.Time) (events []E, err error) {
	k.run(func() { events, err = decide(f.State, now) })
	return events, err
}

// repeated returns the outcome of an earlier call with the same key.
func (k *kind[S, E]) repeated(ctx context.Context, s ledger.Stream, f *Folded[S], w Write) (Outcome[S], bool, error) {
	if w.Key == "" {
		return Outcome[S]{}, false, nil
	}
	past := f.keys.find(w.Key)
	switch {
	case past == nil:
		return Outcome[S]{}, false, nil
	case past.request != w.Request && (w.Before == "" || past.request != w.Before):
		return Outcome[S]{}, true, refusal.New(refusal.Conflict, "use a new key for a new request",
			"the idempotency key was already used for another request")
	}
	out, err := k.AsOf(ctx, s, past.at)
	if err == nil {
		w.made(past.at)
	}
	return out, true, err
}

func (k *kind[S, E]) AsOf(ctx context.Context, s ledger.Stream, at ledger.Position) (Outcome[S], error) {
	f := new(Folded[S])
	for f.Head < at {
		entries, err := k.ledger.Stream(ctx, s, f.Head, streamPage)
		if err != nil {
			return Outcome[S]{}, Unavailable(err)
		}
		for _, e := range entries {
			if err := k.apply(f, e); err != nil {
				return Outcome[S]{}, err
			}
			if e.Position == at {
				return Outcome[S]{State: &f.State, At: at, Events: e.Events, Repeat: true}, nil
			}
		}
		if len(entries) < streamPage {
			break
		}
	}
	return Outcome[S]{}, fmt.Errorf("%s has no entry %d", s, at)
}

func (k *kind[S, E]) append(ctx context.Context, w Write, s ledger.Stream, f *Folded[S], events []E,
	now time.Time,
) (Outcome[S], error) {
	coded, err := k.codec.EncodeAll(events)
	if err != nil {
		return Outcome[S]{}, fmt.Errorf("%s: %w", s, err)
	}
	if last := time.Unix(0, f.at).UTC(); now.Before(last) { // the clock went back: the rules saw its time, and the record stays in order
		now = last
	}
	e := ledger.Entry{Stream: s, Version: f.version + 1, Time: now, Actor: w.Actor, Key: w.Key, Request: w.Request, Events: coded}
	before := k.news.until()
	e.Position, err = k.ledger.Append(ctx, e, f.Head)
	if errors.Is(err, ledger.ErrUnknown) {
		e.Position, err = k.settle(s, e, f.Head)
	}
	if err != nil {
		return Outcome[S]{}, Refuse(err)
	}
	w.made(e.Position)
	if k.news.until() >= e.Position { // it may have been learned of
		if learned, ok := k.get(s); ok && learned.Head == e.Position {
			return Outcome[S]{State: &learned.State, At: e.Position, Events: coded}, nil
		}
	}
	next := f.copy()
	k.advance(next, &e, events)
	k.keepSince(before, s, next)
	return Outcome[S]{State: &next.State, At: e.Position, Events: coded}, nil
}

// settle looks for an entry of unknown outcome in its stream. Its absence proves nothing: it may still be written.
func (k *kind[S, E]) settle(s ledger.Stream, e ledger.Entry, after ledger.Position) (ledger.Position, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	found, err := k.ledger.Stream(ctx, s, after, 1)
	if err != nil || len(found) == 0 {
		return 0, ledger.ErrUnknown
	}
	want, err1 := e.Encode()
	got, err2 := found[0].Plain().Encode()
	if err1 != nil || err2 != nil || string(want) != string(got) {
		return 0, ledger.ErrConflict // another entry has its place, so it can no longer be written
	}
	return found[0].Position, nil
}

// Refuse converts an error of a ledger to a refusal. A conflict is returned unchanged.
func Refuse(err error) error {
	switch {
	case errors.Is(err, ledger.ErrConflict):
		return err
	case errors.Is(err, ledger.ErrUnknown):
		return refusal.New(refusal.Unknown, "repeat the call with the same idempotency key; it takes effect once",
			"the outcome is unknown: it may or may not have been recorded")
	case errors.Is(err, ledger.ErrTooLarge):
		return refusal.New(refusal.TooLarge, "[put large things elsewhere](artifact put) and refer to them", "the request is too large to be recorded")
	case isRefusal(err): // of a guard of the ledger
		return err
	case errors.Is(err, ledger.ErrInvalid):
		return refusal.New(refusal.Invalid, "omit the part that cannot be recorded", "%s", err)
	}
	return Unavailable(err)
}

func isRefusal(err error) bool {
	_, is := refusal.As(err)
	return is
}

// Unavailable returns the refusal for a record that cannot be read or written now. Nothing was changed.
func Unavailable(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return refusal.New(refusal.Unavailable, "repeat the call", "the call ended before it could be answered")
	}
	if errors.Is(err, ledger.ErrFull) {
		return caused{refusal.New(refusal.Unavailable, "an operator has to free space on the server's disk (/readyz says how much is left); reads go on, writing continues by itself, and nothing was changed",
			"the server is read-only: its disk is full"), ledger.ErrFull}
	}
	if _, away := ledger.AsPutAway(err); away {
		return AttachFirst(err)
	}
	if d, ok := errors.AsType[*ledger.Damaged](err); ok {
		return refusal.New(refusal.Unavailable, "an operator can [export the rest](audit export .skip_damaged=true); restore the entry from a backup",
			"entry %d of the record is damaged: it cannot be read", d.Position).With("position", d.Position)
	}
	if errors.Is(err, ledger.ErrNoMajority) {
		return caused{refusal.New(refusal.Unavailable, "call another server of the record, or repeat the call later; [its status](cluster status) says which servers this one hears; nothing was changed",
			"the record is unavailable: no majority of the servers that keep it answers this one"), ledger.ErrNoMajority}
	}
	if errors.Is(err, ledger.ErrBehind) {
		return refusal.New(refusal.Unavailable, "repeat the call, or call another server of the record", "the server cannot read the newest entries of the record yet")
	}
	return refusal.New(refusal.Unavailable, "look at /readyz and the server's log; nothing was changed", "the record is unavailable: %s",
		publicCause(err))
}

// AttachFirst returns the refusal to read what is put away in a segment that is not attached. Another error is returned unchanged.
func AttachFirst(err error) error {
	p, ok := ledger.AsPutAway(err)
	if !ok {
		return err
	}
	return refusal.New(refusal.Conflict, "an operator can attach it: copy that file to the directory segments of the server's data directory, and try again",
		"entry %d of the record is put away in %s", p.Position, p.Segment).With("position", p.Position)
}

// caused is a refusal with the error of the ledger that causes it.
type caused struct {
	refused *refusal.Error
	cause   error
}

// Error is that of the refusal.
func (c caused) Error() string { return c.refused.Error() }

// Unwrap makes it the refusal and its cause.
func (c caused) Unwrap() []error { return []error{c.refused, c.cause} }

// publicCause keeps paths and other internals out of answers.
func publicCause(err error) string {
	if errors.Is(err, ledger.ErrUnavailable) {
		return "it does not accept writes"
	}
	return "it could not be read"
}

// Each calls fn with every entry of a stream, oldest first, until fn fails.
func Each(ctx context.Context, l ledger.Ledger, s ledger.Stream, fn func(ledger.Entry) error) error {
	var after ledger.Position
	for {
		entries, err := l.Stream(ctx, s, after, streamPage)
		if err != nil {
			return Unavailable(err)
		}
		for _, e := range entries {
			after = e.Position
			if err := fn(e); err != nil {
				return err
			}
		}
		if len(entries) < streamPage {
			return nil
		}
	}
}

func (k *kind[S, E]) Purge() {
	for _, c := range k.caches {
		c.Purge()
	}
}

func (k *kind[S, E]) Codec() *ledger.Codec[E] { return k.codec }

// CatchUp waits until a follower, such as the views, has every entry recorded so far, and reports whether it had fewer at
// the position had. Call it before a refusal that rests on a view: an entry that the view lacked may allow the call.
func CatchUp(ctx context.Context, l ledger.Ledger, had ledger.Position, wait func(context.Context, ledger.Position) error) (more bool, err error) {
	last, err := l.Last(ctx)
	if err != nil {
		return false, Unavailable(err)
	}
	if had >= last {
		return false, nil
	}
	defer ledger.Pause(ctx)()
	if err := wait(ctx, last); err != nil {
		return true, Unavailable(err)
	}
	return true, nil
}

package quota

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

const (
	// sharedFor is how long a server counts as shared after calls of two principals.
	sharedFor = time.Second
	// stalled is the time without the end of a turn after which those who wait go on: the calls that have turns lose them.
	stalled = 100 * time.Millisecond
	// maxIdle is how many lines there may be before those without calls are forgotten: most principals call again soon.
	maxIdle = 256
)

// share divides the processors among principals that call at the same time: while there are several, as many calls of one are decoded,
// decided and answered at once as leave processors to others. A call that waits for the disk, for the network or for an event has no
// turn meanwhile, so that those of one principal still wait for the disk together. A principal that is alone has all processors. Workspaces share in the same
// way, so that one with many principals leaves processors to others.
type share struct {
	most int

	mu    sync.Mutex
	last  identity.Principal // of the last call
	at    time.Time          // when that began
	other time.Time          // when the last call of another principal began
	lines map[identity.Principal]*line
	full  int    // the number of lines at which idle ones are forgotten
	era   uint64 // of the newest line
}

func newShare(most int) *share {
	return &share{most: most, lines: map[identity.Principal]*line{}, full: maxIdle}
}

// line is the calls of one principal.
type line struct {
	era     uint64 // of the turns that count; those of earlier ones were lost
	running int
	waiting []chan uint64 // each gets the era of its turn when that begins
	moved   time.Time     // while calls wait: when a turn last ended, or the first of them came
	watched bool          // look looks after it
}

// turnOf is the turn of a call of a principal, or of a workspace, which is a principal without role and name.
type turnOf struct {
	share *share
	of    identity.Principal
	outer *turnOf // of the workspace; nil: it is that
	mu    sync.Mutex
	held  bool
	line  *line
	era   uint64 // of the turn in the line
	over  bool   // it does not begin again
}

// Call returns a context for a call, with its turn, which [Work.EnterCall] begins.
func (w *Work) Call(ctx context.Context, c caller.Caller) context.Context {
	if w == nil || c.IsSystem() {
		return ctx
	}
	t := &struct{ own, space turnOf }{}
	t.space.share, t.space.of = w.spaces, identity.Principal{Workspace: c.Workspace}
	t.own.share, t.own.of, t.own.outer = w.share, c.Principal, &t.space
	return ledger.WithTurn(ctx, &t.own)
}

// EnterCall waits for the turn of a call, until ctx, which is of [Work.Call], ends. leave ends the turn; it may be called several times.
func (w *Work) EnterCall(ctx context.Context) (leave func(), err error) {
	t, ok := ledger.TurnOf(ctx).(*turnOf)
	if !ok {
		return func() {}, nil
	}
	return t.end, t.enter(ctx)
}

// enter begins the turn, and then that of the workspace: a call that waits for another of its principal keeps no other of its workspace waiting.
func (t *turnOf) enter(ctx context.Context) error {
	err := t.begin(ctx)
	if err == nil && t.outer != nil {
		if err = t.outer.begin(ctx); err != nil {
			t.Pause()
		}
	}
	return err
}

func (t *turnOf) begin(ctx context.Context) error {
	l, era, err := t.share.enter(ctx, t.of)
	if err != nil {
		return stream.Unavailable(err)
	}
	t.mu.Lock()
	t.held, t.line, t.era = !t.over, l, era
	over := t.over
	t.mu.Unlock()
	if over {
		t.share.leave(l, era)
	}
	return nil
}

// end ends the turn for good.
func (t *turnOf) end() {
	t.mu.Lock()
	t.over = true
	t.mu.Unlock()
	if t.outer != nil {
		t.outer.end()
	}
	t.Pause()
}

// Resume implements [ledger.Turn]. A call that has ended goes on without a turn.
func (t *turnOf) Resume(ctx context.Context) { _ = t.enter(ctx) }

// Pause implements [ledger.Turn].
func (t *turnOf) Pause() bool {
	t.mu.Lock()
	held, l, era := t.held, t.line, t.era
	t.held = false
	t.mu.Unlock()
	if t.outer != nil {
		t.outer.Pause()
	}
	if held {
		t.share.leave(l, era)
	}
	return held
}

func (s *share) enter(ctx context.Context, p identity.Principal) (l *line, era uint64, err error) {
	s.mu.Lock()
	if s.last != p {
		s.last, s.other = p, s.at
	}
	s.at = time.Now()
	if l = s.lines[p]; l == nil {
		s.forget()
		l = &line{}
		s.begin(l)
		s.lines[p] = l
	}
	if len(l.waiting) == 0 && s.admits(l) {
		l.running++
		era = l.era
		s.mu.Unlock()
		return l, era, nil
	}
	turn := make(chan uint64, 1)
	if l.waiting = append(l.waiting, turn); len(l.waiting) == 1 {
		l.moved = time.Now()
		s.look(l, stalled)
	}
	s.mu.Unlock()

	select {
	case era = <-turn:
		return l, era, nil
	case <-ctx.Done():
		s.giveUp(l, turn)
		return nil, 0, ctx.Err()
	}
}

// forget forgets the lines without calls, if there are many lines.
func (s *share) forget() {
	if len(s.lines) < s.full {
		return
	}
	maps.DeleteFunc(s.lines, func(_ identity.Principal, l *line) bool { return l.running == 0 && len(l.waiting) == 0 })
	s.full = max(maxIdle, 2*len(s.lines))
}

// begin begins an era of a line, without turns.
func (s *share) begin(l *line) {
	s.era++
	l.era, l.running = s.era, 0
}

// admits reports whether one more call of a line may run.
func (s *share) admits(l *line) bool {
	return l.running < s.most || time.Since(s.other) >= sharedFor
}

// giveUp takes a call out of the line, or ends its turn, if that has begun.
func (s *share) giveUp(l *line, turn chan uint64) {
	s.mu.Lock()
	if i := slices.Index(l.waiting, turn); i >= 0 {
		l.waiting = slices.Delete(l.waiting, i, i+1)
		s.mu.Unlock()
		return
	}
	s.mu.Unlock()
	s.leave(l, <-turn)
}

func (s *share) leave(l *line, era uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l.era != era {
		return // it was lost
	}
	l.running--
	if len(l.waiting) > 0 {
		l.moved = time.Now()
		s.admit(l)
	}
}

// admit begins the turns of those who have waited for the longest time, as many as may run.
func (s *share) admit(l *line) {
	for len(l.waiting) > 0 && s.admits(l) {
		l.waiting[0] <- l.era
		l.waiting[0] = nil
		l.waiting = l.waiting[1:]
		l.running++
	}
}

// look looks after a line in which calls wait, until none does: if no turn has ended for the time stalled, those who have turns lose them.
func (s *share) look(l *line, after time.Duration) {
	if l.watched {
		return
	}
	l.watched = true
	time.AfterFunc(after, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		l.watched = false
		if len(l.waiting) == 0 {
			return
		}
		still := time.Since(l.moved)
		if still >= stalled {
			s.begin(l)
			l.moved, still = time.Now(), 0
			s.admit(l)
		}
		if len(l.waiting) > 0 {
			s.look(l, stalled-still)
		}
	})
}

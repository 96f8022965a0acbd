package quota_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/quota"
)

// sharing is a bound of calls, with those that have begun.
type sharing struct {
	*testing.T
	work  *quota.Work
	begun chan call
}

// call is a call that has its turn.
type call struct {
	n     int
	ctx   context.Context
	leave func()
}

// enter begins a call, and waits until it runs or waits.
func (s *sharing) enter(ctx context.Context, c caller.Caller, n int) {
	s.Helper()
	ctx = s.work.Call(ctx, c)
	go func() {
		if leave, err := s.work.EnterCall(ctx); err == nil {
			s.begun <- call{n, ctx, leave}
		} else if refusal.CodeOf(err) != refusal.Unavailable {
			s.Error(err)
		}
	}()
	synctest.Wait()
}

// next returns the call that began next; it fails if that is another than n. 0: none began.
func (s *sharing) next(n int) call {
	s.Helper()
	synctest.Wait()
	select {
	case c := <-s.begun:
		if c.n != n {
			s.Fatalf("call %d began, want %d", c.n, n)
		}
		return c
	default:
		if n != 0 {
			s.Fatalf("call %d has not begun", n)
		}
	}
	return call{}
}

func inShare(t *testing.T, most int, test func(*sharing)) {
	synctest.Test(t, func(t *testing.T) {
		test(&sharing{t, quota.NewWork(most), make(chan call, 1000)})
	})
}

var junk, honest = agent("default", "junk"), agent("default", "honest")

func TestAPrincipalThatIsAloneHasAllProcessors(t *testing.T) {
	inShare(t, 1, func(s *sharing) {
		s.enter(s.Context(), honest, 1)
		s.next(1).leave()
		time.Sleep(time.Second)
		for n := range 20 {
			s.enter(s.Context(), junk, 2+n)
			s.next(2 + n)
		}
	})
}

func TestPrincipalsThatCallAtOnceShareTheProcessors(t *testing.T) {
	inShare(t, 1, func(s *sharing) {
		s.enter(s.Context(), honest, 1)
		s.next(1).leave()
		for n := range 4 {
			s.enter(s.Context(), junk, 10+n)
		}
		first := s.next(10)
		s.next(0)
		s.enter(s.Context(), honest, 2) // not behind the others
		s.next(2).leave()

		// While a call waits for the disk, the next has the turn, and the first waits behind all others afterwards.
		if turn := ledger.TurnOf(first.ctx); !turn.Pause() || turn.Pause() {
			s.Error("a call with a turn is not paused once")
		}
		second := s.next(11)
		go func() { ledger.TurnOf(first.ctx).Resume(first.ctx); s.begun <- call{20, first.ctx, first.leave} }()
		s.next(0)
		second.leave()
		second.leave() // counts once
		third := s.next(12)
		s.next(0)
		third.leave()
		s.next(13).leave()
		s.next(20)

		// A call that ended goes on without a turn.
		first.leave()
		ledger.TurnOf(first.ctx).Resume(first.ctx)
		s.enter(s.Context(), junk, 30)
		s.next(30)
	})
}

func TestPrincipalsThatAreForgottenLoseNoTurn(t *testing.T) {
	inShare(t, 1, func(s *sharing) {
		s.enter(s.Context(), honest, 1)
		s.next(1).leave()
		s.enter(s.Context(), junk, 2)
		first := s.next(2)
		s.enter(s.Context(), junk, 3)
		for n := range 600 { // more than are remembered, each in a workspace of its own
			s.enter(s.Context(), agent(fmt.Sprint("w", n), "bob"), 10+n)
			s.next(10 + n).leave()
			s.enter(s.Context(), junk, 1000+n)
			s.next(0) // behind the first
		}
		first.leave()
		for _, n := range []int{3, 1000, 1001} {
			s.next(n).leave()
		}
	})
}

func TestACallThatIsGivenUpHoldsNoTurn(t *testing.T) {
	inShare(t, 1, func(s *sharing) {
		s.enter(s.Context(), honest, 1)
		s.next(1)
		s.enter(s.Context(), junk, 2)
		first := s.next(2)
		ctx, cancel := context.WithCancel(s.Context())
		s.enter(ctx, junk, 3)
		s.enter(s.Context(), junk, 4)
		cancel()
		synctest.Wait()
		first.leave()
		s.next(4).leave()
		s.enter(s.Context(), junk, 5)
		s.next(5)
	})
}

func TestACallThatIsHeldUpHoldsUpNoOther(t *testing.T) {
	inShare(t, 1, func(s *sharing) {
		s.enter(s.Context(), honest, 1)
		for n := range 4 {
			s.enter(s.Context(), junk, 10+n)
		}
		s.next(1)
		first := s.next(10) // and does not end
		start := time.Now()
		second := <-s.begun
		if second.n != 11 || time.Since(start) != 100*time.Millisecond {
			s.Errorf("call %d began after %s", second.n, time.Since(start))
		}
		s.next(0)
		first.leave() // it has lost its turn
		s.next(0)
		second.leave()
		s.next(12).leave()
		s.next(13).leave()
		if d := time.Since(start); d != 100*time.Millisecond {
			s.Errorf("the others waited for %s", d)
		}
	})
}

// A call loses its turn when no other has ended for 100 ms, and not because somebody began to wait before it.
func TestACallKeepsItsTurnHoweverOftenOthersBeginToWait(t *testing.T) {
	inShare(t, 1, func(s *sharing) {
		s.enter(s.Context(), honest, 1)
		s.next(1).leave()
		s.enter(s.Context(), junk, 10)
		first := s.next(10)
		s.enter(s.Context(), junk, 11)
		time.Sleep(90 * time.Millisecond)
		first.leave()
		s.next(11)
		time.Sleep(9 * time.Millisecond)
		s.enter(s.Context(), junk, 12)
		time.Sleep(99 * time.Millisecond)
		s.next(0)
		time.Sleep(time.Millisecond)
		s.next(12)
	})
}

// TestTurnsAreNeitherLostNorDoubled has calls of several principals begin, wait, resume and give up at random.
func TestTurnsAreNeitherLostNorDoubled(t *testing.T) {
	for seed := range uint64(20) {
		inShare(t, 2, func(s *sharing) {
			for n, of := range []caller.Caller{junk, honest} {
				s.enter(s.Context(), of, 1+n)
				s.next(1 + n).leave()
			}
			var calls sync.WaitGroup
			var mu sync.Mutex
			running := map[string]int{}
			count := func(c caller.Caller, by int) {
				mu.Lock()
				defer mu.Unlock()
				if running[c.Name] += by; running[c.Name] > 2 {
					s.Errorf("seed %d: %d calls of %s run at once", seed, running[c.Name], c.Name)
				}
			}
			random := rand.New(rand.NewPCG(seed, 0))
			for n := range 400 {
				of := []caller.Caller{junk, junk, junk, honest}[n%4]
				patience, pauses, work := time.Duration(random.IntN(60))*time.Millisecond, random.IntN(3), time.Duration(random.IntN(900))*time.Microsecond
				calls.Go(func() {
					ctx, cancel := context.WithTimeout(s.work.Call(s.Context(), of), patience)
					defer cancel()
					leave, err := s.work.EnterCall(ctx)
					if err != nil {
						return
					}
					count(of, 1)
					for range pauses {
						time.Sleep(work)
						count(of, -1)
						ledger.TurnOf(ctx).Pause()
						time.Sleep(work)
						ledger.TurnOf(ctx).Resume(context.WithoutCancel(ctx))
						count(of, 1)
					}
					time.Sleep(work)
					count(of, -1)
					leave()
				})
			}
			calls.Wait()
			for _, of := range []caller.Caller{junk, honest, junk} {
				s.enter(s.Context(), of, 1)
				s.enter(s.Context(), of, 2)
				s.enter(s.Context(), of, 3)
				first := s.next(1)
				s.next(2).leave()
				first.leave()
				s.next(3).leave()
			}
		})
	}
}

func TestTheServerItselfHasNoTurn(t *testing.T) {
	w := quota.NewWork(1)
	for _, ctx := range []context.Context{w.Call(t.Context(), caller.System("default", "courier")), t.Context(), (*quota.Work)(nil).Call(t.Context(), junk)} {
		leave, err := w.EnterCall(ctx)
		if err != nil {
			t.Fatal(err)
		}
		ledger.Pause(ctx)()
		leave()
	}
}

func TestWorkspacesThatCallAtOnceShareTheProcessors(t *testing.T) {
	inShare(t, 1, func(s *sharing) {
		s.enter(s.Context(), agent("blue", "bob"), 1)
		s.next(1).leave()
		for n := range 4 { // each of another principal
			s.enter(s.Context(), agent("red", string(rune('a'+n))), 10+n)
		}
		first := s.next(10)
		s.next(0)
		s.enter(s.Context(), agent("blue", "bob"), 2)
		blue := s.next(2)
		first.leave()
		second := s.next(11)
		ledger.Pause(second.ctx) // it waits for the disk
		third := s.next(12)
		blue.leave()
		third.leave()
		s.next(13).leave()
		second.leave()
		second.leave()
		time.Sleep(2 * time.Second)
		for n := range 4 { // red is alone
			s.enter(s.Context(), agent("red", string(rune('a'+n))), 20+n)
			s.next(20 + n)
		}
	})
}

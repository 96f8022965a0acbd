package scenario

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/history"
)

// The streams of one agent that replay the record take turns of that agent, so that many of them leave processors to others; one that has
// caught up is told at once.
func TestStreamsThatReplayTheRecordTakeTurns(t *testing.T) {
	inTown(t, func(w *town) {
		of := func(name string) caller.Caller {
			return caller.Caller{Principal: identity.Principal{Workspace: identity.DefaultWorkspace, Role: identity.Agent, Name: name}}
		}
		told := map[string]int{}
		follow := func(ctx context.Context, name, as string) {
			go func() {
				_ = w.app.History.Follow(ctx, of(name), 0, func(history.Event) error { told[as]++; return nil })
			}()
			synctest.Wait()
		}
		ctx, cancel := context.WithCancel(w.Context())
		w.must("junk", "POST /v1/tasks", `{"intent":"x"}`, nil)
		follow(ctx, "junk", "first")
		before := told["first"]
		if before == 0 {
			w.Error("a stream was told nothing")
		}
		leave, err := w.app.Work.EnterCatchUp(ctx, of("junk")) // as another stream that replays
		if err != nil {
			w.Fatal(err)
		}
		for range 63 { // on a machine with many processors, all the turns that one may have
			go func() {
				_, _ = w.app.Work.EnterCatchUp(ctx, of("junk"))
			}()
		}
		synctest.Wait()
		follow(ctx, "junk", "second")
		follow(ctx, "honest", "honest")
		if told["second"] != 0 || told["honest"] == 0 {
			w.Errorf("while it was not its turn a stream was told %d events, and that of another agent %d", told["second"], told["honest"])
		}
		w.must("junk", "POST /v1/tasks", `{"intent":"x"}`, nil)
		synctest.Wait()
		if told["first"] == before {
			w.Error("a stream that has caught up waits for a turn")
		}
		leave()
		cancel()
		synctest.Wait()
	}, "junk", "honest")
}

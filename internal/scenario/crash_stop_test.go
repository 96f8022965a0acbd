//go:build (slow && !race) || outside

package scenario

import (
	"context"
	"errors"
	"testing"
	"time"

	api "github.com/trapezehq/trapeze/client"
)

// A server that is asked to stop answers the calls that it has begun: no call that was cut off may have been applied. Clients that
// wait for an inbox or follow events are told at once.

func TestAServerThatIsAskedToStopAnswersTheCallsItHasBegun(t *testing.T) {
	embedded(t)
	t.Parallel()
	c := newCampaign(t, modeServe)
	r := newRig(t, t.TempDir(), modeServe)
	r.program = crashProgram(t)
	crew := c.hire(r)
	if _, err := crew.admin.RegisterAgent(t.Context(), "zoe", api.AgentSpec{}); err != nil {
		t.Fatal(err)
	}
	zoe, err := crew.admin.CreateToken(t.Context(), api.TokenInput{Role: api.RoleAgent, Name: "zoe"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	wait := crew.work(ctx)
	for range stopCycles {
		waits := longPoll(r, zoe.Text)
		before, deadline := crew.acked.Load(), time.Now().Add(patience)
		for crew.acked.Load() < before+200 && time.Now().Before(deadline) {
			<-time.After(time.Millisecond)
		}
		if err := r.term(); err != nil {
			t.Errorf("exit: %v\n%s", err, r.stderr)
		}
		select {
		case err := <-waits:
			if refused := (*api.Error)(nil); err != nil && !errors.As(err, &refused) {
				t.Errorf("a client that waited for an inbox was cut off: %v", err)
			}
		case <-time.After(patience):
			t.Error("a client that waited for an inbox was left waiting")
		}
		r.gathered(len(crew.actors))
		_, j := c.examine(r, crew)
		c.blame(j)
		r.release(r.start())
	}
	stop()
	wait()
	c.end(r, crew)
	if n := crew.kept.Load(); n > 0 {
		t.Errorf("%d calls had happened and got no answer", n)
	}
	t.Logf("%d stops, %d acknowledged writes, %d calls were cut off, none of which had been applied", stopCycles, crew.acked.Load(), crew.cut.Load())
}

// longPoll waits for an inbox that stays empty, for longer than the server takes to stop.
func longPoll(r *rig, token string) <-chan error {
	url, _ := r.wait()
	done := make(chan error, 1)
	c := r.client(url, token)
	go func() {
		defer c.Close()
		_, err := c.Inbox(context.Background(), api.InboxOptions{Wait: 50 * time.Second})
		done <- err
	}()
	return done
}

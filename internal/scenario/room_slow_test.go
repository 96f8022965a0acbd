//go:build slow || outside

package scenario

import (
	"fmt"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
)

// fills has an agent send to another until no more may wait, and returns the offers.
func (w *town) fills(from, to string) (offers []string) {
	w.Helper()
	for {
		r, status, text := w.offers(from, to, "")
		if status == http.StatusTooManyRequests {
			return offers
		}
		if status >= 300 {
			w.Fatalf("%d %s", status, text)
		}
		offers = append(offers, r.Handoff)
		synctest.Wait() // until the views have it
	}
}

// What the server sends for an agent whose offers fill an inbox waits for room, and is not lost.
func TestWhatTheServerSendsWaitsForRoomInAnInbox(t *testing.T) {
	inTown(t, func(w *town) {
		var first, then struct{ Task string }
		w.must("lead", "POST /v1/tasks", `{"intent":"build","start":true}`, &first)
		w.must("lead", "POST /v1/tasks", fmt.Sprintf(`{"intent":"test","dependencies":[%q],"route":["worker"]}`, first.Task), &then)
		full := w.fills("lead", "worker")
		w.must("lead", "POST /v1/tasks/"+first.Task+"/complete", `{"epoch":1,"result":{"text":"built"}}`, nil)
		time.Sleep(4 * time.Minute) // longer than all retries take, and shorter than an offer waits
		if state, stage, _ := w.at(then.Task); state != string(event.Pending) && state != string(event.HandingOff) || stage != string(event.Requested) {
			t.Fatalf("while nothing is answered: %s, %s", state, stage)
		}
		w.must("worker", "POST /v1/handoffs/"+full[0]+"/reject", `{"reason":"refused"}`, nil)
		time.Sleep(6 * time.Minute)
		if state, stage, to := w.at(then.Task); stage != string(event.Offered) || to != "worker" {
			t.Errorf("once there is room: %s, %s to %q", state, stage, to)
		}
	}, "lead", "worker")
}

// An offer that is made again, or goes to the next candidate, waits for room too.
func TestAnOfferThatIsMadeAgainWaitsForRoomInAnInbox(t *testing.T) {
	inTown(t, func(w *town) {
		w.fills("lead", "second")
		slow, status, text := w.offers("lead", "first", `,"timeouts":{"ack":"5s"}`)
		if status >= 300 {
			t.Fatalf("%d %s", status, text)
		}
		var next townTask
		w.must("lead", "POST /v1/tasks", `{"intent":"two may","send":{"to":["third","second"],"retries":0}}`, &next)
		w.must("first", "GET /v1/inbox?see=true", "", nil)
		time.Sleep(5 * time.Second) // it is too slow, and will be asked again
		for _, stage, _ := w.at(slow.Task); stage != string(event.Requested); _, stage, _ = w.at(slow.Task) {
			time.Sleep(time.Millisecond)
		}
		w.must("third", "POST /v1/handoffs/"+next.Handoff+"/reject", `{"reason":"refused"}`, nil)
		offers := map[string]string{slow.Task: w.fills("lead", "first")[0], next.Task: ""}
		time.Sleep(time.Minute)
		for task := range offers {
			if state, stage, _ := w.at(task); stage != string(event.Requested) {
				t.Errorf("without room: %s, %s", state, stage)
			}
		}
		for _, name := range []string{"first", "second"} {
			var page struct{ Items []struct{ ID string } }
			w.must(name, "GET /v1/inbox?limit=2", "", &page)
			w.must(name, "POST /v1/handoffs/"+page.Items[1].ID+"/reject", `{"reason":"refused"}`, nil)
		}
		time.Sleep(6 * time.Minute)
		for task, to := range map[string]string{slow.Task: "first", next.Task: "second"} {
			if state, stage, got := w.at(task); stage != string(event.Offered) || got != to {
				t.Errorf("with room: %s, %s to %q", state, stage, got)
			}
		}
	}, "lead", "first", "second", "third")
}

// An agent that comes late to open claims gets no more of a sender than may wait for it.
func TestClaimsThatAnAgentJoinsCountAsOffersOfTheirSender(t *testing.T) {
	embedded(t)
	inTown(t, func(w *town) {
		w.register("digger", agents.AgentSpec{Capabilities: []string{"dig"}})
		w.register("sawyer", agents.AgentSpec{Capabilities: []string{"saw"}})
		for _, can := range []string{"dig", "saw"} {
			for range townOffers {
				w.must("lead", "POST /v1/tasks", `{"intent":"who can","send":{"capability":"`+can+`","kind":"broadcast"}}`, nil)
			}
		}
		w.register("late", agents.AgentSpec{Capabilities: []string{"dig", "saw"}})
		w.admit("late")
		synctest.Wait()
		var page struct{ Items []struct{ ID string } }
		w.must("late", "GET /v1/inbox?limit=500", "", &page)
		if len(page.Items) != townOffers {
			t.Errorf("%d offers wait for it, at most %d of one sender may", len(page.Items), townOffers)
		}
	}, "lead")
}

//go:build slow || outside

package scenario

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// clocked is a handoff whose receiver does something, or nothing, and how that ends.
type clocked struct {
	name string
	send string // what the call that creates the task has beside its receiver
	task string // what the task has
	and  string // further receivers
	does func(w *town, worker string, r townTask)
	// want is the events from the first offer on, each with the seconds since the one before; those that follow at once have none. A pause before
	// another offer has no seconds of its own: the offer comes when it is over.
	want string
}

// looksOnce has an agent see its inbox once, and answer nothing.
func looksOnce(w *town, worker string, _ townTask) {
	w.must(worker, "GET /v1/inbox?see=true", "", nil)
}

// accepts has an agent accept, and then nothing.
func accepts(w *town, worker string, r townTask) {
	w.must(worker, "POST /v1/handoffs/"+r.Handoff+"/accept", `{}`, nil)
}

var clockedHandoffs = []clocked{
	{
		name: "nobody looks", send: `"timeouts":{"offer":"20s"}`,
		want: "handoff-offered, 20: offer-expired, task-parked",
	},
	{
		name: "nobody looks, and it goes home", send: `"timeouts":{"offer":"20s"},"return_home":true`, task: `,"timeouts":{"answer":"1h"}`,
		want: "handoff-offered, 20: offer-expired, handoff-returned, 3600: task-parked",
	},
	{
		name: "nobody looks, and there is a fallback", send: `"timeouts":{"offer":"20s"}`, and: `,"FALLBACK"`,
		want: "handoff-offered, 20: offer-expired, handoff-offered, 20: offer-expired, task-parked",
	},
	{
		name: "it looks once", send: `"timeouts":{"offer":"20s","ack":"5s"},"retries":1`, does: looksOnce,
		want: "handoff-offered, handoff-seen, 5: offer-unanswered, retry-scheduled, handoff-offered, 20: offer-expired, task-parked",
	},
	{
		name: "it waits", send: `"timeouts":{"offer":"20s","ack":"5s"},"retries":1`, does: waits,
		want: "handoff-offered, handoff-seen, 5: offer-unanswered, retry-scheduled, handoff-offered, handoff-seen, 5: offer-unanswered, task-parked",
	},
	{
		name: "it waits, without another try", send: `"timeouts":{"offer":"20s","ack":"5s"},"retries":0`, does: waits,
		want: "handoff-offered, handoff-seen, 5: offer-unanswered, task-parked",
	},
	{
		name: "it waits, two tries more and a fallback", send: `"timeouts":{"offer":"20s","ack":"5s"},"retries":2`, and: `,"FALLBACK"`, does: waits,
		want: "handoff-offered, handoff-seen, 5: offer-unanswered, retry-scheduled, handoff-offered, handoff-seen, 5: offer-unanswered, retry-scheduled, " +
			"handoff-offered, handoff-seen, 5: offer-unanswered, handoff-offered, 20: offer-expired, task-parked",
	},
	{
		name: "it waits, and then people are asked", send: `"timeouts":{"offer":"20s","ack":"5s","answer":"10m"},"retries":0`, and: `,"human:operators"`, does: waits,
		want: "handoff-offered, handoff-seen, 5: offer-unanswered, ticket-opened, 300: ticket-reminded, 240: ticket-reminded, 60: task-parked",
	},
	{
		// One offer at a time counts as seen: it is the offer clock that ends the other.
		name: "it looks at two and answers neither", send: `"timeouts":{"offer":"20s","ack":"5s"},"retries":0`, does: func(w *town, worker string, _ townTask) {
			w.offers("planner", worker, `,"timeouts":{"offer":"20s","ack":"5s"},"retries":0`)
			looksOnce(w, worker, townTask{})
		},
		want: "handoff-offered, handoff-seen, 5: offer-unanswered, task-parked",
	},
	{
		name: "it accepts, and is not confirmed", send: `"timeouts":{"confirm":"30s"},"confirm":"explicit"`, task: `,"timeouts":{"answer":"1h"}`, does: accepts,
		want: "handoff-offered, handoff-acknowledgment, 30: handoff-returned, 3600: task-parked",
	},
	{
		name: "nobody approves", send: `"timeouts":{"approval":"10m"},"kind":"supervised"`, task: `,"timeouts":{"answer":"1h"}`,
		want: "approval-asked, 300: ticket-reminded, 240: ticket-reminded, 60: handoff-returned, 3600: task-parked",
	},
	{
		name: "it accepts, and is not heard of", send: `"timeouts":{"lease":"2m"}`, task: `,"timeouts":{"offer":"20s"}`, does: accepts,
		want: "handoff-offered, handoff-acknowledgment, handoff-confirm, handoff-complete, 120: lease-lost, envelope-sealed, handoff-request, handoff-offered, 20: offer-expired, task-parked",
	},
	{
		name: "its deadline passes", send: `"timeouts":{"offer":"20m"}`, task: `,"deadline":"DEADLINE"`,
		want: "handoff-offered, 60: task-parked",
	},
}

// TestEveryDeadlineOverHTTPEndsWhenItShould has receivers that do not look, look once, wait, or accept and do nothing: each ends with another try, a fallback,
// people, its requester or the dead letters, at its time.
func TestEveryDeadlineOverHTTPEndsWhenItShould(t *testing.T) {
	names := []string{"planner"}
	for i := range clockedHandoffs {
		names = append(names, fmt.Sprint("worker", i), fmt.Sprint("fallback", i))
	}
	inTown(t, func(w *town) {
		made := make([]townTask, len(clockedHandoffs))
		var does sync.WaitGroup
		for i, c := range clockedHandoffs {
			worker, fallback := fmt.Sprint("worker", i), fmt.Sprint("fallback", i)
			body := fmt.Sprintf(`{"intent":"x","send":{"to":[%q%s],%s}%s}`, worker, c.and, c.send, c.task)
			body = strings.NewReplacer("FALLBACK", fallback, "DEADLINE", time.Now().Add(time.Minute).Format(time.RFC3339Nano)).Replace(body)
			w.must("planner", "POST /v1/tasks", body, &made[i])
			if c.does != nil {
				does.Go(func() { c.does(w, worker, made[i]) })
			}
		}
		does.Wait()
		time.Sleep(3 * time.Hour)
		for i, c := range clockedHandoffs {
			if got := w.passed(made[i].Task); got != c.want {
				w.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
			}
		}
	}, names...)
}

// passed is what happened to a task from the first offer or the wait for its approval on, as [clocked.want] has it.
func (w *town) passed(task string) string {
	w.Helper()
	var trail struct {
		Entries []struct {
			Timestamp time.Time
			Event     string
			Details   json.RawMessage
		}
	}
	w.must("planner", "GET /v1/tasks/"+task+"/trail", "", &trail)
	var said []string
	var before, due time.Time
	for _, e := range trail.Entries {
		if before.IsZero() && e.Event != "handoff-offered" && e.Event != "approval-asked" {
			continue
		}
		line := e.Event
		since := e.Timestamp.Sub(before).Truncate(time.Second) // the courier may be some milliseconds late
		switch {
		case !due.IsZero() && !e.Timestamp.Before(due) && e.Timestamp.Sub(due) < time.Second:
		case !before.IsZero() && since > 0:
			line = fmt.Sprintf("%.0f: %s", since.Seconds(), e.Event)
		}
		said, before, due = append(said, line), e.Timestamp, time.Time{}
		if e.Event == "retry-scheduled" {
			var retry struct{ At time.Time }
			if err := json.Unmarshal(e.Details, &retry); err != nil {
				w.Fatal(err)
			}
			due = retry.At
		}
	}
	return strings.Join(said, ", ")
}

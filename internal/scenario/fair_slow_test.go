//go:build slow || outside

package scenario

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Whatever one sends counts: offers, shares, questions, approvals, requests to take over.
func TestNobodyFillsAnInboxWithOtherThanOffers(t *testing.T) {
	inTown(t, func(w *town) {
		ways := map[string]func(r townTask) (int, string){
			"share": func(r townTask) (int, string) {
				return w.call("junk", "POST /v1/tasks/"+r.Task+"/share", fmt.Sprintf(`{"epoch":%d,"to":"worker"}`, r.Epoch), nil)
			},
			"question": func(r townTask) (int, string) {
				return w.call("junk", "POST /v1/tasks/"+r.Task+"/ask", fmt.Sprintf(`{"epoch":%d,"to":"worker","question":"?"}`, r.Epoch), nil)
			},
			"approval": func(r townTask) (int, string) {
				return w.call("junk", "POST /v1/tasks/"+r.Task+"/send", fmt.Sprintf(`{"epoch":%d,"to":["other"],"kind":"supervised","approver":"worker"}`, r.Epoch), nil)
			},
			"new approval": func(townTask) (int, string) {
				return w.call("junk", "POST /v1/tasks", `{"intent":"x","send":{"to":["other"],"kind":"supervised","approver":"worker"}}`, nil)
			},
			"offer": func(townTask) (int, string) {
				_, status, text := w.offers("junk", "worker", "")
				return status, text
			},
		}
		taken := map[string]int{}
		for range townOffers {
			for name, send := range ways {
				var r townTask
				w.must("junk", "POST /v1/tasks", `{"intent":"x","start":true}`, &r)
				status, text := send(r)
				if status < 300 {
					taken[name]++
				} else if status != http.StatusTooManyRequests || !strings.Contains(text, `"overloaded"`) {
					t.Fatalf("%s: %d %s", name, status, text)
				}
			}
		}
		sum := 0
		for name := range ways {
			sum += taken[name]
		}
		if sum != townOffers {
			t.Errorf("%d items of junk were taken, the bound is %d: %v", sum, townOffers, taken)
		}
		if _, status, text := w.offers("honest", "worker", ""); status >= 300 {
			t.Errorf("another sender: %d %s", status, text)
		}
	}, "junk", "honest", "other", "worker")
}

func (w *town) agentCircuits(name string) (a struct {
	Circuit struct{ State agent.Phase }
	Pairs   []struct {
		Sender string
		State  agent.Phase
	}
},
) {
	w.Helper()
	w.must("", "GET /v1/agents/"+name, "", &a)
	return a
}

func TestJunkOfOneSenderStopsNoOffersOfOthers(t *testing.T) {
	inTown(t, func(w *town) {
		if _, status, text := w.offers("junk", "worker", `,"timeouts":{"ack":"100ms"}`); status != http.StatusBadRequest && status != http.StatusUnprocessableEntity || !strings.Contains(text, "at least 5s") {
			w.Errorf("a tenth of a second to answer: %d %s", status, text)
		}
		for range 5 {
			w.offers("junk", "worker", `,"retries":0,"timeouts":{"ack":"5s"}`)
			w.ignores("worker")
		}
		if _, status, text := w.offers("junk", "worker", ""); !strings.Contains(text, string(refusal.CircuitOpen)) || !strings.Contains(text, "for this sender") {
			w.Errorf("the sixth piece of junk: %d %s", status, text)
		}
		for range 20 {
			if _, status, text := w.offers("honest", "worker", ""); status >= 300 {
				w.Fatalf("an honest sender: %d %s", status, text)
			}
		}
		a := w.agentCircuits("worker")
		if a.Circuit.State != agent.Closed || len(a.Pairs) != 1 || a.Pairs[0].Sender != "junk" || a.Pairs[0].State != agent.Open {
			w.Errorf("%+v", a)
		}
		if _, text := w.call("honest", "GET /v1/agents/worker", "", nil); strings.Contains(text, "junk") {
			w.Errorf("an agent sees the circuit of another: %s", text)
		}
		time.Sleep(time.Minute)
		if _, status, text := w.offers("junk", "worker", ""); status >= 300 {
			w.Errorf("its own probe: %d %s", status, text)
		}
	}, "junk", "honest", "worker")
}

func TestThoseWhoOpenedACircuitDoNotTakeItsProbe(t *testing.T) {
	inTown(t, func(w *town) {
		for _, from := range []string{"first", "second", "first"} {
			w.offers(from, "worker", `,"retries":0,"timeouts":{"ack":"5s"}`)
			w.ignores("worker")
		}
		if a := w.agentCircuits("worker"); a.Circuit.State != agent.Open {
			w.Fatalf("failures of two senders: %+v", a)
		}
		if _, _, text := w.offers("honest", "worker", ""); !strings.Contains(text, string(refusal.CircuitOpen)) {
			w.Errorf("while it is open: %s", text)
		}
		time.Sleep(time.Minute)
		for _, from := range []string{"first", "second"} {
			if _, status, text := w.offers(from, "worker", ""); !strings.Contains(text, string(refusal.CircuitOpen)) {
				w.Errorf("%s takes the probe: %d %s", from, status, text)
			}
		}
		r, status, text := w.offers("honest", "worker", "")
		if status >= 300 {
			w.Fatalf("the probe: %d %s", status, text)
		}
		w.must("worker", "POST /v1/handoffs/"+r.Handoff+"/accept", `{}`, nil)
		time.Sleep(time.Second)
		if a := w.agentCircuits("worker"); a.Circuit.State != agent.HalfOpen { // on trial
			w.Errorf("after the probe: %+v", a)
		}
		if _, status, text := w.offers("first", "worker", ""); status >= 300 {
			w.Errorf("after the probe: %d %s", status, text)
		}
	}, "first", "second", "honest", "worker")
}

// A worker that takes one item at a time has every sender's in turn, and every fourth is of the sender that has waited for the longest time: the
// priority of an item is the word of its sender.
func TestAReceiverOfOneItemAtATimeServesEverySender(t *testing.T) {
	inTown(t, func(w *town) {
		send := func(from, priority string) {
			if _, status, text := w.offers(from, "worker", `},"priority":"`+priority+`","limits":{"handoffs":5`); status >= 300 {
				t.Fatalf("%s: %d %s", from, status, text)
			}
		}
		for range 20 {
			send("junk", "urgent")
		}
		for range 3 {
			send("other", "urgent")
			send("honest", "low")
		}
		served := ""
		for range 12 {
			var page struct {
				Items []struct{ ID, From string }
			}
			w.must("worker", "GET /v1/inbox?limit=1&peek=true", "", &page) // to look takes no turn
			next := page.Items[0].ID
			w.must("worker", "GET /v1/inbox?limit=1", "", &page)
			if page.Items[0].ID != next {
				t.Errorf("%s was next, and %s came", next, page.Items[0].ID)
			}
			served += page.Items[0].From[:1]
			var got townTask
			w.must("worker", "POST /v1/handoffs/"+next+"/accept", `{}`, &got)
			w.must("worker", "POST /v1/tasks/"+got.Task+"/complete", fmt.Sprintf(`{"epoch":%d,"result":{"text":"x"}}`, got.Epoch), nil)
			send("junk", "urgent")
		}
		if want := "jojhojohjjjh"; served != want {
			t.Errorf("served were %s, want %s", served, want)
		}
	}, "junk", "honest", "other", "worker")
}

// A desk has no more of one asker than an inbox.
func TestNobodyFillsADesk(t *testing.T) {
	inTown(t, func(w *town) {
		ask := func(from, more string) (int, string) {
			var r townTask
			w.must(from, "POST /v1/tasks", `{"intent":"x","start":true}`, &r)
			return w.call(from, "POST /v1/tasks/"+r.Task+"/ask", fmt.Sprintf(`{"epoch":%d,"question":"?"%s}`, r.Epoch, more), nil)
		}
		taken := 0
		for n := range townOffers + 10 {
			more := [...]string{"", `,"to":"other"`}[n%2] // the desk has the question once the time of whom it names is over
			if status, text := ask("junk", more); status < 300 {
				taken++
			} else if status != http.StatusTooManyRequests || !strings.Contains(text, `"overloaded"`) {
				t.Fatalf("%d %s", status, text)
			}
		}
		if taken != townOffers {
			t.Errorf("%d questions of junk were taken, the bound is %d", taken, townOffers)
		}
		if status, text := ask("honest", ""); status >= 300 {
			t.Errorf("another asker: %d %s", status, text)
		}
	}, "junk", "honest", "other")
}

// Who asks for the tickets of a desk takes turns, so that who asks for many does not hide the others.
func TestNobodyHidesTheTicketsOfOthers(t *testing.T) {
	inTown(t, func(w *town) {
		within := ""
		ask := func(from string) {
			var r townTask
			w.must(from, "POST /v1/tasks", `{"intent":"x","start":true}`, &r)
			w.must(from, "POST /v1/tasks/"+r.Task+"/ask", fmt.Sprintf(`{"epoch":%d,"question":"?"%s}`, r.Epoch, within), nil)
		}
		within = `,"within":"1h"` // it calls everything urgent
		for range 30 {
			ask("junk")
		}
		within = ""
		for range 2 {
			ask("honest")
			ask("other")
		}
		type list struct {
			Tickets []struct{ ID, By string }
			Next    string
		}
		asked := func(p list) (n map[string]int) {
			n = map[string]int{}
			for _, k := range p.Tickets {
				n[k.By]++
			}
			return n
		}
		var page list
		w.must("", "GET /v1/tickets?limit=10", "", &page)
		if n := asked(page); n["junk"] != 6 || n["honest"] != 2 || n["other"] != 2 || page.Tickets[0].By != "junk" {
			t.Errorf("of 10 tickets %v, the first of %s", n, page.Tickets[0].By)
		}
		page = list{}
		w.must("", "GET /v1/tickets?limit=10&order=due", "", &page)
		if n := asked(page); n["junk"] != 6 || n["honest"] != 2 || n["other"] != 2 || page.Tickets[5].By != "junk" || page.Tickets[6].By != "honest" {
			t.Errorf("of 10 tickets by due time %v: %+v", n, page.Tickets)
		}
		for _, order := range []string{"opened", "due"} {
			for _, limit := range []int{1, 7, 500} { // by the cursor from page to page, nothing is left out
				got, after, pages := map[string]bool{}, "", 0
				for ; after != "" || pages == 0; pages++ {
					page = list{}
					w.must("", fmt.Sprintf("GET /v1/tickets?limit=%d&order=%s&after=%s", limit, order, after), "", &page)
					for _, k := range page.Tickets {
						got[k.ID] = true
					}
					if after = page.Next; pages > 40 {
						t.Fatal("the list does not come to an end")
					}
				}
				if len(got) != 34 {
					t.Errorf("%d tickets in %d pages of %d, %s", len(got), pages, limit, order)
				}
			}
		}
		served := ""
		for range 8 { // one after the other, each answered
			page = list{}
			w.must("", "GET /v1/tickets?limit=1", "", &page)
			served += page.Tickets[0].By[:1]
			w.must("", "POST /v1/tickets/"+page.Tickets[0].ID+"/answer", `{"answer":"!"}`, nil)
			ask("junk")
		}
		if strings.Count(served, "h") != 2 || strings.Count(served, "o") != 2 {
			t.Errorf("served were %s", served)
		}
	}, "junk", "honest", "other")
}

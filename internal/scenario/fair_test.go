package scenario

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
)

// town is a server with its HTTP API, whose clock is the test's, and the tokens of several agents.
type town struct {
	*harness
	api    http.Handler
	tokens map[string]string
}

// townOffers is how many offers of one sender may wait for one receiver.
const townOffers = 40

// inTown tells a story of agents that each have a token of their own. They are registered, and ready.
func inTown(t *testing.T, tell func(w *town), names ...string) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		h, stop := reopen(t, dir, func(o *usecase.Options) { o.MaxWaiting = townOffers })
		defer stop()
		admin, err := h.app.Tokens.Bootstrap(t.Context(), identity.DefaultWorkspace)
		if err != nil {
			t.Fatal(err)
		}
		w := &town{harness: h, api: httpapi.New(&h.app.Surface, httpapi.Options{}), tokens: map[string]string{"": admin}}
		for _, name := range names {
			h.register(name, agents.AgentSpec{})
			w.admit(name)
		}
		tell(w)
	})
}

// admit makes the token of an agent.
func (w *town) admit(name string) {
	w.Helper()
	var token struct{ Token string }
	w.must("", "POST /v1/tokens", fmt.Sprintf(`{"role":"agent","name":%q}`, name), &token)
	w.tokens[name] = token.Token
}

// call makes a request with the token of an agent, or the first operator's, and reads the answer.
func (w *town) call(as, line, body string, into any) (status int, text string) {
	w.Helper()
	return w.callAs(as, "", line, body, into)
}

// callAs is call with the word of the person at the client of the agent.
func (w *town) callAs(as, person, line, body string, into any) (status int, text string) {
	w.Helper()
	method, path, _ := strings.Cut(line, " ")
	if method == http.MethodGet {
		w.settle() // agents look when there is something: views that follow a record are a moment behind it
	}
	req := httptest.NewRequestWithContext(w.Context(), method, path, strings.NewReader(body))
	req.Host = "127.0.0.1"
	req.Header.Set("Authorization", "Bearer "+w.tokens[as])
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if person != "" {
		req.Header.Set("Trapeze-Person", person)
	}
	res := httptest.NewRecorder()
	w.api.ServeHTTP(res, req)
	if into != nil {
		if err := json.Unmarshal(res.Body.Bytes(), into); err != nil {
			w.Fatalf("%s: %d %s", line, res.Code, res.Body)
		}
	}
	return res.Code, res.Body.String()
}

// must is call for an answer that is no refusal.
func (w *town) must(as, line, body string, into any) {
	w.Helper()
	if status, text := w.call(as, line, body, into); status >= 300 {
		w.Fatalf("%s as %q: %d %s", line, as, status, text)
	}
}

type townTask struct {
	Task, Handoff string
	Epoch         uint64
}

// offers has an agent send a task to another.
func (w *town) offers(from, to, more string) (r townTask, status int, text string) {
	w.Helper()
	status, text = w.call(from, "POST /v1/tasks", fmt.Sprintf(`{"intent":"work of %s","send":{"to":[%q]%s}}`, from, to, more), &r)
	return r, status, text
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

// ignores has an agent see the offers that wait, and not answer them in time.
func (w *town) ignores(name string) {
	w.Helper()
	w.must(name, "GET /v1/inbox?see=true", "", nil)
	time.Sleep(10 * time.Second)
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

func TestNobodyFillsTheInboxOfAnother(t *testing.T) {
	inTown(t, func(w *town) {
		taken := 0
		for range 3 * townOffers {
			_, status, text := w.offers("junk", "worker", `,"retries":0},"priority":"urgent","limits":{"handoffs":5`)
			if status < 300 {
				taken++
			} else if status != http.StatusTooManyRequests || !strings.Contains(text, `"overloaded"`) || !strings.Contains(text, "try again in 10 s") {
				t.Fatalf("%d %s", status, text)
			}
		}
		if taken != townOffers {
			t.Errorf("%d offers of junk were taken, the bound is %d", taken, townOffers)
		}
		for _, from := range []string{"honest", "other"} {
			if _, status, text := w.offers(from, "worker", `,"retries":0},"priority":"urgent","limits":{"handoffs":5`); status >= 300 {
				t.Fatalf("%s: %d %s", from, status, text)
			}
		}
		if _, status, text := w.offers("junk", "other", ""); status >= 300 {
			t.Errorf("junk to another: %d %s", status, text)
		}
		var page struct {
			Items  []struct{ ID, From string }
			Cursor string
		}
		w.must("worker", "GET /v1/inbox?limit=3", "", &page)
		got := ""
		for _, i := range page.Items {
			got += i.From + " "
		}
		if got != "junk honest other " {
			t.Errorf("the first page has offers of %s", got)
		}
		all, junk := map[string]int{}, ""
		w.must("worker", "GET /v1/inbox?limit=500", "", &page)
		for _, i := range page.Items {
			all[i.ID]++
			if i.From == "junk" {
				junk = i.ID
			}
		}
		paged, after := map[string]int{}, "1" // by its cursor from the first entry on
		for {
			w.must("worker", fmt.Sprintf("GET /v1/inbox?limit=7&after=%s", after), "", &page)
			if len(page.Items) == 0 {
				break
			}
			for _, i := range page.Items {
				paged[i.ID]++
			}
			after = page.Cursor
		}
		if len(all) != townOffers+2 || !maps.Equal(all, paged) {
			t.Errorf("%d items at once, %d in pages: %v", len(all), len(paged), paged)
		}
		w.must("worker", "POST /v1/handoffs/"+junk+"/reject", `{"reason":"refused"}`, nil)
		if _, status, text := w.offers("junk", "worker", ""); status >= 300 {
			t.Errorf("once there is room: %d %s", status, text)
		}
	}, "junk", "honest", "other", "worker")
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

// A receiver that goes on by the cursor of its inbox comes to what is not urgent, however much that is comes in the meantime.
func TestAReceiverThatGoesOnServesEverySender(t *testing.T) {
	inTown(t, func(w *town) {
		send := func(from, priority string) {
			if _, status, text := w.offers(from, "worker", `},"priority":"`+priority+`","limits":{"handoffs":5`); status >= 300 {
				t.Fatalf("%s: %d %s", from, status, text)
			}
		}
		send("junk", "normal")
		send("junk", "normal")
		for range 30 {
			send("junk", "urgent")
		}
		for range 2 {
			send("honest", "low")
		}
		served, cursor := "", "1"
		for range 16 {
			var page struct {
				Items  []struct{ ID, From string }
				Cursor string
			}
			w.must("worker", "GET /v1/inbox?limit=1&after="+cursor, "", &page)
			served, cursor = served+page.Items[0].From[:1], page.Cursor
			w.must("worker", "POST /v1/handoffs/"+page.Items[0].ID+"/reject", `{"reason":"refused"}`, nil)
			send("junk", "urgent")
		}
		if want := "jjjhjjjhjjjjjjjj"; served != want {
			t.Errorf("served were %s, want %s", served, want)
		}
	}, "junk", "honest", "worker")
}

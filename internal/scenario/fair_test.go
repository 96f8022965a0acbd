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
	"github.com/trapezehq/trapeze/internal/domain/identity"
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

// ignores has an agent see the offers that wait, and not answer them in time.
func (w *town) ignores(name string) {
	w.Helper()
	w.must(name, "GET /v1/inbox?see=true", "", nil)
	time.Sleep(10 * time.Second)
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

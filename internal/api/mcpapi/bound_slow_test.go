//go:build slow

package mcpapi_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/inprocess"
	"github.com/trapezehq/trapeze/internal/api/mcpapi"
	"github.com/trapezehq/trapeze/internal/content/tokenizer"
)

const aTask = "task_06h0er7018ff0g2mznftzvjt3g"

// everyCall has calls of every tool, with every kind of answer that the tool has.
var everyCall = []struct {
	tool string
	args m
}{
	{"join", m{}},
	{"inbox", m{}},
	{"inbox", m{"limit": 30}},
	{"send", m{"intent": "x", "to": "ann"}},
	{"send", m{"task": aTask, "to": "auto"}},
	{"accept", m{"handoff": aTask + ".h1"}},
	{"accept", m{"takeover": aTask}},
	{"reject", m{"handoff": aTask + ".h1", "reason": "overloaded"}},
	{"decide", m{"id": aTask + ".k1", "verdict": "answer", "text": "x"}},
	{"decide", m{"id": aTask + ".h1", "verdict": "approve"}},
	{"progress", m{"task": aTask, "note": "x", "epoch": 1}},
	{"complete", m{"task": aTask, "text": "x", "epoch": 1}},
	{"escalate", m{"task": aTask, "epoch": 1}},
	{"escalate", m{"stuck": "ann"}},
	{"ask", m{"task": aTask, "question": "x", "epoch": 1}},
	{"ask", m{"task": aTask, "question": "x", "epoch": 1, "wait": 1}},
	{"status", m{}},
	{"status", m{"id": aTask}},
	{"status", m{"id": aTask, "skip": 1000}},
	{"status", m{"id": aTask, "history": true}},
	{"status", m{"id": aTask + ".k1"}},
	{"status", m{"id": aTask + ".h1", "document": true}},
	{"cancel", m{"id": aTask}},
	{"remember", m{"text": "x"}},
	{"recall", m{}},
	{"recall", m{"query": "x", "limit": 50}},
	{"recall", m{"id": "mem_1"}},
	{"recall", m{"id": "mem_1", "versions": true}},
	{"conversation", m{"id": "c"}},
	{"conversation", m{"id": "c", "say": "x"}},
	{"conversation", m{"id": "c", "condensed": true}},
	{"route", m{"task": aTask}},
	{"constrain", m{"task": aTask, "constraint": "style:brief"}},
	{"artifact", m{"text": "x"}},
	{"artifact", m{"digest": "sha256:" + strings.Repeat("0", 64)}},
	{"channel", m{}},
	{"channel", m{"name": "c"}},
	{"dead", m{"action": "list"}},
	{"dead", m{"action": "discard", "task": aTask, "why": "x"}},
	{"agent", m{"agent": "ann"}},
	{"agent", m{"agent": "ann", "action": "shed"}},
	{"annotate", m{"task": aTask, "entry": 1, "note": "x"}},
	{"alerts", m{}},
	{"do", m{"text": "show active handoffs"}},
}

// smallOn connects an agent with a window of 1,500 tokens to an API.
func smallOn(t *testing.T, api http.Handler) smallReader {
	t.Helper()
	counter, err := tokenizer.For("")
	if err != nil {
		t.Fatal(err)
	}
	h := &harness{t: t, api: mcpapi.NewHandler(api, mcpapi.HandlerOptions{Options: mcpapi.Options{Version: "test"}, Log: slog.New(slog.DiscardHandler)})}
	a := h.connectOn(choosing{"tools=all", bearer{"trapeze_x", inprocess.Transport(h.api)}}, statelessVersion, "coder", nil)
	return smallReader{a, counter.Count}
}

// choosing puts a query on the address of every request.
type choosing struct {
	query string
	next  http.RoundTripper
}

func (c choosing) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.RawQuery = c.query
	return c.next.RoundTrip(r)
}

// fitsHalf fails if a text is larger than half of the window.
func (r smallReader) fitsHalf(what, text string) {
	r.t.Helper()
	if n := r.count(text); n > 750 {
		r.t.Errorf("%s has %d tokens:\n%s", what, n, text)
	}
}

// A refusal is bounded as an answer is.
func TestALongRefusalFitsTheWindowOfItsReader(t *testing.T) {
	list := make([]string, 400)
	for i := range list {
		list[i] = fmt.Sprintf("result.items[%d].name: must be a string", i)
	}
	body, err := json.Marshal(m{"code": "invalid", "detail": strings.Join(list, "; "), "hint": "fix the result and call again", "status": 422, "details": m{"problems": list}})
	if err != nil {
		t.Fatal(err)
	}
	filled := filling{text: "x", many: 1, window: 1500, state: client.Executing}.api(t)
	r := smallOn(t, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.Method == http.MethodGet {
			filled.ServeHTTP(w, q)
			return
		}
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = w.Write(body)
	}))
	text, data, refused := r.try("complete", m{"task": aTask, "text": "x", "epoch": 1})
	b, err := json.Marshal(data)
	if !refused || err != nil || !strings.Contains(text, "items[0]") || !strings.Contains(text, "Left out: ") || !strings.Contains(text, "What to do: ") || data["code"] != "invalid" {
		t.Errorf("%v %s", data, text)
	}
	r.fitsHalf("the refusal", text)
	r.fitsHalf("the refusal as data", string(b))
}

// What is left out of a status is read with the call that the answer names, to the last byte.
func TestAChildsLongResultIsReadInPagesThatFitTheWindow(t *testing.T) {
	h := open(t)
	defer h.deliver()()
	r := h.smallReader("small", "", "all")
	worker := h.agent(statelessVersion, "worker")
	for _, a := range []*agent{r.agent, worker} {
		a.call("join", m{})
	}
	sent, err := h.admin.CreateTask(t.Context(), client.CreateInput{Intent: "Lead", Send: &client.SendInput{To: []string{"small"}}})
	if err != nil {
		t.Fatal(err)
	}
	r.call("accept", m{"handoff": sent.Handoff})
	r.call("send", m{"task": sent.Task, "to": "worker", "kind": "delegation"})
	_, box := worker.call("inbox", m{"wait": 20})
	offer := box["items"].([]any)[0].(m)
	worker.call("accept", m{"handoff": offer["id"]})
	worker.call("complete", m{"task": offer["task"], "text": words(2500)})
	r.call("inbox", m{"wait": 20}) // the task has resumed
	var whole strings.Builder
	pages := 0
	for args := (m{"id": sent.Task}); args != nil; pages++ {
		text, _, refused := r.try("status", args)
		if refused {
			t.Fatal(text)
		}
		r.fitsHalf("status", text)
		piece, _, _ := strings.Cut(text, "Not all: ")
		if piece, fenced := strings.CutPrefix(piece, "```\n"); fenced {
			piece, _, _ = strings.Cut(piece, "\n```")
			whole.WriteString(piece)
		} else {
			whole.WriteString(piece)
		}
		args = next(args, text)
	}
	for i := range 2500 {
		if word := strings.Fields(words(i + 1))[i]; i%50 == 0 && !strings.Contains(whole.String(), strings.Trim(word, "`")) {
			t.Fatalf("%s is in none of %d pages", word, pages)
		}
	}
	if pages < 10 {
		t.Errorf("%d pages", pages)
	}
}

// The timeout of an offer begins when its receiver reads it: an offer that did not fit was not read.
func TestAnInboxGivesAsManyOffersAsFitAndTheOthersStayUnseen(t *testing.T) {
	h := open(t)
	r := h.smallReader("small", "", "")
	r.call("join", m{})
	want := map[string]bool{}
	for i := range 30 {
		sent, err := h.admin.CreateTask(t.Context(), client.CreateInput{Intent: fmt.Sprint(i, " ", words(40)), Send: &client.SendInput{To: []string{"small"}, Detail: words(30)}})
		if err != nil {
			t.Fatal(err)
		}
		want[sent.Handoff] = true
	}
	got := map[string]bool{}
	for args := (m{"limit": 30}); len(got) < 30; {
		_, data := r.page("inbox", args)
		items := data["items"].([]any)
		if len(items) == 0 {
			t.Fatalf("%d of 30 offers, then %v", len(got), data)
		}
		for _, i := range items {
			got[i.(m)["id"].(string)] = true
		}
		box, err := h.admin.Inbox(t.Context(), client.InboxOptions{Agent: "small", Limit: 100, Peek: true})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(slices.DeleteFunc(box.Items, func(i client.Item) bool { return !i.Seen })); n != len(got) {
			t.Fatalf("%d offers count as seen, %d were read", n, len(got))
		}
		args = m{"limit": 30, "after": data["cursor"]}
	}
	for id := range want {
		if !got[id] {
			t.Errorf("%s was not listed", id)
		}
	}
}

func TestASearchNamesWhatItHasNoRoomFor(t *testing.T) {
	h := open(t)
	r := h.smallReader("small", "", "")
	want := map[string]bool{}
	for i := range 50 {
		item, err := h.admin.Remember(t.Context(), client.RememberInput{Text: fmt.Sprint("apple ", i, " ", words(60)), Title: words(10), Scope: client.ScopeWorkspace})
		if err != nil {
			t.Fatal(err)
		}
		want[item.ID] = true
	}
	for _, args := range []m{{"query": "apple", "limit": 50}, {"limit": 50}} {
		text, data := r.page("recall", args)
		items := data["items"].([]any)
		if len(items) < 5 || items[0].(m)["text"] == nil || !strings.Contains(text, "Found, too: mem_") || !strings.Contains(text, "Left out: ") {
			t.Errorf("%v: %d items in\n%s", args, len(items), text)
		}
	}
}

//go:build slow

package server

import (
	"context"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	adminapi "github.com/trapezehq/trapeze/client/admin"
)

// Of more tickets than a page has, the inbox has those that are due first, and of each asker some: when a ticket is due is its asker's word.
func TestTheInboxHasWhatIsDueFirst(t *testing.T) {
	_, _, page, agents := crew(t, "ann", "junk")
	ask := func(by, question string, within time.Duration) {
		r, err := agents[by].CreateTask(t.Context(), client.CreateInput{Intent: question, Start: true})
		if err != nil {
			t.Fatal(err)
		}
		must(t)(agents[by].Ask(t.Context(), r.Task, client.AskInput{Epoch: 1, Question: question, Within: client.Duration(within)}))
	}
	for n := range 150 { // the newest is due first
		ask("ann", fmt.Sprintf("Question %03d?", n), time.Duration(200-n)*time.Hour)
	}
	body := page.get("/inbox", http.StatusOK)
	shown(t, "the inbox", body, "Question 149?", "Question 148?", "Question 051?", "Question 050?", `<a class="button" href="`)
	if strings.Contains(body, "Question 049?") {
		t.Error("a page has more than 100 tickets")
	}
	_, rest, _ := strings.Cut(body, `<a class="button" href="`)
	next, _, _ := strings.Cut(rest, `"`)
	shown(t, "the second page", page.get(html.UnescapeString(next), http.StatusOK), "Question 049?", "Question 000?")

	for n := range 110 {
		ask("junk", fmt.Sprintf("Junk %03d?", n), time.Hour)
	}
	shown(t, "the inbox in a flood", page.get("/inbox", http.StatusOK), "Junk 000?", "Junk 049?", "Question 149?", "Question 100?")
}

// Each ticket is on one page of the inbox, however the askers take turns, also when tickets are closed, and others opened, between pages.
func TestEachTicketIsOnOnePageOfTheInbox(t *testing.T) {
	_, admin, page, agents := crew(t, "ann", "bob", "cat", "junk")
	ctx, many := t.Context(), 0
	ask := func(by string, within time.Duration) {
		name := fmt.Sprint(by, " ", many)
		r, err := agents[by].CreateTask(ctx, client.CreateInput{Intent: name, Start: true})
		if err != nil {
			t.Fatal(err)
		}
		must(t)(agents[by].Ask(ctx, r.Task, client.AskInput{Epoch: 1, Question: name + "?", Within: client.Duration(within)}))
		many++
	}
	for n := range 150 {
		ask("junk", time.Hour+time.Duration(n)*time.Second)
		if n%5 == 0 {
			ask([]string{"ann", "bob", "cat"}[n%3], time.Hour+time.Duration(2*n)*time.Second)
		}
		if n%10 == 0 {
			ask([]string{"ann", "bob", "cat"}[n%3], 48*time.Hour)
		}
	}
	read := func(path string) (names, tasks []string, next string) {
		body := page.get(path, http.StatusOK)
		for _, m := range asked.FindAllStringSubmatch(body, -1) {
			tasks, names = append(tasks, m[1]), append(names, m[2])
		}
		if _, rest, ok := strings.Cut(body, `<a class="button" href="`); ok {
			next, _, _ = strings.Cut(rest, `"`)
		}
		return names, tasks, html.UnescapeString(next)
	}
	for _, closes := range []bool{false, true} {
		seen, pages, closed := map[string]int{}, 0, 0
		for path := "/inbox"; path != ""; pages++ {
			names, tasks, next := read(path)
			for _, name := range names {
				seen[name]++
			}
			if path = next; closes && next != "" { // of this page, and so none that is still to come; the next page begins where this one ends
				for _, n := range []int{0, len(tasks) / 2, len(tasks) - 1} {
					must(t)(admin.Answer(ctx, tasks[n]+".k1", client.AnswerInput{Answer: "yes"}))
					closed++
				}
				ask("bob", time.Minute)
			}
		}
		for name, times := range seen {
			if times != 1 {
				t.Errorf("%s is on %d pages", name, times)
			}
		}
		if len(seen) != 150+30+15 || pages < 2 || closes && closed < 3 {
			t.Errorf("%d pages have %d tickets", pages, len(seen))
		}
	}
	if body := page.do(http.MethodGet, "/inbox?after=nonsense", ""); body.status != http.StatusBadRequest {
		t.Errorf("a cursor that is none: %d", body.status)
	}
}

// The inbox of a person at a desk, and the page of a ticket of that desk, follow what others do with the ticket; the pages of a memory item and of a conversation
// that the person may read, how they go on. The record's page follows the limits of its workspace, whichever that is.
func TestThePagesOfAPersonAtADeskAreLive(t *testing.T) {
	s, admin, _, agents := crew(t, "ann", "zack")
	zoe := atDesk(t, s, admin)
	must(t)(admin.RegisterAgent(t.Context(), "zack", client.AgentSpec{Kind: "human", Capabilities: []string{"billing"}}))
	made, err := agents["ann"].CreateTask(t.Context(), client.CreateInput{Intent: "Pay it back", Start: true})
	if err != nil {
		t.Fatal(err)
	}
	must(t)(agents["ann"].Ask(t.Context(), made.Task, client.AskInput{Epoch: 1, Question: "Refund it?", Desk: "billing"}))
	ticket := made.Task + ".k1"
	toggle := func() {
		must(t)(agents["zack"].Claim(t.Context(), ticket))
		must(t)(agents["zack"].Release(t.Context(), ticket, client.ReleaseInput{}))
	}
	note, err := agents["ann"].Remember(t.Context(), client.RememberInput{Text: "Refunds take a day", Scope: client.ScopeWorkspace})
	must(t)(note, err)
	revise := func() {
		must(t)(agents["ann"].Revise(t.Context(), note.ID, client.ReviseInput{Text: "Refunds take two days"}))
	}
	say := func() {
		must(t)(agents["ann"].AppendTurn(t.Context(), "case~ann", client.TurnInput{Role: "user", Text: "Where is my money?", Task: made.Task}))
	}
	say()
	passed, err := agents["ann"].CreateTask(t.Context(), client.CreateInput{Intent: "Call the customer", Conversation: "case~ann", Send: &client.SendInput{To: []string{"human:billing"}}})
	must(t)(passed, err)
	zoe.post("/tickets/"+passed.Task+".k1/claim", "", "Claimed: it is yours.")
	admins := adminapi.New(admin)
	other, err := admins.CreateWorkspace(t.Context(), adminapi.WorkspaceInput{Name: "other"})
	must(t)(other, err)
	olga := newReader(t, s)
	olga.get(olga.link(other.Token.Text), http.StatusOK)
	bound := func() {
		must(t)(admins.SetLimits(t.Context(), "other", adminapi.LimitsInput{OpenTasks: new(int64(9))}))
	}
	for page, change := range map[string]func(){"/inbox": toggle, "/tickets/" + ticket: toggle, "/memory/" + note.ID: revise, "/conversations/case~ann": say, "/record": bound} {
		zoe := zoe
		if page == "/record" {
			zoe = olga
		}
		_, rest, _ := strings.Cut(zoe.get(page, http.StatusOK), `data-live="`)
		live, _, _ := strings.Cut(rest, `"`)
		_, rest, _ = strings.Cut(rest, `data-position="`)
		position, _, _ := strings.Cut(rest, `"`)
		change() // before the stream begins
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		if !zoe.follows(ctx, "/live?task="+url.QueryEscape(live)+"&after="+position) {
			t.Errorf("%s is not told of a change that came after it was shown", page)
		}
		cancel()
	}
}

// The overview has the tickets that are due first, and how many more there are; tickets of takeovers have the names of their tasks; what was closed last comes first.
func TestThePageOrdersAndNamesWhatWaitsForPeople(t *testing.T) {
	s, admin, page, agents := crew(t, "ann")
	ctx, zoe := t.Context(), atDesk(t, s, admin)
	var first, last client.Receipt
	for n := range 7 { // the last is due first
		r, err := agents["ann"].CreateTask(ctx, client.CreateInput{Intent: fmt.Sprint("asks ", n), Start: true})
		if err != nil {
			t.Fatal(err)
		}
		must(t)(agents["ann"].Ask(ctx, r.Task, client.AskInput{Epoch: 1, Question: fmt.Sprint("Question ", n, "?"), Desk: "billing", Within: client.Duration(time.Duration(10-n) * time.Hour)}))
		if last = r; n == 0 {
			first = r
		}
	}
	body := page.get("/", http.StatusOK)
	shown(t, "the overview", body, "Waits for you", "Question 6?", "Question 5?", "Question 2?", `<a href="/inbox">2 more</a>`)
	if strings.Contains(body, "Question 1?") {
		t.Error("the overview has more than it counts")
	}
	zoe.post("/tickets/"+first.Task+".k1/claim", "", "Claimed")
	if _, err := admin.Claim(ctx, last.Task+".k1"); err != nil {
		t.Fatal(err)
	}
	shown(t, "what waits for zoe: what she has claimed, and not what another has", zoe.get("/", http.StatusOK), "Waits for you", "Question 5?", "Question 1?", `<a href="/inbox">1 more</a>`)
	shown(t, "what waits for the other", page.get("/", http.StatusOK), "Waits for you", "Question 6?", "Question 5?", "Question 2?", `<a href="/inbox">1 more</a>`)
	if _, err := admin.Release(ctx, last.Task+".k1", client.ReleaseInput{}); err != nil {
		t.Fatal(err)
	}
	over, err := agents["ann"].CreateTask(ctx, client.CreateInput{Intent: "Call the customer", Send: &client.SendInput{To: []string{"human:billing"}}})
	if err != nil {
		t.Fatal(err)
	}
	ticket := "/tickets/" + over.Task + ".k1"
	shown(t, "the inbox", page.get("/inbox", http.StatusOK), `<a href="`+ticket+`">Call the customer</a>`)
	shown(t, "the ticket", page.get(ticket, http.StatusOK), "<h1>Take over: Call the customer</h1>")
	shown(t, "the handoff", page.get("/tasks/"+over.Task+"/hops/1", http.StatusOK), `<span class="tag">billing <span`)

	zoe.post("/tickets/"+last.Task+".k1/answer", "answer=it+is", "Answered.")
	if body := zoe.get("/tickets/"+last.Task+".k1?did=answer", http.StatusOK); !strings.Contains(body, `<a href="/inbox" autofocus>`) {
		t.Errorf("who has answered does not go on to the inbox:\n%s", body)
	}
	if _, err := s.Advance(ctx, time.Minute); err != nil {
		t.Fatal(err)
	}
	zoe.post("/tickets/"+first.Task+".k1/answer", "answer=it+is", "Answered.")
	before := page.get("/inbox?past=1", http.StatusOK)
	shown(t, "what was answered before", before, "Question 0?", "Question 6?", "<kbd>j</kbd>")
	if strings.Contains(before, "<kbd>a</kbd>") {
		t.Error("keys answer what was answered before")
	}
	must(t)(admin.SetReadiness(ctx, "ann", client.Offline))
	shown(t, "an agent that is offline", page.get("/agents/ann", http.StatusOK), `<span class="readiness offline">offline, set by an operator</span>`)
}

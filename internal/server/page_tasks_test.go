package server

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
)

// Several tasks of a list are cancelled with one reason; the list goes on as it was, and those that could not be are named.
func TestThePageCancelsSeveralTasksAtOnce(t *testing.T) {
	s, admin, page, agents := crew(t, "ann")
	ctx := t.Context()
	var ids []string
	for n := range 5 {
		made, err := admin.CreateTask(ctx, client.CreateInput{Intent: fmt.Sprint("sweep ", n)})
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, made.Task)
	}
	must(t)(admin.Cancel(ctx, ids[4], client.CancelInput{}))
	body := page.get("/tasks?text=sweep", http.StatusOK)
	for n, id := range ids {
		if box := strings.Contains(body, `name="task" value="`+id+`"`); box == (n == 4) {
			t.Errorf("task %d can be chosen: %v", n, box)
		}
	}
	form := func(ids ...string) string {
		return url.Values{"task": ids, "detail": {"not needed"}, "key": {client.NewKey()}}.Encode()
	}
	const list = "/tasks?text=sweep"
	page.post(list, form(ids[0], ids[1]), "Cancelled, and their children")
	const none = "task_00000000000000000000000000"
	if got := page.do(http.MethodPost, list, form(ids[2], none, ids[3])); got.status != http.StatusConflict || !strings.Contains(got.body, "1 of 3 were not changed: "+none) {
		t.Errorf("%d %s", got.status, got.body)
	}
	for n, id := range ids {
		if task, err := admin.Task(ctx, id); err != nil || task.State != client.Cancelled {
			t.Errorf("task %d: %v, %s", n, err, task.State)
		}
	}
	if strings.Contains(body, "Several at once") == strings.Contains(page.get(list, http.StatusOK), "Several at once") {
		t.Error("several can be cancelled where all have ended, or cannot where some have not")
	}
	trail, err := admin.Trail(ctx, ids[3])
	if err != nil || !slices.ContainsFunc(trail.Entries, func(e client.AuditEntry) bool { return strings.Contains(string(e.Details), "not needed") }) {
		t.Errorf("%v: the reason is not in the record", err)
	}
	if got := page.do(http.MethodPost, list, form()); got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, "choose 1 to 500") {
		t.Errorf("none: %d %s", got.status, got.body)
	}
	if got := page.do(http.MethodPost, list, form(slices.Repeat(ids[:1], 501)...)); got.status != http.StatusUnprocessableEntity {
		t.Errorf("too many: %d %s", got.status, got.body)
	}
	own, err := agents["ann"].CreateTask(ctx, client.CreateInput{Intent: "of ann"})
	if err != nil {
		t.Fatal(err)
	}
	other := newReader(t, s)
	other.get(other.link(agentToken(t, admin, "bob")), http.StatusOK)
	other.get("/tasks", http.StatusOK)
	if got := other.do(http.MethodPost, "/tasks", form(own.Task)); got.status != http.StatusConflict {
		t.Errorf("bob cancels a task of ann: %d", got.status)
	}
	if got := page.do(http.MethodPost, "/tasks", form(own.Task), "Sec-Fetch-Site", "cross-site", "Origin", "http://evil.example"); got.status != http.StatusForbidden {
		t.Errorf("from another site: %d", got.status)
	}
	if task, err := admin.Task(ctx, own.Task); err != nil || task.State.Final() {
		t.Errorf("%v: %s", err, task.State)
	}
}

// A dead letter goes to others, to a capability, back to its owner or with a larger budget, or is given up, several at once.
func TestDeadLettersAreReplayedAndDiscardedOnThePage(t *testing.T) {
	_, admin, page, agents := crew(t, "ann", "bob", "mute")
	ctx := t.Context()
	must(t)(admin.RegisterAgent(ctx, "bob", client.AgentSpec{Capabilities: []string{"paint"}}))
	dead := func(intent string, by *client.Client) string {
		t.Helper()
		made, err := by.CreateTask(ctx, client.CreateInput{Intent: intent, Start: by != admin, Budget: client.Spend{Tokens: 10}})
		if err != nil {
			t.Fatal(err)
		}
		sent, err := by.Send(ctx, made.Task, client.SendInput{Epoch: made.Epoch, To: []string{"mute"}, Retries: new(int)})
		if err != nil {
			t.Fatal(err)
		}
		must(t)(agents["mute"].Reject(ctx, sent.Handoff, client.RejectInput{Reason: client.Refused, Detail: "not mine"}))
		return made.Task
	}
	is := func(id string) client.Task {
		t.Helper()
		task, err := admin.Task(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		return task
	}
	one, two, three, four := dead("one", admin), dead("two", admin), dead("three", admin), dead("four", admin)
	shown(t, "the dead letters", page.get("/dead", http.StatusOK), "four", "<strong>", "not mine", "<time datetime=", "three")
	shown(t, "the story of a dead letter", page.get("/tasks/"+one, http.StatusOK), "In the dead letters", "handoff rejected", "not mine")
	page.post("/dead", "verb=replay&key=k1&to=ann,bob&tokens=500&ask=Paint+one+wall&answered=1&task="+one, "Replayed.")
	if s, err := admin.Content(ctx, one, client.ContentInput{Source: true}); err != nil || !strings.Contains(string(s.Envelope), "Paint one wall") {
		t.Errorf("the new ask: %s, %v", s.Envelope, err)
	}
	if task := is(one); task.Handoff == nil || len(task.Handoff.Candidates) == 0 || task.Handoff.Candidates[0].Agent != "ann" || task.Budget.Tokens != 500 {
		t.Errorf("%+v, %+v", task.Handoff, task.Budget)
	}
	page.post("/dead", "verb=replay&key=k2&capability=paint&task="+two, "Replayed.")
	if task := is(two); task.Handoff == nil || task.Handoff.Capability != "paint" || !slices.Equal(task.Handoff.To, []string{"bob"}) {
		t.Errorf("%+v", task.Handoff)
	}
	page.post("/dead", "verb=discard&key=k3&why=old&task="+three+"&task="+four, "Discarded.")
	for _, id := range []string{three, four} {
		if task := is(id); task.State != client.Cancelled {
			t.Errorf("%s", task.State)
		}
	}
	left := dead("left", admin)
	if got := page.do(http.MethodPost, "/dead", "verb=discard&why=+&to=ann&task="+left); got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, "Not done:") ||
		!strings.Contains(got.body, `name="to" placeholder="as before" autocomplete="off" value="ann"`) || is(left).State != client.Parked {
		t.Errorf("discarded without a reason: %d %s", got.status, got.body)
	}
	for form, says := range map[string]string{"verb=replay&task=" + three: "1 of 1 were not changed: three: ", "verb=replay&tokens=many&task=" + three: "is not a number of tokens", "verb=eat&task=" + three: "cannot be", "verb=discard": "0 dead letters are chosen"} {
		if got := page.do(http.MethodPost, "/dead", form); got.status < 400 || !strings.Contains(got.body, says) {
			t.Errorf("%s: %d %s", form, got.status, got.body)
		}
	}
}

// The page of an agent says so where it does not list all that waits for it or that it has.
func TestThePageOfAnAgentSaysThatThereIsMore(t *testing.T) {
	_, admin, page, agents := crew(t, "ann")
	ctx := t.Context()
	for n := range 51 {
		if n == 50 {
			if body := page.get("/agents/ann", http.StatusOK); strings.Contains(body, "The first 50.") {
				t.Errorf("all are listed, and it says that there is more: %s", body)
			}
		}
		must(t)(agents["ann"].CreateTask(ctx, client.CreateInput{Intent: fmt.Sprint("own ", n), Start: true}))
		must(t)(admin.CreateTask(ctx, client.CreateInput{Intent: fmt.Sprint("offered ", n), Send: &client.SendInput{To: []string{"ann"}}}))
	}
	shown(t, "the page of the agent", page.get("/agents/ann", http.StatusOK), `<h2 id="waiting">`, "The first 50.", `<h2 id="holds">`, `The first 50. <a href="/tasks?live=1&amp;owner=ann">All</a>`)
}

// The route that is left of a dead letter is shown, changed and followed, of each by itself and of several at once.
func TestDeadLettersAreReplayedAlongAnotherRoute(t *testing.T) {
	_, admin, page, agents := crew(t, "ann", "bob", "mute")
	ctx := t.Context()
	is := func(id string) client.Task {
		t.Helper()
		task, err := admin.Task(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		return task
	}
	along := func(intent string) string {
		t.Helper()
		made, err := admin.CreateTask(ctx, client.CreateInput{Intent: intent, Route: []string{"mute", "ann", "bob"}, Send: &client.SendInput{Retries: new(int)}})
		if err != nil {
			t.Fatal(err)
		}
		must(t)(agents["mute"].Reject(ctx, made.Handoff, client.RejectInput{Reason: client.Refused, Detail: "not mine"}))
		return made.Task
	}
	five, six, seven := along("five"), along("six"), along("seven")
	shown(t, "routes", page.get("/dead", http.StatusOK), "mute → ann → bob", `name="route-`+five+`"`)
	changed := "&route-" + six + "=bob&was-" + six + "=mute+ann+bob+"
	if got := page.do(http.MethodPost, "/dead", "verb=replay&key=k3&task="+five+changed); !strings.Contains(got.body, "the route of "+six+" was changed, and it is not chosen") || strings.Count(got.body, "<details open") != 1 {
		t.Errorf("one that was changed and is not chosen: %d %s", got.status, got.body)
	}
	for form, says := range map[string]string{
		"verb=replay&to=ann&capability=paint":              "they cannot go to the agents that are named and to a capability",
		"verb=replay&route=ann+bob&home=1":                 "they cannot go along another route and back to their owner",
		"verb=replay&to=ann&home=1":                        "and back to their owner",
		"verb=replay&route=ann" + changed + "&task=" + six: "the route of " + six + " was changed, and all are to go along another",
		"verb=discard&why=old&to=ann":                      "does not go to the agents that are named",
		"verb=discard&why=old&tokens=500":                  "does not go on with a new budget",
		"verb=discard&why=old" + changed + "&task=" + six:  "goes along none",
	} {
		got := page.do(http.MethodPost, "/dead", form+"&key=k3&task="+five)
		if got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, "Not done:") || !strings.Contains(got.body, says) {
			t.Errorf("%s: %d %s", form, got.status, got.body)
		}
		if strings.Contains(form, "=ann") && !strings.Contains(got.body, `value="ann`) {
			t.Errorf("%s: what was typed is lost: %s", form, got.body)
		}
	}
	hundred := "&route-" + six + "=" + strings.Repeat("ann%0D%0A", 50<<10)
	if got := page.do(http.MethodPost, "/dead", "verb=replay&key=k3&task="+five+hundred); !strings.Contains(got.body, "not chosen") {
		t.Errorf("a form as long as that of a hundred: %d %.2000s", got.status, got.body)
	}
	page.post("/dead", "verb=replay&key=k4&task="+five+"&route-"+five+"=bob%0D%0Amute%0D%0Aann&was-"+five+"=mute+ann+bob+&task="+six+"&route-"+six+"=mute%0D%0Aann%0D%0Abob&was-"+six+"=mute+ann+bob+"+
		"&task="+seven+"&route-"+seven+"=&was-"+seven+"=mute+ann+bob+", "Replayed.")
	for id, want := range map[string][]string{five: {"bob", "mute", "ann"}, six: {"mute", "ann", "bob"}, seven: nil} {
		if task := is(id); !slices.Equal(task.Route, want) || task.Handoff == nil || !slices.Equal(task.Handoff.To, append(want, "mute")[:1]) {
			t.Errorf("%s goes along %q, now to %q", task.Intent, task.Route, task.Handoff.To)
		}
	}
	for _, id := range []string{five, six} {
		to := map[string]*client.Client{five: agents["bob"], six: agents["mute"]}[id]
		must(t)(to.Reject(ctx, is(id).Handoff.ID, client.RejectInput{Reason: client.Refused, Detail: "not mine"}))
	}
	page.post("/dead", "verb=replay&key=k5&route=ann+bob&task="+five+"&task="+six, "Replayed.")
	for _, id := range []string{five, six} {
		if task := is(id); !slices.Equal(task.Route, []string{"ann", "bob"}) || !slices.Equal(task.Handoff.To, []string{"ann"}) {
			t.Errorf("%s goes along %q, now to %q", task.Intent, task.Route, task.Handoff.To)
		}
	}
}

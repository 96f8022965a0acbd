package server

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// shown checks that a page has some texts, in their order.
func shown(t *testing.T, name, body string, want ...string) {
	t.Helper()
	rest := body
	for _, text := range want {
		_, after, ok := strings.Cut(rest, text)
		if !ok {
			t.Errorf("%s lacks %q, or has it elsewhere:\n%s", name, text, body)
			return
		}
		rest = after
	}
}

// crew is a server whose clock stands, its page as an administrator reads it, and agents.
func crew(t *testing.T, names ...string) (s *Server, admin *client.Client, page *reader, agents map[string]*client.Client) {
	t.Helper()
	s, admin = forTests(t, Config{Temporary: true, Clock: NewClock(time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC))})
	page, agents = newReader(t, s), map[string]*client.Client{}
	page.get(page.link(adminToken(t, s)), http.StatusOK)
	page.get("/tasks", http.StatusOK)
	for _, name := range names {
		agents[name] = connect(t, s, agentToken(t, admin, name))
	}
	return s, admin, page, agents
}

// The overview has alerts on top, then people's tickets, the live tasks by state with exact numbers, and agents with what there is to know of each.
func TestTheOverviewShowsWhatMovesNow(t *testing.T) {
	s, admin, page, agents := crew(t, "ann", "bob", "mute")
	ctx := t.Context()
	must(t)(admin.RegisterAgent(ctx, "ann", client.AgentSpec{MaxTasks: 4}))
	create := func(intent, to string) client.Receipt {
		r, err := admin.CreateTask(ctx, client.CreateInput{Intent: intent, Send: &client.SendInput{To: []string{to}, Retries: new(int)}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	for n := range 2 {
		must(t)(agents["ann"].Accept(ctx, create(fmt.Sprint("owned ", n), "ann").Handoff, client.AcceptInput{}))
	}
	asks := create("asks a person", "bob")
	must(t)(agents["bob"].Accept(ctx, asks.Handoff, client.AcceptInput{}))
	must(t)(agents["bob"].Ask(ctx, asks.Task, client.AskInput{Epoch: 1, Question: "Is it allowed?"}))
	must(t)(agents["mute"].Reject(ctx, create("nobody takes it", "mute").Handoff, client.RejectInput{Reason: client.Refused, Detail: "not mine"}))
	create("is offered", "bob")
	for n := range 70 { // more than a column shows
		must(t)(admin.CreateTask(ctx, client.CreateInput{Intent: fmt.Sprint("pending ", n)}))
	}
	must(t)(admin.SetReadiness(ctx, "mute", client.Draining))
	if _, err := s.Advance(ctx, time.Second); err != nil { // alerts are judged
		t.Fatal(err)
	}
	body := page.get("/", http.StatusOK)
	shown(t, "the overview", body, `<h2 id="alerts">`, `class="info"`, "used up all", ">nobody takes it, handoff 1</a>", `<h2 id="waits">`, "Is it allowed?",
		"<h3>Pending ", `<span class="count">70</span>`, "pending 69", `The first 60. <a href="/tasks?state=pending">All 70</a>`, "<h3>Handing off ", `<span class="count">1</span>`, "is offered",
		"<h3>Executing ", `<span class="count">2</span>`, "owned 1", "owned 0", "<h3>Waiting ", `<span class="count">1</span>`, "asks a person", "Dead letters", `<span class="count">1</span>`, "nobody takes it", `<h2 id="agents">`)
	shown(t, "the alerts", page.get("/alerts", http.StatusOK), `<p>Handoffs behind it: <a href="/find?q=`, ">nobody takes it, handoff 1</a></p>")
	shown(t, "the tasks", page.get("/tasks", http.StatusOK), `<option value="parked">dead letter</option>`, `<a href="/tasks?state=parked">1 dead letter</a>`, `<span class="state parked">dead letter</span>`)
	twice, err := admin.CreateTask(ctx, client.CreateInput{Intent: "refused once", Send: &client.SendInput{To: []string{"ann", "bob"}}})
	must(t)(twice, err)
	must(t)(agents["ann"].Reject(ctx, twice.Handoff, client.RejectInput{Reason: client.Overloaded, Detail: "too much on my desk"}))
	shown(t, "the story of a task that somebody refused", page.get("/tasks/"+twice.Task, http.StatusOK), "Offered to bob: not seen yet", "Before that: handoff rejected by ann, reason overloaded · “too much on my desk”", ">Look at it</a>", "<dt>State</dt>")
	needs, err := admin.CreateTask(ctx, client.CreateInput{Intent: "comes after it", Dependencies: []string{twice.Task}})
	must(t)(needs, err)
	shown(t, "the story of a task that depends on another", page.get("/tasks/"+needs.Task, http.StatusOK), `Depends on a task that is not completed: <a href="/tasks/`+twice.Task+`">refused once</a>`, "<dt>State</dt>")
	shown(t, "the agents", body, `<a href="/agents/ann">ann</a>`, `<td data-is="Load">2 of 4</td>`, `class="circuit closed"`, "<time datetime=")
	shown(t, "the agents", body, `<a href="/agents/mute">mute</a>`, `class="readiness draining"`)
	shown(t, "the figures", body, `<h2 id="figures">`, `class="spark"`, "Handoffs that ended", "Handoffs that failed", "Time until accepted", "<summary>As a table</summary>")
	if strings.Contains(body, "pending 0<") {
		t.Error("a column has all its tasks")
	}
	if text := scrape(t, s); !strings.Contains(text, `trapeze_handoffs_failed_total{kind="warm",reason="user_request",workspace="default"} 1`) {
		t.Errorf("the figures at /metrics are others:\n%s", text)
	}
	shown(t, "the figures", body, `<th scope="row">5 minutes</th><td data-is="Ended">4</td><td data-is="Failed">1 (25 %)</td>`) // as /metrics has them
}

// anchors matches the links of a page to its own parts, and the parts.
var anchors = regexp.MustCompile(`href="#([^"]+)"|\sid="([^"]+)"`)

// chain has a task go from ann, after a rejection by bob, a question and a part that dan does, to cat, who completes it.
func chain(t *testing.T, s *Server, admin *client.Client, agents map[string]*client.Client) (task, child string) {
	t.Helper()
	ctx := t.Context()
	must(t)(admin.RegisterAgent(ctx, "cat", client.AgentSpec{ContextWindow: 8000}))
	made, err := admin.CreateTask(ctx, client.CreateInput{
		Intent: "Write the report", Constraints: []client.Constraint{{ID: "c1", Kind: "prohibition", Text: "name nobody", Hard: true}},
		Send: &client.SendInput{To: []string{"bob", "ann"}, Reason: client.ReasonSpecialization, Content: client.Content{
			Facts: []client.Point{{ID: "f1", Text: "14 pages"}, {ID: "f2", Text: "due on Friday"}}, Decisions: []client.Point{{ID: "d1", Text: "in English"}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	must(t)(agents["bob"].Reject(ctx, made.Handoff, client.RejectInput{Reason: client.Overloaded, Detail: "too much on my desk"}))
	first, err := agents["ann"].Accept(ctx, made.Handoff, client.AcceptInput{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Advance(ctx, time.Minute); err != nil {
		t.Fatal(err)
	}
	must(t)(agents["ann"].Ask(ctx, made.Task, client.AskInput{Epoch: first.Epoch, Question: "How long may it be?"}))
	must(t)(admin.Answer(ctx, made.Task+".k1", client.AnswerInput{Answer: "ten pages"}))
	part, err := agents["ann"].Send(ctx, made.Task, client.SendInput{Epoch: first.Epoch, To: []string{"dan"}, Kind: client.Delegation, Content: client.Content{Ask: "Count the pages"}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Advance(ctx, time.Second); err != nil { // the child is made
		t.Fatal(err)
	}
	box, err := agents["dan"].Inbox(ctx, client.InboxOptions{})
	if err != nil || len(box.Items) != 1 {
		t.Fatalf("%v: %+v, %+v", err, box, part)
	}
	taken, err := agents["dan"].Accept(ctx, box.Items[0].ID, client.AcceptInput{})
	if err != nil {
		t.Fatal(err)
	}
	must(t)(agents["dan"].Complete(ctx, box.Items[0].Task, client.CompleteInput{Epoch: taken.Epoch, Result: client.Result{Text: "9 pages"}}))
	if _, err := s.Advance(ctx, time.Second); err != nil { // the result is with the parent
		t.Fatal(err)
	}
	sent, err := agents["ann"].Send(ctx, made.Task, client.SendInput{Epoch: first.Epoch, To: []string{"cat"}, Content: client.Content{
		Facts: []client.Point{{ID: "f3", Text: "9 pages", Supersedes: "f1"}, {ID: "f4", Text: "printed in blue"}}, Decisions: []client.Point{{ID: "d1", Text: "in plain English"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	last, err := agents["cat"].Accept(ctx, sent.Handoff, client.AcceptInput{})
	if err != nil {
		t.Fatal(err)
	}
	must(t)(agents["cat"].Complete(ctx, made.Task, client.CompleteInput{Epoch: last.Epoch, Result: client.Result{Text: "The report is written"}}))
	return made.Task, box.Items[0].Task
}

// A task's story has everything that happened to it, each with a link of its own, and what was lost at each hop.
func TestAStoryGoesFromTheIntentToTheResult(t *testing.T) {
	s, admin, page, agents := crew(t, "ann", "bob", "cat", "dan")
	task, child := chain(t, s, admin, agents)
	body := page.get("/tasks/"+task, http.StatusOK)
	shown(t, "the story", body, "Write the report", "completed", `<h2 id="result">`, "The report is written", `<h2 id="held">`, `<svg class="bars"`, "<title>ann, epoch 1</title>", "<title>cat, epoch 2</title>",
		"<summary>As a table</summary>", `<td data-is="Epoch">1</td>`, `<td data-is="Epoch">2</td>`, `<h2 id="hops">`, `/hops/1">1: its envelope`, "specialization", `/hops/1">Delegated: its`, `/hops/2">2: its`, "/compare", `<h2 id="drift">`, `<svg class="drift"`, `<rect class="kept"`,
		"<summary>As a table</summary>", "reached the last receiver", "name nobody", `<h2 id="children">`, "/tasks/"+child, "Count the pages", "completed")
	shown(t, "the timeline", body, `<h2 id="trail">`, "handoff request", `class="bad"`, "too much on my desk", `class="good"`, "handoff acknowledgment", "+1 minute", `class="ask"`, "How long may it be?", "ten pages",
		"task completed", "Entry ")
	shown(t, "the story", body, "Save its record", "/record/json", "/record/jsonl", "/record/csv", "/record/proof")
	var to, parts []string
	for _, m := range anchors.FindAllStringSubmatch(body, -1) {
		if m[1] != "" {
			to = append(to, m[1])
		} else {
			parts = append(parts, m[2])
		}
	}
	trail, err := admin.Trail(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range to {
		if !slices.Contains(parts, link) {
			t.Errorf("the link #%s leads nowhere", link)
		}
	}
	for i, e := range trail.Entries {
		if moment := fmt.Sprintf("p%d-%d", e.Position, i); !slices.Contains(to, moment) {
			t.Errorf("the %s at %d has no link", e.Event, e.Position)
		}
	}
	hop := page.get("/tasks/"+task+"/hops/2", http.StatusOK)
	shown(t, "the handoff", hop, "ann → cat", "As its receiver read it", "due on Friday", "in plain English", `<h2 id="left">`, "Since the envelope before", "Facts", "1 kept", "f4 added", "The sealed envelope")
	shown(t, "a handoff that went on to a fallback", page.get("/tasks/"+task+"/hops/1", http.StatusOK), "Offers that came to nothing", "bob, ", "too much on my desk", "As its receiver read it")
	shown(t, "the picture of drift", body, "<title>2 to cat: ", `y="136">2</text>`, `y="151">cat</text>`)
	open, err := admin.CreateTask(t.Context(), client.CreateInput{Intent: "Print the report", Send: &client.SendInput{To: []string{"bob"}}})
	if err != nil {
		t.Fatal(err)
	}
	shown(t, "an offer", page.get("/tasks/"+open.Task+"/hops/1", http.StatusOK), "As its receiver will read it")
	must(t)(agents["bob"].Reject(t.Context(), open.Handoff, client.RejectInput{Reason: client.NotCapable, Detail: "no printer"}))
	shown(t, "an offer that was rejected", page.get("/tasks/"+open.Task+"/hops/1", http.StatusOK), "no printer", "As it was offered: nobody accepted it")
	if body := page.get("/tasks/"+task+"/hops/1", http.StatusOK); strings.Contains(body, "/compare") {
		t.Error("the first handoff offers to compare it with one before")
	}
	shown(t, "the second handoff", page.get("/tasks/"+task+"/hops/2", http.StatusOK), `/compare?a=1&amp;b=2">compare with handoff 1</a>`)
	compared := page.get("/tasks/"+task+"/compare", http.StatusOK)
	for _, row := range []string{
		` class="kept"><th scope="row">fact f2</th><td>due on Friday</td><td>due on Friday</td>`, ` class="changed"><th scope="row">decision d1</th><td>in English</td><td>in <mark>plain </mark>English</td>`,
		` class="added"><th scope="row">fact f4</th><td></td><td>printed in blue</td>`, ` class="changed"><th scope="row">fact f1</th><td><mark>14</mark> pages</td><td><mark>9</mark> pages</td>`, "by f3",
		` class="kept"><th scope="row">constraint c1</th><td>name nobody</td><td>name nobody</td>`,
	} {
		shown(t, "the comparison", compared, row)
	}
}

// pictured matches the pictures of a page that say something.
var pictured = regexp.MustCompile(`<svg [^>]*role="img"[^>]*>`)

// Behind each picture is a table with its numbers.
func TestEachPictureHasATable(t *testing.T) {
	s, admin, page, agents := crew(t, "ann", "bob")
	ctx := t.Context()
	made, err := admin.CreateTask(ctx, client.CreateInput{Intent: "Look", Send: &client.SendInput{To: []string{"ann"}, Content: client.Content{Facts: []client.Point{{Text: "it is blue"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	must(t)(agents["ann"].Accept(ctx, made.Handoff, client.AcceptInput{}))
	if _, err := s.Advance(ctx, time.Second); err != nil { // it is counted: a chart without values is none
		t.Fatal(err)
	}
	pictures := 0
	for _, path := range []string{"/", "/figures", "/tasks/" + made.Task, "/tasks/" + made.Task + "/hops/1", "/agents/ann", "/alerts", "/record", "/policy", "/inbox"} {
		body := page.get(path, http.StatusOK)
		for _, at := range pictured.FindAllStringIndex(body, -1) {
			pictures++
			section, _, _ := strings.Cut(body[at[0]:], "</section>")
			if !strings.Contains(body[at[0]:at[1]], "the table below has the same") || !strings.Contains(section, "<summary>As a table</summary>") || !strings.Contains(section, "<tbody>") {
				t.Errorf("%s: no table is behind %s", path, body[at[0]:at[1]])
			}
		}
	}
	if pictures < 4 {
		t.Errorf("there are %d pictures: the test proves little", pictures)
	}
}

// post sends a form of a page, which must lead to a page that says what was done.
func (r *reader) post(path, form, says string) {
	r.t.Helper()
	got := r.do(http.MethodPost, path, form)
	if got.status != http.StatusSeeOther {
		r.t.Fatalf("%s: %d %s", path, got.status, got.body)
	}
	if body := r.get(got.header.Get("Location"), http.StatusOK); !strings.Contains(body, `<p class="done" role="status">`+says) {
		r.t.Errorf("%s does not say %q:\n%s", path, says, body)
	}
}

// hiddenField matches a field of a form that the page fills in.
var hiddenField = regexp.MustCompile(`<input type="hidden" name="(\w+)" value="([^"]*)">`)

// fieldsOf are the hidden fields of the form of a page with an action.
func fieldsOf(t *testing.T, body, action string) url.Values {
	t.Helper()
	fields := formOf(body, action)
	if fields == nil {
		t.Fatalf("no form does %s:\n%s", action, body)
	}
	return fields
}

// formOf is fieldsOf; nil if there is no such form.
func formOf(body, action string) (fields url.Values) {
	for form := range strings.SplitSeq(body, "<form") {
		if form, _, _ = strings.Cut(form, "</form>"); !strings.Contains(form, `action="`+action+`"`) {
			continue
		}
		fields = url.Values{}
		for _, m := range hiddenField.FindAllStringSubmatch(form, -1) {
			fields.Set(m[1], html.UnescapeString(m[2]))
		}
	}
	return fields
}

// atDesk is zoe, a person at the desk billing, at the page.
func atDesk(t *testing.T, s *Server, admin *client.Client) *reader {
	t.Helper()
	must(t)(admin.RegisterAgent(t.Context(), "zoe", client.AgentSpec{Kind: "human", Capabilities: []string{"billing"}}))
	token, err := admin.CreateToken(t.Context(), client.TokenInput{Role: client.RoleAgent, Name: "zoe"})
	if err != nil {
		t.Fatal(err)
	}
	zoe := newReader(t, s)
	zoe.get(zoe.link(token.Text), http.StatusOK)
	zoe.get("/tasks", http.StatusOK)
	return zoe
}

// People approve, deny, answer, claim and release, with the envelope beside the decision; what is due first comes first.
func TestTicketsAreDecidedOnThePage(t *testing.T) {
	s, admin, page, agents := crew(t, "ann", "bob")
	ctx := t.Context()
	zoe := atDesk(t, s, admin)
	asks, err := agents["ann"].CreateTask(ctx, client.CreateInput{Intent: "Pay it back", Start: true})
	if err != nil {
		t.Fatal(err)
	}
	must(t)(agents["ann"].Ask(ctx, asks.Task, client.AskInput{Epoch: 1, Question: "Refund it?", Options: []string{"yes", "no"}, Desk: "billing", Within: client.Duration(2 * time.Hour)}))
	var supervised []client.Receipt
	for n, detail := range []string{"good", "bad"} {
		r, err := agents["ann"].CreateTask(ctx, client.CreateInput{Intent: "Release the funds, " + detail, Send: &client.SendInput{
			To: []string{"bob"}, Kind: client.Supervised, Timeouts: client.Timeouts{Approval: client.Duration(time.Duration(n+1) * time.Hour)}, Content: client.Content{Ask: "Send the money, which is " + detail},
		}})
		if err != nil {
			t.Fatal(err)
		}
		supervised = append(supervised, r)
	}
	shown(t, "the inbox", page.get("/inbox", http.StatusOK), "funds, good", "Refund it?") // the first is due in an hour
	ticket := "/tickets/" + supervised[0].Task + ".k1"
	body := page.get(ticket, http.StatusOK)
	shown(t, "the ticket", body, `aria-label="Decision"`, "Approve", `aria-label="Context"`, "What the receiver reads", "Send the money, which is good")
	fields := fieldsOf(t, body, ticket+"/approve")
	fields.Set("detail", "the amount is right")
	page.post(ticket+"/approve", fields.Encode(), "Approved.")
	page.post("/tickets/"+supervised[1].Task+".k1/deny", "detail=too+much", "Denied.")
	for n, want := range []string{"approved", "denied"} {
		if k, err := admin.Ticket(ctx, supervised[n].Task+".k1", 0); err != nil || k.Outcome != want {
			t.Errorf("%v: %+v", err, k)
		}
	}

	ticket = "/tickets/" + asks.Task + ".k1"
	zoe.post(ticket+"/claim", fieldsOf(t, zoe.get(ticket, http.StatusOK), ticket+"/claim").Encode(), "Claimed")
	if got := page.do(http.MethodPost, ticket+"/answer", "answer=yes"); got.status != http.StatusConflict || !strings.Contains(got.body, "zoe has claimed") {
		t.Errorf("%d %s", got.status, got.body)
	}
	zoe.post(ticket+"/release", fieldsOf(t, zoe.get(ticket, http.StatusOK), ticket+"/release").Encode(), "Released")
	zoe.post(ticket+"/answer", "option=yes", "Answered.")
	must(t)(agents["ann"].Ask(ctx, asks.Task, client.AskInput{Epoch: 1, Question: "And the fee?", Desk: "billing"}))
	shown(t, "the second ticket", zoe.get("/tickets/"+asks.Task+".k2", http.StatusOK), "And the fee?", "Answered before", "Refund it?", "yes")
	zoe.post("/tickets/"+asks.Task+".k2/answer", "answer=that+too", "Answered.")
	shown(t, "what was answered before", zoe.get("/inbox?past=1", http.StatusOK), "answered by zoe", "that too")
}

// A person takes a task over, gives it back, takes it again, and completes it or hands it on.
func TestAPersonWhoTakesATaskOverEndsItOnThePage(t *testing.T) {
	s, admin, page, agents := crew(t, "ann", "bob")
	ctx, zoe := t.Context(), atDesk(t, s, admin)
	over := func() string { // a takeover is asked of the desk
		r, err := agents["ann"].CreateTask(ctx, client.CreateInput{Intent: "Call the customer", Expected: client.Expected{Schema: []byte(`{"required":["amount"]}`)}, Send: &client.SendInput{To: []string{"human:billing"}}})
		if err != nil {
			t.Fatal(err)
		}
		return r.Task
	}
	task := over()
	ticket := "/tickets/" + task + ".k1"
	claim := func() {
		t.Helper()
		zoe.post(ticket+"/claim", "key="+client.NewKey(), "Claimed: it is yours.")
	}
	claim()
	zoe.post(ticket+"/release", fieldsOf(t, zoe.get(ticket, http.StatusOK), ticket+"/release").Encode(), "Released")
	claim()
	story := "/tasks/" + task
	fields := fieldsOf(t, zoe.get(story, http.StatusOK), story+"/complete")
	fields.Set("result", "called")
	fields.Set("data", "{amount")
	if got := zoe.do(http.MethodPost, story+"/complete", fields.Encode()); got.status != http.StatusUnprocessableEntity || !strings.Contains(got.body, "no JSON") {
		t.Errorf("%d %s", got.status, got.body)
	}
	fields.Set("data", `{"amount": 30}`)
	zoe.post(story+"/complete", fields.Encode(), "Completed.")
	if got, err := admin.Task(ctx, task); err != nil || got.State != client.Completed || got.Result == nil || got.Result.Text != "called" || string(got.Result.Data) != `{"amount":30}` {
		t.Errorf("%v: %+v", err, got.Result)
	}
	task = over()
	ticket, story = "/tickets/"+task+".k1", "/tasks/"+task
	claim()
	if body := page.get(story, http.StatusOK); strings.Contains(body, story+"/complete") {
		t.Error("a task can be completed by somebody who does not own it")
	}
	fields = fieldsOf(t, zoe.get(story, http.StatusOK), story+"/send")
	fields.Set("to", "bob")
	fields.Set("ask", "Call again tomorrow")
	zoe.post(story+"/send", fields.Encode(), "Handed on")
	box, err := agents["bob"].Inbox(ctx, client.InboxOptions{})
	if err != nil || !slices.ContainsFunc(box.Items, func(i client.Item) bool { return i.Task == task && i.From == "zoe" }) {
		t.Errorf("%v: %+v", err, box.Items)
	}
}

// A comparison of handoffs has what their receivers read: what was left out for one of them was not kept, and comes back for the next with a larger window.
func TestAComparisonKnowsWhatWasLeftOutForAReceiver(t *testing.T) {
	_, admin, page, agents := crew(t, "ann", "bob", "cat")
	ctx := t.Context()
	must(t)(admin.RegisterAgent(ctx, "bob", client.AgentSpec{ContextWindow: 4000}))
	facts := make([]client.Point, 18)
	for n := range facts {
		facts[n] = client.Point{Text: fmt.Sprint("number ", n, strings.Repeat(" of the many", 100))}
	}
	sent, err := admin.CreateTask(ctx, client.CreateInput{Intent: "Count", Send: &client.SendInput{To: []string{"ann"}, Content: client.Content{Facts: facts}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range [][2]string{{"ann", "bob"}, {"bob", "cat"}, {"cat", ""}} {
		got, err := agents[step[0]].Accept(ctx, sent.Handoff, client.AcceptInput{})
		if err != nil {
			t.Fatal(err)
		}
		if step[1] == "" {
			break
		}
		if sent, err = agents[step[0]].Send(ctx, sent.Task, client.SendInput{Epoch: got.Epoch, To: []string{step[1]}}); err != nil {
			t.Fatal(err)
		}
	}
	story := "/tasks/" + sent.Task
	_, left, _ := strings.Cut(page.get(story+"/hops/2", http.StatusOK), `<h2 id="left">`)
	shown(t, "the handoff", left, "fact")
	forth, back := page.get(story+"/compare?a=1&b=2", http.StatusOK), page.get(story+"/compare?a=2&b=3", http.StatusOK)
	kept, omitted := strings.Count(forth, ` class="kept"><th scope="row">fact`), strings.Count(forth, ` class="omitted"><th scope="row">fact`)
	if added := strings.Count(back, ` class="added"><th scope="row">fact`); omitted == 0 || kept+omitted != len(facts) || added != omitted || strings.Count(back, "left out before") != added {
		t.Errorf("of %d facts, %d are kept and %d left out, then %d come back:\n%s\n%s\n%s", len(facts), kept, omitted, added, left, forth, back)
	}
}

func TestAStoryNamesWhoGotNoCopyOfAFanOut(t *testing.T) {
	_, admin, page, _ := crew(t, "ann", "bob")
	must(t)(admin.SetReadiness(t.Context(), "bob", client.Offline))
	sent, err := admin.CreateTask(t.Context(), client.CreateInput{Intent: "Read this", Send: &client.SendInput{To: []string{"ann", "bob"}, Kind: client.Broadcast, FanOut: true}})
	if err != nil || len(sent.NotReached) != 1 {
		t.Fatalf("%v: %+v", err, sent)
	}
	shown(t, "the story", page.get("/tasks/"+sent.Task, http.StatusOK), `<h2 id="children">`, "Not reached", "<strong>bob</strong> (offline", "Read this")
}

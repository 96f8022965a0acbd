package server

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// What a policy has decided is listed with its reasons, over HTTP and on the page, for those that may read everything, and the read is recorded.
func TestWhatThePolicyDecidedIsListedWithItsReasons(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policy.yaml")
	rules := "version: 1\nrules:\n- {name: money, when: {keywords: [invoice]}, then: {to: {capability: billing}}}\n- {name: stay, when: {keywords: [wait]}, then: keep}\n- {name: rest, then: {to: {agent: ann}}}\n"
	if err := os.WriteFile(file, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	s, c := forTests(t, Config{Temporary: true, Policy: file})
	ctx := t.Context()
	must(t)(c.RegisterAgent(ctx, "ann", client.AgentSpec{}))
	must(t)(c.RegisterAgent(ctx, "bill", client.AgentSpec{Capabilities: []string{"billing"}}))
	var made []client.Receipt
	for _, intent := range []string{"Pay the invoice", "Look around"} {
		r, err := c.CreateTask(ctx, client.CreateInput{Intent: intent, Send: &client.SendInput{To: []string{"auto"}}})
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, r)
	}
	must(t)(c.CreateTask(ctx, client.CreateInput{Intent: "Not decided", Send: &client.SendInput{To: []string{"ann"}}}))
	all, err := admin.New(c).Decisions(ctx, admin.DecisionFilter{})
	if err != nil || len(all.Decisions) != 2 {
		t.Fatalf("%+v, %v", all, err)
	}
	d := all.Decisions[1]
	if d.Handoff != made[0].Handoff || d.Rule != "money" || d.To.Capability != "billing" || len(d.Why) == 0 || len(d.Weighed) != 1 || d.Weighed[0].Agent != "bill" || d.Position == 0 || d.Time.IsZero() {
		t.Errorf("%+v", d)
	}
	page, err := admin.New(c).Decisions(ctx, admin.DecisionFilter{Limit: 1})
	if err != nil || len(page.Decisions) != 1 || page.Decisions[0].Handoff != made[1].Handoff || page.Next == 0 {
		t.Fatalf("%+v, %v", page, err)
	}
	if page, err = admin.New(c).Decisions(ctx, admin.DecisionFilter{Limit: 1, Before: page.Next}); err != nil || len(page.Decisions) != 1 || page.Decisions[0].Handoff != made[0].Handoff {
		t.Errorf("%+v, %v", page, err)
	}
	if one, err := admin.New(c).Decisions(ctx, admin.DecisionFilter{Rule: "rest", Policy: d.Policy}); err != nil || len(one.Decisions) != 1 || one.Decisions[0].To.Agent != "ann" {
		t.Errorf("%+v, %v", one, err)
	}

	r := newReader(t, s)
	r.get(r.link(adminToken(t, s)), http.StatusOK)
	if body := r.get("/policy?rule=money", http.StatusOK); !strings.Contains(body, `<a href="/tasks/`+made[0].Task+`/hops/1">Pay the invoice, handoff 1</a>`) || strings.Contains(body, made[1].Task) || !strings.Contains(body, "keywords: [invoice]") || inline.MatchString(body) {
		t.Error(body)
	}
	if body := r.get("/tasks/"+made[0].Task+"/hops/1", http.StatusOK); !strings.Contains(body, `<a href="/policy?rule=money">`) || !strings.Contains(body, "can take it") || strings.Contains(body, "Candidates:") {
		t.Error(body)
	}
	r.get("/policy?before=soon", http.StatusUnprocessableEntity)
	kept, err := c.CreateTask(ctx, client.CreateInput{Intent: "Wait for it", Send: &client.SendInput{To: []string{"auto"}}})
	must(t)(kept, err)
	if one, err := admin.New(c).Decisions(ctx, admin.DecisionFilter{Rule: "stay"}); err != nil || len(one.Decisions) != 1 || one.Decisions[0].Task != kept.Task || one.Decisions[0].Action != "keep" || len(one.Decisions[0].Why) == 0 {
		t.Errorf("%+v, %v", one, err)
	}
	shown(t, "the decision to keep a task", r.get("/policy?rule=stay", http.StatusOK), `<a href="/tasks/`+kept.Task+`">Wait for it</a>`, "it stays where it is", "keyword wait")
	shown(t, "the story of a task that was kept", r.get("/tasks/"+kept.Task, http.StatusOK), "task kept", "keyword wait")

	token, err := c.CreateToken(ctx, client.TokenInput{Role: client.RoleAgent, Name: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = admin.New(signedIn(t, s, token.Text)).Decisions(ctx, admin.DecisionFilter{})
	refusedWith(t, err, refusal.NotPermitted, "list decisions")
	var export strings.Builder
	if err := c.Export(ctx, client.ExportOptions{}, &export); err != nil || !strings.Contains(export.String(), "list of decisions") {
		t.Errorf("that decisions were read is not recorded: %v", err)
	}
}

// The page of a handoff has what its receiver read, also when the task has moved on.
func TestThePageHasThePromptOfAnEarlierHandoff(t *testing.T) {
	s, c := forTests(t, Config{Temporary: true})
	ctx := t.Context()
	agents := map[string]*client.Client{}
	for _, name := range []string{"ann", "bob"} {
		must(t)(c.RegisterAgent(ctx, name, client.AgentSpec{}))
		token, err := c.CreateToken(ctx, client.TokenInput{Role: client.RoleAgent, Name: name})
		if err != nil {
			t.Fatal(err)
		}
		agents[name] = signedIn(t, s, token.Text)
	}
	made, err := c.CreateTask(ctx, client.CreateInput{Intent: "Move the data", Send: &client.SendInput{To: []string{"ann"}, Content: client.Content{Ask: "read the first part"}}})
	if err != nil {
		t.Fatal(err)
	}
	got, err := agents["ann"].Accept(ctx, made.Handoff, client.AcceptInput{})
	if err != nil {
		t.Fatal(err)
	}
	sent, err := agents["ann"].Send(ctx, made.Task, client.SendInput{Epoch: got.Epoch, To: []string{"bob"}, Content: client.Content{Ask: "read the second part"}})
	if err != nil {
		t.Fatal(err)
	}
	must(t)(agents["bob"].Accept(ctx, sent.Handoff, client.AcceptInput{}))
	r := newReader(t, s)
	r.get(r.link(adminToken(t, s)), http.StatusOK)
	for hop, want := range map[string]string{"1": "read the first part", "2": "read the second part"} {
		body := r.get("/tasks/"+made.Task+"/hops/"+hop, http.StatusOK)
		_, prompt, _ := strings.Cut(body, `<pre class="prompt"`)
		prompt, _, _ = strings.Cut(prompt, "</pre>")
		if !strings.Contains(prompt, "# You take over task") || !strings.Contains(prompt, want) {
			t.Errorf("handoff %s: %s", hop, prompt)
		}
	}
}

// What comes along from an earlier sender is shown as that sender's: side by side, and to a reader who gets the entries of an envelope instead of its prompt.
func TestThePageNamesWhoseTheTextsOfAnEnvelopeAre(t *testing.T) {
	s, admin, page, agents := crew(t, "ann", "bob", "cat", "dan")
	ctx := t.Context()
	made, err := agents["ann"].CreateTask(ctx, client.CreateInput{Intent: "Fix it", Start: true, Content: client.Content{
		Ask: "fix the valve", State: "it leaks", Summary: "we talked", Data: json.RawMessage(`{"a":"` + strings.Repeat("long ", 200) + `"}`), Questions: []string{"which valve?"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	epoch := made.Epoch
	for _, step := range [][2]string{{"ann", "bob"}, {"bob", "cat"}, {"cat", "dan"}} {
		content := client.Content{Facts: []client.Point{{Text: "new to " + step[1]}}} // or it goes in circles
		sent, err := agents[step[0]].Send(ctx, made.Task, client.SendInput{Epoch: epoch, To: []string{step[1]}, Content: content})
		if err != nil {
			t.Fatal(err)
		}
		got, err := agents[step[1]].Accept(ctx, sent.Handoff, client.AcceptInput{})
		if err != nil {
			t.Fatal(err)
		}
		epoch = got.Epoch
	}
	story := "/tasks/" + made.Task
	compared := page.get(story+"/compare?a=1&b=2", http.StatusOK)
	cat := newReader(t, s)
	cat.get(cat.link(agentToken(t, admin, "cat")), http.StatusOK)
	entries := cat.get(story+"/hops/2", http.StatusOK)
	for kind, text := range map[string]string{"ask": "fix the valve", "state": "it leaks", "summary": "we talked", "questions": "which valve?"} {
		shown(t, kind+" side by side", compared, `<th scope="row">`+kind+` </th><td>`+text+`</td><td>`+text+`<p class="quiet">by ann</p></td>`)
		shown(t, kind+" of an earlier handoff", entries, `<dt>`+kind+`  <span class="quiet">by ann</span></dt><dd class="intent">`+text+`</dd>`)
	}
	for name, body := range map[string]string{"side by side": compared, "an earlier handoff": entries} {
		before, _, _ := strings.Cut(body, "<details>")
		shown(t, name, before, "{&#34;a&#34;:&#34;long long ", "…", "by ann")
		if n := strings.Count(before, "long "); n == 0 || n > 200 {
			t.Errorf("%s has %d words of long data", name, n)
		}
	}
}

// A person at the page takes the time that it takes: no page starts the clock of an answer, for any reader.
func TestALookAtThePageDoesNotMarkAnOfferAsSeen(t *testing.T) {
	s, c := forTests(t, Config{Temporary: true})
	token := agentToken(t, c, "ann")
	sent, err := c.CreateTask(t.Context(), client.CreateInput{Intent: "Look around", Send: &client.SendInput{To: []string{"ann"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{token, adminToken(t, s)} {
		r := newReader(t, s)
		r.get(r.link(token), http.StatusOK)
		for _, path := range []string{"/", "/agents/ann", "/tasks/" + sent.Task} {
			if body := r.get(path, http.StatusOK); !strings.Contains(body, "Look around") {
				t.Errorf("%s does not show the offer: %s", path, body)
			}
		}
		box, err := c.Inbox(t.Context(), client.InboxOptions{Agent: "ann", Peek: true})
		if err != nil || len(box.Items) != 1 || box.Items[0].Seen || box.Items[0].Ends.IsZero() {
			t.Errorf("after that the inbox has %+v, %v", box, err)
		}
	}
}

// What was given with a cold handoff, which no receiver gets, is named to those who look at it.
func TestThePageSaysWhatAColdHandoffLeavesOut(t *testing.T) {
	_, admin, page, _ := crew(t, "ann")
	made, err := admin.CreateTask(t.Context(), client.CreateInput{Intent: "Look", Send: &client.SendInput{
		To: []string{"ann"}, Kind: client.Cold, Content: client.Content{Facts: []client.Point{{Text: "it is blue"}, {Text: "it is old"}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	shown(t, "the cold handoff", page.get("/tasks/"+made.Task+"/hops/1", http.StatusOK), `>facts (2 of them) <span class="quiet">the handoff is cold: no receiver gets what was given with it</span></li>`)
}

// A task that no rule sends on is in no list of decisions: its page says why the policy leaves it where it is.
func TestATaskThatNoRuleSendsOnSaysWhy(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policy.yaml")
	rules := "version: 1\nrules:\n- {name: money, when: {keywords: [invoice]}, then: {to: {capability: billing}}}\n"
	if err := os.WriteFile(file, []byte(rules), 0o600); err != nil {
		t.Fatal(err)
	}
	s, c := forTests(t, Config{Temporary: true, Policy: file})
	r := newReader(t, s)
	r.get(r.link(adminToken(t, s)), http.StatusOK)
	must(t)(c.RegisterAgent(t.Context(), "bill", client.AgentSpec{Capabilities: []string{"billing"}}))
	for intent, says := range map[string][]string{
		"Look around":     {"Nowhere: the task stays where it is.", "no rule matches"},
		"Pay the invoice": {"To capability billing", "keyword invoice", `<a href="/policy?rule=money">`, "bill ", "can take it"},
	} {
		made, err := c.CreateTask(t.Context(), client.CreateInput{Intent: intent})
		if err != nil {
			t.Fatal(err)
		}
		shown(t, "the story", r.get("/tasks/"+made.Task, http.StatusOK), `<a href="/tasks/`+made.Task+`/route">`)
		shown(t, intent, r.get("/tasks/"+made.Task+"/route", http.StatusOK), says...)
	}
}

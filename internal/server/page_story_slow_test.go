//go:build slow

package server

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
)

// An operator who is registered as a person, and an admin who is, end what they have taken over on the page; others of their role cannot.
func TestAnOperatorWhoTakesATaskOverEndsItOnThePage(t *testing.T) {
	s, admin, page, agents := crew(t, "ann", "bob")
	ctx := t.Context()
	for _, role := range []client.Role{client.RoleOperator, client.RoleAdmin} {
		name := "olga-" + string(role)
		must(t)(admin.RegisterAgent(ctx, name, client.AgentSpec{Kind: "human", Capabilities: []string{"billing"}}))
		token, err := admin.CreateToken(ctx, client.TokenInput{Role: role, Name: name})
		if err != nil {
			t.Fatal(err)
		}
		olga := newReader(t, s)
		olga.get(olga.link(token.Text), http.StatusOK)
		olga.get("/inbox", http.StatusOK)
		taken := func() string {
			t.Helper()
			r, err := agents["ann"].CreateTask(ctx, client.CreateInput{Intent: "Call the customer", Send: &client.SendInput{To: []string{"human:billing"}}})
			if err != nil {
				t.Fatal(err)
			}
			olga.post("/tickets/"+r.Task+".k1/claim", "key="+client.NewKey(), "Claimed: it is yours.")
			return r.Task
		}
		task := taken()
		story := "/tasks/" + task
		if strings.Contains(page.get(story, http.StatusOK), story+"/complete") {
			t.Error("an admin who does not own the task can complete it")
		}
		body := olga.get(story, http.StatusOK)
		shown(t, "the story of who has taken it over", body, name+" has taken it over from the desk billing", "the desk operators is asked", "It is yours")
		if strings.Contains(body, story+"/takeover") {
			t.Error("who holds the task is offered to take it over")
		}
		fields := fieldsOf(t, body, story+"/complete")
		fields.Set("result", "called")
		olga.post(story+"/complete", fields.Encode(), "Completed.")
		if got, err := admin.Task(ctx, task); err != nil || got.State != client.Completed || got.Owner != name {
			t.Errorf("%v: %+v", err, got)
		}
		task = taken()
		story = "/tasks/" + task
		fields = fieldsOf(t, olga.get(story, http.StatusOK), story+"/send")
		fields.Set("to", "bob")
		olga.post(story+"/send", fields.Encode(), "Handed on")
		box, err := agents["bob"].Inbox(ctx, client.InboxOptions{})
		if err != nil || !slices.ContainsFunc(box.Items, func(i client.Item) bool { return i.Task == task && i.From == name }) {
			t.Errorf("%v: %+v", err, box.Items)
		}
	}
}

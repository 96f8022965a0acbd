package server

import (
	"net/http"
	"testing"

	"github.com/trapezehq/trapeze/client"
)

// A line of the timeline says why, and leads to the envelope or the ticket that it is about.
func TestATimelineSaysWhyAndLeadsOn(t *testing.T) {
	_, admin, page, agents := crew(t, "ann", "bob")
	ctx := t.Context()
	made, err := admin.CreateTask(ctx, client.CreateInput{Intent: "Write the report", Send: &client.SendInput{To: []string{"ann", "bob"}}})
	must(t)(made, err)
	must(t)(agents["ann"].Reject(ctx, made.Handoff, client.RejectInput{Reason: client.MissingContext, Missing: []string{"key_facts", "data"}, Detail: "about what?"}))
	must(t)(admin.Constrain(ctx, made.Task, client.ConstrainInput{Constraint: client.Constraint{ID: "short", Kind: "format", Text: "one page at most"}}))
	must(t)(agents["bob"].Accept(ctx, made.Handoff, client.AcceptInput{}))
	must(t)(agents["bob"].Ask(ctx, made.Task, client.AskInput{Epoch: 1, Question: "In which language?"}))
	must(t)(admin.Answer(ctx, made.Task+".k1", client.AnswerInput{Answer: "English"}))
	at := func(event string, of string) string {
		return `<a href="/tasks/` + made.Task + of + `">` + event + "</a>"
	}
	ticket := func(event string) string { return `<a href="/tickets/` + made.Task + `.k1">` + event + "</a>" }
	shown(t, "the timeline", page.get("/tasks/"+made.Task, http.StatusOK), `<h2 id="trail">`, at("handoff request", "/hops/1"), "reason missing context · missing key_facts, data · “about what?”", "constraint set", "id short · “one page at most”",
		at("envelope rendered", "/hops/1"), ticket("ticket opened"), "In which language?", ticket("ticket closed"), "English")
}

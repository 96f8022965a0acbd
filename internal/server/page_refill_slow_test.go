//go:build slow

package server

import (
	"net/http"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
)

// A form that is refused comes back on its page with what was typed, and the error before it.
func TestAFormThatIsRefusedComesBackFilled(t *testing.T) {
	s, admin, page, agents := crew(t, "ann", "mute")
	ctx, zoe := t.Context(), atDesk(t, s, admin)
	over, err := agents["ann"].CreateTask(ctx, client.CreateInput{Intent: "Call the customer", Expected: client.Expected{Schema: []byte(`{"required":["amount"]}`)}, Send: &client.SendInput{To: []string{"human:billing"}}})
	if err != nil {
		t.Fatal(err)
	}
	zoe.post("/tickets/"+over.Task+".k1/claim", "key="+client.NewKey(), "Claimed: it is yours.")
	asks, err := agents["ann"].CreateTask(ctx, client.CreateInput{Intent: "Pay it back", Start: true})
	if err != nil {
		t.Fatal(err)
	}
	must(t)(agents["ann"].Ask(ctx, asks.Task, client.AskInput{Epoch: 1, Question: "Refund it?", Options: []string{"yes", "no"}, Desk: "billing"}))
	ticket, story := "/tickets/"+asks.Task+".k1", "/tasks/"+over.Task
	zoe.post(ticket+"/claim", "key="+client.NewKey(), "Claimed")
	dead, err := admin.CreateTask(ctx, client.CreateInput{Intent: "Nobody takes it", Send: &client.SendInput{To: []string{"mute"}, Retries: new(int)}})
	if err != nil {
		t.Fatal(err)
	}
	must(t)(agents["mute"].Reject(ctx, dead.Handoff, client.RejectInput{Reason: client.Refused, Detail: "not mine"}))
	for name, c := range map[string]struct {
		by         *reader
		path, form string
		want       []string
	}{
		"claimed by another": {page, ticket + "/answer", "option=yes&detail=only+%3Chalf%3E", []string{"Not done:", "zoe has claimed", "You wrote:", "only &lt;half&gt;"}},
		"no JSON":            {zoe, story + "/complete", "epoch=1&result=called%0Atwice&data=%7Bamount", []string{"Not done:", "the data are no JSON", ">called\ntwice</textarea>", ">{amount</textarea>"}},
		"an unknown agent":   {zoe, story + "/send", "epoch=1&to=nobody&ask=Call+again&state=half+done", []string{"Not done:", "nobody", `name="to"`, `value="nobody"`, `value="Call again"`, `value="half done"`}},
		"a stale epoch":      {zoe, story + "/complete", "epoch=7&result=called", []string{"Not done:", "epoch", ">called</textarea>"}},
		"taken over":         {page, story + "/takeover", "to=nobody&detail=urgent", []string{"Not done:", "nobody", `value="nobody"`, `value="urgent"`}},
		"discarded for nothing": {
			page, "/dead", "verb=discard&to=ann&tokens=500&why=+&home=1&task=" + dead.Task,
			[]string{"Not done:", "it is not said why they are discarded", `value="` + dead.Task + `"`, `checked=""`, `value="ann"`, `value="500"`, `value="1" checked=""`},
		},
		"replayed to nobody": {page, "/dead", "verb=replay&to=nobdy&task=" + dead.Task, []string{"Not done:", "1 of 1 were not changed", "nobdy", "What to do: use one of: zoe, ann, mute", `value="nobdy"`}},
		"a silence":          {page, "/alerts/silence", "alert=none&hours=4&reason=known", []string{"Not done:", "You wrote:", "known"}},
		"not a readiness":    {page, "/agents/ann/asleep", "key=k", []string{"Not done:", "ann"}},
	} {
		got := c.by.do(http.MethodPost, c.path, c.form)
		if got.status < 400 || strings.Contains(got.body, "data-live") || inline.MatchString(got.body) {
			t.Errorf("%s: %d", name, got.status)
		}
		shown(t, name, got.body, append([]string{`<main id="main"`}, c.want...)...)
	}

	// Somebody else was first: who, with what, and what the other has written.
	zoe.post(ticket+"/answer", "option=yes", "Answered.")
	got := page.do(http.MethodPost, ticket+"/answer", "option=no&detail=never")
	if got.status != http.StatusConflict {
		t.Errorf("%d", got.status)
	}
	shown(t, "the ticket", got.body, "Not done:", "it is answered by zoe, with the answer “yes”", "You wrote:", "never", `href="/inbox"`, `href="/tasks/`+asks.Task+`"`, "Refund it?")
}

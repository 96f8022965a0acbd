//go:build slow

package server

import (
	"net/http"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
)

// A page has the buttons that its reader may press, and no others; beside a ticket is what its reader may read.
func TestAPageHasTheButtonsThatItsReaderMayPress(t *testing.T) {
	s, admin, page, agents := crew(t, "ann", "bob", "mute")
	ctx, zoe := t.Context(), atDesk(t, s, admin)
	must(t)(admin.RegisterAgent(ctx, "yan", client.AgentSpec{Kind: "human", Capabilities: []string{"billing"}}))
	as := func(role client.Role, name string) *reader {
		token, err := admin.CreateToken(ctx, client.TokenInput{Role: role, Name: name})
		if err != nil {
			t.Fatal(err)
		}
		r := newReader(t, s)
		r.get(r.link(token.Text), http.StatusOK)
		return r
	}
	eve, olga, yan, ann := as(client.RoleAuditor, "eve"), as(client.RoleOperator, "olga"), as(client.RoleAgent, "yan"), as(client.RoleAgent, "ann")
	asks, err := agents["ann"].CreateTask(ctx, client.CreateInput{Intent: "Pay it back", Start: true})
	if err != nil {
		t.Fatal(err)
	}
	must(t)(agents["ann"].Ask(ctx, asks.Task, client.AskInput{Epoch: 1, Question: "Refund it?", Options: []string{"yes", "no"}, Desk: "billing"}))
	dead, err := admin.CreateTask(ctx, client.CreateInput{Intent: "Nobody takes it", Send: &client.SendInput{To: []string{"mute"}, Retries: new(int)}})
	if err != nil {
		t.Fatal(err)
	}
	must(t)(agents["mute"].Reject(ctx, dead.Handoff, client.RejectInput{Reason: client.Refused, Detail: "not mine"}))
	ticket, story := "/tickets/"+asks.Task+".k1", "/tasks/"+asks.Task
	for _, path := range []string{"/", "/inbox", ticket, "/tasks", story, "/tasks/" + dead.Task, "/dead", "/agents/mute", "/alerts", "/record"} {
		_, main, _ := strings.Cut(eve.get(path, http.StatusOK), "<main")
		for n, form := range strings.Split(main, `<form method="post"`) {
			if form, _, _ = strings.Cut(form, "</form>"); n > 0 && (strings.Contains(form, "<button") || strings.Contains(form, `type="checkbox"`)) {
				t.Errorf("an auditor has a form at %s: %s", path, form)
			}
		}
	}
	has := func(name string, r *reader, path string, want bool, part string) {
		t.Helper()
		if body := r.get(path, http.StatusOK); strings.Contains(body, part) != want {
			t.Errorf("%s at %s: %q is there: %t\n%s", name, path, part, !want, body)
		}
	}
	has("olga", olga, "/dead", true, `value="replay"`)
	has("olga", olga, "/tasks/"+dead.Task, true, `<a href="/dead?text=`+dead.Task+`">Replay or discard it</a>`)
	has("eve", eve, "/tasks/"+dead.Task, true, `<a href="/dead?text=`+dead.Task+`">Look at the dead letters</a>`)
	has("ann", ann, "/dead", false, `value="replay"`)
	has("ann", ann, "/dead", true, "None is yours")
	has("ann", ann, "/agents/ann", true, `formaction="/agents/ann/offline"`)
	has("ann", ann, "/agents/mute", false, `formaction=`)
	has("olga", olga, "/agents/mute", true, `formaction="/agents/mute/offline"`)
	has("ann", ann, story, false, story+"/takeover")
	has("ann", ann, story, true, story+"/cancel")
	has("olga", olga, story, true, story+"/takeover")

	has("zoe", zoe, ticket, false, story)
	has("zoe", zoe, ticket, true, "This is the beginning of the task.")
	zoe.post(ticket+"/claim", "key="+client.NewKey(), "Claimed")
	has("zoe", zoe, ticket, true, `value="yes"`)
	for name, r := range map[string]*reader{"yan": yan, "olga": olga, "admin": page} {
		has(name, r, ticket, false, `value="yes"`)
		has(name, r, ticket, true, "zoe has claimed it")
		has(name, r, ticket, name != "yan", "/release")
		has(name, r, "/inbox", false, `value="yes"`)
	}
}

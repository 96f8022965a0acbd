package server

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
)

// For each role, kind and state of a ticket, its page has the buttons that the server accepts when they are pressed, and each that it would accept.
func TestEachButtonOfATicketIsAccepted(t *testing.T) {
	s, admin, page, agents := crew(t, "ann", "bob")
	ctx := t.Context()
	atDesk(t, s, admin)
	must(t)(admin.RegisterAgent(ctx, "yan", client.AgentSpec{Kind: "human", Capabilities: []string{"billing"}}))
	must(t)(admin.RegisterAgent(ctx, "olga", client.AgentSpec{Kind: "human"}))
	readers := map[string]*reader{"local": page}
	claimants := map[string]*client.Client{}
	for name, role := range map[string]client.Role{"ann": client.RoleAgent, "yan": client.RoleAgent, "zoe": client.RoleAgent, "olga": client.RoleOperator, "omar": client.RoleOperator, "eve": client.RoleAuditor} {
		token, err := admin.CreateToken(ctx, client.TokenInput{Role: role, Name: name})
		if err != nil {
			t.Fatal(err)
		}
		readers[name] = newReader(t, s)
		readers[name].get(readers[name].link(token.Text), http.StatusOK)
		readers[name].get("/inbox", http.StatusOK)
		claimants[name] = connect(t, s, token.Text)
	}
	question := func(to string) func() string {
		return func() string { return asks(client.AskInput{Desk: "billing", To: to})(t, agents["ann"]) }
	}
	kinds := map[string]func() string{
		"question": question(""), "question by name": question("yan"),
		"approval": func() string {
			return sends(client.SendInput{To: []string{"bob"}, Kind: client.Supervised})(t, agents["ann"])
		},
		"approval by name": func() string {
			return sends(client.SendInput{To: []string{"bob"}, Kind: client.Supervised, Approver: "yan"})(t, agents["ann"])
		},
		"takeover": func() string { return sends(client.SendInput{To: []string{"human:billing"}})(t, agents["ann"]) },
	}
	claim := func(who string) func(ticket string) bool {
		return func(ticket string) bool { _, err := claimants[who].Claim(ctx, ticket); return err == nil }
	}
	states := map[string]func(ticket string) bool{
		"open": func(string) bool { return true }, "claimed by zoe": claim("zoe"), "claimed by olga": claim("olga"), "claimed by yan": claim("yan"),
		"released": func(ticket string) bool {
			if !claim("olga")(ticket) {
				return false
			}
			must(t)(admin.Release(ctx, ticket, client.ReleaseInput{}))
			return true
		},
	}
	tried, accepted := 0, 0
	for kind, open := range kinds {
		for state, reach := range states {
			for name, r := range readers {
				for _, verb := range []string{"answer", "approve", "deny", "claim", "release", "withdraw"} {
					task := open()
					ticket := task + ".k1"
					if !reach(ticket) {
						continue
					}
					does, is := press(t, admin, r, task, ticket, verb)
					if !is {
						continue
					}
					if tried++; does.accepted {
						accepted++
					}
					if does.shown != does.accepted {
						t.Errorf("%s, %s, %s: a button to %s is there: %t, and pressing it is %d", kind, state, name, verb, does.shown, does.status)
					}
				}
			}
		}
	}
	if tried < 300 || accepted < 50 {
		t.Errorf("%d were pressed, and %d accepted: the test proves little", tried, accepted)
	}
}

// pressed is what became of a button.
type pressed struct {
	shown, accepted bool
	status          int
}

// press does what a button of a ticket's page does, whether the page has it or not. It is false where the reader may not see the ticket, and where the form does
// nothing or the same as another button.
func press(t *testing.T, admin *client.Client, r *reader, task, ticket, verb string) (pressed, bool) {
	t.Helper()
	at := func(verb string) string { return "/tickets/" + ticket + "/" + verb }
	seen := r.do(http.MethodGet, "/tickets/"+ticket, "")
	if seen.status == http.StatusNotFound {
		return pressed{}, false
	}
	shows := func(verb string) bool { return strings.Contains(seen.body, `action="`+at(verb)+`"`) }
	before, err := admin.Task(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	got := r.do(http.MethodPost, at(verb), url.Values{"key": {client.NewKey()}, "answer": {"yes"}, "epoch": {fmt.Sprint(before.Epoch)}}.Encode())
	after, err := admin.Task(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	does := got.status == http.StatusSeeOther
	idle := does && (after.Position == before.Position || verb == "withdraw" && shows("deny") || verb == "deny" && shows("withdraw"))
	return pressed{shows(verb), does, got.status}, !idle
}

//go:build slow && !race

package server

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
)

// For each role, kind and state of a ticket, its page and the inbox have the buttons that the server accepts when they are pressed, and each that it would accept.
func TestEachButtonOfATicketIsAccepted(t *testing.T) {
	s, admin, page, agents := crew(t, "ann", "bob")
	ctx := t.Context()
	atDesk(t, s, admin)
	must(t)(admin.RegisterAgent(ctx, "yan", client.AgentSpec{Kind: "human", Capabilities: []string{"billing"}}))
	must(t)(admin.RegisterAgent(ctx, "olga", client.AgentSpec{Kind: "human"}))
	readers, claimants := map[string]*reader{"local": page}, map[string]*client.Client{}
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
	question := func(to string, options ...string) func() string {
		return func() string {
			return asks(client.AskInput{Desk: "billing", To: to, Options: options})(t, agents["ann"])
		}
	}
	kinds := map[string]func() string{
		"question": question(""), "question by name": question("yan", "no", "yes"),
		"approval": func() string {
			return sends(client.SendInput{To: []string{"bob"}, Kind: client.Supervised})(t, agents["ann"])
		},
		"approval by name": func() string {
			return sends(client.SendInput{To: []string{"bob"}, Kind: client.Supervised, Approver: "yan"})(t, agents["ann"])
		},
		"approval that olga asked for": func() string {
			task := created(t, agents["ann"], client.CreateInput{Start: true})
			must(t)(claimants["olga"].Send(ctx, task, client.SendInput{To: []string{"bob"}, Kind: client.Supervised}))
			return task
		},
		"takeover of nobody's task": func() string {
			return created(t, agents["ann"], client.CreateInput{Send: &client.SendInput{To: []string{"human:billing"}}})
		},
		"takeover": func() string { return sends(client.SendInput{To: []string{"human:billing"}})(t, agents["ann"]) },
	}
	claim := func(who string) func(ticket string) bool {
		return func(ticket string) bool { _, err := claimants[who].Claim(ctx, ticket); return err == nil }
	}
	released := func(who string) func(ticket string) bool {
		return func(ticket string) bool {
			if !claim(who)(ticket) {
				return false
			}
			must(t)(admin.Release(ctx, ticket, client.ReleaseInput{}))
			return true
		}
	}
	states := map[string]func(ticket string) bool{
		"open": func(string) bool { return true }, "claimed by zoe": claim("zoe"), "claimed by olga": claim("olga"), "claimed by yan": claim("yan"),
		"released by olga": released("olga"), "released by yan": released("yan"),
	}
	tried, accepted, count := 0, 0, map[bool]int{true: 1}
	for kind, open := range kinds {
		for state, reach := range states {
			for name, r := range readers {
				for _, verb := range []string{"answer", "approve", "deny", "claim", "release", "withdraw"} {
					task := open()
					ticket := task + ".k1"
					does, is := pressed{}, reach(ticket)
					if is {
						does, is = press(t, admin, r, task, ticket, verb)
					}
					must(t)(admin.Cancel(ctx, task, client.CancelInput{})) // or the inbox has more than a page
					tried, accepted = tried+count[is], accepted+count[is && does.accepted]
					if is && does.shown != does.accepted {
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

// press does what a button of a ticket does, whether it is there or not, as the page of the ticket has it; the inbox has the same. It is false where the reader may not see
// the ticket, and where the form does nothing or the same as another button.
func press(t *testing.T, admin *client.Client, r *reader, task, ticket, verb string) (pressed, bool) {
	t.Helper()
	path := "/tickets/" + ticket
	seen := r.do(http.MethodGet, path, "")
	if seen.status == http.StatusNotFound {
		return pressed{}, false
	}
	inbox := r.get("/inbox", http.StatusOK)
	for _, verb := range []string{"answer", "approve", "deny", "claim", "release", "withdraw"} {
		if action := `action="` + path + "/" + verb + `"`; strings.Contains(inbox, action) != strings.Contains(seen.body, action) {
			t.Errorf("%s: the inbox has a button to %s: %t, unlike the ticket's page", ticket, verb, strings.Contains(inbox, action))
		}
	}
	before, err := admin.Task(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	form := formOf(seen.body, path+"/"+verb)
	shows := form != nil
	if !shows {
		form = url.Values{"key": {client.NewKey()}, "epoch": {fmt.Sprint(before.Epoch)}}
	}
	form.Set("answer", "yes")
	got := r.do(http.MethodPost, path+"/"+verb, form.Encode())
	after, err := admin.Task(t.Context(), task)
	if err != nil {
		t.Fatal(err)
	}
	does := got.status == http.StatusSeeOther
	other := map[string]string{"withdraw": "deny", "deny": "withdraw"}[verb] // which are one call
	idle := does && (after.Position == before.Position || other != "" && strings.Contains(inbox, `action="`+path+"/"+other+`"`))
	return pressed{shows, does, got.status}, !idle
}

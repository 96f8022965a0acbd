package server

import (
	"bufio"
	"context"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// asked matches the heading of a ticket in the inbox.
var asked = regexp.MustCompile(`<h2><a href="/tickets/(task_\w+)\.k1">(\w+ \d+)\?</a></h2>`)

// follows reports whether a live stream tells of a change before ctx ends.
func (r *reader) follows(ctx context.Context, path string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, r.base+path, nil)
	if err != nil {
		return false
	}
	res, err := r.http.Do(req)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if lines.Text() == "event: change" {
			return true
		}
	}
	return false
}

// No text of the server has a time as programs write it: not why a task is in the dead letters, nor why something was refused. Without a session a form is
// answered with one way to sign in.
func TestThePageWritesTimesAsPeopleReadThem(t *testing.T) {
	s, admin, page, agents := crew(t, "ann")
	ctx := t.Context()
	asks, err := agents["ann"].CreateTask(ctx, client.CreateInput{Intent: "Pay it back", Start: true})
	if err != nil {
		t.Fatal(err)
	}
	must(t)(agents["ann"].Ask(ctx, asks.Task, client.AskInput{Epoch: 1, Question: "Refund it?"}))
	must(t)(as(t, s, client.RoleOperator, "olga").Claim(ctx, asks.Task+".k1"))
	late, err := admin.CreateTask(ctx, client.CreateInput{Intent: "Be quick", Deadline: time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)})
	if err != nil {
		t.Fatal(err)
	}
	refused := page.do(http.MethodPost, "/tickets/"+asks.Task+".k1/answer", "answer=yes")
	if refused.status != http.StatusConflict {
		t.Errorf("an answer to what olga has claimed: %d", refused.status)
	}
	shown(t, "the refusal", refused.body, "operator/olga has claimed ticket", "until 2026-11-23 15:00:00 UTC")
	if _, err := s.Advance(ctx, 2*time.Hour); err != nil {
		t.Fatal(err)
	}
	shown(t, "the story", page.get("/tasks/"+late.Task, http.StatusOK), "the deadline 2026-11-23 10:00:00 UTC has passed", "the deadline 2026-11-23 10:00:00 UTC has passed")
	shown(t, "the dead letters", page.get("/dead", http.StatusOK), "the deadline 2026-11-23 10:00:00 UTC has passed")

	stranger := newReader(t, s)
	got := stranger.do(http.MethodPost, "/tickets/"+asks.Task+".k1/answer", "answer=yes&as=default/admin/local")
	shown(t, "a form without a session", got.body, "you are not signed in", `<a class="button" href="/sign-in" target="_blank">Sign in</a> in another tab`)
	if got.status != http.StatusUnauthorized || strings.Contains(got.body, "What to do") {
		t.Errorf("a form without a session: %d, or two ways to sign in:\n%s", got.status, got.body)
	}
}

// Who asked for a handoff that waits for approval is told where the buttons would be why there is none to approve it; others are not.
func TestWhoAskedForAnApprovalIsToldWhyTheyCannotApprove(t *testing.T) {
	s, admin, page, agents := crew(t, "ann", "bob")
	readers := map[string]*reader{"local": page}
	for name, role := range map[string]client.Role{"ann": client.RoleAgent, "olga": client.RoleOperator, "eve": client.RoleAuditor} {
		token, err := admin.CreateToken(t.Context(), client.TokenInput{Role: role, Name: name})
		if err != nil {
			t.Fatal(err)
		}
		readers[name] = newReader(t, s)
		readers[name].get(readers[name].link(token.Text), http.StatusOK)
	}
	for asker, by := range map[string]*client.Client{"ann": agents["ann"], "local": admin} {
		made, err := by.CreateTask(t.Context(), client.CreateInput{Intent: "Pay it back", Send: &client.SendInput{To: []string{"bob"}, Kind: client.Supervised}})
		if err != nil {
			t.Fatal(err)
		}
		for name, r := range readers {
			for _, path := range []string{"/inbox", "/tickets/" + made.Task + ".k1"} {
				got := r.do(http.MethodGet, path, "")
				if got.status == http.StatusOK && strings.Contains(got.body, "You asked for it, and nobody approves a handoff that they asked for") != (name == asker) {
					t.Errorf("%s, of what %s asked for, by %s: %s", path, asker, name, got.body)
				}
			}
		}
		must(t)(admin.Cancel(t.Context(), made.Task, client.CancelInput{}))
	}
}

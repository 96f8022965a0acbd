//go:build slow

package server

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
)

// A dead letter is found among many: its story leads to it, a list is narrowed, and goes on as it was after several are given up.
func TestADeadLetterIsFoundAmongMany(t *testing.T) {
	_, admin, page, agents := crew(t, "mute")
	ctx := t.Context()
	dead := func(intent string) string {
		t.Helper()
		made, err := admin.CreateTask(ctx, client.CreateInput{Intent: intent, Send: &client.SendInput{To: []string{"mute"}, Retries: new(int)}})
		if err != nil {
			t.Fatal(err)
		}
		must(t)(agents["mute"].Reject(ctx, made.Handoff, client.RejectInput{Reason: client.Refused, Detail: "not mine"}))
		return made.Task
	}
	must(t)(admin.CreateTask(ctx, client.CreateInput{Intent: "an order that lives"}))
	first := dead("the oldest order")
	for n := range 100 { // as many as a page lists
		dead(fmt.Sprint("invoice ", n))
	}
	chosen := func(path string) int { return strings.Count(page.get(path, http.StatusOK), `name="task" value="`) }
	if body := page.get("/dead", http.StatusOK); strings.Contains(body, first) || !strings.Contains(body, "101 dead letters") {
		t.Errorf("the first page has all of them, or does not say how many there are: %s", body)
	}
	link := regexp.MustCompile(`href="(/dead[^"]*)">Replay or discard it`).FindStringSubmatch(page.get("/tasks/"+first, http.StatusOK))
	if len(link) != 2 || chosen(link[1]) != 1 || !strings.Contains(page.get(link[1], http.StatusOK), `name="task" value="`+first) {
		t.Errorf("its story leads to %q, where it is not", link)
	}
	for path, want := range map[string]int{"/dead?text=order": 1, "/dead?text=order&state=pending&live=1": 1, "/dead?text=invoice": 100, "/dead?words=oldest": 1, "/dead?owner=mute": 0, "/dead?since=1h": 100, "/dead?until=1h": 0} {
		if got := chosen(path); got != want {
			t.Errorf("%s lists %d, and not %d", path, got, want)
		}
	}
	shown(t, "a list of none", page.get("/dead?text=nothing", http.StatusOK), "No dead letter fits", `href="/dead"`)
	for path, says := range map[string]string{"/dead": "No dead letter fits", "/tasks": "No task fits"} { // as after all of the last page were given up
		shown(t, "the end of a list", page.get(path+"?after=task_00000000000000000000000000", http.StatusOK), says, `<a href="`+path+`">Show all</a>`)
	}
	page.post("/dead?text=order", "verb=discard&key=k1&why=old&task="+first, "Discarded.")
	if got := page.do(http.MethodPost, "/dead?text=order", "verb=discard&key=k2&why=old&task="+dead("another order")); got.header.Get("Location") != "/dead?did=discard&text=order" {
		t.Errorf("the list goes on at %q", got.header.Get("Location"))
	}
}

// A list is narrowed by when tasks changed, in words that people type, and says how many match in each state.
func TestTasksAreListedAndFoundByWhenTheyChanged(t *testing.T) {
	s, admin, page, agents := crew(t, "ann")
	ctx := t.Context()
	advance := func(by time.Duration) {
		t.Helper()
		if _, err := s.Advance(ctx, by); err != nil {
			t.Fatal(err)
		}
	}
	for _, intent := range []string{"paint the first", "paint the second"} {
		must(t)(admin.CreateTask(ctx, client.CreateInput{Intent: intent}))
		must(t)(admin.Remember(ctx, client.RememberInput{Text: "knows to " + intent, Scope: client.ScopeWorkspace}))
		advance(3 * time.Hour)
	}
	must(t)(agents["ann"].CreateTask(ctx, client.CreateInput{Intent: "paint the third", Start: true})) // at 15:00
	advance(20 * time.Minute)                                                                          // its lease is longer
	for query, want := range map[string]string{
		"":                            "first second third 2 pending 1 executing",
		"since=1h":                    "third 1 executing",
		"until=1h":                    "first second 2 pending",
		"since=5h&until=2h":           "second 1 pending",
		"since=2026-11-23+10:00":      "second third 1 pending 1 executing",
		"until=2026-11-23T12:00:00Z":  "first 1 pending",
		"since=7d&text=second&live=1": "second 1 pending",
		"since=2026-11-24":            "",
	} {
		body, words := page.get("/tasks?"+query, http.StatusOK), strings.Fields(want)
		for _, name := range []string{"first", "second", "third"} {
			if got := strings.Contains(body, "paint the "+name); got != slices.Contains(words, name) {
				t.Errorf("%q: the %s is listed: %v", query, name, got)
			}
		}
		for _, state := range []string{"1 pending", "2 pending", "1 executing"} {
			if got := strings.Contains(body, ">"+state+"</a>"); got != strings.Contains(want, state) {
				t.Errorf("%q: %s is shown: %v", query, state, got)
			}
		}
	}
	for query, want := range map[string]string{"q=paint&since=1h": "third", "q=paint&until=5h": "first knows first", "q=paint&since=5h&until=2h": "second knows second", "since=1h": "third"} {
		body, words := page.get("/find?"+query, http.StatusOK), strings.Fields(want)
		for _, name := range []string{"first", "second", "third"} {
			if got := strings.Contains(body, ">paint the "+name+"<"); got != slices.Contains(words, name) {
				t.Errorf("%q finds the %s: %v", query, name, got)
			}
			if got := strings.Contains(body, "knows to paint the "+name); got != strings.Contains(want, "knows "+name) {
				t.Errorf("%q finds what knows the %s: %v", query, name, got)
			}
		}
		if strings.Contains(body, `<h2 id="a">`) {
			t.Errorf("%q looks in agents, which have no such time", query)
		}
	}
	for _, path := range []string{"/tasks?since=yesterday", "/find?q=x&until=soon"} {
		shown(t, path, page.get(path, http.StatusUnprocessableEntity), "is no time", "such as 90m, 2h or 7d")
	}
	page.get("/tasks?since=1h&until=2h", http.StatusBadRequest)
}

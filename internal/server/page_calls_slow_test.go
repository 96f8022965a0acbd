//go:build slow

package server

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/trapezehq/trapeze/client"

	"github.com/trapezehq/trapeze/internal/api/webpage"
)

// asID matches a link whose words are the id of a task, or of a part of one.
var asID = regexp.MustCompile(`<a [^>]*>\s*(<code>)?task_[^<]*`)

// readable returns a page in which no link is read as an id.
func readable(t *testing.T, path, body string) string {
	t.Helper()
	if link := asID.FindString(body); link != "" {
		t.Errorf("%s has a link that is read as an id: %s", path, link)
	}
	return body
}

// A page makes as many calls for few tasks, tickets and children as for more than a page of a list has.
func TestAPageMakesAsManyCallsForManyTasksAsForFew(t *testing.T) {
	s, admin, _, agents := crew(t, "ann", "bob", "mute")
	ctx := t.Context()
	must(t)(admin.RegisterAgent(ctx, "ann", client.AgentSpec{MaxTasks: 500}))
	parent, err := agents["ann"].CreateTask(ctx, client.CreateInput{Intent: "all of it", Start: true})
	if err != nil {
		t.Fatal(err)
	}
	moved, epoch := created(t, agents["ann"], client.CreateInput{Start: true, Limits: client.Limits{Hops: 40, Handoffs: 40, Visits: 40}}), uint64(1)
	moves := func(by, to string) {
		t.Helper()
		r, err := agents[by].Send(ctx, moved, client.SendInput{Epoch: epoch, To: []string{to}, Content: client.Content{Decisions: []client.Point{{Text: "go on"}}}})
		must(t)(r, err)
		must(t)(agents[to].Accept(ctx, r.Handoff, client.AcceptInput{}))
		epoch++
	}
	more := func(n int) {
		t.Helper()
		for i := range n {
			created(t, agents["ann"], client.CreateInput{})
			sends(client.SendInput{To: []string{"bob"}, Kind: client.Supervised})(t, agents["ann"])
			asks(client.AskInput{Options: []string{"yes", "no"}})(t, agents["ann"])
			answered := asks(client.AskInput{Options: []string{"yes", "no"}})(t, agents["ann"]) + ".k1"
			must(t)(admin.Answer(ctx, answered, client.AnswerInput{Answer: "yes"}))
			dead := created(t, admin, client.CreateInput{Send: &client.SendInput{To: []string{"mute"}, Retries: new(int)}})
			must(t)(agents["mute"].Reject(ctx, dead+".h1", client.RejectInput{Reason: client.Refused, Detail: "no"}))
			if i >= 20 { // a task is handed off 30 times at most
				continue
			}
			if i < 10 {
				moves("ann", "bob")
				must(t)(agents["bob"].Ask(ctx, moved, client.AskInput{Epoch: epoch, Question: "Go on?"}))
				k, err := admin.Task(ctx, moved)
				must(t)(k, err)
				must(t)(admin.Answer(ctx, k.Ticket.ID, client.AnswerInput{Answer: "yes"}))
				moves("bob", "ann")
			}
			child, err := agents["ann"].Send(ctx, parent.Task, client.SendInput{Epoch: 1, To: []string{"bob"}, Kind: client.Delegation, FanIn: client.FanIn{Mode: client.FanInNone}})
			must(t)(child, err)
		}
	}
	home, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	calls, api := atomic.Int64{}, httputil.NewSingleHostReverseProxy(home)
	at := httptest.NewServer(webpage.New(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		r.Host = home.Host
		api.ServeHTTP(w, r)
	}), webpage.Options{}))
	defer at.Close()
	page := newReader(t, s)
	page.base = at.URL
	page.get(page.link(adminToken(t, s)), http.StatusOK)
	paths := []string{
		"/", "/inbox", "/inbox?past=1", "/tasks", "/tasks?text=pay", "/dead", "/find?q=pay", "/agents/ann", "/figures", "/alerts", "/policy", "/record", "/tasks/" + parent.Task,
		"/tickets/" + moved + ".k1", "/tasks/" + moved + "/hops/1", "/tasks/" + moved + "/hops/2", "/tasks/" + moved + "/compare", "/tasks/" + moved,
	}
	made := func() (list []string, bytes int) {
		for _, path := range paths {
			calls.Store(0)
			bytes += len(readable(t, path, page.get(path, http.StatusOK)))
			list = append(list, fmt.Sprintf("%s: %d", path, calls.Load()))
		}
		return list, bytes
	}
	more(3)
	few, small := made()
	more(40) // 120 tickets and 120 live tasks: more than a page has
	many, large := made()
	if !slices.Equal(few, many) {
		t.Errorf("for few:\n%s\nfor many:\n%s", strings.Join(few, "\n"), strings.Join(many, "\n"))
	}
	if large < 4*small {
		t.Errorf("the pages of many have %d bytes, and those of few %d: the test proves little", large, small)
	}
}

package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"

	"github.com/trapezehq/trapeze/internal/api/webpage"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// followed is where a page says what it follows.
var followed = regexp.MustCompile(`<main [^>]*data-live="([^"]+)"`)

// identified is an id of a part of a page.
var identified = regexp.MustCompile(` id="[^"]*"`)

// change is something that a page shows once it has happened.
type change struct {
	path  string
	make  func() error
	shows string
}

// Each page is told of what changes it: of the table of pages, none is without a change that it is told of. Nobody is told of a page that is looked at.
func TestEachPageFollowsWhatChangesIt(t *testing.T) {
	file := filepath.Join(t.TempDir(), "policy.yaml")
	rule := func(name string) error {
		return os.WriteFile(file, []byte("version: 1\nrules: [{name: "+name+", when: {keywords: [back]}, then: {to: {agent: ann}}}]\n"), 0o600)
	}
	must(t)(nil, rule("first"))
	s, boss := forTests(t, Config{Temporary: true, Policy: file, Clock: NewClock(time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC))})
	page, agents := newReader(t, s), map[string]*client.Client{}
	page.get(page.link(adminToken(t, s)), http.StatusOK)
	for _, name := range []string{"ann", "bob", "cyd", "mute"} {
		agents[name] = connect(t, s, agentToken(t, boss, name))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	position := func() uint64 {
		t.Helper()
		me, err := boss.Me(ctx)
		must(t)(me, err)
		return me.Position
	}
	settled := func() uint64 {
		t.Helper()
		must(t)(s.Settle(ctx))
		return position()
	}
	changes, follows := changesOfPages(t, boss, agents, rule), map[string]string{}
	begin := settled()
	for _, pattern := range webpage.Pages() {
		c, ok := changes[pattern]
		if !ok {
			t.Errorf("%s: nothing is known that changes it", pattern)
			continue
		}
		body := page.get(c.path, http.StatusOK)
		at := followed.FindStringSubmatch(body)
		if at == nil || strings.Contains(body, c.shows) {
			t.Errorf("%s follows %q, or shows %q before it happens", c.path, at, c.shows)
			continue
		}
		follows[pattern] = "/live?task=" + url.QueryEscape(at[1])
	}
	last := created(t, boss, client.CreateInput{})
	err := boss.Events(ctx, begin, func(e client.Event) error {
		if e.ID == last {
			return errDone
		}
		t.Errorf("who looks at the pages changes %s %s: %s", e.Kind, e.ID, e.Events)
		return nil
	})
	if !errors.Is(err, errDone) {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	var olga *reader // who follows with as many pages as one person may
	streams := 0
	for pattern, live := range follows {
		if streams++; streams%8 == 1 {
			token, err := boss.CreateToken(ctx, client.TokenInput{Role: client.RoleOperator, Name: fmt.Sprint("olga", streams)})
			must(t)(token, err)
			olga = newReader(t, s)
			olga.get(olga.link(token.Text), http.StatusOK)
		}
		c, before, reader := changes[pattern], position(), olga
		must(t)(nil, c.make())
		all.Go(func() {
			if !reader.follows(ctx, fmt.Sprintf("%s&after=%d", live, before)) {
				t.Errorf("%s is not told of its change", c.path)
			}
		})
		must(t)(nil, s.monitor.Wait(ctx, ledger.Position(settled()))) // figures are counted beside
		body := page.get(c.path, http.StatusOK)
		if !strings.Contains(body, c.shows) {
			t.Errorf("%s does not show %q: %s", c.path, c.shows, body)
		}
		identifies(t, c.path, body)
	}
	all.Wait()
}

// identifies checks that no two parts of a page have one id: an update finds by them what is the same.
func identifies(t *testing.T, path, body string) {
	t.Helper()
	seen := map[string]bool{}
	for _, id := range identified.FindAllString(body, -1) {
		if seen[id] {
			t.Errorf("%s has%s twice", path, id)
		}
		seen[id] = true
	}
}

var errDone = errors.New("done")

// changesOfPages is a change of each page, by its pattern. Those of pages that follow some things alone are of things of their own.
func changesOfPages(t *testing.T, boss *client.Client, agents map[string]*client.Client, rule func(name string) error) map[string]change {
	ann, bob, cyd, ctx := agents["ann"], agents["bob"], agents["cyd"], t.Context()
	note, err := ann.Remember(ctx, client.RememberInput{Title: "A note", Text: "the first text", Scope: client.ScopeWorkspace})
	must(t)(note, err)
	turn := func(text string) error {
		_, err := ann.AppendTurn(ctx, "talk~ann", client.TurnInput{Role: "user", Text: text})
		return err
	}
	must(t)(nil, turn("Hello"))
	asked := asks(client.AskInput{})(t, ann)
	parent := created(t, ann, client.CreateInput{Start: true})
	child, err := ann.Send(ctx, parent, client.SendInput{Epoch: 1, To: []string{"bob"}, Kind: client.Delegation, FanIn: client.FanIn{Mode: client.FanInNone}})
	must(t)(child, err)
	family, err := boss.Task(ctx, parent)
	must(t)(family, err)
	offered := sends(client.SendInput{To: []string{"bob"}})(t, ann)
	moved := sends(client.SendInput{To: []string{"bob"}})(t, ann)
	must(t)(bob.Accept(ctx, moved+".h1", client.AcceptInput{}))
	must(t)(bob.Send(ctx, moved, client.SendInput{Epoch: 1, To: []string{"cyd"}}))
	must(t)(cyd.Accept(ctx, moved+".h2", client.AcceptInput{}))
	create := func(in client.CreateInput) func() error {
		return func() error { _, err := boss.CreateTask(ctx, in); return err }
	}
	reject := func(detail string) error {
		r, err := boss.CreateTask(ctx, client.CreateInput{Intent: detail, Send: &client.SendInput{To: []string{"mute"}, Retries: new(int)}})
		if err == nil {
			_, err = agents["mute"].Reject(ctx, r.Handoff, client.RejectInput{Reason: client.Refused, Detail: "no"})
		}
		return err
	}
	admins := admin.New(boss)
	reload := func(name string) error {
		if err := rule(name); err != nil {
			return err
		}
		_, err := admins.ReloadPolicy(ctx)
		return err
	}
	return map[string]change{
		"GET /{$}":   {"/", create(client.CreateInput{Intent: "on the overview"}), "on the overview"},
		"GET /tasks": {"/tasks", create(client.CreateInput{Intent: "on the list"}), "on the list"},
		"GET /tasks/{task}": {"/tasks/" + parent, func() error {
			_, err := bob.Accept(ctx, family.Children[0].Task+".h1", client.AcceptInput{})
			return err
		}, `executing</span> <span class="quiet">bob`},
		"GET /tasks/{task}/hops/{hop}": {"/tasks/" + offered + "/hops/1", func() error {
			_, err := bob.Reject(ctx, offered+".h1", client.RejectInput{Reason: client.Refused, Detail: "rather not"})
			return err
		}, "rather not"},
		"GET /tasks/{task}/compare": {"/tasks/" + moved + "/compare", func() error {
			_, err := cyd.Send(ctx, moved, client.SendInput{Epoch: 2, To: []string{"mute"}})
			return err
		}, "Handoffs 2 and 3"},
		"GET /tasks/{task}/route": {"/tasks/" + parent + "/route", func() error { return reload("second") }, "<code>second</code>"},
		"GET /inbox": {"/inbox", func() error {
			_, err := cyd.CreateTask(ctx, client.CreateInput{Intent: "in the inbox", Send: &client.SendInput{To: []string{"human:operators"}}})
			return err
		}, "in the inbox"},
		"GET /tickets/{ticket}": {"/tickets/" + asked + ".k1", func() error { _, err := boss.Claim(ctx, asked+".k1"); return err }, "Claimed by"},
		"GET /dead":             {"/dead", func() error { return reject("nobody takes this") }, "nobody takes this"},
		"GET /agents/{agent}":   {"/agents/cyd", create(client.CreateInput{Intent: "for cyd", Send: &client.SendInput{To: []string{"cyd"}}}), "for cyd"},
		"GET /figures":          {"/figures", func() error { return reject("nobody takes it") }, `<a href="/agents/mute">`},
		"GET /alerts": {"/alerts", func() error {
			_, err := admins.SilenceAlert(ctx, admin.SilenceInput{Alert: "agent-fails", Reason: "known here", For: client.Duration(time.Hour)})
			return err
		}, "known here"},
		"GET /record": {"/record", func() error {
			_, err := admins.SetHold(ctx, admin.SubjectInput{Subject: "task/" + moved, Why: "the case of 2026"})
			return err
		}, "the case of 2026"},
		"GET /conversations/{conversation}": {"/conversations/talk~ann", func() error { return turn("Goodbye") }, "Goodbye"},
		"GET /find":                         {"/find?q=walrus", create(client.CreateInput{Intent: "Feed the walrus"}), "Feed the walrus"},
		"GET /policy":                       {"/policy", func() error { return reload("third") }, "name: third"},
		"GET /memory/{memory}": {"/memory/" + note.ID, func() error {
			_, err := ann.Revise(ctx, note.ID, client.ReviseInput{Text: "the second text"})
			return err
		}, "the second text"},
	}
}

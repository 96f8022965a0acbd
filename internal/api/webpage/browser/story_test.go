//go:build outside

package browser

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/api/webpage"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest/freeaddr"
)

// story is a task that moved from agent to agent, a question to people, an approval and a dead letter.
type story struct{ task, question, approval, dead, memory, talk, decided string }

// hostile is a text that would run, close, hide or break something if it were more than data.
const (
	markup  = "<script>alert(1)</script><img src=x onerror=alert(2)> \"'><b>bold</b> {{.Me}} ${7*7} javascript:alert(3)"
	hostile = markup + " \u202egnp.exe" // which some texts must not have
)

func (d *desk) tell() (s story) {
	d.t.Helper()
	ctx := d.t.Context()
	must := func(r client.Receipt, err error) client.Receipt {
		d.t.Helper()
		if err != nil {
			d.t.Fatal(err)
		}
		return r
	}
	surveyor, analyst := d.agent("surveyor", client.AgentSpec{}), d.agent("analyst", client.AgentSpec{ContextWindow: 8000})
	writer := d.agent("writer", client.AgentSpec{Description: markup})
	d.agent("away", client.AgentSpec{})
	to := func(name string) client.SendInput {
		return client.SendInput{To: []string{name}, Content: client.Content{
			Ask: "Go on from here " + hostile, State: "half done", Facts: []client.Point{{Text: "there are 14 packages"}, {Text: hostile}},
			Decisions: []client.Point{{Text: "tests do not count"}},
		}}
	}
	s.task = must(d.admin.CreateTask(ctx, client.CreateInput{Intent: "Write a report on the module, with sources", Constraints: []client.Constraint{{ID: "no-guesses", Kind: "prohibition", Text: "no guesses " + markup, Hard: true}}})).Task
	h := must(d.admin.Send(ctx, s.task, to("surveyor")))
	must2(d.t, func() error { _, err := surveyor.Accept(ctx, h.Handoff, client.AcceptInput{}); return err })
	t, err := d.admin.Task(ctx, s.task)
	must2(d.t, func() error { return err })
	in := to("analyst")
	in.Epoch = t.Epoch
	in.Content.Facts = []client.Point{{ID: "f1", Text: "there are 15 packages"}, {Text: "the longest function has 80 lines"}}
	h = must(surveyor.Send(ctx, s.task, in))
	must2(d.t, func() error { _, err := analyst.Accept(ctx, h.Handoff, client.AcceptInput{}); return err })

	asks := must(d.admin.CreateTask(ctx, client.CreateInput{Intent: "Pay invoice 4711 " + hostile, Priority: client.Urgent, Send: ptr(to("writer"))}))
	must2(d.t, func() error { _, err := writer.Accept(ctx, asks.Handoff, client.AcceptInput{}); return err })
	must(writer.Ask(ctx, asks.Task, client.AskInput{Epoch: 1, Question: "Is the amount approved? " + hostile, Options: []string{"yes", "no"}}))
	s.question = asks.Task + ".k1"
	supervised := to("analyst")
	supervised.Kind = client.Supervised
	approval := must(d.agent("teller", client.AgentSpec{}).CreateTask(ctx, client.CreateInput{Intent: "Release the funds", Send: ptr(supervised)}))
	s.approval = approval.Task + ".k1"
	s.dead = d.lose("Nobody takes this")
	item, err := surveyor.Remember(ctx, client.RememberInput{Title: "Style guide " + markup, Text: "Short sentences. " + markup, Scope: client.ScopeWorkspace})
	must2(d.t, func() error { return err })
	must2(d.t, func() error {
		_, err := surveyor.Revise(ctx, item.ID, client.ReviseInput{Text: "Shorter sentences. " + hostile})
		return err
	})
	s.memory, s.talk = item.ID, "support~surveyor"
	rules := "version: 1\nrules: [{name: funds, when: {keywords: [funds]}, then: {to: {agent: away}}}]\n"
	must2(d.t, func() error { return os.WriteFile(filepath.Join(d.dir, "policy.yaml"), []byte(rules), 0o600) })
	must2(d.t, func() error { _, err := admin.New(d.admin).ReloadPolicy(ctx); return err })
	s.decided = must(d.admin.CreateTask(ctx, client.CreateInput{Intent: "Count the funds " + markup, Send: &client.SendInput{To: []string{"auto"}}})).Task
	must2(d.t, func() error {
		_, err := surveyor.AppendTurn(ctx, s.talk, client.TurnInput{Role: "user", Text: "Where is my order? " + hostile})
		return err
	})
	return s
}

// lose has a task rejected until it is in the dead letters.
func (d *desk) lose(intent string) (task string) {
	d.t.Helper()
	ctx := d.t.Context()
	lost, err := d.admin.CreateTask(ctx, client.CreateInput{Intent: intent, Send: &client.SendInput{To: []string{"away"}}})
	must2(d.t, func() error { return err })
	away := d.again("away")
	for range 10 {
		task, err := d.admin.Task(ctx, lost.Task)
		must2(d.t, func() error { return err })
		if task.State == client.Parked {
			return lost.Task
		}
		_, _ = away.Reject(ctx, task.Handoff.ID, client.RejectInput{Reason: client.Refused, Detail: "not mine"})
	}
	d.t.Fatalf("%s is not in the dead letters", lost.Task)
	return ""
}

// again is another client of an agent.
func (d *desk) again(name string) *client.Client {
	d.t.Helper()
	token, err := d.admin.CreateToken(d.t.Context(), client.TokenInput{Role: client.RoleAgent, Name: name})
	if err != nil {
		d.t.Fatal(err)
	}
	return d.as(token.Text)
}

func ptr[T any](v T) *T { return &v }

func must2(t testing.TB, fn func() error) {
	t.Helper()
	if err := fn(); err != nil {
		t.Fatal(err)
	}
}

// pages are all pages, by name.
func (s story) pages() map[string]string {
	return map[string]string{
		"overview": "/", "inbox": "/inbox", "answered": "/inbox?past=1", "ticket": "/tickets/" + s.question, "approval": "/tickets/" + s.approval,
		"tasks": "/tasks", "story": "/tasks/" + s.task, "handoff": "/tasks/" + s.task + "/hops/2", "earlier": "/tasks/" + s.task + "/hops/1", "compare": "/tasks/" + s.task + "/compare",
		"dead": "/dead", "agent": "/agents/writer", "find": "/find?q=invoice", "figures": "/figures", "alerts": "/alerts", "record": "/record", "policy": "/policy", "decided": "/tasks/" + s.decided + "/hops/1", "routed": "/tasks/" + s.task + "/route", "conversation": "/conversations/" + s.talk, "memory": "/memory/" + s.memory, "refused": "/tasks/task_00000000000000000000000000",
	}
}

// TestPages shows each page: every route has one here, and none of them loads anything from elsewhere.
func TestPages(t *testing.T) {
	d := open(t)
	s := d.tell()
	d.signIn(d.token)
	routes, shown := http.NewServeMux(), map[string]bool{}
	for _, pattern := range webpage.Pages() {
		routes.Handle(pattern, http.NotFoundHandler())
	}
	for name, path := range s.pages() {
		_, pattern := routes.Handler(httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		shown[pattern] = true
		d.goTo(path)
		if title := eval[string](d, `document.title`); strings.HasPrefix(title, "Not shown") != (name == "refused") {
			t.Errorf("%s is %q", name, title)
		}
		if from := eval[[]string](d, `performance.getEntriesByType("resource").map((e) => e.name).filter((n) => !n.startsWith(location.origin + "/"))`); len(from) > 0 {
			t.Errorf("%s loads %q", name, from)
		}
		d.picture(name)
	}
	for _, pattern := range webpage.Pages() {
		if !shown[pattern] {
			t.Errorf("no page of the tests is at %s", pattern)
		}
	}
	if heard := d.heard(); len(heard) > 0 {
		t.Error(heard)
	}
}

func TestATicketIsAnsweredInTwoKeystrokes(t *testing.T) {
	d := open(t)
	s := d.tell()
	d.signIn(d.token)
	d.inbox() // the question is first: it is the older of the two
	d.do(chromedp.KeyEvent("1"), chromedp.KeyEvent(kb.Enter))
	d.shows("Answered.")
	k, err := d.admin.Ticket(t.Context(), s.question, 0)
	if err != nil || k.Outcome != "answered" || k.Answer != "yes" {
		t.Errorf("%v: %+v", err, k)
	}
	d.inbox() // where only the approval is left
	d.do(chromedp.KeyEvent("a"), chromedp.KeyEvent(kb.Enter))
	d.shows("Approved.")
	if k, err := d.admin.Ticket(t.Context(), s.approval, 0); err != nil || k.Outcome != "approved" {
		t.Errorf("%v: %+v", err, k)
	}
}

func TestAPageShowsAChangeAndSurvivesARestart(t *testing.T) {
	d := open(t)
	d.stop()
	addr := freeaddr.New(t, 1)[0] // which nobody else gets while the server is away
	d.start(addr)
	d.tell()
	d.signIn(d.token)
	d.goTo("/")
	d.shows("Write a report")
	d.do(chromedp.Evaluate[chromedp.Void](`window.kept = true`))
	if _, err := d.admin.CreateTask(t.Context(), client.CreateInput{Intent: "This came later"}); err != nil {
		t.Fatal(err)
	}
	d.shows("This came later")
	d.stop()
	d.do(chromedp.Poll[chromedp.Void](`!document.getElementById("connection").hidden`, chromedp.WithPollingTimeout(patience)))
	d.start(addr)
	if _, err := d.admin.CreateTask(t.Context(), client.CreateInput{Intent: "After the restart"}); err != nil {
		t.Fatal(err)
	}
	d.shows("After the restart")
	d.until(`document.getElementById("connection").hidden`)
	d.following()
	if _, err := d.admin.CreateTask(t.Context(), client.CreateInput{Intent: "It follows again"}); err != nil {
		t.Fatal(err)
	}
	d.shows("It follows again")
	if !eval[bool](d, `window.kept === true`) {
		t.Error("the page was loaded again")
	}
}

func TestHostileTextIsData(t *testing.T) {
	d := open(t)
	s := d.tell()
	d.signIn(d.token)
	for name, path := range s.pages() {
		d.goTo(path)
		if n := eval[int](d, `document.querySelectorAll("#main script, #main img, #main b, #main [onerror]").length`); n != 0 {
			t.Errorf("%s: %d elements come from text", name, n)
		}
		if eval[bool](d, `document.documentElement.innerHTML.includes("\u202e")`) {
			t.Errorf("%s: a hidden character is not shown", name)
		}
	}
	if heard := d.heard(); len(heard) > 0 {
		t.Error(heard)
	}
}

func TestNothingIsWiderThanAPhone(t *testing.T) {
	d := open(t)
	s := d.tell()
	d.signIn(d.token)
	d.do(chromedp.EmulateViewport(360, 740))
	for name, path := range s.pages() {
		d.goTo(path)
		if n := eval[int](d, `document.documentElement.scrollWidth`); n > 360 {
			t.Errorf("%s is %d pixels wide", name, n)
		}
		d.do(chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("main details").forEach((e) => e.open ||= !e.matches(".fold")); void 0`))
		if cut := eval[[]string](d, `[...document.querySelectorAll("main .wide:has(table), main table, main td, main th")].filter((e) => e.scrollWidth > e.clientWidth + 1 || e.getBoundingClientRect().right > 360).map((e) => e.innerText.slice(0, 60))`); len(cut) > 0 {
			t.Errorf("%s has what is read by scrolling sideways: %q", name, cut)
		}
		d.picture("phone-" + name)
	}
	first := func(path, of string) {
		t.Helper()
		d.goTo(path)
		if got := eval[string](d, `(() => { const e = document.querySelector(`+"`"+of+"`"+`), r = e?.getBoundingClientRect(); return !e ? "missing" : r.bottom > innerHeight || r.right > innerWidth || !e.checkVisibility() ? "at " + r.bottom : ""; })()`); got != "" {
			t.Errorf("%s: %s is not on the first screen: %s", path, of, got)
		}
	}
	first("/tasks", "tbody tr td:nth-child(2)")
	first("/tasks?state=parked&owner=writer", ".fold > summary")
	first("/find?q=invoice", "tbody tr td")
	first("/dead", "tbody tr td:nth-child(3) strong")
}

// Who is signed in is at the top of each page, on a phone and on a screen, in both colour schemes, however long the name is; and no page has a time as programs write it.
func TestEachPageSaysWhoIsSignedIn(t *testing.T) {
	d := open(t)
	s := d.tell()
	name := strings.Repeat("o", 64)
	d.signIn(d.tokenOf(client.RoleOperator, name))
	for _, scheme := range []string{"light", "dark"} {
		d.prefer(scheme)
		for _, width := range []int64{360, 1280} {
			d.do(chromedp.EmulateViewport(width, 740))
			for page, path := range s.pages() {
				d.goTo(path)
				who := eval[string](d, `{
					const who = document.querySelector(".who span"), {left, right, top, height} = who.getBoundingClientRect();
					who.checkVisibility() && height > 0 && top >= 0 && left >= 0 && right <= innerWidth && innerWidth === document.documentElement.scrollWidth ? who.innerText : "";
				}`)
				if who != "operator/"+name {
					t.Errorf("%s, %s at %d pixels, says %q", page, scheme, width, who)
				}
				if raw := eval[[]string](d, `document.getElementById("main").innerText.match(/\d{4}-\d\d-\d\dT\d\d:\d\d\S*/g) || []`); len(raw) > 0 {
					t.Errorf("%s has the times %s", page, raw)
				}
			}
		}
	}
}

func TestADeadLetterIsReplayed(t *testing.T) {
	d := open(t)
	s := d.tell()
	d.agent("helper", client.AgentSpec{})
	d.signIn(d.token)
	d.goTo("/dead")
	d.shows("Nobody takes this")
	d.do(chromedp.Click(chromedp.CSS(fmt.Sprintf(`input[value=%q]`, s.dead))), chromedp.SendKeys(chromedp.CSS(`input[name=to]`), "helper"+kb.Enter),
		chromedp.SendKeys(chromedp.CSS(`input[name=why]`), "it can be done"+kb.Enter))
	if task, err := d.admin.Task(t.Context(), s.dead); err != nil || task.State != client.Parked || !eval[bool](d, `location.pathname === "/dead" && location.search === ""`) {
		t.Errorf("Enter in a field does something: %v, %s", err, task.State)
	}
	d.do(
		chromedp.Click(chromedp.CSS(`button[value=replay]`)))
	d.shows("Replayed.")
	task, err := d.admin.Task(t.Context(), s.dead)
	if err != nil || task.Handoff == nil || len(task.Handoff.To) != 1 || task.Handoff.To[0] != "helper" {
		t.Errorf("%v: %+v", err, task.Handoff)
	}
	d.goTo("/tasks/" + s.dead)
	if eval[bool](d, `document.getElementById("main").innerText.includes("In the dead letters:")`) {
		t.Error("the story of a replayed task says that it is in the dead letters")
	}
}

func TestAxeFindsNothing(t *testing.T) {
	axe, err := os.ReadFile("testdata/node_modules/axe-core/axe.min.js")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	d := open(t)
	d.goTo("/sign-in")
	if d.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("main").insertAdjacentHTML("beforeend", "<img src=/static/icon.svg>")`)); len(d.violations(string(axe))) == 0 {
		t.Fatal("axe does not find a picture without a text")
	}
	each := func(pages map[string]string) {
		t.Helper()
		for _, scheme := range []string{"light", "dark"} {
			d.prefer(scheme)
			for name, path := range pages {
				d.goTo(path)
				d.axe(name+", "+scheme, string(axe))
			}
		}
	}
	d.signIn(d.token)
	each(map[string]string{"first visit": "/", "no ticket": "/inbox", "no task": "/tasks", "no dead letter": "/dead", "sign in": "/sign-in"})
	each(d.tell().pages())
}

// prefer has the browser prefer a colour scheme.
func (d *desk) prefer(scheme string) {
	d.t.Helper()
	d.do(func(ctx context.Context, _ *chromedp.Target) (chromedp.Void, error) {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		return chromedp.Void{}, err
	})
	if got := eval[bool](d, `matchMedia("(prefers-color-scheme: `+scheme+`)").matches`); !got {
		d.t.Fatalf("the browser does not prefer %s", scheme)
	}
}

// axe reports what axe finds on the page.
func (d *desk) axe(name, program string) {
	d.t.Helper()
	for _, v := range d.violations(program) {
		d.t.Errorf("%s: %s", name, v)
	}
}

func (d *desk) violations(program string) []string {
	d.t.Helper()
	d.do(chromedp.Evaluate[chromedp.Void](program + "; void 0"))
	return eval[[]string](d, `axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations.map(v =>
		v.id + ": " + v.help + " " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 200) + " " + n.failureSummary).join("; ")))`)
}

//go:build outside

package browser

import (
	"fmt"
	"os"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/trapezehq/trapeze/client"
)

// tokenOf is a new token of a person.
func (d *desk) tokenOf(role client.Role, name string) string {
	d.t.Helper()
	token, err := d.admin.CreateToken(d.t.Context(), client.TokenInput{Role: role, Name: name})
	if err != nil {
		d.t.Fatal(err)
	}
	return token.Text
}

// press goes with the Tab key to the element that a selector names, and does something there. It is a person without a mouse.
func (d *desk) press(selector string, keys ...string) {
	d.t.Helper()
	for range 200 {
		if eval[bool](d, fmt.Sprintf(`document.activeElement.matches(%q)`, selector)) {
			for _, k := range keys {
				d.do(chromedp.KeyEvent(k))
			}
			return
		}
		d.do(chromedp.KeyEvent(kb.Tab))
	}
	d.fail(fmt.Errorf("the Tab key does not reach %s", selector))
}

func TestAnAuditorSeesEverythingAndChangesNothing(t *testing.T) {
	d := open(t)
	s := d.tell()
	d.signIn(d.tokenOf(client.RoleAuditor, "eve"))
	for name, path := range s.pages() {
		if name == "refused" || name == "routed" { // who could hand the task off asks the policy
			continue
		}
		d.goTo(path)
		if title := eval[string](d, `document.title`); title == "Not shown · Trapeze" {
			t.Errorf("an auditor is not shown %s", name)
		}
	}
	d.goTo("/tickets/" + s.approval)
	d.shows("an auditor only reads")
	d.do(chromedp.KeyEvent("a"), chromedp.KeyEvent(kb.Enter))
	if k, err := d.admin.Ticket(t.Context(), s.approval, 0); err != nil || !k.Open() {
		t.Errorf("%v: %+v", err, k)
	}
}

func TestAPersonAtADeskAnswersAndTakesOver(t *testing.T) {
	d := open(t)
	ctx := t.Context()
	worker := d.agent("worker", client.AgentSpec{})
	d.agent("zoe", client.AgentSpec{Kind: "human", Capabilities: []string{"billing"}})
	made, err := d.admin.CreateTask(ctx, client.CreateInput{Intent: "Refund order 7", Send: &client.SendInput{To: []string{"worker"}}})
	must2(t, func() error { return err })
	must2(t, func() error { _, err := worker.Accept(ctx, made.Handoff, client.AcceptInput{}); return err })
	must2(t, func() error {
		_, err := worker.Ask(ctx, made.Task, client.AskInput{Epoch: 1, Question: "Refund it?", Options: []string{"yes", "no"}, Desk: "billing"})
		return err
	})
	d.signIn(d.tokenOf(client.RoleAgent, "zoe"))
	d.inbox()
	d.shows("Refund it?")
	d.do(chromedp.KeyEvent("2"), chromedp.KeyEvent(kb.Enter))
	d.shows("Answered.")
	if k, err := d.admin.Ticket(ctx, made.Task+".k1", 0); err != nil || k.Answer != "no" {
		t.Errorf("%v: %+v", err, k)
	}
	must2(t, func() error {
		_, err := worker.Send(ctx, made.Task, client.SendInput{Epoch: 1, To: []string{"human:billing"}})
		return err
	})
	d.inbox()
	d.shows("Take it")
	d.do(chromedp.KeyEvent("a"), chromedp.KeyEvent(kb.Enter))
	d.shows("Claimed: it is yours.")
	if task, err := d.admin.Task(ctx, made.Task); err != nil || task.Owner != "zoe" {
		t.Errorf("%v: %+v", err, task)
	}
	d.press(`main a[href="/tasks/`+made.Task+`"]`, kb.Enter)
	d.shows("It is yours")
	d.press(`textarea[name=result]`, "d", "o", "n", "e")
	d.press(`form[action$="/complete"] button`, kb.Enter)
	d.shows("Completed.")
	if task, err := d.admin.Task(ctx, made.Task); err != nil || task.State != client.Completed || task.Result == nil || task.Result.Text != "done" {
		t.Errorf("%v: %+v", err, task)
	}
}

func TestAnOperatorWorksByKeyboardAlone(t *testing.T) {
	for name, width := range map[string]int64{"at a desk": 1280, "on a phone": 360} {
		t.Run(name, func(t *testing.T) { operate(t, width) })
	}
}

func operate(t *testing.T, width int64) {
	d := open(t)
	d.do(chromedp.EmulateViewport(width, 740))
	s := d.tell()
	other := d.lose("Nobody takes this either")
	ctx := t.Context()
	d.signIn(d.tokenOf(client.RoleOperator, "olga"))
	d.goTo("/agents/away")
	d.press(`button[formaction$="/offline"]`, kb.Enter)
	d.shows("readiness is set")
	if a, err := d.admin.Agent(ctx, "away"); err != nil || a.Readiness != client.Offline {
		t.Errorf("%v: %+v", err, a)
	}
	d.goTo("/tasks/" + s.task)
	d.press(`input[name=to]`, "w", "r", "i", "t", "e", "r", kb.Enter)
	d.shows("Taken over")
	if task, err := d.admin.Task(ctx, s.task); err != nil || task.Handoff == nil || len(task.Handoff.To) != 1 || task.Handoff.To[0] != "writer" {
		t.Errorf("%v: %+v", err, task.Handoff)
	}
	d.goTo("/dead")
	d.press(`#all`, " ") // several at once
	d.press(`input[name=why]`, "o", "l", "d")
	d.press(`button[value=discard]`, kb.Enter)
	d.shows("Discarded.")
	for _, id := range []string{s.dead, other} {
		if task, err := d.admin.Task(ctx, id); err != nil || !task.State.Final() {
			t.Errorf("%v: %+v", err, task.State)
		}
	}
	old, err := d.admin.CreateTask(ctx, client.CreateInput{Intent: "Old idea"})
	must2(t, func() error { return err })
	d.goTo("/tasks/" + old.Task)
	d.press(`form[action$="/cancel"] input[name=detail]`, "o", "l", "d", kb.Enter)
	d.shows("Cancelled")
	if task, err := d.admin.Task(ctx, old.Task); err != nil || task.State != client.Cancelled {
		t.Errorf("%v: %+v", err, task.State)
	}
	d.cancelSeveral()
	d.goTo("/find")
	d.press(`main input[name=agent]`, "w", "r", "i", "t", "e", "r", kb.Enter)
	d.shows("Pay invoice 4711")
	d.goTo("/")
	d.do(chromedp.KeyEvent("/"))
	if !eval[bool](d, `document.activeElement.id === "q" && !(document.activeElement.value = "")`) { // the protocol types the key, whatever the page does with it
		t.Error("the key / does not lead to the search")
	}
	d.do(chromedp.KeyEvent("invoice"), chromedp.KeyEvent(kb.Enter))
	d.shows("Pay invoice 4711")
}

// cancelSeveral cancels more tasks than a page of a list has, all that fit a filter, with the part of the list that scrolling adds.
func (d *desk) cancelSeveral() {
	d.t.Helper()
	ctx := d.t.Context()
	for n := range 120 {
		must2(d.t, func() error {
			_, err := d.admin.CreateTask(ctx, client.CreateInput{Intent: fmt.Sprint("sweep ", n)})
			return err
		})
	}
	d.goTo("/tasks?text=sweep&since=1h")
	d.shows("120 in all")
	d.do(chromedp.Evaluate[chromedp.Void](`document.getElementById("next").scrollIntoView()`))
	d.do(chromedp.Poll[chromedp.Void](`document.querySelectorAll("input[name=task]").length === 120`, chromedp.WithPollingTimeout(patience)))
	chosen := `document.querySelectorAll("input[name=task]:checked").length + document.querySelector("output.count").textContent`
	d.do(chromedp.Evaluate[chromedp.Void](`window.most_ = document.querySelector("input.all").dataset.most; document.querySelector("input.all").dataset.most = 110; void 0`))
	d.press(`input.all`, " ")
	if got := eval[string](d, chosen); got != "110110 of 120 are chosen; at most 110 are cancelled at once" {
		d.t.Error(got)
	}
	d.do(chromedp.Evaluate[chromedp.Void](`document.querySelector("input.all").dataset.most = most_; void 0`))
	d.press(`input.all`, " ", " ")
	if got := eval[string](d, chosen+` + most_`); got != "120120 of 120 are chosen500" {
		d.t.Error(got)
	}
	d.do(chromedp.Evaluate[chromedp.Void](`scrollTo(0, document.body.scrollHeight)`))
	if !eval[bool](d, `(({top, bottom}) => top > -1 && bottom < innerHeight + 1)(document.querySelector("main fieldset").getBoundingClientRect())`) {
		d.t.Error("what can be done with the tasks that are chosen is out of sight")
	}
	d.press(`input[name=detail]`, "o", "l", "d", kb.Enter)
	d.shows("Cancelled, and their children")
	d.shows("120 cancelled")
}

func TestAxeFindsNothingOnAPhone(t *testing.T) {
	axe, err := os.ReadFile("testdata/node_modules/axe-core/axe.min.js")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	d := open(t)
	s := d.tell()
	d.signIn(d.token)
	d.do(chromedp.EmulateViewport(360, 740))
	pages := s.pages()
	for _, path := range d.crowd() {
		pages["of many, "+path] = path
	}
	for name, path := range pages {
		d.goTo(path)
		d.axe(name+", on a phone", string(axe))
	}
}

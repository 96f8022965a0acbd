//go:build outside

package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
)

// attack is texts that would run, close or hide something, each marked with the field that it was sent in.
type attack struct {
	t      *testing.T
	sent   int
	wanted []string // marks of the fields that the pages show
}

// in sends a text in a field: the worst first, then without what the field may refuse, hidden characters and then spaces and quotes. shown says that a page shows it.
func (a *attack) in(field string, shown bool, send func(text string) error) {
	a.t.Helper()
	mark := "mark-" + field + "-"
	run := fmt.Sprintf(`window.ran='%s'`, field)
	worst := mark + `</title></pre></textarea></script></style>--><script>` + run + `</script><img src=x onerror="` + run + `"><svg/onload="` + run + `"><iframe srcdoc="<script>parent.` + run + `</script>"></iframe><a href="javascript:` +
		run + `">x</a><form action="https://evil.example/"><base href="https://evil.example/"><style>*{display:none}</style>{{.Me}}'"` + "`" + strings.Repeat("W", 300)
	var err error
	for _, text := range []string{worst + "\u202e\u200b\u2066", worst, mark + `<svg/onload=window.ran=1>`, mark + `&lt;b&#62;`} {
		a.sent++
		if err = send(text); err == nil {
			if shown {
				a.wanted = append(a.wanted, mark)
			}
			return
		}
		if !errors.Is(err, client.Invalid) && !errors.Is(err, client.TooLarge) {
			break
		}
	}
	a.t.Errorf("%s takes no text: %v", field, err)
}

// foreign counts what only a text of others can have brought into the page.
const foreign = `document.querySelectorAll("img:not(.brand img), iframe, base, style, script:not([src^='/static/']), svg[onload], [onerror], a[href^='javascript'], form[action^='http']").length + (window.ran ? 100 : 0)`

// TestTextsOfOthersRunNothingWhileAPageFollows: every field in which others send text, on pages that are open while it comes, and on all pages after it.
func TestTextsOfOthersRunNothingWhileAPageFollows(t *testing.T) {
	d := open(t)
	a := &attack{t: t}
	bad := d.agent("mallory", client.AgentSpec{})
	d.agent("victim", client.AgentSpec{})
	d.agent("away", client.AgentSpec{})
	d.agent("zoe", client.AgentSpec{Kind: "human", Capabilities: []string{"billing"}})
	d.signIn(d.token)
	follows := func(path string) { // until the stream is open, a change could be missed
		t.Helper()
		d.goTo(path)
		d.do(chromedp.Poll[chromedp.Void](`source?.readyState === EventSource.OPEN`, chromedp.WithPollingTimeout(patience)))
		d.do(chromedp.Evaluate[chromedp.Void](`window.kept = true`))
	}
	arrived := func(mark string) {
		t.Helper()
		d.shows(mark)
		if n := eval[int](d, foreign); n != 0 || !eval[bool](d, `window.kept === true`) {
			t.Errorf("%s: %d elements come from text, or the page was loaded again", mark, n)
		}
	}
	d.attackTask(a, bad, follows, arrived)
	paths := d.attackRest(a, bad, follows, arrived)

	seen := map[string]bool{}
	for _, path := range paths {
		d.goTo(path)
		d.do(chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("details").forEach((d) => d.open = true)`))
		if n := eval[int](d, foreign); n != 0 {
			t.Errorf("%s: %d elements come from text", path, n)
		}
		text := eval[string](d, `document.title + document.getElementById("main").innerText + [...document.querySelectorAll("main [title], main [aria-label]")].map((e) => e.title + e.getAttribute("aria-label")).join()`)
		for _, mark := range a.wanted {
			seen[mark] = seen[mark] || strings.Contains(text, mark)
		}
		if strings.ContainsAny(eval[string](d, `document.documentElement.outerHTML`), "\u202e\u200b\u2066") {
			t.Errorf("%s has a hidden character", path)
		}
		for _, width := range []int64{360, 1280} {
			d.do(chromedp.EmulateViewport(width, 740))
			if n := eval[int](d, `document.documentElement.scrollWidth`); n > int(width) {
				t.Errorf("%s is %d pixels wide, of %d", path, n, width)
			}
		}
	}
	for _, mark := range a.wanted {
		if !seen[mark] {
			t.Errorf("no page shows %s: the test proves nothing about it", mark)
		}
	}
	if heard := d.heard(); len(heard) > 0 {
		t.Error(heard)
	}
	t.Logf("%d texts in %d fields that pages show", a.sent, len(a.wanted))
}

// attackTask sends texts in the fields of a task and its handoffs, while the board and the story are looked at.
func (d *desk) attackTask(a *attack, bad *client.Client, follows, arrived func(string)) {
	ctx := d.t.Context()
	follows("/")
	var made client.Receipt
	a.in("intent", true, func(text string) (err error) {
		made, err = bad.CreateTask(ctx, client.CreateInput{Intent: text, Start: true})
		return err
	})
	arrived("mark-intent-")
	follows("/tasks/" + made.Task)
	a.in("progress", true, func(text string) error {
		_, err := bad.Progress(ctx, made.Task, client.ProgressInput{Epoch: made.Epoch, Note: text})
		return err
	})
	arrived("mark-progress-")
	a.in("gap", true, func(text string) error {
		_, err := bad.ReportGap(ctx, made.Task, client.GapInput{Epoch: made.Epoch, Missing: []string{text}, Detail: text})
		return err
	})
	arrived("mark-gap-")
	a.in("constraint", true, func(text string) error {
		_, err := d.admin.Constrain(ctx, made.Task, client.ConstrainInput{Constraint: client.Constraint{ID: "c1", Kind: "prohibition", Text: text}})
		return err
	})
	arrived("mark-constraint-")
	for field, content := range map[string]func(text string) client.Content{
		"ask":     func(text string) client.Content { return client.Content{Ask: text} },
		"state":   func(text string) client.Content { return client.Content{State: text} },
		"summary": func(text string) client.Content { return client.Content{Summary: text} },
		"fact":    func(text string) client.Content { return client.Content{Facts: []client.Point{{Text: text}}} },
		"decision": func(text string) client.Content {
			return client.Content{Decisions: []client.Point{{Text: text, Reasoning: text}}}
		},
		"open": func(text string) client.Content { return client.Content{Questions: []string{text}} },
		"step": func(text string) client.Content {
			return client.Content{Steps: []client.Step{{Action: text, Detail: text}}}
		},
		"notes": func(text string) client.Content { return client.Content{Notes: text} },
		"data": func(text string) client.Content {
			b, _ := json.Marshal(map[string]string{text: text}) // strings
			return client.Content{Data: b}
		},
	} {
		a.in(field, true, func(text string) error {
			h, err := bad.Send(ctx, made.Task, client.SendInput{Epoch: made.Epoch, To: []string{"victim"}, Detail: text, Content: content(text)})
			if err != nil {
				return err
			}
			_, err = d.again("victim").Reject(ctx, h.Handoff, client.RejectInput{Reason: client.Refused, Detail: text})
			return err
		})
		arrived("mark-" + field + "-")
		task, err := d.admin.Task(ctx, made.Task)
		must2(d.t, func() error { return err })
		made.Epoch = task.Epoch
	}
	a.in("result", true, func(text string) error {
		_, err := bad.Complete(ctx, made.Task, client.CompleteInput{Epoch: made.Epoch, Result: client.Result{Text: text}})
		return err
	})
	arrived("mark-result-")
}

// attackRest sends texts in the other fields, while the inbox and the alerts are looked at, and returns the pages that can show any.
func (d *desk) attackRest(a *attack, bad *client.Client, follows, arrived func(string)) []string {
	ctx := d.t.Context()
	task, err := bad.CreateTask(ctx, client.CreateInput{Intent: "ask people", Start: true})
	must2(d.t, func() error { return err })
	follows("/inbox")
	a.in("question", true, func(text string) error {
		_, err := bad.Ask(ctx, task.Task, client.AskInput{Epoch: task.Epoch, Question: text, Options: []string{text[:20] + "<b>1", "no"}})
		return err
	})
	arrived("mark-question-")
	must2(d.t, func() error {
		_, err := d.admin.Answer(ctx, task.Task+".k1", client.AnswerInput{Answer: "no"})
		return err
	})
	must2(d.t, func() error {
		_, err := bad.Ask(ctx, task.Task, client.AskInput{Epoch: task.Epoch, Question: "And then?"})
		return err
	})
	a.in("answer", true, func(text string) error {
		_, err := d.admin.Answer(ctx, task.Task+".k2", client.AnswerInput{Answer: text})
		return err
	})
	a.in("description", true, func(text string) error {
		_, err := d.admin.RegisterAgent(ctx, "victim", client.AgentSpec{Description: text})
		return err
	})
	a.in("memory", true, func(text string) error {
		_, err := bad.Remember(ctx, client.RememberInput{Title: "Rules", Text: text, Scope: client.ScopeWorkspace})
		return err
	})
	a.in("title", true, func(text string) error {
		_, err := bad.Remember(ctx, client.RememberInput{Title: text, Text: "Rules", Scope: client.ScopeWorkspace})
		return err
	})
	a.in("turn", true, func(text string) error {
		_, err := bad.AppendTurn(ctx, "mallory-talk", client.TurnInput{Role: "user", Text: text})
		return err
	})
	lost := d.lose("nobody takes this")
	follows("/alerts")
	arrived("handoff-failed")
	a.in("silence", true, func(text string) error {
		_, err := admin.New(d.admin).SilenceAlert(ctx, admin.SilenceInput{Alert: "handoff-failed", Reason: text, For: client.Duration(3600e9)})
		return err
	})
	a.in("hold", true, func(text string) error {
		_, err := admin.New(d.admin).SetHold(ctx, admin.SubjectInput{Subject: "task/" + lost, Why: text})
		return err
	})
	a.in("replay", true, func(text string) error {
		_, err := d.admin.Replay(ctx, lost, client.ReplayInput{Home: true, Note: text})
		return err
	})
	return append(d.everyPage(ctx), "/find?q=mark", "/find?q=%3Cscript%3Ewindow.ran%3D1%3C%2Fscript%3E&agent=%22%3E%3Csvg%2Fonload%3Dwindow.ran%3D1%3E&in=agents", "/tasks?text=%22%3E%3Cimg+src%3Dx+onerror%3Dwindow.ran%3D1%3E",
		"/conversations/mallory-talk", "/tasks/task_%3Cscript%3E", "/agents/victim", "/agents/%3Cimg%20src=x%20onerror=window.ran=1%3E")
}

// everyPage is the pages of all tasks, handoffs, tickets and memory items, and those of the menu.
func (d *desk) everyPage(ctx context.Context) []string {
	paths := []string{"/", "/inbox", "/inbox?past=1", "/tasks", "/dead", "/figures", "/alerts", "/record", "/policy"}
	tasks, err := d.admin.Tasks(ctx, client.TaskFilter{Limit: 100})
	must2(d.t, func() error { return err })
	for _, t := range tasks.Tasks {
		paths = append(paths, "/tasks/"+t.ID)
		trail, err := d.admin.Trail(ctx, t.ID)
		must2(d.t, func() error { return err })
		for n := range trail.Handoffs {
			paths = append(paths, fmt.Sprintf("/tasks/%s/hops/%d", t.ID, n+1))
		}
		if len(trail.Handoffs) > 1 {
			paths = append(paths, "/tasks/"+t.ID+"/compare")
		}
	}
	tickets, err := d.admin.Tickets(ctx, client.TicketFilter{All: true, Limit: 100})
	must2(d.t, func() error { return err })
	for _, k := range tickets.Tickets {
		paths = append(paths, "/tickets/"+k.ID)
	}
	items, err := d.admin.SearchMemory(ctx, client.MemoryFilter{Limit: 100})
	must2(d.t, func() error { return err })
	for _, m := range items.Items {
		paths = append(paths, "/memory/"+m.ID)
	}
	return paths
}

//go:build outside

package browser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/trapezehq/trapeze/client"
)

// untidy is what reads badly on a page: words of ordinary length and times that are broken, short cells of several lines, charts that show nothing, and what makes the page wider
// than the window.
const untidy = `(() => {
	const bad = [], main = document.getElementById("main"), range = document.createRange();
	main.querySelectorAll("details").forEach((d) => d.open = true);
	const lines = () => {
		let n = 0, end = -Infinity;
		for (const r of [...range.getClientRects()].filter((r) => r.width > 0).sort((a, b) => a.top - b.top)) {
			if (r.top > end - 4) n++, end = r.bottom;
		}
		return n;
	};
	const words = document.createTreeWalker(main, NodeFilter.SHOW_TEXT);
	for (let n; n = words.nextNode();) {
		if (!n.parentElement.checkVisibility() || n.parentElement.closest("pre, .hide")) continue;
		for (const word of n.data.matchAll(/[\p{L}\p{N}]+/gu)) {
			range.setStart(n, word.index);
			range.setEnd(n, word.index + word[0].length);
			if (word[0].length <= 20 && lines() > 1) bad.push("the word " + word[0] + " is broken");
		}
	}
	for (const part of main.querySelectorAll("td, tbody th, td time")) {
		range.selectNodeContents(part);
		if (part.querySelector(".behind")) range.setEndBefore(part.querySelector(".behind")); // it is below the figure
		if (range.toString().trim().length <= 16 && !part.querySelector("form") && lines() > 1) bad.push(part.tagName + " " + part.innerText + " has several lines");
	}
	for (const f of main.querySelectorAll(".charts figure")) {
		if (!f.querySelector("path[d^=M]") && !f.innerText.includes("No handoff was accepted in the last")) bad.push("a chart shows nothing: " + f.innerText);
	}
	if (document.documentElement.scrollWidth > innerWidth) bad.push("the page is " + document.documentElement.scrollWidth + " pixels wide");
	return bad;
})()`

// Every table and every chart, of nothing, of one row and of many, on a phone and on a screen.
func TestTablesAndChartsReadWellAtEachWidth(t *testing.T) {
	ctx := t.Context()
	for name, scene := range map[string]func(*desk) []string{
		"nothing": func(*desk) []string {
			return []string{"/", "/inbox", "/inbox?past=1", "/tasks", "/dead", "/figures", "/alerts", "/record", "/policy", "/find"}
		},
		"nothing accepted": func(d *desk) []string {
			d.agent("away", client.AgentSpec{})
			d.lose("Nobody takes this")
			return d.everyPage(ctx)
		},
		"one": func(d *desk) (paths []string) {
			for _, path := range d.tell().pages() {
				paths = append(paths, path)
			}
			return paths
		},
		"many": func(d *desk) []string { d.tell(); return d.crowd() },
	} {
		t.Run(name, func(t *testing.T) {
			d := open(t)
			paths := scene(d)
			d.signIn(d.token)
			for _, width := range []int64{360, 1280} {
				d.do(chromedp.EmulateViewport(width, 740))
				for _, path := range paths {
					d.goTo(path)
					for _, bad := range eval[[]string](d, untidy) {
						t.Errorf("%s at %d pixels: %s", path, width, bad)
					}
				}
			}
		})
	}
}

// crowd adds to a story many tasks, agents with long names, tickets, dead letters, children and hops, and returns the pages that show them.
func (d *desk) crowd() []string {
	d.t.Helper()
	ctx := d.t.Context()
	long := strings.Repeat("x", 64)
	names := []string{long}
	d.agent(long, client.AgentSpec{MaxTasks: 100})
	for n := range 12 {
		names = append(names, fmt.Sprintf("accounts-payable-reconciler-%02d", n))
		d.agent(names[n+1], client.AgentSpec{Capabilities: []string{"reconciliation-of-accounts", "german"}, MaxTasks: 100})
	}
	var last client.Receipt
	for n := range 24 {
		to := names[n%len(names)]
		made, err := d.admin.CreateTask(ctx, client.CreateInput{Intent: "Reconcile the accounts of the quarter with the statements of the bank, country by country", Send: &client.SendInput{To: []string{to}, Reason: client.ReasonSpecialization}})
		must2(d.t, func() error { return err })
		must2(d.t, func() error { _, err := d.again(to).Accept(ctx, made.Handoff, client.AcceptInput{}); return err })
		last = made
		if n%4 == 0 {
			must2(d.t, func() error {
				_, err := d.again(to).Ask(ctx, made.Task, client.AskInput{Epoch: 1, Question: "The statement of the bank is three days late. Wait for it?", Options: []string{"yes", "no"}})
				return err
			})
			d.lose(fmt.Sprintf("Nobody takes this, attempt %d of those that were made on this day", n))
		}
	}
	for n := range 7 {
		task, err := d.admin.Task(ctx, last.Task)
		must2(d.t, func() error { return err })
		from, to := task.Owner, names[n+1] // none of them twice, which would be a loop
		sent, err := d.again(from).Send(ctx, last.Task, client.SendInput{Epoch: task.Epoch, To: []string{to}, Content: client.Content{Ask: "Go on", Facts: []client.Point{{Text: fmt.Sprintf("country %d is done", n)}}}})
		must2(d.t, func() error { return err })
		must2(d.t, func() error { _, err := d.again(to).Accept(ctx, sent.Handoff, client.AcceptInput{}); return err })
	}
	paths := []string{"/", "/inbox", "/inbox?past=1", "/tasks", "/dead", "/figures", "/figures?span=5m", "/alerts", "/record", "/policy", "/find?q=accounts", "/agents/" + long, "/agents/" + names[1]}
	return append(paths, "/tasks/"+last.Task, "/tasks/"+last.Task+"/hops/8", "/tasks/"+last.Task+"/compare")
}

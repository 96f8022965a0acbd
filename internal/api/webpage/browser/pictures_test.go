//go:build outside

package browser

import (
	"bufio"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
)

// TestPictures makes the pictures of the documentation, of the demo and of some tasks after it. From the root of the repository:
//
//	PICTURES=$PWD/docs/pictures go test -tags outside ./internal/api/webpage/browser -run '^TestPictures$'
func TestPictures(t *testing.T) {
	dir := os.Getenv("PICTURES")
	if dir == "" {
		t.Skip("PICTURES names no directory")
	}
	data := t.TempDir()
	told := demo(t, data)
	if err := os.WriteFile(filepath.Join(dir, "demo.svg"), []byte(recording(told)), 0o644); err != nil { //nolint:gosec // a picture for the docs
		t.Fatal(err)
	}
	d := openAt(t, data)
	task := d.scene()
	d.signIn(d.token)
	d.do(chromedp.EmulateViewport(1160, 760))
	for _, p := range [][3]string{
		{"overview", "/", "light"},
		{"story", "/tasks/" + task, "light"},
		{"handoff", "/tasks/" + task + "/hops/6", "light"},
		{"inbox", "/inbox", "light"},
		{"figures", "/figures", "light"},
		{"overview-dark", "/", "dark"},
		{"timeline-dark", "/tasks/" + task + "#trail", "dark"},
	} {
		d.prefer(p[2])
		d.goTo(p[1])
		d.until(`!document.querySelector("[data-chosen] .sheet:not([data-read])")`) // the ticket is shown beside what the agents know
		b, err := chromedp.Run(d.ctx, chromedp.CaptureScreenshot())
		if err != nil {
			d.fail(err)
		}
		if err := os.WriteFile(filepath.Join(dir, p[0]+".png"), b, 0o644); err != nil { //nolint:gosec // a picture for the docs
			t.Fatal(err)
		}
	}
}

// TestPicturesOfEveryPage makes pictures of every page as each kind of person sees it, light and dark, on a screen and on a phone, to be looked at. From the root of the repository:
//
//	EVERY=/tmp/pages go test -tags outside ./internal/api/webpage/browser -run '^TestPicturesOfEveryPage$'
func TestPicturesOfEveryPage(t *testing.T) {
	dir := os.Getenv("EVERY")
	if dir == "" {
		t.Skip("EVERY names no directory")
	}
	must2(t, func() error { return os.MkdirAll(dir, 0o755) }) //nolint:gosec // pictures
	data := t.TempDir()
	demo(t, data)
	d := openAt(t, data)
	pages := d.everything()
	for who, token := range map[string]string{"admin": d.token, "operator": d.tokenOf(client.RoleOperator, "olga"), "desk": d.tokenOf(client.RoleAgent, "zoe"), "auditor": d.tokenOf(client.RoleAuditor, "eve")} {
		d.signIn(token)
		for _, scheme := range []string{"light", "dark"} {
			d.prefer(scheme)
			for _, width := range []int64{1280, 360} {
				d.do(chromedp.EmulateViewport(width, 800))
				for name, path := range pages {
					d.goTo(path)
					d.until(`!document.querySelector("[data-chosen] .sheet:not([data-read])")`)
					d.pictureIn(dir, fmt.Sprintf("%s-%d-%s-%s", scheme, width, who, name))
				}
			}
		}
		eval[bool](d, `fetch("/sign-out", {method: "POST", body: new URLSearchParams({as: main().dataset.as})}).then((r) => r.ok)`)
	}
}

// everything adds to a server on which the demo has run what is on the pages, and returns them by name.
func (d *desk) everything() map[string]string {
	d.t.Helper()
	ctx := d.t.Context()
	task, s := d.scene(), d.tell()
	made := func(r client.Receipt, err error) client.Receipt {
		d.t.Helper()
		must2(d.t, func() error { return err })
		return r
	}
	must2(d.t, func() error {
		_, err := admin.New(d.admin).SetHold(ctx, admin.SubjectInput{Subject: "task/" + task, Why: "the case of 2026"})
		return err
	})
	d.agent("zoe", client.AgentSpec{Kind: "human", Capabilities: []string{"billing"}})
	worker := d.again("buyer")
	asks := made(worker.CreateTask(ctx, client.CreateInput{Intent: "Refund order 7", Start: true}))
	made(worker.Ask(ctx, asks.Task, client.AskInput{Epoch: 1, Question: "Refund 300 euros?", Options: []string{"yes", "no"}, Desk: "billing"}))
	depends := made(d.admin.CreateTask(ctx, client.CreateInput{Intent: "Ship it once it is paid", Dependencies: []string{asks.Task}}))
	twice := made(d.admin.CreateTask(ctx, client.CreateInput{Intent: "Translate the letter", Send: &client.SendInput{To: []string{"away", "writer"}}}))
	must2(d.t, func() error {
		_, err := d.again("away").Reject(ctx, twice.Handoff, client.RejectInput{Reason: client.Overloaded, Detail: "too much on my desk"})
		return err
	})
	pages := s.pages()
	for name, path := range map[string]string{
		"demo": "/tasks/" + task, "demo-hop": "/tasks/" + task + "/hops/6", "demo-compare": "/tasks/" + task + "/compare?a=1&b=6", "dead-story": "/tasks/" + s.dead, "desk-ticket": "/tickets/" + asks.Task + ".k1",
		"depends": "/tasks/" + depends.Task, "twice": "/tasks/" + twice.Task, "asks": "/tasks/" + asks.Task, "filtered": "/tasks?state=waiting&live=1", "find-nothing": "/find",
	} {
		pages[name] = path
	}
	return pages
}

// line is a line of a recording.
type line struct {
	at   time.Duration
	text string
}

// demo runs the demo on a data directory, and returns what it prints, until its result.
func demo(t *testing.T, data string) (told []line) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "trapeze")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "github.com/trapezehq/trapeze/cmd/trapeze").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.CommandContext(t.Context(), program, "demo", "--data-dir", data, "../../../..")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	began, lines := time.Now(), bufio.NewScanner(out)
	for lines.Scan() {
		if len(told) == 0 || !strings.Contains(told[len(told)-1].text, "  Done: ") {
			told = append(told, line{time.Since(began), lines.Text()})
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	return told
}

// scene adds to a server on which the demo has run what people find on a working day, and returns the task of the demo.
func (d *desk) scene() (task string) {
	d.t.Helper()
	ctx := d.t.Context()
	done, err := d.admin.Tasks(ctx, client.TaskFilter{State: client.Completed, Limit: 1})
	must2(d.t, func() error { return err })
	create := func(intent, to string, in client.SendInput) client.Receipt {
		in.To, in.Reason = []string{to}, client.ReasonSpecialization
		r, err := d.admin.CreateTask(ctx, client.CreateInput{Intent: intent, Send: &in})
		must2(d.t, func() error { return err })
		return r
	}
	accepted := func(intent, to string) string {
		r := create(intent, to, client.SendInput{})
		must2(d.t, func() error { _, err := d.again(to).Accept(ctx, r.Handoff, client.AcceptInput{}); return err })
		return r.Task
	}
	d.agent("translator", client.AgentSpec{ContextWindow: 8000, MaxTasks: 4})
	d.agent("buyer", client.AgentSpec{ContextWindow: 32000})
	accepted("Translate the release notes into German", "translator")
	accepted("Find out why the nightly build is slow since Tuesday", "analyst")
	asking := accepted("Pay invoice 4711 of the hosting provider", "buyer")
	must2(d.t, func() error {
		_, err := d.again("buyer").Ask(ctx, asking, client.AskInput{Epoch: 1, Question: "The amount is 4 % above the offer. Pay it?", Options: []string{"pay it", "ask the provider first"}})
		return err
	})
	create("Check the translation against the glossary", "reviewer", client.SendInput{})
	create("Summarize the incident of last night for the customers", "writer", client.SendInput{})
	must2(d.t, func() error {
		_, err := d.again("buyer").CreateTask(ctx, client.CreateInput{Intent: "Order two more machines for the lab", Send: &client.SendInput{To: []string{"writer"}, Kind: client.Supervised}})
		return err
	})
	must2(d.t, func() error {
		_, err := d.admin.CreateTask(ctx, client.CreateInput{Intent: "Plan the move to the new database"})
		return err
	})
	return done.Tasks[0].ID
}

// Bounds of a recording.
const (
	screenLines = 30
	lineHeight  = 18
	mostRunes   = 118
)

// stamp is what the demo writes before a line: the seconds.
var stamp = regexp.MustCompile(`^ *[0-9.]+s  `)

// recording is an SVG in which the lines appear as they did, with the last of them at its end.
func recording(told []line) string {
	var b strings.Builder
	const width = mostRunes*7.83 + 32
	whole := told[len(told)-1].at + 2*time.Second
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %d" role="img" aria-label="trapeze demo: a task passes through four agents">
<style>
text { font: 13px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; fill: #e7e5e4; }
.t { fill: #a8a29e; } .bad { fill: #fca5a5; } .good { fill: #86efac; } .note { fill: #fdba74; }
@keyframes scroll { `, width, (screenLines+2)*lineHeight)
	for i := range told {
		if i < screenLines {
			continue
		}
		fmt.Fprintf(&b, "%.2f%% { transform: translateY(%dpx) } ", 100*told[i].at.Seconds()/whole.Seconds(), -(i-screenLines+1)*lineHeight)
	}
	end := max(len(told)-screenLines, 0) * lineHeight
	fmt.Fprintf(&b, `100%% { transform: translateY(-%dpx) } }
@keyframes show { from { visibility: hidden } to { visibility: visible } }
.all { animation: scroll %.1fs step-end forwards; transform: translateY(-%dpx) }
@media (prefers-reduced-motion: reduce) { .all, text { animation: none !important } }
`, end, whole.Seconds(), end)
	for i := range told {
		fmt.Fprintf(&b, ".l%d { animation: show %.2fs step-end }\n", i, told[i].at.Seconds()+0.01)
	}
	fmt.Fprintf(&b, "</style>\n<rect width=\"100%%\" height=\"100%%\" rx=\"8\" fill=\"#1c1917\"/>\n<svg x=\"16\" y=\"%d\" width=\"%.0f\" height=\"%d\"><g class=\"all\">\n", lineHeight/2, width-32, (screenLines+1)*lineHeight)
	for i := range told {
		text := told[i].text
		if runes := []rune(text); len(runes) > mostRunes {
			text = string(runes[:mostRunes-1]) + "…"
		}
		at, rest := stamp.FindString(text), stamp.ReplaceAllString(text, "")
		fmt.Fprintf(&b, "<text class=\"l%d\" y=\"%d\"><tspan class=\"t\">%s</tspan><tspan class=%q>%s</tspan></text>\n", i, (i+1)*lineHeight, html.EscapeString(at), kindOf(rest), html.EscapeString(rest))
	}
	return b.String() + "</g></svg></svg>\n"
}

// kindOf is the class of a line.
func kindOf(text string) string {
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(text, w) {
				return true
			}
		}
		return false
	}
	switch {
	case has("▸", "$ "):
		return "note"
	case has("rejects it", "no heartbeat", "does not answer", "dead letters"):
		return "bad"
	case has("accepts it", "completes the task", "Done:"):
		return "good"
	}
	return "plain"
}

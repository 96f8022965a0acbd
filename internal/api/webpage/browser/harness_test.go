//go:build outside

package browser

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/server"
)

// patience is how long a page may take to show what it must. It is a limit of a test that fails, and no measure.
const patience = time.Minute

// desk is a server, its administrator, and a browser that looks at its page.
type desk struct {
	t     testing.TB
	dir   string
	srv   *server.Server
	admin *client.Client
	token string
	ctx   context.Context // of the browser

	mu      sync.Mutex
	console []string // what the page reported: errors, and what its policy has blocked
}

// open starts a server and a browser. The browser has not signed in.
func open(t testing.TB) *desk {
	t.Helper()
	return openAt(t, t.TempDir())
}

// openAt starts them on a data directory.
func openAt(t testing.TB, dir string) *desk {
	t.Helper()
	d := &desk{t: t, dir: dir}
	d.start("127.0.0.1:0")
	t.Cleanup(func() { d.stop() })
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			program = path
			break
		}
	}
	if program == "" {
		if os.Getenv("CI") == "true" {
			t.Fatal("there is no browser: install chromium")
		}
		t.Skip("there is no browser: install chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.Flag("disable-dev-shm-usage", true))
	processes, end := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(end)
	ctx, cancel := chromedp.NewContext(processes)
	t.Cleanup(cancel)
	d.ctx = ctx
	if err := chromedp.Listen(ctx, d.hear); err != nil {
		t.Fatal(err)
	}
	d.do(chromedp.EmulateViewport(1280, 900))
	return d
}

// hear notes what a page must not do: fail, run what its policy blocks, or ask for anything in a dialog.
func (d *desk) hear(e any) {
	text := ""
	switch e := e.(type) {
	case *runtime.EventExceptionThrown:
		text = fmt.Sprintf("%+v", e.ExceptionDetails)
	case *cdplog.EventEntryAdded:
		if e.Entry.Source == "security" || e.Entry.Source == "javascript" {
			text = e.Entry.Text
		}
	case *page.EventJavascriptDialogOpening:
		text = "a dialog: " + e.Message
	}
	if text != "" {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.console = append(d.console, text)
	}
}

// heard is what hear has noted.
func (d *desk) heard() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.console)
}

func (d *desk) start(addr string) {
	d.t.Helper()
	s, err := server.Open(context.Background(), server.Config{DataDir: d.dir, Addr: addr})
	if err != nil {
		d.t.Fatal(err)
	}
	b, err := os.ReadFile(s.AdminTokenFile())
	if err != nil {
		d.t.Fatal(err)
	}
	d.srv, d.token = s, strings.TrimSpace(string(b))
	d.admin = d.as(d.token)
}

func (d *desk) stop() {
	if err := d.srv.Close(context.Background()); err != nil {
		d.t.Error(err)
	}
}

func (d *desk) as(token string) *client.Client {
	d.t.Helper()
	c, err := client.New(d.srv.URL(), token, client.Options{})
	if err != nil {
		d.t.Fatal(err)
	}
	return c
}

// agent registers an agent and returns its client.
func (d *desk) agent(name string, spec client.AgentSpec) *client.Client {
	d.t.Helper()
	if _, err := d.admin.RegisterAgent(d.t.Context(), name, spec); err != nil {
		d.t.Fatal(err)
	}
	token, err := d.admin.CreateToken(d.t.Context(), client.TokenInput{Role: client.RoleAgent, Name: name})
	if err != nil {
		d.t.Fatal(err)
	}
	return d.as(token.Text)
}

// do runs actions in the browser.
func (d *desk) do(actions ...chromedp.Action[chromedp.Void]) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		d.fail(err)
	}
}

// fail ends the test with what the page shows.
func (d *desk) fail(err error) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.ctx, patience)
	defer cancel()
	text, _ := chromedp.Run(ctx, chromedp.Evaluate[string](`location.href + "\n" + document.body.innerText.slice(0, 2000)`))
	d.t.Fatalf("%v\nconsole: %s\n%s", err, d.heard(), text)
}

// signIn signs in with a link of a token.
func (d *desk) signIn(token string) {
	d.t.Helper()
	d.do(chromedp.Navigate(d.srv.URL()+d.link(token)), chromedp.WaitVisible(chromedp.CSS(`nav`)))
}

// link is what `trapeze web` opens.
func (d *desk) link(token string) string {
	d.t.Helper()
	req, err := http.NewRequestWithContext(d.t.Context(), http.MethodPost, d.srv.URL()+"/sign-in/link", nil)
	if err != nil {
		d.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		d.t.Fatal(err)
	}
	defer res.Body.Close()
	var out struct {
		Path string `json:"path"`
	}
	if err := json.NewDecoder(res.Body).Decode(&out); err != nil || res.StatusCode != http.StatusOK {
		d.t.Fatalf("%s: %v", res.Status, err)
	}
	return out.Path
}

func (d *desk) goTo(path string) {
	d.t.Helper()
	d.do(chromedp.Navigate(d.srv.URL()+path), chromedp.WaitReady(chromedp.CSS(`#main`)))
}

// shows waits until the page, or one that it goes on to, has a text.
func (d *desk) shows(text string) {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.ctx, patience)
	defer cancel()
	for {
		err := chromedp.Do(ctx, chromedp.PollFunction[chromedp.Void](`(text) => document.getElementById("main")?.innerText.includes(text)`,
			chromedp.WithPollingArgs(text), chromedp.WithPollingTimeout(patience)))
		if err == nil {
			return
		}
		if ctx.Err() != nil || errors.Is(err, chromedp.ErrPollingTimeout) {
			d.fail(fmt.Errorf("no %q: %w", text, err))
		}
	}
}

// eval is the value of an expression in the page.
func eval[T any](d *desk, expression string) T {
	d.t.Helper()
	ctx, cancel := context.WithTimeout(d.ctx, patience)
	defer cancel()
	out, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		d.fail(err)
	}
	return out
}

// picture writes a screenshot of the page to a file of the directory that PICTURES names, if it does.
func (d *desk) picture(name string) {
	d.t.Helper()
	if dir := os.Getenv("PICTURES"); dir != "" {
		d.pictureIn(dir, name)
	}
}

func (d *desk) pictureIn(dir, name string) {
	d.t.Helper()
	b, err := chromedp.Run(d.ctx, chromedp.FullScreenshot(100))
	if err != nil {
		d.fail(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), b, 0o644); err != nil { //nolint:gosec // pictures to be looked at
		d.t.Fatal(err)
	}
}

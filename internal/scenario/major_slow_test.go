//go:build slow || outside

package scenario

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/api/webpage"
	"github.com/trapezehq/trapeze/internal/cli"
	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/usecase"
)

// TestTheCommandLineAndThePageReadEnvelopesOfTwoMajors, as programs do over HTTP and agents over MCP: they are exported in either, imported, and shown.
func TestTheCommandLineAndThePageReadEnvelopesOfTwoMajors(t *testing.T) {
	majors, err := envelope.NewConverter(before)
	if err != nil {
		t.Fatal(err)
	}
	h, stop := reopen(t, t.TempDir(), func(o *usecase.Options) { o.Majors = majors })
	defer stop()
	admin, err := h.app.Tokens.Bootstrap(t.Context(), identity.DefaultWorkspace)
	if err != nil {
		t.Fatal(err)
	}
	api := httpapi.New(&h.app.Surface, httpapi.Options{})
	srv := httptest.NewServer(api)
	defer srv.Close()
	page := httptest.NewServer(webpage.New(api, webpage.Options{Key: [32]byte{1}}))
	defer page.Close()
	run := func(stdin string, args ...string) (stdout string) {
		t.Helper()
		var out, failed bytes.Buffer
		if code := cli.Main(t.Context(), append(args, "--url", srv.URL, "--token", admin, "--data-dir", t.TempDir()), cli.Env{
			Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &failed, Getenv: func(string) string { return "" },
		}); code != 0 {
			t.Fatalf("trapeze %s: %d, %s", strings.Join(args, " "), code, &failed)
		}
		return out.String()
	}
	run("", "agent", "add", "ann", "--ready")
	var made struct{ Task string }
	if err := json.Unmarshal([]byte(run("", "task", "create", "move on", "--to", "ann", "--json")), &made); err != nil {
		t.Fatal(err)
	}
	older := run("", "envelope", "show", made.Task, "--major", "0")
	if !strings.Contains(older, `"job"`) || strings.Contains(older, `"task":`) {
		t.Errorf("in the older major:\n%s", older)
	}
	for major, doc := range map[string]string{"0.9": older, "1.": run("", "envelope", "show", made.Task)} {
		if !strings.Contains(doc, `"version": "`+major) {
			t.Errorf("the document is\n%s", doc)
		}
		var in struct{ Task string }
		if err := json.Unmarshal([]byte(run(doc, "task", "create", "--from", "-", "--to", "ann", "--json")), &in); err != nil {
			t.Fatal(err)
		}
		if prompt := run("", "envelope", "render", in.Task); in.Task == made.Task || !strings.Contains(prompt, "move on") {
			t.Errorf("imported from %s, it is read as\n%s", major, prompt)
		}
		if shown := onThePage(t, page.URL, "/tasks/"+in.Task+"/hops/1", admin); !strings.Contains(shown, "move on") {
			t.Errorf("imported from %s, the page shows it as\n%s", major, shown)
		}
	}
}

// onThePage is a page as a browser gets it that signs in with a token.
func onThePage(t *testing.T, at, path, token string) string {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := http.Client{Jar: jar}
	in, err := browser.PostForm(at+"/sign-in", url.Values{"token": {token}})
	if err != nil {
		t.Fatal(err)
	}
	_ = in.Body.Close()
	out, err := browser.Get(at + path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = out.Body.Close() }()
	b, err := io.ReadAll(out.Body)
	if err != nil || out.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v: %s", path, out.Status, err, b)
	}
	return string(b)
}

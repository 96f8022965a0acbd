package server

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest/freeaddr"
)

// reader is a browser without scripts at the page of a server.
type reader struct {
	t    *testing.T
	base string
	http *http.Client
	as   string // to whom the last page was shown
}

func newReader(t *testing.T, s *Server) *reader {
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &reader{t: t, base: s.URL(), http: &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// seen is what a page answers.
type seen struct {
	status int
	header http.Header
	body   string
}

// shownTo is where a page names the principal that it was shown to, as each of its forms does.
var shownTo = regexp.MustCompile(`<main [^>]*data-as="([^"]*)"`)

// do sends a request. A form names the principal that the last page was shown to.
func (r *reader) do(method, path, form string, header ...string) seen {
	r.t.Helper()
	if method == http.MethodPost && r.as != "" && !strings.HasPrefix(path, "/sign-in") && !strings.Contains(form, "as=") {
		form = strings.TrimPrefix(form+"&as="+url.QueryEscape(r.as), "&")
	}
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.base+path, strings.NewReader(form))
	if err != nil {
		r.t.Fatal(err)
	}
	if form != "" {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	res, err := r.http.Do(req)
	if err != nil {
		r.t.Fatal(err)
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	if to := shownTo.FindSubmatch(b); to != nil {
		r.as = string(to[1])
	}
	return seen{res.StatusCode, res.Header, string(b)}
}

func (r *reader) get(path string, want int) string {
	r.t.Helper()
	got := r.do(http.MethodGet, path, "")
	if got.status != want {
		r.t.Errorf("%s: %d, not %d: %s", path, got.status, want, got.body)
	}
	return got.body
}

// link returns the address that `trapeze web` opens.
func (r *reader) link(token string) string {
	r.t.Helper()
	got := r.do(http.MethodPost, "/sign-in/link", "", "Authorization", "Bearer "+token)
	var out struct{ Path string }
	if err := json.Unmarshal([]byte(got.body), &out); err != nil || got.status != http.StatusOK {
		r.t.Fatalf("%d: %s", got.status, got.body)
	}
	return out.Path
}

func adminToken(t *testing.T, s *Server) string {
	t.Helper()
	b, err := os.ReadFile(s.AdminTokenFile())
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}

func TestASessionOfThePageBeginsWithALinkAndEndsWithItsToken(t *testing.T) {
	clock := NewClock(time.Date(2026, 11, 23, 9, 0, 0, 0, time.UTC))
	s, admin := forTests(t, Config{Temporary: true, Clock: clock})
	r := newReader(t, s)
	if got := r.do(http.MethodGet, "/tasks?live=1", ""); got.status != http.StatusSeeOther || got.header.Get("Location") != "/sign-in?next=%2Ftasks%3Flive%3D1" {
		t.Errorf("%d to %s", got.status, got.header.Get("Location"))
	}
	if got := r.do(http.MethodPost, "/sign-in/link", "", "Authorization", "Bearer nonsense"); got.status != http.StatusUnauthorized {
		t.Error(got.status)
	}
	path := r.link(adminToken(t, s))
	r.get(path, http.StatusOK)
	r.get("/", http.StatusOK)
	if body := newReader(t, s).get(path, http.StatusForbidden); !strings.Contains(body, "used before") {
		t.Error(body)
	}
	late := r.link(adminToken(t, s))
	if _, err := s.Advance(t.Context(), 61*time.Second); err != nil {
		t.Fatal(err)
	}
	newReader(t, s).get(late, http.StatusForbidden)

	token, err := admin.CreateToken(t.Context(), client.TokenInput{Role: client.RoleAuditor, Name: "eve"})
	if err != nil {
		t.Fatal(err)
	}
	eve := newReader(t, s)
	if got := eve.do(http.MethodPost, "/sign-in", url.Values{"token": {"wrong"}, "next": {"/"}}.Encode()); got.status != http.StatusForbidden {
		t.Error(got.status)
	}
	if got := eve.do(http.MethodPost, "/sign-in", url.Values{"token": {token.Text}, "next": {"//evil.example/x"}}.Encode()); got.status != http.StatusOK || strings.Contains(got.body, "evil") {
		t.Errorf("%d: %s", got.status, got.body)
	}
	eve.get("/", http.StatusOK)
	if _, err := admin.RevokeToken(t.Context(), token.ID); err != nil {
		t.Fatal(err)
	}
	eve.get("/", http.StatusSeeOther)

	home, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}
	kept := r.http.Jar.Cookies(home)
	if got := r.do(http.MethodPost, "/sign-out", ""); got.status != http.StatusSeeOther {
		t.Error(got.status)
	}
	r.get("/", http.StatusSeeOther)
	r.http.Jar.SetCookies(home, kept)
	r.get("/", http.StatusSeeOther) // the cookie that was kept counts no more

	again := newReader(t, s)
	again.get(again.link(adminToken(t, s)), http.StatusOK)
	if _, err := s.Advance(t.Context(), 12*time.Hour+time.Second); err != nil {
		t.Fatal(err)
	}
	again.get("/", http.StatusSeeOther)
	c := kept[0]
	c.Value = c.Value[:len(c.Value)-2] + "AA"
	again.http.Jar.SetCookies(home, []*http.Cookie{c})
	again.get("/", http.StatusSeeOther)
}

// agentToken makes an agent, and returns its token.
func agentToken(t *testing.T, admin *client.Client, name string) string {
	t.Helper()
	if _, err := admin.RegisterAgent(t.Context(), name, client.AgentSpec{}); err != nil {
		t.Fatal(err)
	}
	token, err := admin.CreateToken(t.Context(), client.TokenInput{Role: client.RoleAgent, Name: name})
	if err != nil {
		t.Fatal(err)
	}
	return token.Text
}

func TestALinkThatAnotherPageOpensAsksFirst(t *testing.T) {
	s, admin := forTests(t, Config{Temporary: true})
	junk := agentToken(t, admin, "junk")
	for _, site := range []string{"cross-site", "same-site"} {
		r := newReader(t, s)
		path := r.link(junk)
		got := r.do(http.MethodGet, path, "", "Sec-Fetch-Site", site)
		_, code, _ := strings.Cut(path, "code=")
		if got.status != http.StatusOK || got.header.Get("Set-Cookie") != "" || !strings.Contains(got.body, "Another page has opened this link") || !strings.Contains(got.body, code) {
			t.Errorf("%d %v: %s", got.status, got.header, got.body)
		}
		if got := r.do(http.MethodPost, "/sign-in", url.Values{"code": {code}}.Encode(), "Sec-Fetch-Site", site); got.status != http.StatusForbidden {
			t.Errorf("a form of another page: %d", got.status)
		}
		r.get("/", http.StatusSeeOther)
		if got := r.do(http.MethodPost, "/sign-in", url.Values{"code": {code}}.Encode(), "Sec-Fetch-Site", "same-origin"); got.status != http.StatusOK {
			t.Errorf("the form of the page: %d", got.status)
		}
		r.get("/", http.StatusOK)
	}
}

func TestASessionOfThePageOutlivesARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	addr := freeaddr.New(t, 1)[0] // which nobody else gets while the server is away
	s, err := Open(t.Context(), Config{DataDir: dir, Addr: addr})
	if err != nil {
		t.Fatal(err)
	}
	r := newReader(t, s)
	r.get(r.link(adminToken(t, s)), http.StatusOK)
	stop(t, s)
	info, err := os.Stat(filepath.Join(dir, "page.key"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v: %v", info.Mode(), err)
	}
	s, err = Open(t.Context(), Config{DataDir: dir, Addr: addr})
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, s)
	r.get("/", http.StatusOK)
}

// inline matches what a strict policy for content forbids: scripts, styles and handlers in a page.
var inline = regexp.MustCompile(`<script>|<script [^>]*>[^<]|<style|\sstyle=|<[^>]+\son[a-z]+=`)

func TestThePageShowsAndDoesWhatItsTokenMay(t *testing.T) {
	s, admin := forTests(t, Config{Temporary: true})
	for _, name := range []string{"ann", "bob"} {
		if _, err := admin.RegisterAgent(t.Context(), name, client.AgentSpec{}); err != nil {
			t.Fatal(err)
		}
	}
	made, err := admin.CreateTask(t.Context(), client.CreateInput{Intent: "Look <b>here</b> \u202e", Send: &client.SendInput{To: []string{"ann"}}})
	if err != nil {
		t.Fatal(err)
	}
	token, err := admin.CreateToken(t.Context(), client.TokenInput{Role: client.RoleAgent, Name: "bob"})
	if err != nil {
		t.Fatal(err)
	}
	r, bob := newReader(t, s), newReader(t, s)
	r.get(r.link(adminToken(t, s)), http.StatusOK)
	bob.get(bob.link(token.Text), http.StatusOK)
	for _, path := range []string{"/", "/tasks", "/inbox", "/dead", "/find?q=look", "/agents/ann", "/tasks/" + made.Task, "/tasks/" + made.Task + "/hops/1"} {
		got := r.do(http.MethodGet, path, "")
		if got.status != http.StatusOK || inline.MatchString(got.body) || strings.Contains(got.body, "<b>") || strings.Contains(got.body, "\u202e") ||
			!strings.HasPrefix(got.header.Get("Content-Security-Policy"), "default-src 'none'; script-src 'self'; style-src 'self'") ||
			strings.Contains(got.header.Get("Content-Security-Policy"), "unsafe") || got.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d, %v\n%s", path, got.status, got.header, got.body)
		}
	}
	bob.get("/", http.StatusOK)
	bob.get("/tasks/"+made.Task, http.StatusNotFound)
	if body := bob.get("/tasks", http.StatusOK); strings.Contains(body, made.Task) {
		t.Error("bob is shown a task that is not his")
	}
	for path, form := range map[string]string{"/tasks/" + made.Task + "/takeover": "to=bob", "/dead": "verb=discard&why=x&task=" + made.Task, "/agents/ann/offline": "key=k"} {
		if got := bob.do(http.MethodPost, path, form); got.status < 400 {
			t.Errorf("%s: %d %s", path, got.status, got.body)
		}
		if got := r.do(http.MethodPost, path, form, "Sec-Fetch-Site", "cross-site", "Origin", "http://evil.example"); got.status != http.StatusForbidden {
			t.Errorf("%s from another site: %d", path, got.status)
		}
		if got := newReader(t, s).do(http.MethodPost, path, form); got.status != http.StatusUnauthorized {
			t.Errorf("%s without a session: %d", path, got.status)
		}
	}
	var export strings.Builder
	if err := admin.Export(t.Context(), client.ExportOptions{}, &export); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(export.String(), `content-read`) {
		t.Errorf("that the page showed the envelope is not recorded:\n%s", export.String())
	}
}

// What an agent may not see is left out of its pages without an attempt to read it, which would be recorded as refused at each look.
func TestThePageOfAnAgentTriesNothingThatItMayNot(t *testing.T) {
	s, admin := forTests(t, Config{Temporary: true})
	if _, err := admin.RegisterAgent(t.Context(), "bob", client.AgentSpec{}); err != nil {
		t.Fatal(err)
	}
	token, err := admin.CreateToken(t.Context(), client.TokenInput{Role: client.RoleAgent, Name: "bob"})
	if err != nil {
		t.Fatal(err)
	}
	c := signedIn(t, s, token.Text)
	made, err := c.CreateTask(t.Context(), client.CreateInput{Intent: "Look here", Start: true})
	if err != nil {
		t.Fatal(err)
	}
	item, err := c.Remember(t.Context(), client.RememberInput{Text: "it is blue", Scope: client.ScopePrivate})
	if err != nil {
		t.Fatal(err)
	}
	bob := newReader(t, s)
	bob.get(bob.link(token.Text), http.StatusOK)
	for _, path := range []string{"/", "/tasks", "/inbox", "/find?q=look", "/agents/bob", "/tasks/" + made.Task, "/memory/" + item.ID} {
		bob.get(path, http.StatusOK)
	}
	refused := func() int {
		var export strings.Builder
		if err := admin.Export(t.Context(), client.ExportOptions{}, &export); err != nil {
			t.Fatal(err)
		}
		return strings.Count(export.String(), `attempt-refused`)
	}
	if n := refused(); n != 0 {
		t.Errorf("%d attempts were refused", n)
	}
	bob.get("/alerts", http.StatusForbidden)
	if refused() == 0 {
		t.Error("an attempt that is refused is not in the record: the test proves nothing")
	}
}

// Each filter narrows what is found, and leaves out the places that do not have it.
func TestFindNarrowsWhatItFindsByFilters(t *testing.T) {
	s, admin := forTests(t, Config{Temporary: true})
	agents := map[string]*client.Client{}
	for _, name := range []string{"ann", "bob"} {
		if _, err := admin.RegisterAgent(t.Context(), name, client.AgentSpec{Description: "knows invoices"}); err != nil {
			t.Fatal(err)
		}
		token, err := admin.CreateToken(t.Context(), client.TokenInput{Role: client.RoleAgent, Name: name})
		if err != nil {
			t.Fatal(err)
		}
		c := signedIn(t, s, token.Text)
		agents[name] = c
		if _, err := c.CreateTask(t.Context(), client.CreateInput{Intent: "invoice task of " + name, Start: true}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Remember(t.Context(), client.RememberInput{Text: "invoice memory of " + name, Scope: client.ScopeWorkspace, Tags: []string{"by-" + name}}); err != nil {
			t.Fatal(err)
		}
		if _, err := c.AppendTurn(t.Context(), "talk-"+name, client.TurnInput{Role: "assistant", Text: "invoice turn of " + name}); err != nil {
			t.Fatal(err)
		}
	}
	ended, err := agents["ann"].CreateTask(t.Context(), client.CreateInput{Intent: "invoice that is done", Start: true})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := agents["ann"].Complete(t.Context(), ended.Task, client.CompleteInput{Epoch: ended.Epoch, Result: client.Result{Text: "paid"}}); err != nil {
		t.Fatal(err)
	}
	r := newReader(t, s)
	r.get(r.link(adminToken(t, s)), http.StatusOK)
	all := []string{"invoice task of ann", "invoice task of bob", "invoice that is done", "knows invoices", "invoice memory of ann", "invoice memory of bob", "invoice turn of ann", "invoice turn of bob"}
	for query, want := range map[string][]string{
		"q=invoice":                  all,
		"q=invoice&in=agents":        {"knows invoices"},
		"q=invoice&agent=bob":        {"invoice task of bob", "knows invoices", "invoice memory of bob", "invoice turn of bob"},
		"q=invoice&state=live":       {"invoice task of ann", "invoice task of bob"},
		"q=invoice&state=completed":  {"invoice that is done"},
		"agent=ann&state=executing":  {"invoice task of ann"},
		"tag=by-ann":                 {"invoice memory of ann"},
		"q=invoice&scope=workspace":  {"invoice memory of ann", "invoice memory of bob"},
		"tag=by-ann&state=executing": nil,
		"":                           nil,
	} {
		body := r.get("/find?"+query, http.StatusOK)
		for _, text := range all {
			if got := strings.Contains(body, text); got != slices.Contains(want, text) {
				t.Errorf("%q: %q is shown: %v", query, text, got)
			}
		}
	}
	r.get("/find?q=x&in=nowhere", http.StatusUnprocessableEntity)
	if got := r.get("/find?q=x&state=sleeping", http.StatusBadRequest); !strings.Contains(got, "handing_off") {
		t.Errorf("an unknown state: %s", got)
	}
}

// A person who looks at a task can cancel it, save its record, and close the circuit of an agent.
func TestThePageCancelsATaskAndSavesItsRecord(t *testing.T) {
	s, admin := forTests(t, Config{Temporary: true})
	made, err := admin.CreateTask(t.Context(), client.CreateInput{Intent: "Look here"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := admin.RegisterAgent(t.Context(), "ann", client.AgentSpec{}); err != nil {
		t.Fatal(err)
	}
	r := newReader(t, s)
	r.get(r.link(adminToken(t, s)), http.StatusOK)
	for format, begins := range map[string]string{"json": "{", "jsonl": "{", "csv": "position,", "proof": "c2sp.org/"} {
		got := r.do(http.MethodGet, "/tasks/"+made.Task+"/record/"+format, "")
		if got.status != http.StatusOK || !strings.Contains(got.header.Get("Content-Disposition"), made.Task+"."+format) || !strings.Contains(got.body, begins) {
			t.Errorf("%s: %d %v %.200s", format, got.status, got.header, got.body)
		}
	}
	r.get("/tasks/"+made.Task+"/record/exe", http.StatusUnprocessableEntity)
	r.get("/tasks/task_00000000000000000000000000/record/json", http.StatusNotFound)
	if got := r.do(http.MethodPost, "/tasks/"+made.Task+"/cancel", "detail=not+needed&key=k1"); got.status != http.StatusSeeOther {
		t.Errorf("%d %s", got.status, got.body)
	}
	if task, err := admin.Task(t.Context(), made.Task); err != nil || task.State != client.Cancelled {
		t.Errorf("%v: %s", err, task.State)
	}
	if got := r.do(http.MethodPost, "/agents/ann/circuit/reset", "key=k2"); got.status != http.StatusSeeOther {
		t.Errorf("%d %s", got.status, got.body)
	}
}

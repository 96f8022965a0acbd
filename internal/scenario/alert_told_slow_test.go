//go:build slow || outside

package scenario

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	api "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/cli"
	"github.com/trapezehq/trapeze/internal/server"
)

// alarmed is a server on which an agent has raised two alerts: its handoffs fail, and many agents leave it waiting.
type alarmed struct {
	*testing.T
	s       *server.Server
	token   string
	notices chan [2]string    // the alert, and what came by webhook
	noticed map[string]string // what came by webhook, by alert
}

func newAlarmed(t *testing.T) *alarmed {
	t.Helper()
	a := &alarmed{T: t, notices: make(chan [2]string, 200), noticed: map[string]string{}}
	box := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var m struct {
			Alert   string
			Senders []string
			Agents  []string
			Number  int
		}
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil {
			t.Error(err)
		}
		a.notices <- [2]string{m.Alert, fmt.Sprint("senders ", m.Senders, ", agents (", m.Number, ") ", m.Agents)}
	}))
	t.Cleanup(box.Close)
	s, err := server.Open(t.Context(), server.Config{Temporary: true, Clock: server.NewClock(time.Time{}), Alerts: []string{"webhook:" + box.URL}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close(context.Background()) })
	a.s, a.token = s, tokenIn(t, s.AdminTokenFile())
	eve, coder := a.agent("eve"), a.agent("coder")
	var task api.Receipt
	for n := range 10 + waiting { // ten of one cause have alerts of their own
		if n%35 == 0 { // a task is shared a limited number of times
			if task, err = eve.CreateTask(t.Context(), api.CreateInput{Intent: "look at this"}); err != nil {
				t.Fatal(err)
			}
		}
		name := fmt.Sprintf("clerk-%02d", n)
		a.agent(name)
		if _, err := eve.Share(t.Context(), task.Task, api.ShareInput{Epoch: task.Epoch, To: name}); err != nil {
			t.Fatal(err)
		}
	}
	a.advance(62 * time.Minute)
	for range 20 {
		r, err := eve.CreateTask(t.Context(), api.CreateInput{Intent: "work", Send: &api.SendInput{To: []string{"coder"}}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := coder.Reject(t.Context(), r.Handoff, api.RejectInput{Reason: "not_capable"}); err != nil {
			t.Fatal(err)
		}
	}
	a.advance(time.Minute)
	return a
}

func (a *alarmed) boss() *api.Client { return connectTo(a.T, a.s.URL(), a.token) }

func (a *alarmed) agent(name string) *api.Client {
	a.Helper()
	if _, err := a.boss().RegisterAgent(a.Context(), name, api.AgentSpec{}); err != nil {
		a.Fatal(err)
	}
	made, err := a.boss().CreateToken(a.Context(), api.TokenInput{Role: "agent", Name: name})
	if err != nil {
		a.Fatal(err)
	}
	return connectTo(a.T, a.s.URL(), made.Text)
}

func (a *alarmed) advance(by time.Duration) {
	a.Helper()
	if _, err := admin.New(a.boss()).MoveClock(a.Context(), by); err != nil {
		a.Fatal(err)
	}
}

// overHTTP is the alert as JSON.
func (a *alarmed) overHTTP(id string) string {
	a.Helper()
	one, err := admin.New(a.boss()).Alert(a.Context(), id)
	if err != nil {
		a.Fatal(err)
	}
	return fmt.Sprint("senders ", one.Senders, ", agents (", one.Number, ") ", one.Agents)
}

// onTheCommandLine is what `trapeze alerts show` prints.
func (a *alarmed) onTheCommandLine(id string) string {
	a.Helper()
	var out, failed bytes.Buffer
	env := map[string]string{"TRAPEZE_URL": a.s.URL(), "TRAPEZE_TOKEN": a.token}
	if code := cli.Main(a.Context(), []string{"alerts", "show", id, "--data-dir", a.TempDir()}, cli.Env{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &failed, Getenv: func(k string) string { return env[k] },
	}); code != 0 {
		a.Fatalf("exit %d: %s", code, failed.String())
	}
	return out.String()
}

// overMCP is what the tool alerts answers an operator, as text and as data.
func (a *alarmed) overMCP(id string) string {
	a.Helper()
	made, err := a.boss().CreateToken(a.Context(), api.TokenInput{Role: "operator", Name: "olga"})
	if err != nil {
		a.Fatal(err)
	}
	c := mcp.NewClient(&mcp.Implementation{Name: "olga", Version: "1"}, nil)
	session, err := c.Connect(a.Context(), &mcp.StreamableClientTransport{
		Endpoint: a.s.URL() + "/mcp?tools=all", HTTPClient: &http.Client{Transport: withToken(made.Text)}, DisableStandaloneSSE: true,
	}, nil)
	if err != nil {
		a.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	r, err := session.CallTool(a.Context(), &mcp.CallToolParams{Name: "alerts", Arguments: map[string]any{"action": "show", "alert": id}})
	if err != nil || r.IsError {
		a.Fatalf("%+v, %v", r, err)
	}
	data, err := json.Marshal(r.StructuredContent)
	if err != nil {
		a.Fatal(err)
	}
	return r.Content[0].(*mcp.TextContent).Text + string(data)
}

// onThePage is the alert as the page of the administrator has it.
func (a *alarmed) onThePage(id string) string {
	a.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		a.Fatal(err)
	}
	get := func(method, path string) string {
		req, err := http.NewRequestWithContext(a.Context(), method, a.s.URL()+path, nil)
		if err != nil {
			a.Fatal(err)
		}
		if method == http.MethodPost {
			req.Header.Set("Authorization", "Bearer "+a.token)
		}
		res, err := (&http.Client{Jar: jar}).Do(req)
		if err != nil {
			a.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		b, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusOK {
			a.Fatalf("%s: %d %v: %s", path, res.StatusCode, err, b)
		}
		return string(b)
	}
	var link struct{ Path string }
	if err := json.Unmarshal([]byte(get(http.MethodPost, "/sign-in/link")), &link); err != nil {
		a.Fatal(err)
	}
	get(http.MethodGet, link.Path)
	_, body, _ := strings.Cut(get(http.MethodGet, "/alerts"), `id="`+id+`"`)
	body, _, _ = strings.Cut(body, "</li>")
	return body
}

// byWebhook is the notice of the alert. Those of others that came before it are kept.
func (a *alarmed) byWebhook(id string) string {
	a.Helper()
	limit := time.After(time.Minute) // real: the notices are sent over HTTP
	for a.noticed[id] == "" {
		select {
		case n := <-a.notices:
			a.noticed[n[0]] = n[1]
		case <-limit:
			a.Fatalf("no notice came of %s, only of %v", id, a.noticed)
		}
	}
	return a.noticed[id]
}

// TestEveryAPINamesWhomAnAlertIsAbout: the agents of the one that stands for many, of which it names 50 and says how many they are, and the sender whose handoffs fail.
func TestEveryAPINamesWhomAnAlertIsAbout(t *testing.T) {
	embedded(t)
	t.Parallel()
	a := newAlarmed(t)
	names := make([]string, 0, 50)
	for n := range 50 {
		names = append(names, fmt.Sprintf("clerk-%02d", n+10))
	}
	const others, rate = "inbox-old:.others", "handoff-failure-rate"
	words := fmt.Sprint("agents (", waiting, ") [", strings.Join(names, " "), "]")
	list := strings.Join(names, ", ")
	for _, way := range []struct {
		name        string
		show        func(id string) string
		many, sends []string
	}{
		{"webhook", a.byWebhook, []string{words}, []string{"senders [eve], "}},
		{"HTTP", a.overHTTP, []string{words}, []string{"senders [eve], "}},
		{"command line", a.onTheCommandLine, []string{fmt.Sprint(waiting, ": ", list)}, []string{"senders   eve\n"}},
		{"MCP", a.overMCP, []string{fmt.Sprint("Agents (", waiting, "): ", list, "."), fmt.Sprint(`"number":`, waiting), `"agents":["` + strings.Join(names, `","`) + `"]`}, []string{"Senders: eve.", `"senders":["eve"]`}},
		{"page", a.onThePage, []string{fmt.Sprint("Agents (", waiting, "): "), `<a href="/agents/clerk-10">clerk-10</a>`, `<a href="/agents/clerk-59">clerk-59</a>`}, []string{"<p>Senders: eve</p>"}},
	} {
		for id, want := range map[string][]string{others: way.many, rate: way.sends} {
			got := way.show(id)
			for _, part := range want {
				if !strings.Contains(got, part) {
					t.Errorf("%s, %s: %q is not in %q", way.name, id, part, got)
				}
			}
			if strings.Contains(got, "clerk-60") {
				t.Errorf("%s, %s names more than 50: %s", way.name, id, got)
			}
		}
	}
	raised, err := admin.New(a.boss()).Alerts(t.Context(), admin.AlertOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range raised.Alerts {
		if one.Severity == "critical" {
			t.Errorf("what one agent does calls the operators: %+v", one)
		}
	}
}

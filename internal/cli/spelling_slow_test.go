//go:build slow

package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/internal/cli"
	"github.com/trapezehq/trapeze/internal/server"
)

// secondSpelling finds the agents of the test by their role and name. No text that the test writes has it.
var secondSpelling = regexp.MustCompile(`.{0,60}\bagent(/|:|%2F|\\/)(xann|xbob|xlead)\b.{0,20}`)

// longDuration finds durations as Go writes them where they have a shorter form, such as 10m0s.
var longDuration = regexp.MustCompile(`.{0,60}\b[0-9]+(m0s|h0m)\b.{0,20}`)

// speller walks the answers of a server through every interface. What it gives the server names agents by both spellings.
type speller struct {
	*testing.T
	url, data, admin string
	answers          int
	log              string // what the last command wrote to standard error
}

// check fails if an answer has the second spelling of an agent or of a duration.
func (s *speller) check(of string, answer []byte) {
	s.answers++
	if found := secondSpelling.Find(answer); found != nil {
		s.Errorf("%s: %s", of, found)
	}
	if found := longDuration.Find(answer); found != nil {
		s.Errorf("%s: %s", of, found)
	}
}

// run runs a command, which may fail, and returns what it prints to standard output.
func (s *speller) run(args ...string) string {
	s.Helper()
	var out, log bytes.Buffer
	cli.Main(s.Context(), args, cli.Env{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &log,
		Getenv: func(name string) string {
			return map[string]string{"TRAPEZE_URL": s.url, "TRAPEZE_DATA": s.data, "HOME": s.data}[name]
		},
	})
	s.log = log.String()
	s.check("trapeze "+strings.Join(args, " "), append(out.Bytes(), log.Bytes()...))
	return out.String()
}

// must runs a command that prints JSON, and returns a field of it.
func (s *speller) must(field string, args ...string) string {
	s.Helper()
	out := s.run(append(args, "--json")...)
	var of map[string]any
	if err := json.Unmarshal([]byte(out), &of); err != nil {
		s.Fatalf("trapeze %q: %v: %s%s", args, err, out, s.log)
	}
	text, ok := of[field].(string)
	if !ok && field != "" {
		s.Fatalf("trapeze %q has no %s: %s%s", args, field, out, s.log)
	}
	return text
}

// get reads a path of the HTTP API.
func (s *speller) get(token, path string) []byte {
	s.Helper()
	r, err := http.NewRequestWithContext(s.Context(), http.MethodGet, s.url+path, nil)
	if err != nil {
		s.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		s.Fatal(err)
	}
	s.check("GET "+path, b)
	return b
}

// spelled is what the story of the test made.
type spelled struct{ task, child, memory, envelope, ticket string }

// story has each kind of event in which an agent acts or is named.
func (s *speller) story() (made spelled) {
	s.must("name", "agent", "add", "agent/xlead", "--ready")
	s.must("name", "agent", "add", "xann", "--escalation", "agent/xlead", "--ready")
	s.must("name", "agent", "add", "xbob", "--fallback", "agent/xann", "--presence", "2h", "--latency", "90m", "--ready")
	s.must("", "channel", "create", "news", "--agent", "xlead")
	s.must("", "channel", "subscribe", "news", "--agent", "agent/xann")
	made.task = s.must("task", "task", "create", "write it", "--agent", "agent/xlead", "--to", "agent/xann", "--ask", "do", "--fact", "f=fact", "--decision", "d=dec",
		"--constraint", "prohibition:never", "--lease", "2h", "--offer-timeout", "20m", "--approval-timeout", "36h")
	s.run("task", "create", "too long", "--lease", "5000h") // refused, with the limits
	s.run("task", "create", "--help")
	task := made.task
	s.run("inbox", "--seen", "--agent", "agent/xann")
	made.envelope = s.must("envelope", "accept", task+".h1", "--agent", "xann")
	s.must("", "task", "progress", task, "did a part", "--agent", "xann")
	s.must("", "task", "constrain", task, "security:keep it", "--agent", "xann")
	s.must("", "task", "constrain", task, "budget:cost", "--id", "c", "--max", "5")
	s.must("", "task", "constrain", task, "budget:cost", "--id", "c", "--max", "3", "--agent", "xann")
	made.memory = s.must("id", "memory", "add", "noted", "--scope", "task", "--task", task, "--pin", "--agent", "xann")
	s.must("", "memory", "add", "for all", "--scope", "workspace", "--pin", "--agent", "xbob")
	s.must("", "memory", "revise", made.memory, "noted again", "--agent", "xann")
	s.must("", "conversation", "log", "talk", "hello", "--task", task, "--agent", "xann")
	s.must("", "share", task, "--to", "agent/xbob", "--agent", "xann")
	s.must("", "takeover", task, "--agent", "xbob", "--detail", "mine")
	s.run("inbox", "--agent", "xann")
	s.run("deny", task+".t1", "--agent", "xann")
	s.must("", "send", task, "--to", "xbob", "--kind", "supervised", "--approver", "agent/xlead", "--memory", made.memory, "--agent", "xann")
	s.run("inbox", "--agent", "xlead")
	s.must("", "approve", task+".h2", "--agent", "xlead")
	s.run("inbox", "--seen", "--agent", "xbob")
	s.must("", "reject", task+".h2", "--why", "refused", "--agent", "xbob")
	s.must("", "send", task, "--to", "xbob", "--kind", "delegation", "--ask", "test", "--agent", "xann")
	var parent struct{ Children []struct{ Task string } }
	if err := json.Unmarshal([]byte(s.run("task", "show", task, "--json")), &parent); err != nil || len(parent.Children) != 1 {
		s.Fatalf("%+v, %v", parent, err)
	}
	made.child = parent.Children[0].Task
	s.run("inbox", "--seen", "--agent", "xbob")
	s.must("", "accept", made.child+".h1", "--agent", "xbob")
	made.ticket = s.must("ticket", "ask", made.child, "how?", "--agent", "xbob")
	s.must("", "ticket", "claim", made.ticket)
	s.must("", "ticket", "answer", made.ticket, "so")
	s.must("", "task", "complete", made.child, "--result", "tested", "--agent", "xbob")
	for limit := time.Now().Add(time.Minute); s.must("state", "task", "show", task) != "executing"; { // the result comes to the parent after the answer
		if time.Now().After(limit) {
			s.Fatal("the parent has not got the result of its child")
		}
	}
	up := s.must("handoff", "escalate", task, "--agent", "xann")
	s.run("inbox", "--seen", "--agent", "xlead")
	s.must("", "accept", up, "--agent", "xlead")
	if s.must("id", "task", "show", "@last", "--agent", "xlead") != task {
		s.Error("the last task of an agent is not found")
	}
	asked := s.must("task", "task", "create", "parked", "--to", "xbob", "--agent", "xlead", "--retries", "0")
	s.must("", "reject", asked+".h1", "--why", "refused", "--agent", "xbob")
	s.must("", "task", "cancel", asked, "--why", "no", "--agent", "xlead")
	s.must("", "task", "create", "to a channel", "--channel", "news", "--agent", "xlead")
	s.run("takeover", task, "--to", "agent/xbob", "--from", "agent/xlead")
	s.run("task", "list", "--agent", "xbob", "--parent", "none") // refused, and recorded
	s.run("policy", "show", "--agent", "xbob")
	return made
}

// commands read everything that the story made.
func (s *speller) commands(made spelled) {
	for _, args := range []string{
		"task show TASK", "task show CHILD", "task list", "task list --owner agent/xlead", "status", "dead list", "handoff show TASK.h1", "handoff show TASK.h2",
		"handoff show CHILD.h1", "audit show TASK", "audit show CHILD", "audit export TASK --format json", "audit export TASK --format jsonl",
		"audit export --format csv", "audit export", "memory list", "memory get MEMORY", "memory versions MEMORY", "memory search noted", "conversation list",
		"conversation show talk", "conversation continue talk", "envelope show TASK", "envelope show TASK.h2 --source", "envelope render TASK.h1", "envelope drift TASK",
		"parts TASK all", "agent list", "agent show agent/xann", "inbox", "ticket list", "ticket show TICKET", "token list", "channel list", "channel show news",
		"policy show", "stats", "route TASK",
	} {
		words := strings.Fields(made.fill(args))
		for _, how := range [][]string{nil, {"--json"}, {"--agent", "xann"}, {"--agent", "xlead", "--json"}} {
			s.run(append(slices.Clone(words), how...)...)
		}
	}
}

func (m spelled) fill(text string) string {
	return strings.NewReplacer("TASK", m.task, "CHILD", m.child, "MEMORY", m.memory, "TICKET", m.ticket).Replace(text)
}

// paths reads every path of the HTTP API with each id of the story that it may take.
func (s *speller) paths(made spelled) {
	var api struct {
		Paths map[string]map[string]any `json:"paths"`
	}
	if err := json.Unmarshal(s.get(s.admin, "/openapi.json"), &api); err != nil || len(api.Paths) < 50 {
		s.Fatalf("%d paths, %v", len(api.Paths), err)
	}
	ann, err := os.ReadFile(filepath.Join(s.data, "agents", "xann.token"))
	if err != nil {
		s.Fatal(err)
	}
	parameter := regexp.MustCompile(`\{[a-z]+\}`)
	for path, methods := range api.Paths {
		if methods["get"] == nil || path == "/v1/events" || strings.HasPrefix(path, "/v1/proof") || strings.HasSuffix(path, "/receipt") { // see events; the others have signed bytes
			continue
		}
		for _, id := range []string{made.task, made.child, made.task + ".h1", made.task + ".h2", made.child + ".h1", made.memory, made.ticket, made.envelope, "talk", "news", "xann"} {
			for _, token := range []string{s.admin, strings.TrimSpace(string(ann))} {
				s.get(token, parameter.ReplaceAllLiteralString(path, id))
			}
			if !strings.Contains(path, "{") {
				break
			}
		}
	}
	s.get(s.admin, "/v1/agents/agent%2Fxann")
	s.get(s.admin, "/v1/inbox?agent="+url.QueryEscape("agent/xann"))
}

// events follows the stream of events from its beginning to where it is now.
func (s *speller) events() {
	var last struct{ Position int }
	if err := json.Unmarshal([]byte(s.run("task", "create", "the last", "--agent", "xlead", "--json")), &last); err != nil || last.Position == 0 {
		s.Fatal(last, err)
	}
	ctx, cancel := context.WithCancel(s.Context())
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/v1/events?after=0", nil)
	if err != nil {
		s.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+s.admin)
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	var all []byte
	for lines := bufio.NewReader(res.Body); !bytes.Contains(all, fmt.Appendf(nil, "\nid: %d\n", last.Position)); {
		line, err := lines.ReadBytes('\n')
		if all = append(all, line...); err != nil {
			s.Fatalf("after %d bytes: %v", len(all), err)
		}
	}
	s.check("the stream of events", all)
}

// tools calls what reads over MCP.
func (s *speller) tools(made spelled) {
	token, err := os.ReadFile(filepath.Join(s.data, "agents", "xlead.token"))
	if err != nil {
		s.Fatal(err)
	}
	transport := &mcp.StreamableClientTransport{
		Endpoint: s.url + "/mcp?tools=all", HTTPClient: &http.Client{Transport: bearer(strings.TrimSpace(string(token)))}, DisableStandaloneSSE: true,
	}
	session, err := mcp.NewClient(&mcp.Implementation{Name: "speller", Version: "1"}, nil).Connect(s.Context(), transport, nil)
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = session.Close() }()
	answered := 0
	for _, c := range []struct {
		tool string
		args map[string]any
	}{
		{"join", nil},
		{"inbox", nil},
		{"status", nil},
		{"status", map[string]any{"id": made.task}},
		{"status", map[string]any{"id": made.task, "history": true}},
		{"status", map[string]any{"id": made.child}},
		{"recall", nil},
		{"recall", map[string]any{"query": "noted"}},
		{"conversation", map[string]any{"id": "talk"}},
		{"agent", map[string]any{"agent": "agent/xann"}},
		{"channel", nil},
		{"accept", map[string]any{"handoff": made.task + ".h5"}},
		{"agent", map[string]any{"agent": "xbob"}},
		{"send", map[string]any{"intent": "over MCP", "to": []string{"agent/xbob"}, "lease": "5000h"}},
		{"send", map[string]any{"intent": "over MCP", "to": []string{"agent/xbob"}, "lease": "2h", "offer_timeout": 1200}},
		{"complete", map[string]any{"task": made.child, "text": "not mine"}},
	} {
		res, err := session.CallTool(s.Context(), &mcp.CallToolParams{Name: c.tool, Arguments: c.args})
		if err != nil {
			s.Errorf("%s: %v", c.tool, err)
			continue
		}
		if !res.IsError {
			answered++
		} else {
			text, _ := json.Marshal(res.Content)
			s.Logf("%s %v: %s", c.tool, c.args, text) // four are refused
		}
		b, err := json.Marshal(res)
		if err != nil {
			s.Fatal(err)
		}
		s.check("the tool "+c.tool, b)
	}
	if answered < 9 {
		s.Errorf("only %d calls of tools were answered", answered)
	}
	for _, uri := range []string{"trapeze://inbox", "trapeze://task/" + made.task, "trapeze://task/" + made.task + "/history", "trapeze://handoff/" + made.task + ".h2"} {
		res, err := session.ReadResource(s.Context(), &mcp.ReadResourceParams{URI: uri})
		b, _ := json.Marshal(res)
		if s.check(uri, b); err != nil {
			s.check(uri, []byte(err.Error()))
		}
	}
}

// bearer sends requests with a token.
type bearer string

// RoundTrip implements [http.RoundTripper].
func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+string(b))
	return http.DefaultTransport.RoundTrip(r)
}

// TestAnAgentAndADurationHaveOneSpellingInEveryAnswer walks the answers of the command line, the HTTP API, the stream of events, exports, the MCP server and webhooks. An
// agent goes by its bare name in all of them, and is understood by either spelling. A duration is written without zeros at its end.
func TestAnAgentAndADurationHaveOneSpellingInEveryAnswer(t *testing.T) {
	var mu sync.Mutex
	var told []byte
	heard := make(chan struct{}, 64)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		mu.Lock()
		told = append(told, b...)
		mu.Unlock()
		heard <- struct{}{}
	}))
	defer hook.Close()
	s := &speller{T: t, data: t.TempDir()}
	srv, err := openServer(server.Config{DataDir: s.data, Notify: []string{"webhook:" + hook.URL}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = srv.Close(context.WithoutCancel(t.Context())) }()
	s.url = srv.URL()
	token, err := os.ReadFile(srv.AdminTokenFile())
	if err != nil {
		t.Fatal(err)
	}
	s.admin = strings.TrimSpace(string(token))
	made := s.story()
	s.commands(made)
	s.paths(made)
	s.events()
	s.tools(made)
	<-heard // of the question
	mu.Lock()
	defer mu.Unlock()
	s.check("a webhook", told)
	if !bytes.Contains(told, []byte("xbob")) || s.answers < 300 {
		t.Errorf("%d answers, and a webhook with %s", s.answers, told)
	}
}

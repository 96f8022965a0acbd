//go:build outside

package outside

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/scenario/program"
)

// start starts a program, which a signal ends, and returns what it writes as JSON.
func start(t *testing.T, name string, args ...string) (out *json.Decoder, stop func()) {
	t.Helper()
	cmd := exec.CommandContext(context.Background(), name, args...) //nolint:gosec // ours
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Wait() })
	stop = func() { _ = cmd.Process.Signal(syscall.SIGTERM) }
	t.Cleanup(stop)
	return json.NewDecoder(pipe), stop
}

// TestACollectorOfOthersGetsOneTraceForATask: it is made of the Python package of the protocol, and gets spans of the server and of `trapeze mcp`.
func TestACollectorOfOthersGetsOneTraceForATask(t *testing.T) {
	spans, end := start(t, installed(t, "venv/bin/python"), data(t, "otlp.py"))
	var collector struct{ Port int }
	if err := spans.Decode(&collector); err != nil {
		t.Fatal(err)
	}
	cmd := program.Command("serve", "--json", "--data-dir", t.TempDir(), "--addr", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), fmt.Sprintf("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://127.0.0.1:%d/v1/traces", collector.Port))
	s, err := program.Serve(cmd)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() }) // if the test fails before it does
	admin := connect(t, s.URL, s.Token)
	if _, err := admin.RegisterAgent(t.Context(), "coder", client.AgentSpec{}); err != nil {
		t.Fatal(err)
	}
	own, err := admin.CreateToken(t.Context(), client.TokenInput{Role: client.RoleAgent, Name: "coder"})
	if err != nil {
		t.Fatal(err)
	}
	coder := program.Command("mcp", "--no-start", "--agent", "coder")
	coder.Env = append(slices.Clone(cmd.Env), "HOME="+t.TempDir(), "TRAPEZE_URL="+s.URL, "TRAPEZE_TOKEN="+own.Text)
	coder.Stderr = os.Stderr
	session, err := mcp.NewClient(&mcp.Implementation{Name: "coder", Version: "1"}, nil).Connect(t.Context(), &mcp.CommandTransport{Command: coder}, nil)
	if err != nil {
		t.Fatal(err)
	}
	call := func(tool string, args map[string]any) {
		t.Helper()
		if r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: args}); err != nil || r.IsError {
			t.Fatalf("%+v, %v", r, err)
		}
	}
	const trace = "0af7651916cd43dd8448eb211c80319c"
	made, err := admin.CreateTask(client.WithTrace(t.Context(), "00-"+trace+"-b7ad6b7169203331-01", ""), client.CreateInput{Intent: "trace", Send: &client.SendInput{To: []string{"coder"}}})
	if err != nil {
		t.Fatal(err)
	}
	call("accept", map[string]any{"handoff": made.Handoff})
	call("complete", map[string]any{"task": made.Task, "text": "done"})
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Stop(); err != nil { // it sends all spans before it ends
		t.Error(err)
	}
	end()
	wanted := map[string]bool{"POST /v1/tasks": true, "POST /v1/handoffs/{id}/accept": true, "POST /v1/tasks/{id}/complete": true}
	service := map[string]string{"tools/call accept": "trapeze-mcp", "tools/call complete": "trapeze-mcp"}
	for name := range service {
		wanted[name] = true
	}
	for _, name := range []string{"task", "handoff", "handoff request", "handoff accept", "handoff confirm", "handoff complete", "invoke_agent coder"} {
		wanted[name] = true
	}
	for len(wanted) > 0 {
		var s struct {
			Name, Trace, Parent, Service string
			Seconds                      float64
		}
		if err := spans.Decode(&s); err != nil {
			t.Fatalf("%v; missing: %v", err, wanted)
		}
		if !wanted[s.Name] {
			continue
		}
		delete(wanted, s.Name)
		if s.Trace != trace || s.Parent == "" || s.Service != cmp.Or(service[s.Name], "trapeze") || s.Seconds < 0 || s.Seconds > 600 {
			t.Errorf("%+v", s)
		}
	}
}

func connect(t *testing.T, url, token string) *client.Client {
	t.Helper()
	c, err := client.New(url, token, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

//go:build outside

package otelapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/record/figure"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest/freeaddr"
	"github.com/trapezehq/trapeze/internal/server"
)

// prometheus is Prometheus itself, which scrapes a server and evaluates the rules of the documentation every second.
type prometheus struct {
	t   *testing.T
	url string
}

func startPrometheus(t *testing.T, target, token string) prometheus {
	t.Helper()
	dir := t.TempDir()
	rules, err := os.ReadFile(rulesFile(t))
	if err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(dir, "token")
	config := fmt.Sprintf(`global: {scrape_interval: 1s, evaluation_interval: 1s}
rule_files: [rules.yaml]
scrape_configs:
  - job_name: trapeze
    authorization: {credentials_file: %q}
    static_configs: [{targets: [%q]}]
`, secret, strings.TrimPrefix(target, "http://"))
	for name, text := range map[string]string{secret: token, filepath.Join(dir, "rules.yaml"): string(rules), filepath.Join(dir, "prometheus.yaml"): config} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	address := freeaddr.New(t, 1)[0]
	cmd := exec.CommandContext(t.Context(), "prometheus", "--config.file="+filepath.Join(dir, "prometheus.yaml"), "--storage.tsdb.path="+filepath.Join(dir, "data"),
		"--web.listen-address="+address, "--log.level=error")
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 10 * time.Second
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	return prometheus{t, "http://" + address}
}

// await reads from Prometheus until what it answers is right.
func (p prometheus) await(path string, right func(data json.RawMessage) bool) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 2*time.Minute)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	last := ""
	for {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, p.url+path, nil)
		if err != nil {
			p.t.Fatal(err)
		}
		if res, err := http.DefaultClient.Do(req); err == nil {
			b, err := io.ReadAll(res.Body)
			_ = res.Body.Close()
			var answer struct{ Data json.RawMessage }
			if err == nil && json.Unmarshal(b, &answer) == nil && right(answer.Data) {
				return
			}
			last = string(b)
		}
		select {
		case <-ctx.Done():
			p.t.Fatalf("%s: %s", path, last)
		case <-tick.C:
		}
	}
}

// query awaits the result of a query with one value.
func (p prometheus) query(expr, value string) {
	p.t.Helper()
	p.await("/api/v1/query?query="+url.QueryEscape(expr), func(data json.RawMessage) bool {
		var found struct {
			Result []struct{ Value []any }
		}
		return json.Unmarshal(data, &found) == nil && len(found.Result) == 1 && len(found.Result[0].Value) == 2 && fmt.Sprint(found.Result[0].Value[1]) == value
	})
}

func TestPrometheusScrapesAServerAndEvaluatesEveryRule(t *testing.T) {
	s, err := server.Open(t.Context(), server.Config{DataDir: t.TempDir(), Addr: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close(context.Background()) }()
	token, err := os.ReadFile(s.AdminTokenFile())
	if err != nil {
		t.Fatal(err)
	}
	admin, err := client.New(s.URL(), strings.TrimSpace(string(token)), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer admin.Close()
	auditor, err := admin.CreateToken(t.Context(), client.TokenInput{Role: client.RoleAuditor, Name: "prometheus"})
	if err != nil {
		t.Fatal(err)
	}
	p := startPrometheus(t, s.URL(), auditor.Text)
	p.query("up", "1")
	if _, err := admin.RegisterAgent(t.Context(), "coder", client.AgentSpec{}); err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		if _, err := admin.CreateTask(t.Context(), client.CreateInput{Intent: fmt.Sprint("task ", n), Send: &client.SendInput{To: []string{"coder"}}}); err != nil {
			t.Fatal(err)
		}
	}
	p.query("trapeze_tasks_open", "3")
	p.query(`sum(trapeze_inbox_items{agent="coder"})`, "3")
	p.query(`trapeze_view_consistency_ratio`, "1")
	for _, q := range dashboardQueries(t, "default") { // as Grafana asks
		p.await("/api/v1/query?query="+url.QueryEscape(q.expr), func(data json.RawMessage) bool { return bytes.Contains(data, []byte(`"resultType":"vector"`)) })
	}
	p.await("/api/v1/label/workspace/values?match[]=trapeze_tasks_created_total", func(data json.RawMessage) bool { return string(data) == `["default"]` })
	p.await("/api/v1/targets", func(data json.RawMessage) bool {
		var found struct {
			ActiveTargets []struct{ Health, LastError string }
		}
		return json.Unmarshal(data, &found) == nil && len(found.ActiveTargets) == 1 && found.ActiveTargets[0].Health == "up"
	})
	p.await("/api/v1/rules", func(data json.RawMessage) bool {
		var found struct {
			Groups []struct {
				Rules []struct{ Name, Health, LastError, State string }
			}
		}
		if json.Unmarshal(data, &found) != nil {
			return false
		}
		healthy := map[string]bool{}
		for _, g := range found.Groups {
			for _, r := range g.Rules {
				healthy[r.Name] = r.Health == "ok" && r.LastError == ""
			}
		}
		for _, a := range figure.Alerts() {
			if !healthy[a.Prometheus()] {
				return false
			}
		}
		return true
	})
}

//go:build outside

package otelapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/api/otelapi"
	"github.com/trapezehq/trapeze/internal/record/figure"
)

// promtool runs Prometheus' own tool.
func promtool(t *testing.T, in string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "promtool", args...)
	cmd.Stdin = strings.NewReader(in)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func rulesFile(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs("../../../docs/prometheus/rules.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestPromtoolFindsNothingWrongWithTheFigures(t *testing.T) {
	promtool(t, scrape(t, otelapi.New(every("main"), otelapi.Options{}), "main"), "check", "metrics")
}

func TestPromtoolFindsNothingWrongWithTheRules(t *testing.T) {
	promtool(t, "", "check", "rules", rulesFile(t))
}

// TestEachAlertIsRaisedAndRecovers runs the stories of testdata/alerts.yaml, under promtool's own clock. Every alert has one.
func TestEachAlertIsRaisedAndRecovers(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	stories := strings.SplitAfter(string(text), "  - name: ")
	annotations := map[string]string{}
	for _, a := range figure.Alerts() {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(map[string]string{"summary": a.Meaning(), "description": a.Do()}); err != nil {
			t.Fatal(err)
		}
		annotations[a.Prometheus()] = strings.TrimSpace(b.String())
	}
	raised := map[string]bool{}
	for i := range stories[1:] {
		name, _, _ := strings.Cut(stories[i+1], "\n")
		name, _, _ = strings.Cut(name, " #")
		raised[name] = raised[name] || strings.Contains(stories[i+1], "ANNOTATIONS") && strings.Contains(stories[i+1], "exp_alerts: []")
		stories[i+1] = strings.ReplaceAll(stories[i+1], "ANNOTATIONS", annotations[name])
	}
	for name := range annotations {
		if !raised[name] {
			t.Errorf("no story raises %s and has it recover", name)
		}
	}
	path := filepath.Join(t.TempDir(), "alerts.yaml")
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(strings.Join(stories, ""), "RULES", rulesFile(t))), 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "", "test", "rules", path)
}

// dashboardQuery is a query of a panel, as Grafana sends it for one workspace.
type dashboardQuery struct{ panel, expr string }

func dashboardQueries(t *testing.T, workspace string) (list []dashboardQuery) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "prometheus", "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(b, &board); err != nil {
		t.Fatal(err)
	}
	variables := strings.NewReplacer("$workspace", workspace, "$__rate_interval", "5m")
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			list = append(list, dashboardQuery{p.Title, variables.Replace(target.Expr)})
		}
	}
	if len(list) < 20 {
		t.Fatalf("the dashboard has %d queries", len(list))
	}
	return list
}

// TestPromtoolFindsNothingWrongWithTheDashboard: each expression of a panel can be evaluated, and is about figures that the server gives.
func TestPromtoolFindsNothingWrongWithTheDashboard(t *testing.T) {
	given := scrape(t, otelapi.New(every("main"), otelapi.Options{}), "main")
	rules := "groups: [{name: dashboard, rules: [\n"
	for n, q := range dashboardQueries(t, "main") {
		for _, name := range figureName.FindAllString(q.expr, -1) {
			if base := figurePart.ReplaceAllString(name, ""); !strings.Contains(given, "# TYPE "+name+" ") && !strings.Contains(given, "# TYPE "+base+" histogram") {
				t.Errorf("%s: the server gives no %s", q.panel, name)
			}
		}
		expr, err := json.Marshal(q.expr)
		if err != nil {
			t.Fatal(err)
		}
		rules += fmt.Sprintf("  {record: 'panel_%d', expr: %s},\n", n, expr)
	}
	path := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(path, []byte(rules+"]}]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	promtool(t, "", "check", "rules", path)
}

var (
	figureName = regexp.MustCompile(`trapeze_[a-z_]+`)
	figurePart = regexp.MustCompile(`_(bucket|sum|count)$`)
)

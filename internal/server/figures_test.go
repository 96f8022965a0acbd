package server

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/record/figure"
)

// scrape returns the figures as Prometheus gets them.
func scrape(t *testing.T, s *Server) string {
	t.Helper()
	last, err := s.log.Last(t.Context())
	if err == nil {
		err = s.monitor.Wait(t.Context(), last)
	}
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+"/metrics", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token(t, s))
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%d, %v: %s", resp.StatusCode, err, b)
	}
	return string(b)
}

// ofRecord returns the lines of the figures that are counted from the record.
func ofRecord(text string) (lines []string) {
	for line := range strings.Lines(text) {
		for _, i := range figure.Instruments() {
			if i.Origin == figure.Record && (strings.HasPrefix(line, i.Prometheus()+"{") || strings.HasPrefix(line, i.Prometheus()+"_")) {
				lines = append(lines, line)
				break
			}
		}
	}
	return lines
}

func TestAServerGivesItsFiguresAndTheSameAfterARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := open(t, dir)
	c, err := client.New(s.URL(), token(t, s), client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, name := range []string{"ann", "bob"} {
		if _, err := c.RegisterAgent(t.Context(), name, client.AgentSpec{}); err != nil {
			t.Fatal(err)
		}
	}
	for n := range 3 {
		if _, err := c.CreateTask(t.Context(), client.CreateInput{Intent: fmt.Sprint("do ", n), Send: &client.SendInput{To: []string{"bob"}}}); err != nil {
			t.Fatal(err)
		}
	}
	text := scrape(t, s)
	for _, want := range []string{
		`trapeze_handoffs_requested_total{kind="warm",reason="user_request",workspace="default"} 3`, `trapeze_handoffs_open{workspace="default"} 3`,
		`trapeze_tasks_open{workspace="default"} 3`, `trapeze_inbox_items{agent="bob",workspace="default"} 3`, `trapeze_view_consistency_ratio{workspace="default"} 1`,
		`trapeze_circuits{scope="shared",state="closed",workspace="default"} 2`, `trapeze_circuits{scope="pair",state="open",workspace="default"} 0`, `trapeze_agent_failures{agent="bob",workspace="default"} 0`, "trapeze_figures_lag ", "trapeze_view_lag ",
		`trapeze_http_calls_total{code="201",method="POST",route="/v1/tasks"} 3`, "trapeze_http_connections ", "trapeze_process_memory_bytes ",
		"trapeze_ledger_entries_total ", "trapeze_ledger_commit_duration_seconds_count ", "trapeze_ledger_wal_size_bytes ", "trapeze_process_cpu_time_seconds_total ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("missing: %s", want)
		}
	}
	before := ofRecord(text)
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := ofRecord(scrape(t, open(t, dir)))
	if len(before) < 5 || strings.Join(before, "") != strings.Join(after, "") {
		t.Errorf("before:\n%s\nafter:\n%s", strings.Join(before, ""), strings.Join(after, ""))
	}
}

func TestAServerThatCannotSendItsFiguresAsItIsToldDoesNotStart(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:4317")
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
	if s, err := Open(t.Context(), Config{DataDir: t.TempDir(), Addr: "127.0.0.1:0"}); err == nil || s != nil || !strings.Contains(err.Error(), "OTEL_EXPORTER_OTLP_PROTOCOL") {
		t.Errorf("%v, %v", s, err)
	}
}

func TestCallersCannotMakeFiguresMany(t *testing.T) {
	c := newCounts()
	for n := range 1000 {
		c.called(fmt.Sprint("METHOD", n), "", 404, time.Millisecond)
	}
	if points := c.set.Points(); len(points) != 2 || points[0].Spread == nil || points[0].Spread.Count != 1000 {
		t.Errorf("%+v", points)
	}
}

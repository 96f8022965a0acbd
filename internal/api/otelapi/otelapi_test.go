package otelapi_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/api/otelapi"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/figure"
)

// source gives the same points again and again.
type source []figure.Point

func (s source) Points(context.Context) ([]figure.Point, error) { return s, nil }

// every has a point of every instrument for each workspace.
func every(workspaces ...string) source {
	set := figure.NewSet()
	for _, w := range workspaces {
		for _, i := range figure.Instruments() {
			values := make([]string, len(i.Labels))
			for n, l := range i.Labels {
				values[n] = "some " + l
				if l == "workspace" {
					values[n] = w
				}
			}
			if i.Type == figure.Histogram {
				set.Observe(i, 3, values...)
			} else {
				set.Raise(i, 7, values...)
			}
		}
	}
	return set.Points()
}

func scrape(t testing.TB, m *otelapi.Metrics, workspace string) string {
	t.Helper()
	h, err := m.Handler(workspace)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	r := httptest.NewRequest(http.MethodGet, "/metrics", nil)
	r.Header.Set("Accept-Encoding", "gzip") // as Prometheus does
	h.ServeHTTP(w, r)
	if w.Code != http.StatusOK || w.Header().Get("Content-Encoding") != "" {
		t.Fatalf("%d, %v: %s", w.Code, w.Header(), w.Body)
	}
	return w.Body.String()
}

func TestPrometheusGetsTheNamesTypesAndMeaningsThatAreDocumented(t *testing.T) {
	text := scrape(t, otelapi.New(every("main"), otelapi.Options{}), "main")
	for _, i := range figure.Instruments() {
		name := i.Prometheus()
		for _, want := range []string{"# TYPE " + name + " " + string(i.Type) + "\n", "# HELP " + name + " " + i.Meaning + "\n"} {
			if !strings.Contains(text, want) {
				t.Errorf("missing: %s", want)
			}
		}
		for _, l := range i.Labels {
			if value := "some " + l; l != "workspace" && !strings.Contains(text, l+`="`+value+`"`) {
				t.Errorf("%s: missing label %s", name, l)
			}
		}
	}
	for _, want := range []string{
		`trapeze_handoff_delivery_duration_seconds_bucket{agent="some agent",kind="some kind",workspace="main",le="2"} 0`,
		`trapeze_handoff_delivery_duration_seconds_bucket{agent="some agent",kind="some kind",workspace="main",le="10"} 1`,
		`trapeze_handoff_delivery_duration_seconds_sum{agent="some agent",kind="some kind",workspace="main"} 3`,
		`trapeze_dead_letters{workspace="main"} 7`, `target_info{service_name="trapeze"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("missing: %s", want)
		}
	}
	if strings.Contains(text, "otel_scope") {
		t.Error("every line names the scope")
	}
}

func TestAWorkspaceSeesItsOwnFiguresAndThoseOfTheProcess(t *testing.T) {
	m := otelapi.New(every("main", "other"), otelapi.Options{})
	for _, workspace := range []string{"main", "other", "main"} {
		text := scrape(t, m, workspace)
		foreign := map[string]string{"main": "other", "other": "main"}[workspace]
		if !strings.Contains(text, `workspace="`+workspace+`"`) || strings.Contains(text, `workspace="`+foreign+`"`) || !strings.Contains(text, "\ntrapeze_process_memory_bytes 7\n") {
			t.Errorf("%s sees\n%s", workspace, text)
		}
	}
}

func TestACollectorIsSentTheFiguresOfAllWorkspaces(t *testing.T) {
	bodies := make(chan []byte, 10)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body := io.Reader(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(r.Body)
			if err != nil {
				t.Error(err)
				return
			}
			body = z
		}
		b, err := io.ReadAll(body)
		if err != nil || r.URL.Path != "/v1/metrics" || r.Header.Get("X-Key") != "abc" {
			t.Errorf("%s %v: %v", r.URL, r.Header, err)
		}
		bodies <- b
	}))
	defer collector.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=abc")
	if on, err := otelapi.Configured(); !on || err != nil {
		t.Fatal(on, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the last export is made when the server stops
	if err := otelapi.New(every("main", "other"), otelapi.Options{Log: slog.New(slog.DiscardHandler)}).Push(ctx); err == nil {
		t.Error("it did not say why it ended")
	}
	select {
	case b := <-bodies:
		for _, want := range []string{"trapeze.handoff.delivery.duration", "main", "other", "trapeze.process.memory"} {
			if !bytes.Contains(b, []byte(want)) {
				t.Errorf("the collector did not get %s", want)
			}
		}
	default:
		t.Error("the collector got nothing")
	}
}

// setEnvironment sets the variables about a collector, and unsets all others.
func setEnvironment(t *testing.T, env map[string]string) {
	t.Helper()
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "OTEL_") {
			t.Setenv(name, "")
		}
	}
	for name, v := range env {
		t.Setenv(name, v)
	}
}

func TestTheEnvironmentSaysWhetherFiguresAreSent(t *testing.T) {
	for _, c := range []struct {
		env map[string]string
		on  bool
	}{
		{map[string]string{}, false},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}, true},
		{map[string]string{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "HTTPS://collector/v1/metrics", "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"}, true},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318", "OTEL_METRICS_EXPORTER": "none"}, false},
		{map[string]string{"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_TIMEOUT": "10s"}, false},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "127.0.0.1:4318", "OTEL_SDK_DISABLED": "true"}, false},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "127.0.0.1:4318", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://collector:4318/v1/metrics"}, true},
		{map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://[::1]", "OTEL_EXPORTER_OTLP_HEADERS": "a=b%2Cc, d = e", "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip", "OTEL_EXPORTER_OTLP_TIMEOUT": "100"}, true},
	} {
		setEnvironment(t, c.env)
		if on, err := otelapi.Configured(); on != c.on || err != nil {
			t.Errorf("%v: %v, %v", c.env, on, err)
		}
	}
}

func TestAnEnvironmentThatTheSDKWouldSkipIsRefusedForEachSignal(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, value, hint string }{
		{"PROTOCOL", "grpc", "http/protobuf"},
		{"ENDPOINT", "127.0.0.1:4318", "http://127.0.0.1:4318"},
		{"ENDPOINT", "localhost:4318", "http://127.0.0.1:4318"},
		{"ENDPOINT", "//127.0.0.1:4318", "http://127.0.0.1:4318"},
		{"ENDPOINT", "http://", "http://127.0.0.1:4318"},
		{"ENDPOINT", "http://:4318", "http://127.0.0.1:4318"},
		{"ENDPOINT", "http://127.0.0.1:99999", "http://127.0.0.1:4318"},
		{"ENDPOINT", "http://127.0.0.1:0", "http://127.0.0.1:4318"},
		{"ENDPOINT", "grpc://127.0.0.1:4317", "http://127.0.0.1:4318"},
		{"ENDPOINT", "unix:///tmp/collector", "http://127.0.0.1:4318"},
		{"ENDPOINT", "http://me:secret@127.0.0.1:4318", "OTEL_EXPORTER_OTLP_HEADERS"},
		{"ENDPOINT", "http://127.0.0.1:4318?token=secret", "without user, query"},
		{"ENDPOINT", "http://127.0.0.1:4318#secret", "without user, query"},
		{"TIMEOUT", "10s", "milliseconds"},
		{"TIMEOUT", "0", "milliseconds"},
		{"COMPRESSION", "zstd", "gzip"},
		{"HEADERS", "Authorization: secret", "NAME=VALUE"},
		{"HEADERS", "authorization=secret%0d%0aX: y", "line ends"},
		{"HEADERS", "authorization=secret%00", "line ends"},
		{"CERTIFICATE", empty, "PEM"},
		{"CLIENT_CERTIFICATE", empty, "PEM"},
		{"CLIENT_KEY", empty, "PEM"},
	} {
		for signal, configured := range map[string]func() (bool, error){"METRICS_": otelapi.Configured, "TRACES_": otelapi.TracesConfigured} {
			for _, of := range []string{"", signal} {
				name := "OTEL_EXPORTER_OTLP_" + of + c.name
				t.Run(name+"="+c.value, func(t *testing.T) {
					env := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318"}
					env[name] = c.value
					setEnvironment(t, env)
					_, err := configured()
					hint := ""
					if r, ok := refusal.As(err); ok {
						hint = r.Hint
					}
					if refusal.CodeOf(err) != refusal.Invalid || !strings.Contains(err.Error(), "OTEL_EXPORTER_OTLP_") || !strings.Contains(hint, c.hint) || strings.Contains(err.Error(), "secret") {
						t.Errorf("%v (hint %q)", err, hint)
					}
					if all := otelapi.CheckEnvironment(); refusal.CodeOf(all) != refusal.Invalid {
						t.Errorf("the check of all: %v", all)
					}
				})
			}
		}
	}
}

func TestOtherVariablesThatTheSDKWouldSkipAreRefused(t *testing.T) {
	for _, c := range []struct {
		name, value     string
		metrics, traces bool // refused
	}{
		{"OTEL_METRIC_EXPORT_INTERVAL", "abc", true, false},
		{"OTEL_METRIC_EXPORT_INTERVAL", "0", true, false},
		{"OTEL_METRIC_EXPORT_INTERVAL", "5000", false, false},
		{"OTEL_METRIC_EXPORT_TIMEOUT", "10s", true, false},
		{"OTEL_BSP_SCHEDULE_DELAY", "5s", false, true},
		{"OTEL_SDK_DISABLED", "maybe", true, true},
		{"OTEL_SDK_DISABLED", "1", true, true},
		{"OTEL_SDK_DISABLED", "FALSE", false, false},
		{"OTEL_RESOURCE_ATTRIBUTES", "x", true, true},
		{"OTEL_RESOURCE_ATTRIBUTES", "=x", true, true},
		{"OTEL_RESOURCE_ATTRIBUTES", "team=a%zz", true, true},
		{"OTEL_RESOURCE_ATTRIBUTES", "team=a%2Cb, deployment.environment = test", false, false},
	} {
		t.Run(c.name+"="+c.value, func(t *testing.T) {
			setEnvironment(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318", c.name: c.value})
			refused := func(err error) bool {
				if err != nil && (refusal.CodeOf(err) != refusal.Invalid || !strings.Contains(err.Error(), c.name)) {
					t.Error(err)
				}
				return err != nil
			}
			_, metrics := otelapi.Configured()
			_, traces := otelapi.TracesConfigured()
			if refused(metrics) != c.metrics || refused(traces) != c.traces {
				t.Errorf("metrics: %v; traces: %v", metrics, traces)
			}
			setEnvironment(t, map[string]string{c.name: c.value})
			if err := otelapi.CheckEnvironment(); err != nil { // nothing is sent
				t.Error(err)
			}
		})
	}
}

// sink is the answer to a scrape, which only counts its bytes.
type sink struct {
	header http.Header
	bytes  int64
}

func (s *sink) Header() http.Header { return s.header }
func (s *sink) WriteHeader(int)     {}
func (s *sink) Write(b []byte) (int, error) {
	s.bytes += int64(len(b))
	return len(b), nil
}

// BenchmarkScrape500Agents scrapes what 500 agents make that receive two kinds of handoffs.
func BenchmarkScrape500Agents(b *testing.B) {
	set := figure.NewSet()
	for n := range 500 {
		agent := fmt.Sprint("agent-", n)
		for _, kind := range []event.Kind{event.Warm, event.Delegation} {
			for s := range 20 {
				set.Observe(figure.HandoffDelivery, float64(s), "main", agent, string(kind))
				set.Observe(figure.HandoffAcceptance, float64(s), "main", agent, string(kind))
			}
		}
		set.Add(figure.InboxItems, 3, "main", agent)
		set.Add(figure.InboxAge, 30, "main", agent)
	}
	m := otelapi.New(source(set.Points()), otelapi.Options{})
	h, err := m.Handler("main")
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		answer := &sink{header: http.Header{}}
		h.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
		b.SetBytes(answer.bytes)
	}
}

// TestTheFiguresOfTheProcessAreForOneWorkspace: how often which route is called tells one workspace what others do.
func TestTheFiguresOfTheProcessAreForOneWorkspace(t *testing.T) {
	m := otelapi.New(every("main", "other"), otelapi.Options{Process: "main"})
	main, other := scrape(t, m, "main"), scrape(t, m, "other")
	for _, i := range figure.Instruments() {
		of := len(i.Labels) > 0 && i.Labels[0] == "workspace"
		if name := i.Prometheus(); !strings.Contains(main, "# TYPE "+name+" ") || strings.Contains(other, "# TYPE "+name+" ") != of {
			t.Errorf("%s: in the one %v, in the other %v", name, strings.Contains(main, name), strings.Contains(other, name))
		}
	}
}

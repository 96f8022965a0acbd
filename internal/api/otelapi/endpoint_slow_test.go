//go:build slow

package otelapi

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/trapezehq/trapeze/internal/api/tracing"
	"github.com/trapezehq/trapeze/internal/record/figure"
)

// oneFigure is a source of one figure.
type oneFigure struct{}

func (oneFigure) Points(context.Context) ([]figure.Point, error) {
	set := figure.NewSet()
	set.Add(figure.LedgerEntries, 1)
	return set.Points(), nil
}

func TestTheEndpointAloneSaysWhereThingsAreSent(t *testing.T) {
	for _, c := range []struct{ all, own, want string }{
		{"", "", "http://localhost:4318/v1/traces"},
		{"http://collector:4318", "", "http://collector:4318/v1/traces"},
		{"HTTPS://collector/base/", "", "https://collector/base/v1/traces"},
		{"http://collector:4318", "https://other/own", "https://other/own"},
		{"", "http://other:4318", "http://other:4318/"},
	} {
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.all)
		t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", c.own)
		if got := collectorURL("TRACES", "v1/traces"); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// TestNothingIsSentInTheClearToAnEndpointWithTLS: OTEL_EXPORTER_OTLP_INSECURE has no effect, as the log says.
func TestNothingIsSentInTheClearToAnEndpointWithTLS(t *testing.T) {
	for _, c := range []struct {
		scheme, insecure string
		arrives          bool
	}{
		{"https", "true", false},
		{"http", "false", true},
	} {
		var inClear atomic.Int32
		collector := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { inClear.Add(1) }))
		t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", strings.Replace(collector.URL, "http", c.scheme, 1))
		t.Setenv("OTEL_EXPORTER_OTLP_INSECURE", c.insecure)
		o := Options{Log: slog.New(slog.DiscardHandler)}
		traces, err := OpenTraces(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		traces.Start(tracing.Start{Tool: "send"}).End(tracing.Answer{})
		if err := traces.Close(t.Context()); (err == nil) != c.arrives || inClear.Load() > 0 != c.arrives {
			t.Errorf("%+v: spans: %d, %v", c, inClear.Load(), err)
		}
		before := inClear.Load()
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_ = New(oneFigure{}, o).Push(ctx) // it says that ctx ended
		if inClear.Load() > before != c.arrives {
			t.Errorf("%+v: figures: %d", c, inClear.Load()-before)
		}
		collector.Close()
	}
}

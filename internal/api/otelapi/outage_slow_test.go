//go:build slow

package otelapi

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	wire "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/trapezehq/trapeze/internal/api/tracing"
	"github.com/trapezehq/trapeze/internal/record/span/outage"
)

// downCollector refuses everything while it is down.
type downCollector struct {
	otlptrace.Client
	sdk.Exporter
	down bool
}

func (c *downCollector) answer() error {
	if c.down {
		return errors.New("connection refused")
	}
	return nil
}

func (c *downCollector) UploadTraces(context.Context, []*wire.ResourceSpans) error { return c.answer() }

func (c *downCollector) Export(context.Context, *metricdata.ResourceMetrics) error { return c.answer() }
func (c *downCollector) Stop(context.Context) error                                { return nil }

// TestACollectorThatIsDownIsLoggedOnceAMinute: five minutes with a call each second, and figures each second.
func TestACollectorThatIsDownIsLoggedOnceAMinute(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	synctest.Test(t, func(t *testing.T) {
		var calls, figures bytes.Buffer
		traces, err := OpenTraces(t.Context(), Options{Log: slog.New(slog.NewTextHandler(&calls, nil))})
		if err != nil {
			t.Fatal(err)
		}
		c := &downCollector{down: true}
		traces.calls.mu.Lock()
		traces.calls.client = c
		traces.calls.mu.Unlock()
		pushed := reported{c, outage.New(slog.New(slog.NewTextHandler(&figures, nil)), "down", "back")}
		second := func() {
			traces.Start(tracing.Start{Tool: "send"}).End(tracing.Answer{})
			if err := pushed.Export(t.Context(), nil); err != nil {
				t.Errorf("it is logged twice: %v", err)
			}
			time.Sleep(time.Second)
		}
		time.Sleep(time.Millisecond) // no call at the same time as an upload
		for range 5*60 - 1 {
			second()
		}
		traces.calls.mu.Lock()
		c.down = false
		traces.calls.mu.Unlock()
		for range 10 {
			second()
		}
		for what, out := range map[string]*bytes.Buffer{"calls": &calls, "figures": &figures} {
			if got := out.String(); strings.Count(got, "level=WARN") != 5 || strings.Count(got, "level=INFO") != 1 || strings.Count(got, "\n") != 6 {
				t.Errorf("%s: %s", what, got)
			}
		}
		if !strings.HasSuffix(calls.String(), "lost=298\n") { // all but those of the last second before
			t.Errorf("lost: %s", &calls)
		}
		if err := traces.Close(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

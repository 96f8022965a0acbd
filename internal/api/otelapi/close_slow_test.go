//go:build slow

package otelapi

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	wire "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/trapezehq/trapeze/internal/api/tracing"
)

// slowCollector takes some time for each upload. It counts the uploads that it has.
type slowCollector struct {
	otlptrace.Client
	takes time.Duration
	has   int
}

func (c *slowCollector) UploadTraces(ctx context.Context, _ []*wire.ResourceSpans) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(c.takes):
		c.has++
		return nil
	}
}

func (c *slowCollector) Stop(context.Context) error { return nil }

// TestCloseWaitsForTheUploadThatIsUnderWay: its spans are nowhere else. It waits no longer than for the last upload.
func TestCloseWaitsForTheUploadThatIsUnderWay(t *testing.T) {
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	for _, tt := range []struct {
		takes, waits time.Duration
		has          int
	}{
		{time.Second, 2*time.Second - time.Millisecond, 2},
		{time.Hour, lastPush, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			traces, err := OpenTraces(t.Context(), Options{Log: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			c := &slowCollector{takes: tt.takes}
			traces.calls.mu.Lock()
			traces.calls.client = c
			traces.calls.mu.Unlock()
			traces.Start(tracing.Start{Tool: "send"}).End(tracing.Answer{})
			time.Sleep(callDelay + time.Millisecond)
			traces.Start(tracing.Start{Tool: "accept"}).End(tracing.Answer{})
			closing := time.Now()
			err = traces.Close(t.Context())
			if c.has != tt.has || (err == nil) != (tt.has == 2) || time.Since(closing) != tt.waits {
				t.Errorf("an upload takes %s: Close returns %v after %s, and the collector has %d of 2", tt.takes, err, time.Since(closing), c.has)
			}
		})
	}
}

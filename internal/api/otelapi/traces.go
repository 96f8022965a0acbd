package otelapi

import (
	"context"
	"errors"
	"os"
	"strconv"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	api "go.opentelemetry.io/otel/trace"

	"github.com/trapezehq/trapeze/internal/record/span"
)

// Traces sends spans to a collector of OpenTelemetry. It is safe for concurrent use.
type Traces struct {
	calls     *sdk.TracerProvider // which sends in batches, and drops what is too much
	callsOf   api.Tracer
	steps     *sdk.TracerProvider // which gives its spans to collected
	stepsOf   api.Tracer
	collected collected
	exporter  *otlptrace.Exporter // of the steps

	mu sync.Mutex // of the steps
}

// TracesConfigured reports whether the environment names a collector of OpenTelemetry for traces. An environment that asks for an exporter or
// a protocol that the server does not have is refused (invalid).
func TracesConfigured() (bool, error) { return configured("traces", "TRACES") }

// Delay is how long spans wait for others, to be sent together: OTEL_BSP_SCHEDULE_DELAY, in milliseconds, or 0 for the default.
func Delay() time.Duration {
	n, err := strconv.ParseInt(os.Getenv("OTEL_BSP_SCHEDULE_DELAY"), 10, 32)
	if err != nil || n <= 0 {
		return 0
	}
	return time.Duration(n) * time.Millisecond
}

// OpenTraces returns traces to the collector that the environment names. Which are sampled, and how they are sent, follows the OTEL_*
// variables. It does not wait for the collector.
func OpenTraces(ctx context.Context, o Options) (*Traces, error) {
	o = o.filled()
	handleErrors(o)
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		return nil, err
	}
	own, err := otlptracehttp.New(ctx) // one is not used from two goroutines
	if err != nil {
		return nil, errors.Join(err, exporter.Shutdown(ctx))
	}
	t := &Traces{exporter: own}
	t.calls = sdk.NewTracerProvider(sdk.WithBatcher(exporter), sdk.WithResource(resourceOf(o)))
	t.steps = sdk.NewTracerProvider(sdk.WithSpanProcessor(&t.collected), sdk.WithIDGenerator(given{}), sdk.WithResource(resourceOf(o)))
	version := api.WithInstrumentationVersion(o.Version)
	t.callsOf, t.stepsOf = t.calls.Tracer(scope, version), t.steps.Tracer(scope, version)
	return t, nil
}

// Close sends what is left of the calls, for a short time.
func (t *Traces) Close(ctx context.Context) error {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastPush)
	defer cancel()
	return errors.Join(t.calls.Shutdown(last), t.steps.Shutdown(last), t.exporter.Shutdown(last))
}

// Export sends spans from the record. It returns when the collector has them, or an error if it has not taken them. Spans of traces that are
// not sampled are left out.
func (t *Traces) Export(ctx context.Context, spans []span.Span) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.collected.list = t.collected.list[:0]
	for i := range spans {
		t.add(&spans[i])
	}
	if len(t.collected.list) == 0 {
		return nil
	}
	return t.exporter.ExportSpans(ctx, t.collected.list)
}

// add makes a span of OpenTelemetry of a span from the record.
func (t *Traces) add(s *span.Span) {
	ctx := context.WithValue(context.Background(), given{}, s)
	options := []api.SpanStartOption{api.WithTimestamp(s.Start), api.WithAttributes(attributesOf(s)...)}
	for _, l := range s.Links {
		options = append(options, api.WithLinks(api.Link{SpanContext: contextOf(l)}))
	}
	if s.Derived && !t.sampled(s) {
		return
	}
	if s.Parent != (span.ID{}) { // the sampler asks it
		ctx = api.ContextWithRemoteSpanContext(ctx, contextOf(span.Context{Trace: s.Trace, Span: s.Parent, Sampled: s.Sampled}))
	}
	_, x := t.stepsOf.Start(ctx, s.Name, options...)
	if s.Failed != "" {
		x.SetStatus(codes.Error, s.Failed)
	}
	end := s.End
	if end.Before(s.Start) { // the clock was set back
		end = s.Start
	}
	x.End(api.WithTimestamp(end))
}

// sampled reports whether the sampler takes a trace that nobody began. The span that it asks with is not ended, and so not exported.
func (t *Traces) sampled(s *span.Span) bool {
	_, x := t.stepsOf.Start(context.WithValue(context.Background(), given{}, s), s.Name) //nolint:spancheck // on purpose
	return x.SpanContext().IsSampled()                                                   //nolint:spancheck // on purpose
}

func contextOf(c span.Context) api.SpanContext {
	flags := api.TraceFlags(0).WithSampled(c.Sampled)
	return api.NewSpanContext(api.SpanContextConfig{TraceID: api.TraceID(c.Trace), SpanID: api.SpanID(c.Span), TraceFlags: flags, Remote: true})
}

func attributesOf(s *span.Span) []attribute.KeyValue {
	list := make([]attribute.KeyValue, len(s.Values))
	for i, v := range s.Values {
		switch key := attribute.Key(v.Of.Name); v.Of.Type {
		case span.Text:
			list[i] = key.String(v.Text)
		case span.Integer:
			list[i] = key.Int64(int64(v.Number))
		case span.Number:
			list[i] = key.Float64(v.Number)
		case span.Truth:
			list[i] = key.Bool(v.Number != 0)
		}
	}
	return list
}

// given gives spans the ids that they have in the record. Its zero value is the key of the span in a context.
type given struct{}

// NewIDs implements [sdk.IDGenerator].
func (g given) NewIDs(ctx context.Context) (api.TraceID, api.SpanID) {
	s, _ := ctx.Value(g).(*span.Span) // always there
	return api.TraceID(s.Trace), api.SpanID(s.ID)
}

// NewSpanID implements [sdk.IDGenerator].
func (g given) NewSpanID(ctx context.Context, _ api.TraceID) api.SpanID {
	s, _ := ctx.Value(g).(*span.Span)
	return api.SpanID(s.ID)
}

// collected is a processor that keeps spans until they are exported.
type collected struct{ list []sdk.ReadOnlySpan }

// OnStart implements [sdk.SpanProcessor].
func (*collected) OnStart(context.Context, sdk.ReadWriteSpan) {}

// OnEnd implements [sdk.SpanProcessor].
func (c *collected) OnEnd(s sdk.ReadOnlySpan) { c.list = append(c.list, s) }

// Shutdown implements [sdk.SpanProcessor].
func (*collected) Shutdown(context.Context) error { return nil }

// ForceFlush implements [sdk.SpanProcessor].
func (*collected) ForceFlush(context.Context) error { return nil }

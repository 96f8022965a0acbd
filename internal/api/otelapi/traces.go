package otelapi

import (
	"context"
	"errors"
	"os"
	"strconv"
	"sync"
	"time"

	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
	wire "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/trapezehq/trapeze/internal/record/span"
	"github.com/trapezehq/trapeze/internal/record/span/outage"
)

const (
	callBatch = 2048          // spans of calls that are sent as soon as they are there: some 500 KB
	maxCalls  = 4 * callBatch // spans of calls that wait; further ones are dropped
	callDelay = 2 * time.Second
)

// Traces sends spans to a collector of OpenTelemetry. It is safe for concurrent use.
type Traces struct {
	o       Options
	sampler sdk.Sampler
	follows bool   // the sampler is the default one
	steps   sender // of spans from the record
	calls   sender

	enough  chan struct{}
	stop    context.CancelFunc // no upload begins after it
	abort   context.CancelFunc // ends the upload that is under way
	running sync.WaitGroup

	mu      sync.Mutex
	waiting encoded // spans of calls
	spare   []byte  // a buffer that was sent
	dropped int
}

// sender sends to the collector, from one goroutine at a time.
type sender struct {
	client   otlptrace.Client
	resource *resource.Resource
	version  string

	mu  sync.Mutex
	buf []byte
}

// encoded is spans in the protobuf of OTLP. To keep them as they are would be more work for the garbage collector.
type encoded struct {
	spans []byte
	count int
}

// Delay is how long spans wait for others, to be sent together: OTEL_BSP_SCHEDULE_DELAY, in milliseconds, or 0 for the default.
func Delay() time.Duration {
	n, err := strconv.ParseInt(os.Getenv("OTEL_BSP_SCHEDULE_DELAY"), 10, 32)
	if err != nil || n <= 0 {
		return 0
	}
	return time.Duration(n) * time.Millisecond
}

// OpenTraces returns traces to the collector that the environment names. Which are sampled, and how they are sent, follows the OTEL_*
// variables. It does not wait for the collector. Close it.
func OpenTraces(ctx context.Context, o Options) (*Traces, error) {
	o = o.filled()
	sampler, err := samplerOf()
	if err != nil {
		return nil, err
	}
	t := &Traces{o: o, sampler: sampler, follows: sampler.Description() == defaultSampler, enough: make(chan struct{}, 1)}
	for _, s := range []*sender{&t.steps, &t.calls} {
		s.client, s.resource, s.version = otlptracehttp.NewClient(otlptracehttp.WithEndpointURL(collectorURL("TRACES", "v1/traces"))), named(o), o.Version
		if err := s.client.Start(ctx); err != nil {
			return nil, err
		}
	}
	uploads, abort := context.WithCancel(context.WithoutCancel(ctx))
	stopped, stop := context.WithCancel(uploads)
	t.stop, t.abort = stop, abort
	t.running.Go(func() { t.sendCalls(uploads, stopped.Done()) })
	return t, nil
}

// named is the resource that names the server to collectors.
func named(o Options) *resource.Resource {
	r := &resource.Resource{}
	for _, kv := range resourceOf(o).Attributes() {
		r.Attributes = append(r.Attributes, &common.KeyValue{
			Key: string(kv.Key), Value: &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: kv.Value.String()}},
		})
	}
	return r
}

// transport is that of the MCP sessions of the process.
func (t *Traces) transport() string {
	if t.o.Stdio {
		return span.Pipe
	}
	return span.TCP
}

// Close sends what is left of the calls, for a short time: until the deadline of ctx, or for some seconds.
func (t *Traces) Close(ctx context.Context) error {
	until, ok := ctx.Deadline()
	if !ok {
		until = time.Now().Add(lastPush)
	}
	last, cancel := context.WithDeadline(context.WithoutCancel(ctx), until)
	defer cancel()
	t.stop()
	context.AfterFunc(last, t.abort)
	t.running.Wait() // for the upload that is under way: its spans are nowhere else
	_, _, err := t.flushCalls(last)
	return errors.Join(err, t.calls.client.Stop(last), t.steps.client.Stop(last))
}

// Append appends a span from the record in the form that [Traces.Send] takes, unless its trace is not sampled.
func (t *Traces) Append(b []byte, s *span.Span) []byte {
	parent := span.ID{1} // whichever: it was sampled, or not
	if s.Derived {       // nobody has decided: the sampler does, by the trace
		parent = span.ID{}
	}
	if !t.takes(s.Trace, parent, s.Sampled, s.Name) {
		return b
	}
	return appendOne(b, s)
}

// Send sends spans that [Traces.Append] has appended. It returns when the collector has them, or an error if it has not taken them.
func (t *Traces) Send(ctx context.Context, spans []byte) error {
	t.steps.mu.Lock()
	defer t.steps.mu.Unlock()
	return t.steps.send(ctx, spans)
}

// send sends spans. s.mu is held.
func (s *sender) send(ctx context.Context, spans []byte) error {
	if len(spans) == 0 {
		return nil
	}
	s.buf = appendScope(s.buf[:0], s.version, spans)
	message := &wire.ResourceSpans{Resource: s.resource}
	message.ProtoReflect().SetUnknown(s.buf) // written as it is
	return s.client.UploadTraces(ctx, []*wire.ResourceSpans{message})
}

// add adds the span of a call to those that wait.
func (t *Traces) add(s *span.Span) {
	t.mu.Lock()
	n := t.waiting.count
	if n < maxCalls {
		t.waiting.spans = appendOne(t.waiting.spans, s)
		t.waiting.count++
	} else {
		t.dropped++
	}
	t.mu.Unlock()
	if n == callBatch {
		select {
		case t.enough <- struct{}{}:
		default:
		}
	}
}

// sendCalls sends the spans of calls until stop is closed. The end of ctx ends an upload.
func (t *Traces) sendCalls(ctx context.Context, stop <-chan struct{}) {
	every := Delay()
	if every == 0 {
		every = callDelay
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	report := outage.New(t.o.Log, "spans of calls could not be sent: they are lost", "spans of calls are sent again")
	for {
		select {
		case <-stop:
			return
		case <-tick.C:
		case <-t.enough:
		}
		switch sent, lost, err := t.flushCalls(ctx); {
		case err != nil:
			report.Failed(err, lost)
		case lost > 0:
			report.Failed(errors.New("the collector takes them too slowly"), lost)
		case sent > 0:
			report.Sent()
		}
	}
}

// flushCalls sends the spans of calls that wait, and returns how many were sent, and how many were lost: they are not sent again after an error.
func (t *Traces) flushCalls(ctx context.Context) (sent, lost int, err error) {
	t.calls.mu.Lock()
	defer t.calls.mu.Unlock()
	t.mu.Lock()
	spans, dropped := t.waiting, t.dropped
	t.waiting, t.spare, t.dropped = encoded{spans: t.spare[:0]}, nil, 0
	t.mu.Unlock()
	defer func() {
		t.mu.Lock()
		t.spare = spans.spans
		t.mu.Unlock()
	}()
	if err := t.calls.send(ctx, spans.spans); err != nil {
		return 0, dropped + spans.count, err
	}
	return spans.count, dropped, nil
}

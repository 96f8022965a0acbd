package otelapi_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	wire "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/trapezehq/trapeze/internal/api/otelapi"
	"github.com/trapezehq/trapeze/internal/api/tracing"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/span"
)

// sent returns what a collector is sent by traces while do runs, and until they are closed.
func sent(t *testing.T, do func(*otelapi.Traces)) (spans []*wire.Span, requests []*collector.ExportTraceServiceRequest) {
	t.Helper()
	bodies := make(chan []byte, 100)
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/v1/traces" || r.Header.Get("X-Key") != "abc" {
			t.Errorf("%s %v: %v", r.URL, r.Header, err)
		}
		bodies <- b
	}))
	defer srv.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", srv.URL)
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-key=abc")
	t.Setenv("OTEL_SERVICE_NAME", "ours")
	traces, err := otelapi.OpenTraces(t.Context(), otelapi.Options{Version: "1.2", Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	do(traces)
	if err := traces.Close(t.Context()); err != nil {
		t.Error(err)
	}
	close(bodies)
	for b := range bodies {
		var req collector.ExportTraceServiceRequest
		if err := proto.Unmarshal(b, &req); err != nil {
			t.Fatal(err)
		}
		requests = append(requests, &req)
		for _, r := range req.GetResourceSpans() {
			for _, s := range r.GetScopeSpans() {
				spans = append(spans, s.GetSpans()...)
			}
		}
	}
	return spans, requests
}

func TestACollectorGetsEveryPartOfASpan(t *testing.T) {
	start := time.Unix(1_700_000_000, 123)
	in := span.Span{
		Name: "handoff", Trace: span.TraceID{1, 2}, ID: span.ID{3}, Parent: span.ID{4}, Sampled: true, Start: start, End: start.Add(time.Hour), Failed: "expired",
		Values: []span.Value{{Of: span.HandoffAttr, Text: "h\xff1"}, {Of: span.Retries, Number: 3}, {Of: span.Completeness, Number: 0.25}, {Of: span.Claim, Number: 1}, {Of: span.Recovery}},
		Links:  []span.Context{{Trace: span.TraceID{5}, Span: span.ID{6}, Sampled: true}},
	}
	many := make([]span.Span, 300) // longer than one byte says
	for i := range many {
		many[i] = in
	}
	spans, requests := sent(t, func(traces *otelapi.Traces) {
		var encoded []byte
		for i := range many {
			encoded = traces.Append(encoded, &many[i])
		}
		if err := traces.Send(t.Context(), encoded); err != nil {
			t.Error(err)
		}
	})
	if len(spans) != len(many) || len(requests) != 1 {
		t.Fatalf("%d spans in %d requests", len(spans), len(requests))
	}
	got := spans[299]
	switch values := got.GetAttributes(); {
	case span.TraceID(got.GetTraceId()) != in.Trace || span.ID(got.GetSpanId()) != in.ID || span.ID(got.GetParentSpanId()) != in.Parent:
		t.Errorf("ids: %v", got)
	case got.GetName() != "handoff" || got.GetKind() != wire.Span_SPAN_KIND_INTERNAL || got.GetFlags()&1 != 1:
		t.Errorf("%v", got)
	case got.GetStartTimeUnixNano() != uint64(start.UnixNano()) || got.GetEndTimeUnixNano()-got.GetStartTimeUnixNano() != uint64(time.Hour): //nolint:gosec // after 1970
		t.Errorf("times: %v", got)
	case len(values) != 5 || values[0].GetKey() != "trapeze.handoff.id" || values[0].GetValue().GetStringValue() != "h\uFFFD1" || values[1].GetValue().GetIntValue() != 3 ||
		values[2].GetValue().GetDoubleValue() != 0.25 || !values[3].GetValue().GetBoolValue() || values[4].GetValue().GetBoolValue():
		t.Errorf("attributes: %v", values)
	case len(got.GetLinks()) != 1 || span.ID(got.GetLinks()[0].GetSpanId()) != in.Links[0].Span || got.GetLinks()[0].GetFlags()&1 != 1:
		t.Errorf("links: %v", got.GetLinks())
	case got.GetStatus().GetCode() != wire.Status_STATUS_CODE_ERROR || got.GetStatus().GetMessage() != "expired":
		t.Errorf("status: %v", got.GetStatus())
	}
	named := map[string]string{}
	for _, v := range requests[0].GetResourceSpans()[0].GetResource().GetAttributes() {
		named[v.GetKey()] = v.GetValue().GetStringValue()
	}
	scope := requests[0].GetResourceSpans()[0].GetScopeSpans()[0].GetScope()
	if named["service.name"] != "ours" || named["service.version"] != "1.2" || scope.GetName() == "" || scope.GetVersion() != "1.2" {
		t.Errorf("%v, %v", named, scope)
	}
}

func TestACallIsASpanBelowThatOfItsClient(t *testing.T) {
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	var contexts []tracing.Context
	spans, _ := sent(t, func(traces *otelapi.Traces) {
		for _, c := range []struct {
			start  tracing.Start
			answer tracing.Answer
		}{
			{tracing.Start{Stdio: "inbox", Parent: tracing.Context{Parent: parent, State: "a=1"}, At: time.Now()}, tracing.Answer{Method: "POST", Route: "/v1/tasks", Status: 503}},
			{tracing.Start{Tool: "send", Parent: tracing.Context{Parent: "malformed"}, At: time.Now()}, tracing.Answer{Failed: "conflict"}},
			{tracing.Start{Parent: tracing.Context{Parent: parent[:53] + "00"}, At: time.Now()}, tracing.Answer{Method: "GET", Status: 200}},
		} {
			s := traces.Start(c.start)
			contexts = append(contexts, s.Context())
			s.End(c.answer)
		}
	})
	if len(spans) != 2 || contexts[2].Parent[53:] != "00" {
		t.Fatalf("%v, %v", spans, contexts)
	}
	call, tool := spans[0], spans[1]
	if call.GetName() != "POST /v1/tasks" || call.GetKind() != wire.Span_SPAN_KIND_SERVER || call.GetTraceState() != "a=1" || call.GetStatus().GetMessage() != "503" {
		t.Errorf("%v", call)
	}
	if tool.GetName() != "tools/call send" || tool.GetStatus().GetMessage() != "conflict" || len(tool.GetParentSpanId()) != 0 {
		t.Errorf("%v", tool)
	}
	values := func(s *wire.Span) map[string]string {
		of := map[string]string{}
		for _, v := range s.GetAttributes() {
			of[v.GetKey()] = v.GetValue().GetStringValue()
		}
		return of
	}
	if v := values(call); v["mcp.method.name"] != "tools/call" || v["gen_ai.tool.name"] != "inbox" || v["network.transport"] != "pipe" || v["gen_ai.operation.name"] != "" {
		t.Errorf("a call that a tool of another process makes: %v", v)
	}
	if v := values(tool); v["gen_ai.tool.name"] != "send" || v["network.transport"] != "tcp" || v["gen_ai.operation.name"] != "execute_tool" {
		t.Errorf("a tool: %v", v)
	}
	if own, ok := span.Parse(contexts[0].Parent); !ok || span.ID(call.GetSpanId()) != own.Span || contexts[0].Parent[:36] != parent[:36] || contexts[0].State != "a=1" {
		t.Errorf("what the call causes is below %v", contexts[0])
	}
}

func TestASamplerThatTheServerDoesNotHaveIsRefused(t *testing.T) {
	t.Setenv("OTEL_TRACES_EXPORTER", "otlp")
	for _, c := range []struct {
		sampler, ratio string
		ok             bool
	}{
		{"", "", true},
		{"always_on", "", true},
		{"parentbased_traceidratio", "0.1", true},
		{"traceidratio", "2", false},
		{"traceidratio", "NaN", false},
		{"jaeger_remote", "", false},
	} {
		t.Setenv("OTEL_TRACES_SAMPLER", c.sampler)
		t.Setenv("OTEL_TRACES_SAMPLER_ARG", c.ratio)
		if on, err := otelapi.TracesConfigured(); !on || (err == nil) != c.ok || err != nil && refusal.CodeOf(err) != refusal.Invalid {
			t.Errorf("%q, %q: %v, %v", c.sampler, c.ratio, on, err)
		}
	}
}

func TestACollectorThatTakesNothingIsAnError(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadRequest) }))
	defer srv.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", srv.URL)
	traces, err := otelapi.OpenTraces(context.Background(), otelapi.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := traces.Send(t.Context(), traces.Append(nil, &span.Span{Trace: span.TraceID{1}, ID: span.ID{1}, Sampled: true})); err == nil {
		t.Error("the spans count as sent")
	}
	if err := traces.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

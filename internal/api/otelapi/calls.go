package otelapi

import (
	"cmp"
	"context"
	"net/http"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	api "go.opentelemetry.io/otel/trace"

	"github.com/trapezehq/trapeze/internal/api/tracing"
	"github.com/trapezehq/trapeze/internal/record/span"
)

// call is the span of a call.
type call struct {
	api.Span
	tool string
}

var _ tracing.Tracer = (*Traces)(nil)

// Start implements [tracing.Tracer].
func (t *Traces) Start(s tracing.Start) tracing.Span {
	ctx := context.Background()
	if s.Parent.Parent != "" {
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": s.Parent.Parent, "tracestate": s.Parent.State})
	}
	name := span.CallStep.Name
	if s.Tool != "" {
		name = span.ToolStep.Name + " " + s.Tool
	}
	_, x := t.callsOf.Start(ctx, name, api.WithSpanKind(api.SpanKindServer), api.WithTimestamp(s.At))
	return call{x, s.Tool}
}

// Context implements [tracing.Span].
func (c call) Context() tracing.Context {
	sc := c.SpanContext()
	own := span.Context{Trace: span.TraceID(sc.TraceID()), Span: span.ID(sc.SpanID()), Sampled: sc.IsSampled()}
	return tracing.Context{Parent: own.String(), State: sc.TraceState().String()}
}

// End implements [tracing.Span].
func (c call) End(a tracing.Answer) {
	if !c.IsRecording() {
		c.Span.End()
		return
	}
	list := make([]attribute.KeyValue, 0, 8)
	add := func(of *span.Attribute, v string) {
		if v != "" {
			list = append(list, attribute.String(of.Name, v))
		}
	}
	if c.tool != "" {
		add(span.MCPMethod, span.ToolsCall)
		add(span.Operation, span.ExecuteTool)
		add(span.ToolName, c.tool)
	} else {
		method := a.Method
		if !methods[method] {
			method = span.OtherMethod
		}
		add(span.RequestMethod, method)
		add(span.Route, a.Route)
		list = append(list, attribute.Int(span.StatusCode.Name, a.Status))
		c.SetName(cmp.Or(method, "HTTP") + " " + a.Route)
		if a.Status >= http.StatusInternalServerError {
			a.Failed = strconv.Itoa(a.Status)
		} else if a.Status >= http.StatusBadRequest {
			add(span.ErrorType, strconv.Itoa(a.Status)) // the conventions: no error of the server
		}
	}
	add(span.Workspace, a.Workspace)
	add(span.AgentName, a.Agent)
	add(span.TaskAttr, a.Task)
	if a.Failed != "" {
		add(span.ErrorType, a.Failed)
		c.SetStatus(codes.Error, a.Failed)
	}
	c.SetAttributes(list...)
	c.Span.End()
}

// methods are the methods that HTTP defines.
var methods = map[string]bool{
	http.MethodGet: true, http.MethodHead: true, http.MethodPost: true, http.MethodPut: true, http.MethodPatch: true, http.MethodDelete: true,
	http.MethodConnect: true, http.MethodOptions: true, http.MethodTrace: true,
}

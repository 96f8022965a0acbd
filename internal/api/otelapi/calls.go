package otelapi

import (
	"encoding/binary"
	"encoding/hex"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/trapezehq/trapeze/internal/api/tracing"
	"github.com/trapezehq/trapeze/internal/record/span"
)

// call is the span of a call.
type call struct {
	traces *Traces
	span   span.Span
	tool   string
	stdio  string // see [tracing.Start]
}

var _ tracing.Tracer = (*Traces)(nil)

// Start implements [tracing.Tracer].
func (t *Traces) Start(s tracing.Start) tracing.Span {
	c := &call{traces: t, tool: s.Tool, stdio: s.Stdio, span: span.Span{Step: span.CallStep, Name: span.CallStep.Name, Server: true, Start: s.At}}
	if s.Tool != "" {
		c.span.Step, c.span.Name = span.ToolStep, span.ToolStep.Name+" "+s.Tool
	}
	parent, ok := span.Parse(s.Parent.Parent)
	if ok {
		c.span.Trace, c.span.Parent, c.span.State = parent.Trace, parent.Span, s.Parent.State
	} else {
		binary.LittleEndian.PutUint64(c.span.Trace[:8], rand.Uint64())
		binary.LittleEndian.PutUint64(c.span.Trace[8:], rand.Uint64()|1) //nolint:gosec // not secret; never zero
	}
	if _, err := hex.Decode(c.span.ID[:], []byte(s.ID)); s.ID == "" || err != nil {
		binary.LittleEndian.PutUint64(c.span.ID[:], rand.Uint64()|1) //nolint:gosec // not secret; never zero
	}
	if other, ok := span.Parse(s.Link.Parent); ok {
		c.span.Links = []span.Context{other}
	}
	c.span.Sampled = t.takes(c.span.Trace, c.span.Parent, parent.Sampled, c.span.Name)
	return c
}

// Context implements [tracing.Span].
func (c *call) Context() tracing.Context {
	own := span.Context{Trace: c.span.Trace, Span: c.span.ID, Sampled: c.span.Sampled}
	return tracing.Context{Parent: own.String(), State: c.span.State}
}

// End implements [tracing.Span].
func (c *call) End(a tracing.Answer) {
	if !c.span.Sampled {
		return
	}
	s, values := c.span, [10]span.Value{} // on the stack
	s.End, s.Values = time.Now(), values[:0]
	add := func(of *span.Attribute, v string) {
		if v != "" {
			s.Values = append(s.Values, span.Value{Of: of, Text: v})
		}
	}
	failed := a.Failed
	if c.tool != "" {
		add(span.MCPMethod, span.ToolsCall)
		add(span.Operation, span.ExecuteTool)
		add(span.ToolName, c.tool)
		add(span.Transport, c.traces.transport())
	} else {
		if c.stdio != "" {
			add(span.MCPMethod, span.ToolsCall)
			add(span.ToolName, c.stdio)
			add(span.Transport, span.Pipe)
		}
		method := tracing.Method(a.Method, span.OtherMethod)
		s.Name = method + " " + a.Route
		add(span.RequestMethod, method)
		add(span.Route, a.Route)
		s.Values = append(s.Values, span.Value{Of: span.StatusCode, Number: float64(a.Status)})
		switch status := strconv.Itoa(a.Status); {
		case a.Status >= http.StatusInternalServerError:
			failed = status
		case a.Status >= http.StatusBadRequest:
			add(span.ErrorType, status) // by the conventions, this is no error of a server
		}
	}
	add(span.Workspace, a.Workspace)
	add(span.AgentName, a.Agent)
	add(span.TaskAttr, a.Task)
	add(span.ErrorType, failed)
	s.Failed = failed
	c.traces.add(&s)
}

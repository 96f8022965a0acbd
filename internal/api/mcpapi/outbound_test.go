package mcpapi_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/trapezehq/trapeze/internal/api/mcpapi/outbound"
	"github.com/trapezehq/trapeze/internal/api/tracing"
)

type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestACallOfAToolNamesItAndHasItsTraceContext(t *testing.T) {
	const parent, own = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "00-0af7651916cd43dd8448eb211c80319c-c7ad6b7169203331-01"
	tool := func(name, parent, state string) context.Context {
		ctx, _ := tracing.With(t.Context(), nil, name, tracing.Context{Parent: parent, State: state})
		return ctx
	}
	for _, c := range []struct {
		ctx                         context.Context
		given                       string // traceparent of the call
		wantTool, wantTrace, wantSt string
	}{
		{ctx: t.Context()},
		{ctx: t.Context(), given: own, wantTrace: own},
		{ctx: tool("send", "", ""), wantTool: "send"},
		{ctx: tool("send", parent, "a=1"), wantTool: "send", wantTrace: parent, wantSt: "a=1"},
		{ctx: tool("send", parent, "a=\n"), wantTool: "send", wantTrace: parent},
		{ctx: tool("send", "0\n0", "a=1"), wantTool: "send"},
		{ctx: tool("send", parent, "a=1"), given: own, wantTool: "send", wantTrace: own},
	} {
		r, err := http.NewRequestWithContext(c.ctx, http.MethodGet, "http://localhost/v1/inbox", nil)
		if err != nil {
			t.Fatal(err)
		}
		if c.given != "" {
			r.Header.Set("Traceparent", c.given)
		}
		before := len(r.Header)
		send := outbound.Transport(transport(func(sent *http.Request) (*http.Response, error) {
			h := sent.Header
			if h.Get(tracing.ToolHeader) != c.wantTool || h.Get("Traceparent") != c.wantTrace || h.Get("Tracestate") != c.wantSt {
				t.Errorf("%+v: sent %v", c, h)
			}
			return nil, http.ErrServerClosed
		}))
		if res, err := send.RoundTrip(r); err == nil {
			_ = res.Body.Close()
		}
		if len(r.Header) != before {
			t.Errorf("the request of the caller is changed: %v", r.Header)
		}
	}
}

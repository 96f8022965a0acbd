package transport

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/internal/api/park"
)

// Wait is what a call of a tool waits for.
type Wait struct {
	Path string        // of the API, with its query: a read that waits
	Most time.Duration // how long the call waits
}

// message is a message that is being served.
type message struct {
	w     http.ResponseWriter
	r     *http.Request
	to    http.Handler // nil: the message has been answered
	of    *caller
	place *park.Place // in which the message waits; nil: it does not wait
	path  string      // of the API, with what the message waits for
	end   time.Time   // of the wait
	done  []func()
}

// leave ends what was begun for the message.
func (m *message) leave() {
	if m.place != nil {
		m.place.Leave()
	}
	for _, done := range slices.Backward(m.done) {
		done()
	}
}

// park finds a place for a message that waits, if the API has nothing for it yet. A call that waits in the SDK has three goroutines of it, and
// one of the API, with 56 KiB of stacks. Only the version without sessions has none of what a call in progress does otherwise: it can be
// resumed, and cancelled by another message. A call that has asked to be told of its progress waits in its tool.
func (h *Handler) park(m *message, v *caller, body []byte) {
	params := callOfTool(m.r, body)
	if params == nil || h.options.Waits == nil || len(body) >= largeMessage {
		return
	}
	wait, ok := h.options.Waits(params, v.tools)
	if !ok {
		return
	}
	v.decoded()
	v.since = time.Now()
	m.path, m.end = wait.Path, v.since.Add(wait.Most)
	if h.ask(m); m.place.Taken() {
		v.serving.rest()
	}
}

// ask asks the API whether the message still waits, and finds it another place then.
func (h *Handler) ask(m *message) {
	before := m.place
	ctx, place := park.With(m.r.Context())
	m.place = place
	if ask, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://localhost"+m.path, nil); err == nil { // the call meets the same errors
		ask.Header["Authorization"] = m.r.Header["Authorization"]
		if res, err := h.api.RoundTrip(ask); err == nil {
			_ = res.Body.Close() // in memory
		}
	}
	if before != nil {
		before.Leave()
	}
}

// callOfTool returns the parameters of a call of a tool that the SDK will not refuse for its headers, and that does not want to be told of its progress; nil
// otherwise.
func callOfTool(r *http.Request, body []byte) *mcp.CallToolParamsRaw {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	if r.Method != http.MethodPost || r.Header.Get("Mcp-Method") != "tools/call" || !strings.Contains(accept, "application/json") || !strings.Contains(accept, "text/event-stream") {
		return nil
	}
	decoded, err := jsonrpc.DecodeMessage(body)
	call, is := decoded.(*jsonrpc.Request)
	if err != nil || !is || !call.IsCall() || call.Method != "tools/call" {
		return nil
	}
	params := new(mcp.CallToolParamsRaw)
	if json.Unmarshal(call.Params, params) != nil || params.Name != r.Header.Get("Mcp-Name") || params.GetProgressToken() != nil ||
		params.Meta[mcp.MetaKeyProtocolVersion] != r.Header.Get("Mcp-Protocol-Version") {
		return nil
	}
	return params
}

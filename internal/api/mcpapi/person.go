package mcpapi

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/show"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/transport"
)

// The user of the client can answer requests to people (elicitation). A client of protocol 2026-07-28 gets the question as the result
// of its call, and repeats the call with the answer; an older client gets an elicitation request while the call waits. The ticket or
// handoff stays open meanwhile: the first answer counts, and nothing is lost if the client stops.

// question is a form for the user of the client about one ticket, handoff or takeover request.
type question struct {
	id     string // of the ticket, handoff or takeover request
	text   string
	fields map[string]any // of the form, as JSON Schema properties
	needed []string
}

func (q question) form() *mcp.ElicitParams {
	return &mcp.ElicitParams{Mode: "form", Message: q.text, RequestedSchema: map[string]any{"type": "object", "properties": q.fields, "required": q.needed}}
}

// personKey is the key of the question of a call in its input requests.
const personKey = "person"

// errWaits says that the user has not answered: the request stays open.
var errWaits = errors.New("the user of the client has not answered")

// canAsk reports whether the client supports elicitation with forms.
func (c *call) canAsk() bool {
	caps := c.Req.ClientCapabilities()
	return caps != nil && caps.Elicitation != nil && (caps.Elicitation.Form != nil || caps.Elicitation.URL == nil)
}

// earlier returns the answer to the question of an earlier round of this call; answered is nil in the first round. An answer that does
// not belong to this request of this principal is a protocol error.
func (c *call) earlier() (about ticketState, answered *mcp.ElicitResult, err error) {
	p := c.Req.Params
	if p.RequestState == "" && len(p.InputResponses) == 0 {
		return about, nil, nil
	}
	about, ok := c.open(p.RequestState)
	answered, is := p.InputResponses[personKey].(*mcp.ElicitResult)
	if !ok || !is {
		return about, nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the answer does not belong to a question of this request: repeat the call without inputResponses and requestState"}
	}
	return about, answered, nil
}

// ticketState is the state that a client returns with the answer of its user.
type ticketState struct {
	ID      string `json:"id"`
	Request []byte `json:"request"` // digest of tool and arguments
}

// seal returns an authenticated state that only this principal can return, and only with this request.
func (c *call) seal(q question) string {
	b, err := json.Marshal(ticketState{ID: q.id, Request: c.request()})
	if err != nil {
		panic(err) // strings and bytes
	}
	return base64.RawURLEncoding.EncodeToString(append(c.mac(b), b...))
}

func (c *call) open(state string) (s ticketState, ok bool) {
	b, err := base64.RawURLEncoding.DecodeString(state)
	if err != nil || len(b) < sha256.Size || !hmac.Equal(c.mac(b[sha256.Size:]), b[:sha256.Size]) {
		return s, false
	}
	return s, json.Unmarshal(b[sha256.Size:], &s) == nil && hmac.Equal(s.Request, c.request())
}

// mac authenticates state with a key derived from the secret of the principal, which survives a restart of the server.
func (c *call) mac(b []byte) []byte {
	m := hmac.New(sha256.New, []byte("trapeze request state\x00"+c.Secret))
	_, _ = m.Write(b) // never fails
	return m.Sum(nil)
}

// request is a digest of the call: its tool, and its arguments without insignificant white space.
func (c *call) request() []byte {
	var b bytes.Buffer
	if json.Compact(&b, c.Req.Params.Arguments) != nil {
		b.Reset() // invalid JSON was refused before
	}
	sum := sha256.Sum256(append([]byte(c.Req.Params.Name+"\x00"), b.Bytes()...))
	return sum[:]
}

// elicit asks the user of the client a question. A client with a session answers within the call: elicit returns the answer, or errWaits
// if another person answered first or nobody answered in time. For other clients the returned need ends the call.
func (c *call) elicit(ctx context.Context, q question) (*mcp.ElicitResult, *tool.Need, error) {
	form := q.form()
	if c.Req.ProtocolVersion() >= transport.StatelessVersion {
		return nil, &tool.Need{Requests: mcp.InputRequestMap{personKey: form}, State: c.seal(q)}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, maxWait*time.Second)
	defer cancel()
	ctx, done := c.Waits.Until(ctx)
	defer done()
	if strings.Contains(q.id, ".k") {
		go func() {
			if k, err := c.Ticket(ctx, q.id, maxWait*time.Second); err == nil && !k.Open() {
				cancel() // another person has answered
			}
		}()
	}
	r, err := c.Req.Session.Elicit(ctx, form)
	if err != nil {
		return nil, nil, errWaits
	}
	return r, nil, nil
}

// saidBy returns a field that the user filled in, if the user accepted the form.
func saidBy(r *mcp.ElicitResult, field string) (string, bool) {
	if r == nil || r.Action != "accept" {
		return "", false
	}
	text, ok := r.Content[field].(string)
	return text, ok && text != ""
}

// asPerson makes the API calls of ctx in the name of the user of the client. Repeating an answer to the same question is idempotent.
func (c *call) asPerson(ctx context.Context, id string) context.Context {
	return asPerson(ctx, c.Person, id)
}

func asPerson(ctx context.Context, name, id string) context.Context {
	return client.WithKey(client.WithPerson(ctx, name), "at client "+id)
}

// questionOf returns the form for the question of a ticket.
func questionOf(k client.Ticket) question {
	field := map[string]any{"type": "string", "title": "Your answer", "maxLength": 4096}
	if len(k.Options) > 0 {
		field = map[string]any{"type": "string", "title": "Your answer", "enum": k.Options}
	}
	return question{
		id: k.ID, fields: map[string]any{"answer": field}, needed: []string{"answer"},
		text: k.By + " asks about " + show.Line(show.Clip(k.Intent, 200)) + ":\n" + show.Quoted(k.Question),
	}
}

// approvalOf returns the form to approve or deny a handoff.
func approvalOf(id, text string) question {
	return question{
		id: id, text: text, needed: []string{"verdict"},
		fields: map[string]any{
			"verdict": map[string]any{"type": "string", "title": "Verdict", "enum": []string{"approve", "deny"}},
			"why":     map[string]any{"type": "string", "title": "Why", "maxLength": 2000},
		},
	}
}

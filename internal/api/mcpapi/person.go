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
	"github.com/trapezehq/trapeze/internal/api/mcpapi/transport"
)

// A person at the client is asked there what people are asked: clients of protocol 2026-07-28 get the question as an answer to their
// call, which they make again with what the person said; older ones get an elicitation while the call waits. The
// question stands as a ticket all the while, so whoever answers first is who counts, and a client that dies loses nothing.

// question is what a person is asked about one ticket, handoff or ask.
type question struct {
	id     string // of what it is about
	digest string // of the envelope that is approved, if one is
	text   string
	fields map[string]any // of the form, as JSON Schema
	needed []string
}

func (q question) form() *mcp.ElicitParams {
	return &mcp.ElicitParams{Mode: "form", Message: q.text, RequestedSchema: map[string]any{"type": "object", "properties": q.fields, "required": q.needed}}
}

// personKey names the one question of a call among its input requests.
const personKey = "person"

// errWaits says that the person has not answered, so that what is asked stands as it is.
var errWaits = errors.New("the person at the client has not answered")

// canAsk reports whether the client can put a form before a person.
func (c *call) canAsk() bool {
	caps := c.req.ClientCapabilities()
	return caps != nil && caps.Elicitation != nil && (caps.Elicitation.Form != nil || caps.Elicitation.URL == nil)
}

// earlier is what was asked at the client in an earlier round of this call: empty in the first. The answer belongs to this
// request of this principal, or the call is an error of the protocol.
func (c *call) earlier() (about ticketState, answered *mcp.ElicitResult, err error) {
	p := c.req.Params
	if p.RequestState == "" && len(p.InputResponses) == 0 {
		return about, nil, nil
	}
	about, ok := c.open(p.RequestState)
	answered, is := p.InputResponses[personKey].(*mcp.ElicitResult)
	if !ok || !is {
		return about, nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the answer belongs to no question of this request: make the call again without inputResponses and requestState"}
	}
	return about, answered, nil
}

// ticketState is what a client brings back with a person's answer.
type ticketState struct {
	ID      string `json:"id"`
	Digest  string `json:"digest,omitempty"`
	Request []byte `json:"request"` // digest of tool and arguments
}

// seal makes a state that only this principal can bring back, and only with this request.
func (c *call) seal(q question) string {
	b, err := json.Marshal(ticketState{ID: q.id, Digest: q.digest, Request: c.request()})
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

// mac binds to the principal: the key follows from its token, which outlives a restart of the server.
func (c *call) mac(b []byte) []byte {
	m := hmac.New(sha256.New, []byte("trapeze request state\x00"+c.secret))
	_, _ = m.Write(b) // never fails
	return m.Sum(nil)
}

// request is a digest of the call: its tool, and its arguments however they are spaced.
func (c *call) request() []byte {
	var b bytes.Buffer
	if json.Compact(&b, c.req.Params.Arguments) != nil {
		b.Reset() // what is no JSON was refused before
	}
	sum := sha256.Sum256(append([]byte(c.req.Params.Name+"\x00"), b.Bytes()...))
	return sum[:]
}

// elicit puts a question before the person at the client. Clients with sessions answer within the call: then the answer is
// returned, or errWaits if somebody else was faster or nobody answered in time. For the others the returned need ends the call.
func (c *call) elicit(ctx context.Context, q question) (*mcp.ElicitResult, *need, error) {
	form := q.form()
	if c.req.ProtocolVersion() >= transport.StatelessVersion {
		return nil, &need{mcp.InputRequestMap{personKey: form}, c.seal(q)}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, maxWait*time.Second)
	defer cancel()
	if strings.Contains(q.id, ".k") {
		go func() {
			if k, err := c.Ticket(ctx, q.id, maxWait*time.Second); err == nil && !k.Open() {
				cancel() // somebody else has answered
			}
		}()
	}
	r, err := c.req.Session.Elicit(ctx, form)
	if err != nil {
		return nil, nil, errWaits
	}
	return r, nil, nil
}

// need is what a call needs of the person at the client before it can go on.
type need struct {
	requests mcp.InputRequestMap
	state    string
}

// saidBy is what a person filled in, if they did.
func saidBy(r *mcp.ElicitResult, field string) (string, bool) {
	if r == nil || r.Action != "accept" {
		return "", false
	}
	text, ok := r.Content[field].(string)
	return text, ok && text != ""
}

// asPerson makes calls under ctx those of the person at the client; the same answer to the same question is the same call.
func (c *call) asPerson(ctx context.Context, id string) context.Context {
	return asPerson(ctx, c.options.Person, id)
}

func asPerson(ctx context.Context, name, id string) context.Context {
	return client.WithKey(client.WithPerson(ctx, name), "at client "+id)
}

// questionOf is a ticket's question as a form.
func questionOf(k client.Ticket) question {
	field := map[string]any{"type": "string", "title": "Your answer", "maxLength": 4096}
	if len(k.Options) > 0 {
		field = map[string]any{"type": "string", "title": "Your answer", "enum": k.Options}
	}
	return question{
		id: k.ID, fields: map[string]any{"answer": field}, needed: []string{"answer"},
		text: k.By + " asks about \"" + clip(oneLine(k.Intent), 200) + "\":\n" + k.Question,
	}
}

// approvalOf is a supervised handoff as a form.
func approvalOf(id, digest, text string) question {
	return question{
		id: id, digest: digest, text: text, needed: []string{"verdict"},
		fields: map[string]any{
			"verdict": map[string]any{"type": "string", "title": "Verdict", "enum": []string{"approve", "deny"}},
			"why":     map[string]any{"type": "string", "title": "Why", "maxLength": 2000},
		},
	}
}

package schema

import (
	"encoding/json"
	"iter"
	"maps"
	"reflect"

	"github.com/trapezehq/trapeze/internal/usecase/channels"
	"github.com/trapezehq/trapeze/internal/usecase/conversations"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/workspace"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
	"github.com/trapezehq/trapeze/internal/usecase/moves"
	"github.com/trapezehq/trapeze/internal/usecase/policies"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/tickets"
	"github.com/trapezehq/trapeze/internal/usecase/workspaces"
)

const about = `Trapeze hands tasks from one AI agent to another. An agent owns its task until the next agent has accepted it,
with its context and constraints, and every step is in a record that cannot be rewritten.

Every call needs a token: ` + "`Authorization: Bearer tz_…`" + `. Calls that change something may have an
` + "`Idempotency-Key`" + ` and are then safe to repeat. The W3C headers ` + "`traceparent`" + ` and ` + "`tracestate`" + ` of a call that hands a task off
are in the envelope that the receiver gets. A refusal is a problem (RFC 9457) with a code, a message and a
hint. Durations are strings such as "30s" or "1h30m".`

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

// Config describes the API, with schemas from a registry. Its version is that of the path and not of the server, so that the description changes
// only with the routes.
func Config(r huma.Registry) huma.Config {
	c := huma.DefaultConfig("Trapeze", "1")
	c.Info.Description = about
	c.Info.License = &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"}
	c.CreateHooks, c.OpenAPIPath, c.DocsPath, c.SchemasPath = nil, "", "", ""
	c.RejectUnknownQueryParameters = true
	c.Formats = map[string]huma.Format{"application/json": endpoint.JSONFormat, "json": endpoint.JSONFormat}
	c.Components.Schemas = r
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token": {Type: "http", Scheme: "bearer", Description: "trapeze token create creates one."},
	}
	for _, name := range endpoint.Tags() {
		c.Tags = append(c.Tags, &huma.Tag{Name: name})
	}
	return c
}

// schemaName returns the name of the Go type, or another name if two packages use it for different types.
func schemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case typeOf[memories.Item]():
		return "MemoryItem"
	case typeOf[memories.Version]():
		return "MemoryVersion"
	case typeOf[memory.Source]():
		return "MemorySource"
	case typeOf[workspace.Limits]():
		return "WorkspaceLimits"
	case typeOf[event.Budget]():
		return "Spend"
	}
	return huma.DefaultSchemaNamer(t, hint)
}

// pathFields are the fields that an input takes from the path and not from the body.
var pathFields = map[reflect.Type]string{
	typeOf[handoffs.SendInput]():   "task",
	typeOf[tasks.EscalateInput]():  "task",
	typeOf[tasks.ShareInput]():     "task",
	typeOf[tasks.TakeoverInput]():  "task",
	typeOf[tasks.ProgressInput]():  "task",
	typeOf[tasks.HeartbeatInput](): "task",
	typeOf[tasks.CompleteInput]():  "task",
	typeOf[tasks.FailInput]():      "task",
	typeOf[tasks.ConstrainInput](): "task",
	typeOf[tasks.AnnotateInput]():  "task",
	typeOf[tasks.GapInput]():       "task",
	typeOf[tasks.PreviewInput]():   "task",
	typeOf[tasks.ReplayInput]():    "task",
	typeOf[tasks.StuckInput]():     "task",
	typeOf[tasks.DiscardInput]():   "task",
	typeOf[tasks.AcceptInput]():    "handoff",
	typeOf[tasks.RejectInput]():    "handoff",
	typeOf[tasks.ConfirmInput]():   "handoff",
	typeOf[tasks.CancelInput]():    "id",
	typeOf[tasks.ApproveInput]():   "id",
	typeOf[policies.RouteInput]():  "task",
	typeOf[tasks.DenyInput]():      "id",

	typeOf[tasks.StuckAgentInput](): "agent",
	typeOf[tasks.ShedInput]():       "agent",
	typeOf[tickets.AskInput]():      "task",
	typeOf[tickets.ClaimInput]():    "id",
	typeOf[tickets.ReleaseInput]():  "id",
	typeOf[tickets.AnswerInput]():   "id",

	typeOf[channels.DescribeInput]():     "name",
	typeOf[workspaces.LimitsInput]():     "name",
	typeOf[workspaces.ArchiveInput]():    "name",
	typeOf[moves.LeaveInput]():           "name",
	typeOf[channels.SubscriptionInput](): "channel",

	typeOf[memories.ReviseInput]():          "id",
	typeOf[memories.TagInput]():             "id",
	typeOf[memories.WeighInput]():           "id",
	typeOf[conversations.AppendTurnInput](): "conversation",
}

// PathField returns the field of an input that is taken from the path, by its name in JSON; "" for none.
func PathField(input reflect.Type) string { return pathFields[input] }

// Inputs returns the inputs of which a field is in the path.
func Inputs() iter.Seq[reflect.Type] { return maps.Keys(pathFields) }

// describeInputs registers the inputs without the fields that are in the path.
func describeInputs(r huma.Registry) {
	for t, field := range pathFields {
		s := r.Schema(t, false, "")
		delete(s.Properties, field)
		s.PrecomputeMessages()
	}
	describeConstraints(r)
}

// setByServer reports whether a field of a constraint is one that the server alone sets: a new constraint that has it, a text or true, is refused.
func setByServer(field string) bool {
	for _, value := range []string{`"x"`, "true"} {
		var c event.Constraint
		if json.Unmarshal([]byte(`{"`+field+`":`+value+`}`), &c) == nil && c.CheckUnset() != nil {
			return true
		}
	}
	return false
}

// describeConstraints makes the constraints of inputs those without the fields that the server sets, so that they are refused with any value.
func describeConstraints(r huma.Registry) {
	const name, given = "NewConstraint", "#/components/schemas/NewConstraint"
	s := *r.Schema(typeOf[event.Constraint](), false, "")
	s.Properties = maps.Clone(s.Properties)
	maps.DeleteFunc(s.Properties, func(field string, _ *huma.Schema) bool { return setByServer(field) })
	s.PrecomputeMessages()
	r.Map()[name] = &s
	ref := r.Schema(typeOf[event.Constraint](), true, "").Ref
	for _, input := range []reflect.Type{typeOf[tasks.ConstrainInput](), typeOf[tasks.CreateInput](), typeOf[handoffs.SendInput]()} {
		s := r.Schema(input, false, "")
		for _, p := range s.Properties {
			for _, of := range []*huma.Schema{p, p.Items} {
				if of != nil && of.Ref == ref {
					of.Ref = given
				}
			}
		}
		s.PrecomputeMessages()
	}
}

// loosen allows unknown fields in answers, which may grow: clients must accept new fields. Inputs stay strict.
func loosen(api *huma.OpenAPI) {
	sent := map[*huma.Schema]bool{}
	var visit func(s *huma.Schema)
	visit = func(s *huma.Schema) {
		if s == nil || sent[s] {
			return
		}
		sent[s] = true
		if s.Ref != "" {
			visit(api.Components.Schemas.SchemaFromRef(s.Ref))
		}
		visit(s.Items)
		for _, p := range s.Properties {
			visit(p)
		}
	}
	for _, item := range api.Paths {
		for _, op := range []*huma.Operation{item.Post, item.Put} {
			if op == nil || op.RequestBody == nil {
				continue
			}
			if body := op.RequestBody.Content["application/json"]; body != nil {
				visit(body.Schema)
			}
		}
	}
	for _, s := range api.Components.Schemas.Map() {
		if !sent[s] {
			s.AdditionalProperties = nil
		}
	}
}

// positionNumber describes positions.
type positionNumber struct{}

func (positionNumber) Schema(huma.Registry) *huma.Schema {
	least := 0.0
	return &huma.Schema{Type: huma.TypeInteger, Format: "uint64", Minimum: &least}
}

// durationText describes durations.
type durationText struct{}

func (durationText) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeString, Pattern: `^-?([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$|^0$`,
		PatternDescription: `a duration such as "15s" or "1h30m"`, Examples: []any{"15s"},
	}
}

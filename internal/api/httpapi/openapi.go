package httpapi

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
	"github.com/trapezehq/trapeze/internal/usecase/policies"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/tickets"
)

//go:generate go test -run TestDocsShowWhatTheServerServes -update .

const about = `Trapeze hands tasks from one AI agent to another. An agent gives a task up only when the next one has accepted it,
with its context, its constraints and a record that cannot be rewritten.

Every call carries a token: ` + "`Authorization: Bearer tz_…`" + `. Calls that change something may carry an
` + "`Idempotency-Key`" + ` and can then be repeated safely. A refusal is a problem (RFC 9457) with a code, a message and a
hint. Durations are text such as "30s" or "1h30m".`

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

// config describes the API as a whole. Its version is the path's, not the server's: the description only changes with
// the routes.
func config() huma.Config {
	c := huma.DefaultConfig("Trapeze", "1")
	c.Info.Description = about
	c.Info.License = &huma.License{Name: "Apache-2.0", Identifier: "Apache-2.0"}
	c.CreateHooks, c.OpenAPIPath, c.DocsPath, c.SchemasPath = nil, "", "", ""
	c.RejectUnknownQueryParameters = true
	c.Formats = map[string]huma.Format{"application/json": endpoint.JSONFormat, "json": endpoint.JSONFormat}
	c.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", schemaName)
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token": {Type: "http", Scheme: "bearer", Description: "trapeze token create makes one."},
	}
	for t, alias := range closedSets {
		c.Components.Schemas.RegisterTypeAlias(t, alias)
	}
	for _, name := range endpoint.Tags() {
		c.Tags = append(c.Tags, &huma.Tag{Name: name})
	}
	return c
}

// schemaName is the Go type's name, where two rooms do not use it for different things.
func schemaName(t reflect.Type, hint string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t {
	case typeOf[view.Task]():
		return "TaskRow"
	case typeOf[view.Ticket]():
		return "TicketRow"
	case typeOf[memories.Item]():
		return "MemoryItem"
	case typeOf[memories.Version]():
		return "MemoryVersion"
	case typeOf[memory.Source]():
		return "MemorySource"
	case typeOf[view.Parked]():
		return "ParkedRow"
	case typeOf[event.Budget]():
		return "Spend"
	}
	return huma.DefaultSchemaNamer(t, hint)
}

// pathFields are what an input takes from the path and not from the body.
var pathFields = map[reflect.Type]string{
	typeOf[tasks.SendInput]():      "task",
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

	typeOf[agents.DescribeInput]():     "name",
	typeOf[agents.SubscriptionInput](): "channel",

	typeOf[memories.ReviseInput]():     "id",
	typeOf[memories.TagInput]():        "id",
	typeOf[memories.WeighInput]():      "id",
	typeOf[memories.AppendTurnInput](): "conversation",
}

// describeInputs registers the inputs without what the path says. It must run before the routes are registered.
func describeInputs(r huma.Registry) {
	for t, field := range pathFields {
		s := r.Schema(t, false, "")
		delete(s.Properties, field)
		s.PrecomputeMessages()
	}
}

// loosen lets answers grow: a client must take fields that are new to it. What is sent stays strict.
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

// closedSets describe words of which there is a fixed number, wherever they stand.
var closedSets = map[reflect.Type]reflect.Type{
	typeOf[event.State]():          typeOf[stateWord](),
	typeOf[event.Stage]():          typeOf[stageWord](),
	typeOf[event.Kind]():           typeOf[kindWord](),
	typeOf[event.Reason]():         typeOf[reasonWord](),
	typeOf[event.Rejection]():      typeOf[rejectionWord](),
	typeOf[event.Priority]():       typeOf[priorityWord](),
	typeOf[event.Tier]():           typeOf[tierWord](),
	typeOf[event.ConfirmMode]():    typeOf[confirmWord](),
	typeOf[event.FanInMode]():      typeOf[fanInWord](),
	typeOf[event.ConstraintKind](): typeOf[constraintWord](),
	typeOf[event.ParkCause]():      typeOf[parkWord](),
	typeOf[event.TicketKind]():     typeOf[ticketKindWord](),
	typeOf[event.TicketState]():    typeOf[ticketWord](),
	typeOf[event.TicketOutcome]():  typeOf[outcomeWord](),
	typeOf[view.ItemType]():        typeOf[itemWord](),
	typeOf[agent.Readiness]():      typeOf[readinessWord](),
	typeOf[agent.Kind]():           typeOf[agentKindWord](),
	typeOf[agent.ReachKind]():      typeOf[reachWord](),
	typeOf[agent.Phase]():          typeOf[phaseWord](),
	typeOf[identity.Role]():        typeOf[roleWord](),
	typeOf[memory.Scope]():         typeOf[scopeWord](),
	typeOf[memory.Status]():        typeOf[statusWord](),
	typeOf[conversation.Role]():    typeOf[speakerWord](),
	typeOf[refusal.Code]():         typeOf[codeWord](),
	typeOf[event.Duration]():       typeOf[durationText](),
}

type (
	stateWord      struct{}
	stageWord      struct{}
	kindWord       struct{}
	reasonWord     struct{}
	rejectionWord  struct{}
	priorityWord   struct{}
	tierWord       struct{}
	confirmWord    struct{}
	fanInWord      struct{}
	constraintWord struct{}
	parkWord       struct{}
	ticketKindWord struct{}
	ticketWord     struct{}
	outcomeWord    struct{}
	itemWord       struct{}
	readinessWord  struct{}
	agentKindWord  struct{}
	reachWord      struct{}
	phaseWord      struct{}
	roleWord       struct{}
	scopeWord      struct{}
	statusWord     struct{}
	speakerWord    struct{}
	codeWord       struct{}
	durationText   struct{}
)

func words[T ~string](list ...T) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, w := range list {
		s.Enum = append(s.Enum, string(w))
	}
	return s
}

func (stateWord) Schema(huma.Registry) *huma.Schema     { return words(event.States()...) }
func (stageWord) Schema(huma.Registry) *huma.Schema     { return words(event.Stages()...) }
func (kindWord) Schema(huma.Registry) *huma.Schema      { return words(event.Kinds()...) }
func (reasonWord) Schema(huma.Registry) *huma.Schema    { return words(event.Reasons()...) }
func (rejectionWord) Schema(huma.Registry) *huma.Schema { return words(event.Rejections()...) }
func (priorityWord) Schema(huma.Registry) *huma.Schema  { return words(event.Priorities()...) }

func (ticketKindWord) Schema(huma.Registry) *huma.Schema { return words(event.TicketKinds()...) }
func (ticketWord) Schema(huma.Registry) *huma.Schema     { return words(event.TicketStates()...) }
func (outcomeWord) Schema(huma.Registry) *huma.Schema    { return words(event.TicketOutcomes()...) }
func (roleWord) Schema(huma.Registry) *huma.Schema       { return words(identity.Roles()...) }
func (codeWord) Schema(huma.Registry) *huma.Schema       { return words(refusal.Codes()...) }

func (statusWord) Schema(huma.Registry) *huma.Schema { return words(memory.Statuses()...) }

func (scopeWord) Schema(huma.Registry) *huma.Schema {
	return words(memory.Private, memory.Task, memory.Workspace)
}

func (speakerWord) Schema(huma.Registry) *huma.Schema {
	return words(conversation.User, conversation.Assistant, conversation.System, conversation.Tool)
}

func (tierWord) Schema(huma.Registry) *huma.Schema {
	return words(event.TierTarget, event.TierFallback, event.TierEscalation)
}

func (confirmWord) Schema(huma.Registry) *huma.Schema {
	return words(event.ConfirmAuto, event.ConfirmExplicit)
}

func (fanInWord) Schema(huma.Registry) *huma.Schema {
	return words(event.FanInAll, event.FanInQuorum, event.FanInFirst, event.FanInNone)
}

func (constraintWord) Schema(huma.Registry) *huma.Schema {
	return words(event.ConstraintBudget, event.ConstraintSecurity, event.ConstraintFormat, event.ConstraintPreference,
		event.ConstraintProhibition)
}

func (parkWord) Schema(huma.Registry) *huma.Schema {
	return words(event.ParkExhausted, event.ParkLimit, event.ParkBudget, event.ParkDeadline, event.ParkDependency, event.ParkReturned,
		event.ParkOwnerLost, event.ParkNobodyClaimed)
}

func (itemWord) Schema(huma.Registry) *huma.Schema {
	return words(view.ItemOffer, view.ItemApproval, view.ItemConfirm, view.ItemTakeover, view.ItemShare, view.ItemQuestion, view.ItemStranded, view.ItemResumed)
}

func (readinessWord) Schema(huma.Registry) *huma.Schema {
	return words(agent.Ready, agent.Busy, agent.Draining, agent.Offline)
}

func (agentKindWord) Schema(huma.Registry) *huma.Schema {
	return words(agent.KindAgent, agent.KindHuman)
}

func (reachWord) Schema(huma.Registry) *huma.Schema {
	return words(agent.ReachPull, agent.ReachWebhook, agent.ReachA2A)
}

func (phaseWord) Schema(huma.Registry) *huma.Schema {
	return words(agent.Closed, agent.Open, agent.HalfOpen)
}

func (durationText) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeString, Pattern: `^-?([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$|^0$`,
		PatternDescription: `a duration such as "15s" or "1h30m"`, Examples: []any{"15s"},
	}
}

package httpapi

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trapezehq/trapeze/internal/app"
	"github.com/trapezehq/trapeze/internal/conversation"
	"github.com/trapezehq/trapeze/internal/desk"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/identity"
	"github.com/trapezehq/trapeze/internal/knowledge"
	"github.com/trapezehq/trapeze/internal/memory"
	"github.com/trapezehq/trapeze/internal/refusal"
	"github.com/trapezehq/trapeze/internal/registry"
	"github.com/trapezehq/trapeze/internal/roster"
	"github.com/trapezehq/trapeze/internal/rulebook"
	"github.com/trapezehq/trapeze/internal/surface/httpapi/door"
	"github.com/trapezehq/trapeze/internal/view"
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
	c.Formats = map[string]huma.Format{"application/json": door.JSONFormat, "json": door.JSONFormat}
	c.Components.Schemas = huma.NewMapRegistry("#/components/schemas/", schemaName)
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{
		"token": {Type: "http", Scheme: "bearer", Description: "trapeze token create makes one."},
	}
	for t, alias := range closedSets {
		c.Components.Schemas.RegisterTypeAlias(t, alias)
	}
	for _, name := range door.Tags() {
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
	case typeOf[knowledge.Item]():
		return "MemoryItem"
	case typeOf[knowledge.Version]():
		return "MemoryVersion"
	case typeOf[memory.Source]():
		return "MemorySource"
	case typeOf[view.Parked]():
		return "ParkedRow"
	case typeOf[fact.Budget]():
		return "Spend"
	}
	return huma.DefaultSchemaNamer(t, hint)
}

// pathFields are what an input takes from the path and not from the body.
var pathFields = map[reflect.Type]string{
	typeOf[app.SendInput]():       "task",
	typeOf[app.EscalateInput]():   "task",
	typeOf[app.ShareInput]():      "task",
	typeOf[app.TakeoverInput]():   "task",
	typeOf[app.ProgressInput]():   "task",
	typeOf[app.HeartbeatInput]():  "task",
	typeOf[app.CompleteInput]():   "task",
	typeOf[app.FailInput]():       "task",
	typeOf[app.ConstrainInput]():  "task",
	typeOf[app.AnnotateInput]():   "task",
	typeOf[app.GapInput]():        "task",
	typeOf[app.PreviewInput]():    "task",
	typeOf[app.ReplayInput]():     "task",
	typeOf[app.StuckInput]():      "task",
	typeOf[app.DiscardInput]():    "task",
	typeOf[app.AcceptInput]():     "handoff",
	typeOf[app.RejectInput]():     "handoff",
	typeOf[app.ConfirmInput]():    "handoff",
	typeOf[app.CancelInput]():     "id",
	typeOf[app.ApproveInput]():    "id",
	typeOf[rulebook.RouteInput](): "task",
	typeOf[app.DenyInput]():       "id",

	typeOf[app.StuckAgentInput](): "agent",
	typeOf[app.ShedInput]():       "agent",
	typeOf[desk.AskInput]():       "task",
	typeOf[desk.ClaimInput]():     "id",
	typeOf[desk.ReleaseInput]():   "id",
	typeOf[desk.AnswerInput]():    "id",

	typeOf[roster.DescribeInput]():     "name",
	typeOf[roster.SubscriptionInput](): "channel",

	typeOf[knowledge.ReviseInput]():     "id",
	typeOf[knowledge.TagInput]():        "id",
	typeOf[knowledge.WeighInput]():      "id",
	typeOf[knowledge.AppendTurnInput](): "conversation",
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
	typeOf[fact.State]():          typeOf[stateWord](),
	typeOf[fact.Stage]():          typeOf[stageWord](),
	typeOf[fact.Kind]():           typeOf[kindWord](),
	typeOf[fact.Reason]():         typeOf[reasonWord](),
	typeOf[fact.Rejection]():      typeOf[rejectionWord](),
	typeOf[fact.Priority]():       typeOf[priorityWord](),
	typeOf[fact.Tier]():           typeOf[tierWord](),
	typeOf[fact.ConfirmMode]():    typeOf[confirmWord](),
	typeOf[fact.FanInMode]():      typeOf[fanInWord](),
	typeOf[fact.ConstraintKind](): typeOf[constraintWord](),
	typeOf[fact.ParkCause]():      typeOf[parkWord](),
	typeOf[fact.TicketKind]():     typeOf[ticketKindWord](),
	typeOf[fact.TicketState]():    typeOf[ticketWord](),
	typeOf[fact.TicketOutcome]():  typeOf[outcomeWord](),
	typeOf[view.ItemType]():       typeOf[itemWord](),
	typeOf[registry.Readiness]():  typeOf[readinessWord](),
	typeOf[registry.Kind]():       typeOf[agentKindWord](),
	typeOf[registry.ReachKind]():  typeOf[reachWord](),
	typeOf[registry.Phase]():      typeOf[phaseWord](),
	typeOf[identity.Role]():       typeOf[roleWord](),
	typeOf[memory.Scope]():        typeOf[scopeWord](),
	typeOf[memory.Status]():       typeOf[statusWord](),
	typeOf[conversation.Role]():   typeOf[speakerWord](),
	typeOf[refusal.Code]():        typeOf[codeWord](),
	typeOf[fact.Duration]():       typeOf[durationText](),
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

func (stateWord) Schema(huma.Registry) *huma.Schema     { return words(fact.States()...) }
func (stageWord) Schema(huma.Registry) *huma.Schema     { return words(fact.Stages()...) }
func (kindWord) Schema(huma.Registry) *huma.Schema      { return words(fact.Kinds()...) }
func (reasonWord) Schema(huma.Registry) *huma.Schema    { return words(fact.Reasons()...) }
func (rejectionWord) Schema(huma.Registry) *huma.Schema { return words(fact.Rejections()...) }
func (priorityWord) Schema(huma.Registry) *huma.Schema  { return words(fact.Priorities()...) }

func (ticketKindWord) Schema(huma.Registry) *huma.Schema { return words(fact.TicketKinds()...) }
func (ticketWord) Schema(huma.Registry) *huma.Schema     { return words(fact.TicketStates()...) }
func (outcomeWord) Schema(huma.Registry) *huma.Schema    { return words(fact.TicketOutcomes()...) }
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
	return words(fact.TierTarget, fact.TierFallback, fact.TierEscalation)
}

func (confirmWord) Schema(huma.Registry) *huma.Schema {
	return words(fact.ConfirmAuto, fact.ConfirmExplicit)
}

func (fanInWord) Schema(huma.Registry) *huma.Schema {
	return words(fact.FanInAll, fact.FanInQuorum, fact.FanInFirst, fact.FanInNone)
}

func (constraintWord) Schema(huma.Registry) *huma.Schema {
	return words(fact.ConstraintBudget, fact.ConstraintSecurity, fact.ConstraintFormat, fact.ConstraintPreference,
		fact.ConstraintProhibition)
}

func (parkWord) Schema(huma.Registry) *huma.Schema {
	return words(fact.ParkExhausted, fact.ParkLimit, fact.ParkBudget, fact.ParkDeadline, fact.ParkDependency, fact.ParkReturned,
		fact.ParkOwnerLost, fact.ParkNobodyClaimed)
}

func (itemWord) Schema(huma.Registry) *huma.Schema {
	return words(view.ItemOffer, view.ItemApproval, view.ItemConfirm, view.ItemTakeover, view.ItemShare, view.ItemQuestion, view.ItemStranded, view.ItemResumed)
}

func (readinessWord) Schema(huma.Registry) *huma.Schema {
	return words(registry.Ready, registry.Busy, registry.Draining, registry.Offline)
}

func (agentKindWord) Schema(huma.Registry) *huma.Schema {
	return words(registry.KindAgent, registry.KindHuman)
}

func (reachWord) Schema(huma.Registry) *huma.Schema {
	return words(registry.ReachPull, registry.ReachWebhook, registry.ReachA2A)
}

func (phaseWord) Schema(huma.Registry) *huma.Schema {
	return words(registry.Closed, registry.Open, registry.HalfOpen)
}

func (durationText) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{
		Type: huma.TypeString, Pattern: `^-?([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$|^0$`,
		PatternDescription: `a duration such as "15s" or "1h30m"`, Examples: []any{"15s"},
	}
}

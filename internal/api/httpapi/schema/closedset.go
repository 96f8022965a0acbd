package schema

import (
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/alert"
	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/handoff/ticketverb"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/figure"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/alerts"
	"github.com/trapezehq/trapeze/internal/usecase/cluster"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/phrases"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

// closedSets are the types that have a fixed number of values. The API describes them wherever they occur, so no field lists them
// in a tag.
var closedSets = []closedSet{
	setOf(event.States.Values()),
	setOf(event.Stages.Values()),
	setOf(event.Kinds.Values()),
	setOf(event.Reasons.Values()),
	setOf(event.Rejections.Values()),
	setOf(event.Priorities.Values()),
	setOf(event.Tiers.Values()),
	setOf(event.ConfirmModes.Values()),
	setOf(event.FanInModes.Values()),
	setOf(event.ConstraintKinds.Values()),
	setOf(event.ParkCauses.Values()),
	setOf(event.Actions.Values()),
	setOf(event.Strategies.Values()),
	setOf(event.TicketKinds.Values()),
	setOf(event.TicketStates.Values()),
	setOf(view.TicketOrders.Values()),
	setOf(event.TicketOutcomes.Values()), setOf(ticketverb.All.Values()),
	setOf(view.ItemTypes()),
	setOf(figure.Spans.Values()),
	setOf(figure.Bys.Values()),
	setOf(alert.Severities.Values()),
	setOf(alerts.States()),
	setOf(agent.Readinesses.Values()),
	setOf(agent.Kinds.Values()),
	setOf(agent.Phases()),
	setOf(identity.Roles.Values()),
	setOf(memory.Scopes.Values()),
	setOf(memory.Statuses()),
	setOf(conversation.Roles.Values()),
	setOf(refusal.Codes()),
	setOf(phrases.Intents()),
	setOf(cluster.Engines()),
	setOf(cluster.States()),
	setOf(tasks.ImportFormats()),
	setOf(envelopes.Vias()),
}

// closedSet is one such type, the type that describes it, and its values.
type closedSet struct {
	of, described reflect.Type
	values        []any
}

func setOf[T ~string](values []T) closedSet {
	set := closedSet{of: typeOf[T](), described: typeOf[oneOf[T]]()}
	for _, v := range values {
		set.values = append(set.values, string(v))
	}
	return set
}

// oneOf describes a value of a closed set.
type oneOf[T ~string] struct{}

// Schema implements huma.SchemaProvider.
func (oneOf[T]) Schema(huma.Registry) *huma.Schema {
	i := slices.IndexFunc(closedSets, func(s closedSet) bool { return s.of == typeOf[T]() })
	return &huma.Schema{Type: huma.TypeString, Enum: slices.Clone(closedSets[i].values)}
}

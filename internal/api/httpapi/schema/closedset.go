package schema

import (
	"reflect"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/phrases"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

// closedSets are the types that have a fixed number of values. The API describes them wherever they occur, so no field lists them
// in a tag.
var closedSets = []closedSet{
	setOf(event.States()),
	setOf(event.Stages()),
	setOf(event.Kinds()),
	setOf(event.Reasons()),
	setOf(event.Rejections()),
	setOf(event.Priorities()),
	setOf(event.Tiers()),
	setOf(event.ConfirmModes()),
	setOf(event.FanInModes()),
	setOf(event.ConstraintKinds()),
	setOf(event.ParkCauses()),
	setOf(event.Actions()),
	setOf(event.Strategies()),
	setOf(event.TicketKinds()),
	setOf(event.TicketStates()),
	setOf(event.TicketOutcomes()),
	setOf(view.ItemTypes()),
	setOf(agent.Readinesses()),
	setOf(agent.Kinds()),
	setOf(agent.ReachKinds()),
	setOf(agent.Phases()),
	setOf(identity.Roles()),
	setOf(memory.Scopes()),
	setOf(memory.Statuses()),
	setOf(conversation.Roles()),
	setOf(refusal.Codes()),
	setOf(phrases.Intents()),
	setOf(tasks.ImportFormats()),
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

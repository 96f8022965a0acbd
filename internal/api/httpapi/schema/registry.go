package schema

import (
	"encoding/json"
	"sync"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/usecase/positions"
)

// complete are the registries of servers that are described, by whether their clock can be moved, which is the only option that adds a
// type. To describe the types takes most of the start of a server, and the next one in the same process, such as the next
// test's, has the same.
var complete sync.Map

// frozen is a complete registry. huma sets options in one that it knows the type of; in this, nothing changes.
type frozen struct{ huma.Registry }

// MarshalJSON writes the schemas.
func (f frozen) MarshalJSON() ([]byte, error) { return json.Marshal(f.Map()) }

// Registry returns the registry of a server whose clock can be moved or not. Either it is complete, or it has the schemas of inputs and closed
// sets alone; [Complete] ends the description of the latter.
func Registry(movable bool) (r huma.Registry, isComplete bool) {
	if v, _ := complete.Load(movable); v != nil {
		r, isComplete = v.(huma.Registry)
		return r, isComplete
	}
	r = huma.NewMapRegistry("#/components/schemas/", schemaName)
	for _, set := range closedSets {
		r.RegisterTypeAlias(set.of, set.described)
	}
	r.RegisterTypeAlias(typeOf[event.Duration](), typeOf[durationText]())
	r.RegisterTypeAlias(typeOf[positions.Position](), typeOf[positionNumber]())
	describeInputs(r)
	return r, false
}

// Complete ends a description to which all routes were added: answers may have unknown fields.
func Complete(api *huma.OpenAPI, movable bool) {
	loosen(api)
	complete.Store(movable, frozen{api.Components.Schemas})
}

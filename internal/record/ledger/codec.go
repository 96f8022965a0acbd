package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"
)

// Named is implemented by the events of every domain: struct types with a name that never changes.
type Named interface {
	// EventName must not depend on the value, and has the form of [Event].Name: a-z 0-9 . _ - after a letter.
	EventName() string
}

// Codec converts the events of one domain to ledger events and back. E is the event interface of the domain.
// A Codec is safe for concurrent use.
type Codec[E Named] struct {
	byName map[string]*eventType
	byType map[reflect.Type]*eventType
}

type eventType struct {
	name   string
	goType reflect.Type
	upcast []Upcaster // upcast[i] leads from version i+1 to i+2
	read   reader
	write  writer
	spare  sync.Pool // of pointers to the type, to zero values
}

// Upcaster rewrites the data of an event of one version as data of the next. It must not change its argument.
type Upcaster = func(json.RawMessage) (json.RawMessage, error)

// Upcast is implemented by events that have had other versions. Every codec of the domain then reads those, and writes the newest.
type Upcast interface {
	// Upcasts are the steps from each version to the next, from version 1 on.
	Upcasts() []Upcaster
}

func (t *eventType) version() int { return len(t.upcast) + 1 }

// NewCodec returns a codec for the types of these values. It panics on a programming error: a type that is not a struct, a
// malformed name, a name or type given twice.
func NewCodec[E Named](prototypes ...E) *Codec[E] {
	c := &Codec[E]{byName: map[string]*eventType{}, byType: map[reflect.Type]*eventType{}}
	for _, p := range prototypes {
		t := &eventType{name: p.EventName(), goType: reflect.TypeOf(p)}
		if err := checkName(t.name); err != nil {
			panic(err)
		}
		if t.goType.Kind() != reflect.Struct {
			panic(fmt.Sprintf("ledger: event %s is a %v, want a struct", t.name, t.goType))
		}
		if c.byName[t.name] != nil || c.byType[t.goType] != nil {
			panic(fmt.Sprintf("ledger: event %s (%v) is registered twice", t.name, t.goType))
		}
		if old, ok := any(p).(Upcast); ok {
			t.upcast = old.Upcasts()
		}
		t.spare.New = func() any { return reflect.New(t.goType).Interface() }
		t.read, t.write = readerOf(t.goType, 0), writerOf(t.goType, 0)
		c.byName[t.name], c.byType[t.goType] = t, t
	}
	return c
}

// scratch is a buffer in which events are encoded before their size is known.
type scratch struct {
	bytes.Buffer
	json *json.Encoder
}

var scratches = sync.Pool{New: func() any {
	s := new(scratch)
	s.json = json.NewEncoder(&s.Buffer)
	s.json.SetEscapeHTML(false) // '<' as six bytes would make sizes hard to predict
	return s
}}

// maxScratch is the greatest capacity that is kept for the next use.
const maxScratch = 64 << 10

// add encodes one more event.
func (s *scratch) add(t *eventType, event any) error {
	if b, ok := t.marshal(s.AvailableBuffer(), event); ok {
		s.Write(b)
		return nil
	}
	if err := s.json.Encode(event); err != nil {
		return err
	}
	s.Truncate(s.Len() - 1) // the line feed
	return nil
}

// Encode returns the ledger event of a domain event, which must not change afterwards. The ledger event keeps the domain
// event, so that Decode in the same process costs nothing. Error: ErrInvalid.
func (c *Codec[E]) Encode(event E) (Event, error) {
	out, err := c.EncodeAll([]E{event})
	if err != nil {
		return Event{}, err
	}
	return out[0], nil
}

// EncodeAll encodes the events of one decision.
func (c *Codec[E]) EncodeAll(events []E) ([]Event, error) {
	s, _ := scratches.Get().(*scratch)
	s.Reset()
	out, ends := make([]Event, len(events)), make([]int, 0, 16)
	for i, event := range events {
		t := c.byType[reflect.TypeOf(event)]
		if t == nil {
			return nil, invalid("event type %T is not registered", event)
		}
		if err := s.add(t, event); err != nil {
			return nil, invalid("event %s: %v", t.name, err)
		}
		out[i] = Event{Name: t.name, Version: t.version(), value: event}
		ends = append(ends, s.Len())
	}
	data, start := bytes.Clone(s.Bytes()), 0
	for i, end := range ends {
		out[i].Data = data[start:end:end]
		start = end
	}
	if s.Cap() <= maxScratch {
		scratches.Put(s)
	}
	return out, nil
}

// Decode returns the domain event of a ledger event, upcast to the current version. The result may be shared and must not
// be changed. Unknown fields are ignored; unknown events and newer versions are ErrInvalid.
func (c *Codec[E]) Decode(event Event) (E, error) {
	var zero E
	if e, ok := event.value.(E); ok {
		return e, nil
	}
	t := c.byName[event.Name]
	switch {
	case t == nil:
		return zero, invalid("event %q is not known to this version of Trapeze", event.Name)
	case event.Version < 1 || event.Version > t.version():
		return zero, invalid("event %s has version %d; this version of Trapeze reads up to %d",
			event.Name, event.Version, t.version())
	case event.Data == nil:
		return zero, invalid("event %s has no readable data", event.Name)
	}
	data := event.Data
	for v := event.Version; v < t.version(); v++ {
		var err error
		if data, err = t.upcast[v-1](data); err != nil {
			return zero, invalid("event %s from version %d to %d: %v", event.Name, v, v+1, err)
		}
	}
	p := reflect.ValueOf(t.spare.Get())
	if err := t.unmarshal(data, p); err != nil {
		return zero, invalid("event %s version %d: %v", event.Name, event.Version, err)
	}
	e, _ := p.Elem().Interface().(E) // a copy, and an E: the type was registered
	p.Elem().SetZero()
	t.spare.Put(p.Interface())
	return e, nil
}

// Prepare decodes the events of an entry that nobody else has yet, except those of some names, and keeps them in it: Decode costs nothing afterwards. One that cannot be
// decoded is left to Decode, which says why.
func (c *Codec[E]) Prepare(e *Entry, except ...string) {
	for i := range e.Events {
		if slices.Contains(except, e.Events[i].Name) {
			continue
		}
		if event, err := c.Decode(e.Events[i]); err == nil {
			e.Events[i].value = event
		}
	}
}

// DecodeAll decodes the events of one entry.
func (c *Codec[E]) DecodeAll(events []Event) ([]E, error) {
	out := make([]E, len(events))
	for i := range events {
		var err error
		if out[i], err = c.Decode(events[i]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

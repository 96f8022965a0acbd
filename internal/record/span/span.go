package span

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/task"
)

// TraceID is the id of a trace.
type TraceID [16]byte

// ID is the id of a span in its trace; zero: none.
type ID [8]byte

// Context is a place in a trace: a span that others are children of.
type Context struct {
	Trace   TraceID
	Span    ID
	Sampled bool // the trace is exported
}

// traceparentLen is the length of a traceparent of version 00: version, trace, span and flags.
const traceparentLen = 2 + 1 + 32 + 1 + 16 + 1 + 2

// Parse returns the context of a traceparent as the record has it, of version 00; false if it is malformed.
func Parse(traceparent string) (c Context, ok bool) {
	if len(traceparent) != traceparentLen || traceparent[2] != '-' || traceparent[35] != '-' || traceparent[52] != '-' {
		return Context{}, false
	}
	var b [traceparentLen]byte // decoded without an allocation
	copy(b[:], traceparent)
	var flags [1]byte
	for _, part := range [...]struct{ to, from []byte }{{c.Trace[:], b[3:35]}, {c.Span[:], b[36:52]}, {flags[:], b[53:55]}} {
		if _, err := hex.Decode(part.to, part.from); err != nil {
			return Context{}, false
		}
	}
	c.Sampled = flags[0]&1 != 0
	return c, c.Trace != TraceID{} && c.Span != ID{}
}

// String is the context as a traceparent of the W3C recommendation.
func (c Context) String() string {
	var b [traceparentLen]byte
	copy(b[:], "00-")
	hex.Encode(b[3:35], c.Trace[:])
	b[35] = '-'
	hex.Encode(b[36:52], c.Span[:])
	copy(b[52:], "-00")
	if c.Sampled {
		b[54] = '1'
	}
	return string(b[:])
}

// Value is the value of an attribute, of the type that the attribute has.
type Value struct {
	Of     *Attribute
	Text   string
	Number float64 // of a truth: 1
}

// Span is one span.
type Span struct {
	Step   *Step
	Name   string
	Trace  TraceID
	ID     ID
	Parent ID
	// Sampled reports whether the trace is exported. Derived reports that nobody has decided that: the id of the trace is the task's.
	Sampled, Derived bool
	Start, End       time.Time
	Failed           string // why; "": it did not
	Server           bool   // it is of a call that the server answered
	State            string // W3C tracestate
	Values           []Value
	Links            []Context // to spans of other traces
}

// derived returns the trace of a task whose record has none.
func derived(task string) (t TraceID) {
	sum := sha256.Sum256([]byte("trapeze trace\x00" + task))
	copy(t[:], sum[:])
	return t
}

// idOf derives the id of a span: FNV-1a of 64 bits, whose bits are then mixed as SplitMix64 does. An id need only be another than those of the
// same trace.
func idOf(what, of string, n uint64) (id ID) {
	const prime = 1_099_511_628_211
	h := uint64(14_695_981_039_346_656_037)
	for _, text := range [...]string{what, of} {
		for i := range len(text) {
			h = (h ^ uint64(text[i])) * prime
		}
		h *= prime // a zero byte ends each text
	}
	h = (h ^ n) * prime
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	binary.BigEndian.PutUint64(id[:], max(h^h>>31, 1)) // zero is no id
	return id
}

// The ids of spans that others are children of.
func taskSpan(task string) ID                { return idOf("task", task, 0) }
func handoffSpan(task string, n int) ID      { return idOf("handoff", task, uint64(n)) } //nolint:gosec // counts from 1
func ownerSpan(task string, epoch uint64) ID { return idOf("owner", task, epoch) }
func childSpan(child string) ID              { return idOf("child", child, 0) }

// Within returns the context in the trace of a task that a call of an agent belongs to: that of its ownership, of the handoff in progress,
// or of the task. agent is empty for a caller that is not an agent.
func Within(t *task.Task, agent string) Context {
	c, ok := Parse(t.Trace)
	if !ok {
		c = Context{Trace: derived(t.ID), Sampled: true}
	}
	switch h := t.InFlight(); {
	case t.Owner != "" && t.Owner == agent, t.Owner != "" && h == nil:
		c.Span = ownerSpan(t.ID, t.Epoch)
	case h != nil:
		c.Span = handoffSpan(t.ID, h.N)
	default:
		c.Span = taskSpan(t.ID)
	}
	return c
}

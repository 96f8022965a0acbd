package packing

import (
	"strings"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/content/tokenizer"
)

// ruler measures what a part adds to a prompt: the tokens of what an envelope with nothing else renders to, without
// those of an empty one. That is exact, since sections and entries start where counts add up, but for the fences
// around a list: they are as long as its worst entry needs.
type ruler struct {
	counter      tokenizer.Counter
	before, then string // an empty prompt, around the place of its parts
	frames       map[envelope.PartKind]int
}

func newRuler(c tokenizer.Counter) ruler {
	empty := envelope.Render(envelope.Envelope{})
	at := strings.LastIndex(empty, "\n## ") + 1
	return ruler{counter: c, before: empty[:at], then: empty[at:], frames: map[envelope.PartKind]int{}}
}

// added is what an envelope, which has parts and nothing else, adds to the prompt.
func (r *ruler) added(e envelope.Envelope) int {
	text := strings.TrimSuffix(strings.TrimPrefix(envelope.Render(e), r.before), r.then)
	return r.counter.Count(text)
}

// alone is what a part adds to a prompt that has none of its kind, its list's frame included.
func (r *ruler) alone(x *part, doc *envelope.Envelope) int {
	var e envelope.Envelope
	x.put(&e, doc)
	return r.added(e)
}

// frame is what the first entry of a list costs besides itself; 0 for what stands in no list.
func (r *ruler) frame(kind envelope.PartKind) int {
	if n, ok := r.frames[kind]; ok {
		return n
	}
	r.frames[kind] = r.frameOf(kind)
	return r.frames[kind]
}

func (r *ruler) frameOf(kind envelope.PartKind) int {
	sample := envelope.Envelope{
		KeyFacts: make([]envelope.Item, 1), Decisions: make([]envelope.Item, 1), History: make([]envelope.Step, 1),
		Memory: []envelope.MemoryRef{{Text: "x"}}, Artifacts: make([]envelope.Artifact, 1),
	}
	x := part{kind: kind}
	switch kind {
	case envelope.PartFact, envelope.PartDecision, envelope.PartStep, envelope.PartMemory, envelope.PartArtifact:
	default:
		return 0
	}
	var one, two envelope.Envelope
	x.put(&one, &sample)
	x.put(&two, &sample)
	x.put(&two, &sample)
	return 2*r.added(one) - r.added(two)
}

// line is what one omission adds to a list of them.
func (r *ruler) line(x *part, doc *envelope.Envelope) int {
	const none = envelope.PartKind("")
	frame, ok := r.frames[none]
	if !ok {
		one := envelope.Envelope{Omissions: make([]envelope.Omission, 1)}
		two := envelope.Envelope{Omissions: make([]envelope.Omission, 2)}
		frame = 2*r.added(one) - r.added(two)
		r.frames[none] = frame
	}
	var e envelope.Envelope
	x.refer(&e, doc)
	e.Omissions = []envelope.Omission{x.omission()}
	return r.added(e) - frame
}

// leftOut is what the whole list of omissions and gaps takes.
func (r *ruler) leftOut(e *envelope.Envelope) int {
	refs := make([]envelope.MemoryRef, 0, len(e.Memory))
	for _, m := range e.Memory {
		m.Text = ""
		refs = append(refs, m)
	}
	return r.added(envelope.Envelope{
		Memory: refs, Omissions: e.Omissions, Gaps: e.Gaps, Packing: envelope.Packing{Listing: e.Packing.Listing},
	})
}

package packing

import (
	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/content/tokenizer"
)

// costs measures the tokens that a part adds to a prompt: those of the sections of an envelope with only this part, without
// those of an empty one. That is exact, since sections and entries begin where counts add up, except for the fences, which
// are as long as their worst entry requires.
type costs struct {
	counter tokenizer.Counter
	empty   int // tokens of a prompt with nothing but the block in which lists are
	frames  map[envelope.PartKind]int
}

// question is what makes a prompt have the block in which lists are.
var question = []string{"x"}

func newCosts(counter tokenizer.Counter) costs {
	empty := counter.Count(envelope.RenderSections(envelope.Envelope{OpenQuestions: question}))
	return costs{counter: counter, empty: empty, frames: map[envelope.PartKind]int{}}
}

// added is the cost of an envelope that has parts and nothing else.
func (c *costs) added(e envelope.Envelope) int {
	e.OpenQuestions = question
	return c.counter.Count(envelope.RenderSections(e)) - c.empty
}

// alone is the cost of a part in a prompt without others of its kind: it includes the frame of the list.
func (c *costs) alone(x *part, doc *envelope.Envelope) int {
	var e envelope.Envelope
	x.put(&e, doc)
	return c.added(e)
}

// frame is the cost of a list besides its entries; 0 for parts that are not in a list.
func (c *costs) frame(kind envelope.PartKind) int {
	if n, ok := c.frames[kind]; ok {
		return n
	}
	c.frames[kind] = c.frameOf(kind)
	return c.frames[kind]
}

func (c *costs) frameOf(kind envelope.PartKind) int {
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
	return 2*c.added(one) - c.added(two)
}

// line is the cost of one omission in the list of omissions: of its own line, or of its id in the line of a group.
func (c *costs) line(x *part, doc *envelope.Envelope) int {
	var e envelope.Envelope
	x.refer(&e, doc)
	o := x.omission()
	e.Omissions = []envelope.Omission{o}
	alone := c.added(e)
	if o.Kind == envelope.PartMemory || o.ID == "" {
		return alone - c.lines()
	}
	e.Omissions = append(e.Omissions, o)
	return c.added(e) - alone
}

// groupLine is about the cost of a group in the list of omissions.
func (c *costs) groupLine(o envelope.Omission) int {
	return c.added(envelope.Envelope{
		Omissions: []envelope.Omission{o}, Packing: envelope.Packing{Listing: envelope.ListGroups},
	}) - c.lines()
}

// lines is the cost of the list of omissions besides its lines.
func (c *costs) lines() int {
	const none = envelope.PartKind("")
	if _, ok := c.frames[none]; !ok {
		one, other := envelope.Omission{Kind: envelope.PartFact}, envelope.Omission{Kind: envelope.PartStep}
		cost := func(list ...envelope.Omission) int { return c.added(envelope.Envelope{Omissions: list}) }
		c.frames[none] = cost(one) + cost(other) - cost(one, other)
	}
	return c.frames[none]
}

// leftOut is the cost of the whole list of omissions and gaps.
func (c *costs) leftOut(e *envelope.Envelope) int {
	refs := make([]envelope.MemoryRef, 0, len(e.Memory))
	for _, m := range e.Memory {
		m.Text = ""
		refs = append(refs, m)
	}
	return c.added(envelope.Envelope{
		Memory: refs, Omissions: e.Omissions, Gaps: e.Gaps, Packing: envelope.Packing{Listing: e.Packing.Listing},
	})
}

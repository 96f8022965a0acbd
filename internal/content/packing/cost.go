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
	empty   int    // see nothing; 0: not counted yet
	from    string // the sender, whom no line names as author
	task    string // its id is in the heading of the artifacts
	frames  map[frame]int
}

// frame is what entries of a list need beside their own tokens: the heading of the list, or, with an author, the line that names it.
type frame struct {
	kind envelope.PartKind
	by   string
}

// frames are those of a part.
func (x *part) frames() []frame {
	if x.by == "" {
		return []frame{{kind: x.kind}}
	}
	return []frame{{kind: x.kind}, {x.kind, x.by}}
}

// question is what makes a prompt have the block in which lists are.
var question = []string{"x"}

func newCosts(counter tokenizer.Counter, h envelope.Header) costs {
	return costs{counter: counter, from: h.From, task: h.TaskID}
}

// nothing is the tokens of a prompt with nothing but the block in which lists are. It is counted once, and not for an envelope that is packed
// whole: nothing of that is measured.
func (c *costs) nothing() int {
	if c.empty == 0 {
		c.empty = c.counter.Count(envelope.RenderSections(envelope.Envelope{OpenQuestions: question}))
	}
	return c.empty
}

// added is the cost of an envelope that has parts and nothing else.
func (c *costs) added(e envelope.Envelope) int {
	e.OpenQuestions, e.Handoff.From = question, c.from
	return c.counter.Count(envelope.RenderSections(e)) - c.nothing()
}

// blank is an envelope of the task without parts. Those of lists of omissions are of no task: their heading depends on its first entry.
func (c *costs) blank() envelope.Envelope {
	return envelope.Envelope{Handoff: envelope.Header{TaskID: c.task}}
}

// alone is the cost of a part in a prompt without others of its kind: it includes the frame of the list.
func (c *costs) alone(x *part, doc *envelope.Envelope) int {
	e := c.blank()
	x.put(&e, doc)
	return c.added(e)
}

// besides is what alone counts beside the tokens of the part.
func (c *costs) besides(x *part) (n int) {
	for _, f := range x.frames() {
		n += c.frame(f)
	}
	return n
}

// frame is the cost of a list besides its entries, or of the line that names their author; 0 for parts that are not in a list.
func (c *costs) frame(f frame) int {
	if n, ok := c.frames[f]; ok {
		return n
	}
	n := c.frameOf(f.kind, f.by)
	if f.by != "" {
		n -= c.frame(frame{kind: f.kind})
	}
	c.note(f, n)
	return n
}

func (c *costs) note(f frame, n int) {
	if c.frames == nil {
		c.frames = map[frame]int{}
	}
	c.frames[f] = n
}

// frameOf is the cost of both.
func (c *costs) frameOf(kind envelope.PartKind, by string) int {
	sample := envelope.Envelope{
		KeyFacts: []envelope.Item{{By: by}}, Decisions: []envelope.Item{{By: by}}, History: make([]envelope.Step, 1),
		Memory: []envelope.MemoryRef{{Text: "x"}}, Artifacts: make([]envelope.Artifact, 1),
	}
	x := part{kind: kind}
	switch kind {
	case envelope.PartFact, envelope.PartDecision, envelope.PartStep, envelope.PartMemory, envelope.PartArtifact:
	default:
		return 0
	}
	one, two := c.blank(), c.blank()
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
	none := frame{}
	if _, ok := c.frames[none]; !ok {
		one, other := envelope.Omission{Kind: envelope.PartFact}, envelope.Omission{Kind: envelope.PartStep}
		cost := func(list ...envelope.Omission) int { return c.added(envelope.Envelope{Omissions: list}) }
		c.note(none, cost(one)+cost(other)-cost(one, other))
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

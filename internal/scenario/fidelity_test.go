package scenario

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"

	"github.com/trapezehq/trapeze/internal/content/drift"
	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// The chain: a task that is handed on twelve times, by agents that say little of what they know, with receivers of
// different sizes, some of which try to get rid of a constraint in every possible way. What must be in which prompt
// is computed here from what the agents stated, without the packages that assemble, pack and compare envelopes.

// leg is one handoff of the chain.
type leg struct {
	to    string
	spec  agents.AgentSpec
	says  envelopes.Content                           // what the sender says beside its summary
	aside string                                      // what it says in its summary alone
	rule  string                                      // a constraint that it sets
	late  []envelopes.Point                           // what it says when it lets go
	lie   string                                      // what its summary begins with
	tries func(c *chain)                              // what it does before it hands the task on
	hands func(c *chain, l leg, in envelopes.Content) // how it hands the task on; nil: it sends it
	mute  bool                                        // the sender writes nothing
}

// chain is a task on its way.
type chain struct {
	*harness
	r      taskstore.Receipt // of the last change
	owner  string
	prompt prompt // the owner's

	has    stated                // what has been said of the task
	told   []telling             // one for each envelope that went to an owner
	pinned map[string]string     // memory items, by id
	asks   []envelopes.MemoryAsk // what the owner asks to go along
	lines  lines
	hops   []promptShare
}

// stated is the part of an envelope that is followed by id.
type stated struct {
	facts, decisions []envelopes.Point
	constraints      []event.Constraint
	memory           []string // ids
}

// pins are its pinned points, by kind and id.
func (c *chain) pins() map[string]string {
	out := map[string]string{}
	for _, p := range c.has.facts {
		if p.Pinned {
			out["fact "+p.ID] = p.Text
		}
	}
	for _, id := range c.has.memory {
		if text := c.pinned[id]; text != "" {
			out["memory "+id] = text
		}
	}
	return out
}

// telling is an envelope: what it states, and the prompt that was made of it, if an agent got it.
type telling struct {
	stated
	prompt *prompt
}

// say is what the next envelope says: points replace those of their id, and those they supersede.
func (s *stated) say(in envelopes.Content) {
	for _, list := range []struct {
		of  *[]envelopes.Point
		add []envelopes.Point
	}{{&s.facts, in.Facts}, {&s.decisions, in.Decisions}} {
		for _, p := range list.add {
			*list.of = slices.DeleteFunc(slices.Clone(*list.of), func(o envelopes.Point) bool {
				is := o.ID == p.ID || o.ID == p.Supersedes
				p.Pinned = p.Pinned || is && o.Pinned
				return is
			})
			*list.of = append(*list.of, p)
		}
	}
	s.constraints, s.memory = slices.Clone(s.constraints), slices.Clone(s.memory)
}

const intent = "Move billing to the new ledger before the first of May.\n\nNobody may be charged twice; tell me when it is done — in one message."

func limit(v float64) *float64 { return &v }

func rules() []event.Constraint {
	return []event.Constraint{
		{ID: "no-prod", Kind: event.ConstraintProhibition, Text: "Never touch the production database.", Hard: true},
		{ID: "spend", Kind: event.ConstraintBudget, Text: "Spend no more than this, in euros.", Hard: true, Max: limit(100)},
		{ID: "regions", Kind: event.ConstraintSecurity, Text: "Keep the data in these regions.", Hard: true, Allow: []string{"eu-1", "eu-2"}},
		{ID: "format", Kind: event.ConstraintFormat, Text: "Answer in Markdown.", Hard: true},
		{ID: "tone", Kind: event.ConstraintPreference, Text: "Write plainly."},
	}
}

// briefing is the content of the first envelope.
func briefing() envelopes.Content {
	in := envelopes.Content{Ask: "Plan the move.", Facts: []envelopes.Point{
		{ID: "p1", Text: "The cut-over is on Saturday at four in the morning.", Pinned: true},
		{ID: "p2", Text: "Invoice 4471 is in dispute and must not move.", Pinned: true},
		{ID: "p3", Text: "The old ledger is read-only from Friday noon.", Pinned: true},
	}}
	tables := "accounts invoices payments refunds credits taxes plans coupons meters usage dunning disputes exports audits reports webhooks emails templates currencies rates locks jobs queues archives"
	for i, table := range strings.Fields(tables) {
		in.Facts = append(in.Facts, envelopes.Point{ID: fmt.Sprintf("f%d", i+1), Text: fmt.Sprintf("Table %s has %d rows and moves in batch %d.", table, (i+3)*1117, i%7+1)})
	}
	for i, text := range []string{
		"Copy by day, the oldest day first.", "Compare sums after every batch.", "Keep the old ledger for a year.",
		"Stop at the first wrong sum.", "Use the nightly window alone.", "Report every batch to finance.",
	} {
		in.Decisions = append(in.Decisions, envelopes.Point{ID: fmt.Sprintf("d%d", i+1), Text: text})
	}
	return in
}

// pinnedMemory are the items that go into every envelope.
var pinnedMemory = []string{"The signing key rotates on the thirtieth.", "Every deploy needs two reviewers."}

// begin makes the task and hands it to the first agent.
func begin(h *harness) *chain {
	h.Helper()
	c := &chain{harness: h, owner: "planner", pinned: map[string]string{}}
	h.join("planner")
	shared := h.remember(h.operator(), memories.RememberInput{Title: "reviews", Text: pinnedMemory[1], Scope: memory.Workspace, Pinned: true})
	c.pinned[shared.ID] = pinnedMemory[1]
	in := briefing()
	c.has.say(in)
	c.has.constraints, c.has.memory = rules(), []string{shared.ID}
	for i := range c.has.constraints {
		c.has.constraints[i].Origin = h.operator().String()
	}
	c.lines = begun()
	c.r = h.create(h.operator(), tasks.CreateInput{
		Intent: intent, Constraints: rules(), Content: in, Limits: event.Limits{Hops: 30, Handoffs: 40, Visits: 10},
	})
	c.unread()
	own := h.remember(h.operator(), memories.RememberInput{Title: "key", Text: pinnedMemory[0], Scope: memory.Task, Task: c.r.Task, Pinned: true})
	c.has.memory = append(c.has.memory, own.ID)
	c.pinned[own.ID] = pinnedMemory[0]
	h.send(h.operator(), c.r, handoffs.SendInput{To: []string{"planner"}})
	c.took("planner", h.acceptPrompt("planner"))
	return c
}

// firstKey numbers the first call of a chain: ids, and so their tokens, are the same in every run.
const firstKey = 1 << 40

// hop hands the task on.
func (c *chain) hop(l leg) {
	c.Helper()
	keys.Store(firstKey + int64(len(c.hops))<<20) // whatever a wait in an earlier hop has read
	c.register(l.to, l.spec)
	in := l.says
	if !l.mute {
		c.lines.say(l)
		in.Summary = strings.TrimSpace(l.lie + " " + c.lines.summary(c.read(), l, newestFirst))
	}
	if l.tries != nil {
		l.tries(c)
	}
	in.Memory, c.asks = c.asks, nil
	c.has.say(in)
	if l.hands != nil {
		l.hands(c, l, in)
		return
	}
	c.r = c.send(c.agent(c.owner), c.r, handoffs.SendInput{To: []string{l.to}, Content: in})
	c.took(l.to, c.acceptPrompt(l.to))
}

// read is what the owner's summary is made of: the summary that it was given; of the first agent, all that it was told.
func (c *chain) read() string {
	if c.owner == "planner" {
		return c.prompt.text
	}
	return strings.TrimPrefix(c.prompt.sections["Summary"], "- ")
}

// unread is an envelope of the chain that no agent read.
func (c *chain) unread() { c.told = append(c.told, telling{stated: c.has}) }

// took is an agent that owns the task, and has its prompt.
func (c *chain) took(agent string, got tasks.Accepted) {
	c.Helper()
	c.r = got.Receipt
	c.reads(agent, *got.Content)
}

func (c *chain) reads(agent string, s envelopes.Sheet) {
	c.Helper()
	doc := packed(c, s)
	p := readPrompt(c, s.Prompt)
	c.owner, c.prompt = agent, p
	c.told = append(c.told, telling{stated: c.has, prompt: &p})
	c.bound(agent, p)
	c.hops = append(c.hops, figureOf(agent, doc, p.text, c.lines))
	for ref, text := range c.pins() {
		kind, id, _ := strings.Cut(ref, " ")
		shown := p.entries("Facts")[id]
		if kind == "memory" {
			shown = p.entries("From memory")[id]
		}
		left := slices.ContainsFunc(doc.Omissions, func(o envelope.Omission) bool { return string(o.Kind) == kind && o.ID == id && o.Pinned })
		if shown != text && (shown != "" || !left) {
			c.Errorf("%s reads of pinned %s %q, want %q; listed as left out: %v", agent, ref, shown, text, left)
		}
	}
}

// bound checks that a prompt has the intent word for word, and each constraint as it is now and nothing else of the kind.
func (c *chain) bound(agent string, p prompt) {
	c.Helper()
	if got := p.sections["Request"]; got != intent+"\n" {
		c.Errorf("%s is to do %q", agent, got)
	}
	want := map[bool]string{}
	for _, k := range c.has.constraints {
		strength := ""
		if !k.Hard {
			strength = ", should"
		}
		if k.Max != nil {
			strength += ", at most " + strconv.FormatFloat(*k.Max, 'f', -1, 64)
		}
		if k.MaxBy != "" {
			strength += " [tightened by " + k.MaxBy + "]"
		}
		if len(k.Allow) > 0 {
			strength += ", only " + strings.Join(k.Allow, " ")
		}
		want[k.Added] += fmt.Sprintf("%s (%s%s, %s) %s\n", k.ID, k.Kind, strength, k.Origin, k.Text)
	}
	for added, section := range map[bool]string{false: "Constraints", true: "Added by agents"} {
		if got := p.sections[section]; got != want[added] {
			c.Errorf("%s is bound under %q by\n%s\nwant\n%s", agent, section, got, want[added])
		}
	}
}

// shown are the points of a section that a reader was given; all of them where nobody was.
func (t telling) shown(section string, said []envelopes.Point) map[string]string {
	if t.prompt != nil {
		return t.prompt.entries(section)
	}
	out := map[string]string{}
	for _, p := range said {
		out[p.ID] = p.Text
	}
	return out
}

// fate is what becomes of the points of one envelope in what was given of the next, in the signs of the report.
func fate(before, now []envelopes.Point, shown map[string]string) (out []string) {
	became := map[string]bool{}
	for _, b := range before {
		i := slices.IndexFunc(now, func(p envelopes.Point) bool { return p.ID == b.ID })
		if i < 0 {
			i = slices.IndexFunc(now, func(p envelopes.Point) bool { return p.Supersedes == b.ID })
		}
		if i < 0 {
			out = append(out, "- "+b.ID)
			continue
		}
		n := now[i]
		became[n.ID] = true
		switch text, is := shown[n.ID]; {
		case !is && n.ID != b.ID:
			out = append(out, "o "+b.ID+" "+n.ID)
		case !is:
			out = append(out, "o "+b.ID)
		case text != n.Text:
			out = append(out, "not what was said: "+n.ID)
		case n.ID == b.ID && n.Text == b.Text:
			out = append(out, "= "+b.ID)
		default:
			out = append(out, "~ "+b.ID+" "+n.ID)
		}
	}
	for _, n := range now {
		if _, is := shown[n.ID]; !became[n.ID] {
			out = append(out, map[bool]string{true: "+ ", false: "o "}[is]+n.ID)
		}
	}
	slices.Sort(out)
	return out
}

// reported is what a report says of one kind at one hop, in the same signs.
func reported(c drift.Changes) (out []string) {
	for _, id := range c.Kept {
		out = append(out, "= "+id)
	}
	for _, ch := range c.Changed {
		was := ch.ID
		if ch.Was != "" {
			was = ch.Was
		}
		out = append(out, "~ "+was+" "+ch.ID)
	}
	for _, l := range c.Omitted {
		out = append(out, strings.ReplaceAll("o "+l.Was+" "+l.ID, "  ", " "))
	}
	for _, l := range c.Dropped {
		out = append(out, "- "+l.ID)
	}
	for _, id := range c.Added {
		out = append(out, "+ "+id)
	}
	slices.Sort(out)
	return out
}

// retained is the retention of points that the envelopes have: each line is followed by its id. One that is superseded or reworded is
// replaced, because each envelope of the chain has another sender.
func retained(told []telling, of func(stated) []envelopes.Point, section string) drift.Kept {
	type line struct {
		first, id, text string
		replaced        bool
	}
	var all []*line
	now := map[string]*line{}
	for _, t := range told {
		for _, p := range of(t.stated) {
			l := now[p.ID]
			if old := now[p.Supersedes]; l == nil && old != nil {
				old.replaced = true
			}
			if l != nil && l.text != p.Text {
				l.replaced, l = true, nil
			}
			if l == nil {
				l = &line{first: p.Text}
				all = append(all, l)
			}
			l.id, l.text, now[p.ID] = p.ID, p.Text, l
		}
	}
	last := told[len(told)-1]
	shown := last.shown(section, of(last.stated))
	k := drift.Kept{Introduced: len(all)}
	for _, l := range all {
		switch _, is := shown[l.id]; {
		case now[l.id] != l:
			k.Replaced++
		case is && l.text == l.first:
			k.Surviving, k.Verbatim = k.Surviving+1, k.Verbatim+1
		case is:
			k.Surviving++
		case l.replaced:
			k.Replaced++
		default:
			k.Omitted++
		}
	}
	k.Rate = float64(k.Surviving) / float64(k.Introduced)
	return k
}

// reportIsTrue compares the report of the chain with what its agents stated and read.
func (c *chain) reportIsTrue(r drift.Report) {
	c.Helper()
	if len(r.Hops) != len(c.told)-1 {
		c.Fatalf("%d hops for %d envelopes: %s", len(r.Hops), len(c.told), drift.Table(r))
	}
	facts, decisions := func(s stated) []envelopes.Point { return s.facts }, func(s stated) []envelopes.Point { return s.decisions }
	for i, hop := range r.Hops {
		before, now := c.told[i], c.told[i+1]
		for _, k := range []struct {
			name, section string
			of            func(stated) []envelopes.Point
			got           drift.Changes
		}{{"facts", "Facts", facts, hop.Facts}, {"decisions", "Decisions", decisions, hop.Decisions}} {
			want := fate(k.of(before.stated), k.of(now.stated), now.shown(k.section, k.of(now.stated)))
			if got := reported(k.got); !slices.Equal(got, want) {
				c.Errorf("hop %d, %s to %q: the report says of %s\n%q\nand it was\n%q", hop.Number, hop.From, hop.To, k.name, got, want)
			}
		}
		if want := ruled(before.constraints, now.constraints); !slices.Equal(reported(hop.Constraints), want) {
			c.Errorf("hop %d: the report says of constraints %q, want %q", hop.Number, reported(hop.Constraints), want)
		}
		want := []string{}
		for _, id := range now.memory {
			sign := "= "
			if !slices.Contains(before.memory, id) {
				sign = "+ "
			}
			want = append(want, sign+id)
		}
		slices.Sort(want)
		if got := reported(hop.References); !slices.Equal(got, want) {
			c.Errorf("hop %d: the report says of memory %q, want %q", hop.Number, got, want)
		}
		if !hop.IntentKept {
			c.Errorf("hop %d: the intent was not kept", hop.Number)
		}
	}
	rules := len(c.has.constraints)
	want := drift.Retention{
		Intent: drift.Kept{Introduced: 1, Surviving: 1, Verbatim: 1, Rate: 1}, Facts: retained(c.told, facts, "Facts"),
		Decisions:   retained(c.told, decisions, "Decisions"),
		Constraints: drift.Kept{Introduced: rules, Surviving: rules, Verbatim: rules - 1, Rate: 1}, // one is tighter now
		References:  drift.Kept{Introduced: len(c.has.memory), Surviving: len(c.has.memory), Verbatim: len(c.has.memory), Rate: 1},
	}
	for _, k := range []drift.Kept{want.Intent, want.Facts, want.Decisions, want.Constraints, want.References} {
		o := &want.Overall
		o.Introduced, o.Surviving, o.Verbatim = o.Introduced+k.Introduced, o.Surviving+k.Surviving, o.Verbatim+k.Verbatim
		o.Omitted, o.Replaced = o.Omitted+k.Omitted, o.Replaced+k.Replaced
	}
	want.Overall.Rate = float64(want.Overall.Surviving) / float64(want.Overall.Introduced)
	if r.Retention != want {
		c.Errorf("retention\n%+v\nwant\n%+v", r.Retention, want)
	}
}

// ruled is what becomes of constraints: none is ever lost.
func ruled(before, now []event.Constraint) (out []string) {
	for _, k := range now {
		i := slices.IndexFunc(before, func(b event.Constraint) bool { return b.ID == k.ID })
		switch {
		case i < 0:
			out = append(out, "+ "+k.ID)
		case before[i].Equal(k):
			out = append(out, "= "+k.ID)
		default:
			out = append(out, "~ "+k.ID+" "+k.ID)
		}
	}
	slices.Sort(out)
	return out
}

// TestNothingThatBindsIsLostInTwelveHandoffs is the proof: see docs/fidelity.md.
func TestNothingThatBindsIsLostInTwelveHandoffs(t *testing.T) {
	story(t, func(h *harness) {
		keys.Store(firstKey)
		c := begin(h)
		for _, l := range legs() {
			c.hop(l)
		}
		pins := c.pins()
		for ref, text := range pins {
			if !strings.Contains(c.prompt.text, text) {
				h.Errorf("what is pinned is lost: %s, %s", ref, text)
			}
		}
		if len(c.hops) != 13 || len(pins) != 5 || len(c.has.constraints) != 6 {
			h.Errorf("%d agents had the task; %d pins, %d constraints", len(c.hops), len(pins), len(c.has.constraints))
		}
		c.reportIsTrue(h.drift(h.operator(), c.r.Task))
		h.complete(c.owner, c.r, "Done.")
		if _, is := h.ledger.(*sqlitelog.Log); is { // the double's clock and retries leave other times in the prompts
			pageIsTrue(h, c.hops)
		}
	})
}

package webpage

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"

	"github.com/trapezehq/trapeze/internal/api/webpage/human"
	"github.com/trapezehq/trapeze/internal/api/webpage/standing"
)

// story is a task from its intent to its result.
type story struct {
	client.Task
	Standing []standing.Standing
	Bars     []bar
	Moments  []moment
	Hops     []hopRow
	Drift    *client.Drift
	Picture  []stack
	Children []branch
	NoTrail  string // why there is no trail
	Mine     bool   // the person owns it
	Two      bool   // it has two handoffs, which can be compared
}

// bar is the time for which one agent held the task, in thousandths of the task's life.
type bar struct {
	Agent    string
	Epoch    uint64
	From     time.Time
	Until    time.Time // zero: it still holds the task
	X, Width int
	Color    int    // one of eight
	Anchor   string // of the moment at which it began
}

// moment is an entry of the trail.
type moment struct {
	Anchor   string
	At       time.Time
	After    time.Duration // since the first entry
	Event    string
	Actor    string
	Text     string // what it says, in a line
	Details  string // all of it, as JSON
	Tone     string // good, bad, ask or ""
	Position uint64
}

// hopRow is a handoff of the story.
type hopRow struct {
	N      int    // 0: a part was delegated
	Path   string // of its page
	From   string
	To     string
	Reason client.Reason
	Status client.Stage
	At     time.Time
	Hop    *client.Hop // what its envelope kept, if it has one
}

// branch is a task below another.
type branch struct {
	client.TaskRow
	Depth int
}

func (v *visit) story(w http.ResponseWriter, r *http.Request) error {
	ctx, id := r.Context(), r.PathValue("task")
	t, err := v.api.Task(ctx, id)
	if err != nil {
		return err
	}
	s := story{Task: t, Standing: standing.Of(t), Mine: v.owns(ctx, t)}
	marks, err := v.heldOrErased(ctx, admin.ErasureFilter{Task: t.ID})
	if err != nil {
		return err
	}
	s.Standing = append(s.Standing, marks...)
	trail, err := v.api.Trail(ctx, id)
	if err != nil {
		s.NoTrail = err.Error()
	}
	if drift, err := v.api.Drift(ctx, id); err == nil {
		s.Drift, s.Picture = &drift, pictureOf(drift)
	}
	s.Moments = momentsOf(trail.Entries)
	s.Bars = barsOf(trail.Entries, t, v.now())
	s.Hops = hopsOf(id, trail.Handoffs, s.Drift)
	s.Two = len(slices.DeleteFunc(slices.Clone(s.Hops), func(h hopRow) bool { return h.N == 0 })) > 1
	if s.Children, err = v.branches(ctx, id, len(t.Children)); err != nil {
		return err
	}
	return v.show(w, r, "story", page{Title: human.Short(60, t.Intent), Live: id, Body: s})
}

// owns reports whether the person owns a task: as the agent that the token is of or, of an operator, as the person who is registered by that name.
func (v *visit) owns(ctx context.Context, t client.Task) bool {
	if v.me.Role == client.RoleAgent || v.me.Role == client.RoleAuditor || t.Owner != v.me.Name {
		return t.Owner != "" && t.Owner == v.me.Agent
	}
	person, err := v.api.Agent(ctx, t.Owner)
	return err == nil && person.Spec.Kind == "human"
}

// Limits of the tree of children on a page.
const (
	maxDepth    = 4
	maxBranches = 200
)

// branches lists the tasks below a task, each after its parent.
func (v *visit) branches(ctx context.Context, id string, children int) (all []branch, err error) {
	if children == 0 {
		return nil, nil
	}
	var add func(parent string, depth int) error
	add = func(parent string, depth int) error {
		got, err := v.api.Tasks(ctx, client.TaskFilter{Parent: parent, Limit: 100})
		if err != nil {
			return err
		}
		slices.Reverse(got.Tasks) // in the order in which they were made
		for _, t := range got.Tasks {
			if len(all) == maxBranches {
				return nil
			}
			all = append(all, branch{t, depth})
			if depth < maxDepth {
				if err := add(t.ID, depth+1); err != nil {
					return err
				}
			}
		}
		return nil
	}
	return all, add(id, 0)
}

// said are the fields of an entry that say in words what happened, in the order in which they are read.
var said = []string{"detail", "why", "note", "question", "answer", "cause", "error"}

// named are the fields that name who or what an entry is about.
var named = []string{"from", "to", "agent", "kind", "reason", "tier", "owner", "desk", "outcome", "id", "state"}

func momentsOf(entries []client.AuditEntry) []moment {
	all := make([]moment, 0, len(entries))
	for i, e := range entries {
		m := moment{
			Anchor: fmt.Sprintf("p%d-%d", e.Position, i), At: e.Timestamp, Event: strings.ReplaceAll(e.Event, "-", " "), Actor: e.Agent,
			Tone: toneOf(e.Event), Position: e.Position, After: e.Timestamp.Sub(entries[0].Timestamp),
		}
		var fields map[string]any
		if json.Unmarshal(e.Details, &fields) == nil {
			m.Text = sentence(fields)
		}
		var b bytes.Buffer
		if json.Indent(&b, e.Details, "", "  ") == nil {
			m.Details = b.String()
		}
		all = append(all, m)
	}
	return all
}

// sentence is the fields of an entry that people look for.
func sentence(fields map[string]any) string {
	var parts []string
	for _, name := range named {
		switch v := fields[name].(type) {
		case string:
			if v != "" {
				parts = append(parts, name+" "+v)
			}
		case []any:
			words := make([]string, len(v))
			for i := range v {
				words[i] = fmt.Sprint(v[i])
			}
			if len(words) > 0 {
				parts = append(parts, name+" "+strings.Join(words, ", "))
			}
		}
	}
	for _, name := range said {
		if v, ok := fields[name].(string); ok && v != "" {
			parts = append(parts, "“"+human.Short(300, v)+"”")
		}
	}
	return strings.Join(parts, " · ")
}

// tones are the colours of events: the first of which a word is in the event's name.
var tones = []struct {
	tone  string
	words []string
}{
	{"bad", []string{"fail", "reject", "timeout", "lost", "parked", "denied", "expired", "cancel", "exhausted", "unanswered"}},
	{"good", []string{"complete", "acknowledgment", "approved", "answered", "replayed"}},
	{"ask", []string{"ticket", "question", "approval", "asked", "takeover"}},
}

// toneOf is the colour of an event.
func toneOf(event string) string {
	for _, t := range tones {
		if slices.ContainsFunc(t.words, func(w string) bool { return strings.Contains(event, w) }) {
			return t.tone
		}
	}
	return ""
}

// barsOf returns who held a task when: from the entries after which somebody owns it at an epoch.
func barsOf(entries []client.AuditEntry, t client.Task, now time.Time) (bars []bar) {
	end := now
	if !t.Ended.IsZero() {
		end = t.Ended
	}
	owner, epoch := "", uint64(0)
	for i, e := range entries {
		var d struct {
			Agent string `json:"agent"`
			To    any    `json:"to"`
			Epoch uint64 `json:"epoch"`
			After *struct {
				Owner string `json:"owner"`
				Epoch uint64 `json:"epoch"`
			} `json:"after"`
		}
		if json.Unmarshal(e.Details, &d) != nil {
			continue
		}
		var next string
		var at uint64
		switch {
		case d.After != nil:
			next, at = d.After.Owner, d.After.Epoch
		case e.Event == "task-started":
			next, at = d.Agent, epoch+1
		default:
			continue
		}
		if next == owner && at == epoch {
			continue
		}
		if n := len(bars); n > 0 && bars[n-1].Until.IsZero() {
			bars[n-1].Until = e.Timestamp
		}
		if next != "" {
			bars = append(bars, bar{Agent: next, Epoch: at, From: e.Timestamp, Anchor: fmt.Sprintf("p%d-%d", e.Position, i)})
		}
		owner, epoch = next, at
	}
	if n := len(bars); n > 0 && t.State.Final() && bars[n-1].Until.IsZero() {
		bars[n-1].Until = end
	}
	return scaled(bars, t.Created, end)
}

func scaled(bars []bar, from, until time.Time) []bar {
	whole := max(until.Sub(from), time.Millisecond)
	colors := map[string]int{}
	for i := range bars {
		b := &bars[i]
		end := b.Until
		if end.IsZero() {
			end = until
		}
		b.X = int(1000 * b.From.Sub(from) / whole)
		b.Width = max(int(1000*end.Sub(b.From)/whole), 4)
		if i > 0 { // the bar of a short time is beside the next one, and not behind it
			after := bars[i-1].X + bars[i-1].Width
			if late := after - b.X; late > 0 {
				b.X, b.Width = after, max(b.Width-late, 4)
			}
		}
		if _, ok := colors[b.Agent]; !ok {
			colors[b.Agent] = len(colors) % 8
		}
		b.Color = colors[b.Agent]
	}
	return bars
}

func hopsOf(task string, records []client.Record, drift *client.Drift) (rows []hopRow) {
	for _, d := range records {
		row := hopRow{N: numberOf(task, d.HandoffID), Path: handoffPath(d.HandoffID), From: d.From, To: d.To, Reason: d.Reason, Status: d.Status, At: d.Timestamp}
		if drift != nil {
			for k := range drift.Hops {
				if drift.Hops[k].Handoff == d.HandoffID {
					row.Hop = &drift.Hops[k]
				}
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// stack is one hop in the picture of drift: what became of the entries of its envelope, in pixels from the bottom.
type stack struct {
	Hop    int
	To     string
	X      int
	Blocks []block
}

type block struct {
	Fate         string // kept, changed, added, omitted or dropped
	Y, Height, N int
	X            int
	Description  string
}

const pictureHeight = 120

// pictureOf draws what each hop kept, changed, added, omitted and dropped, one bar a hop, all at one scale.
func pictureOf(d client.Drift) (all []stack) {
	most := 1
	counts := make([][5]int, len(d.Hops))
	fates := [5]string{"kept", "changed", "added", "omitted", "dropped"}
	for i, h := range d.Hops {
		for _, c := range []client.Changes{h.Facts, h.Decisions, h.Constraints, h.References} {
			for k, n := range [5]int{len(c.Kept), len(c.Changed), len(c.Added), len(c.Omitted), len(c.Dropped)} {
				counts[i][k] += n
			}
		}
		sum := 0
		for _, n := range counts[i] {
			sum += n
		}
		most = max(most, sum)
	}
	for i, h := range d.Hops {
		s := stack{Hop: h.Number, To: strings.Join(h.To, ", "), X: 40 * i}
		y := pictureHeight
		for k, n := range counts[i] {
			if n == 0 {
				continue
			}
			height := max(n*pictureHeight/most, 2)
			y -= height
			s.Blocks = append(s.Blocks, block{Fate: fates[k], Y: y, Height: height, N: n, X: s.X, Description: fmt.Sprintf("hop %d: %d %s", h.Number, n, fates[k])})
		}
		all = append(all, s)
	}
	return all
}

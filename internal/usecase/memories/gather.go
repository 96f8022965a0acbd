package memories

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/conversations"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// Bounds of what goes into one envelope: counts, and bytes of text. A pinned or requested item beyond the bytes goes in
// as a reference alone. Of the bytes, maxPinnedText are for pinned items alone, so that no request can crowd them out, and of those
// maxOperatorText for what operators have pinned.
const (
	MaxRequested    = 400
	MaxRecent       = 50
	maxPinnedItems  = 32 // of the task's, and of the workspace's
	maxMemoryText   = 256 << 10
	maxPinnedText   = 64 << 10
	maxOperatorText = 32 << 10
	maxTurnsSealed  = 40
	maxTurnText     = 64 << 10
)

// MaxSummary is the most bytes of the summary of a conversation in an envelope, whether a sender wrote it or it is the continuity text.
const MaxSummary = 4000

// patience is how long sealing waits for the views to know what is pinned just now.
const patience = 2 * time.Second

// Gather says what an envelope is to hold of what is known.
type Gather struct {
	// Task is the task as it is when the envelope is sealed, which may be newer than the record.
	Task task.Task
	// Requested are the items that the sender asks for. Without a version: the newest.
	Requested []memory.Reference
	// Recent is how many items beside those and the pinned ones are to be found by themselves: by the words of the task's
	// intent and of About, which may be empty.
	Recent int
	About  string
}

// Gathered is what an envelope can hold of what is known.
type Gathered struct {
	Memory []envelope.MemoryRef // requested, then pinned, then recent; each item once
	Gaps   []envelope.Gap       // what was asked for and is not to be had
	Turns  []envelope.Turn      // the last ones of the conversation, oldest first
	// Pins is how many items that are pinned are not among them.
	Pins int
	// Continuity condenses the conversation and names the previous agents; empty without one.
	Continuity string
}

// Gather finds what a sender can put into an envelope. The sender is the caller; where the server itself calls, the principal that
// stands behind the task, whose role then counts for nothing. What it may not read counts as not found. By itself only goes in what is for everybody in the
// workspace or in the scope of the task, never the sender's private items. It refuses (invalid, too_large) references
// that are none or too many.
func (st *Store) Gather(ctx context.Context, c caller.Caller, q Gather) (Gathered, error) {
	if err := q.check(); err != nil {
		return Gathered{}, err
	}
	if q.Task.Conversation != "" || !st.haveItems(c) {
		if err := st.catchUp(ctx); err != nil {
			return Gathered{}, err
		}
	}
	none := len(q.Requested) == 0 && !st.views.HasMemory(c.Workspace)
	if none && q.Task.Conversation == "" { // most tasks, and they are in a hurry
		return Gathered{}, nil
	}
	g := gathering{store: st, workspace: c.Workspace, task: q.Task, sender: memory.Reader{Principal: c.Principal}, seen: map[string]bool{}, room: maxMemoryText}
	if c.IsSystem() {
		g.sender = memory.Reader{Principal: identity.ParsePrincipal(c.Workspace, q.Task.Requester), RoleAside: true}
		if q.Task.Owner != "" {
			g.sender.Principal = identity.Principal{Workspace: c.Workspace, Role: identity.Agent, Name: q.Task.Owner}
		}
	}
	taskstore.AddPart(&g.sender, q.Task)
	steps := []func(context.Context, Gather) error{g.requested, g.pinned, g.recent, g.conversation}
	if none {
		steps = steps[3:]
	}
	for _, step := range steps {
		if err := step(ctx, q); err != nil {
			return Gathered{}, err
		}
	}
	return g.out, nil
}

// catchUp waits until the views know what was pinned before now; but not for ever, since nothing may depend on them.
func (st *Store) catchUp(ctx context.Context) error {
	soon, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if _, err := stream.CatchUp(soon, st.ledger, st.views.Position(), st.views.Wait); err != nil && ctx.Err() != nil {
		return err
	}
	return nil
}

func (q Gather) check() error {
	switch {
	case len(q.Requested) > MaxRequested:
		return event.TooMany("memory items", len(q.Requested), MaxRequested)
	case q.Recent < 0 || q.Recent > MaxRecent:
		return refusal.New(refusal.Invalid, fmt.Sprintf("use 0 to %d", MaxRecent), "%d recent items are out of range", q.Recent)
	}
	for _, r := range q.Requested {
		if r.Digest == "" {
			r.Version = 0
		}
		if err := r.Check(); err != nil {
			return err
		}
	}
	return nil
}

// gathering is a Gather under way.
type gathering struct {
	store     *Store
	workspace string
	task      task.Task
	sender    memory.Reader
	granted   []memory.Reference // to the sender, by what it holds of the task
	looked    bool
	seen      map[string]bool
	room      int // bytes of text
	out       Gathered
}

func (g *gathering) requested(ctx context.Context, q Gather) error {
	for _, ref := range q.Requested {
		if g.seen[ref.ID] {
			continue
		}
		g.seen[ref.ID] = true
		f, err := g.store.Load(ctx, StreamOf(g.workspace, ref.ID), true)
		if err != nil {
			return err
		}
		r, err := g.readerOf(ctx, f.State)
		if err != nil {
			return err
		}
		asked := ref.Version
		if ref.Digest == "" {
			ref.Version = 0
		}
		switch x := given(f.State, r, ref, asked); x.Status {
		case memory.Missing:
			g.gap(envelope.PartMemory, ref.ID, envelope.GapNotFound)
		case memory.Forgotten:
			g.gap(envelope.PartMemory, ref.ID, envelope.GapForgotten)
		case memory.Current, memory.Changed:
			g.add(f.State, x, true)
		}
	}
	return nil
}

// readerOf is the sender with what lets it read an item: its part in the item's task, or what this task gave it.
func (g *gathering) readerOf(ctx context.Context, s memory.State) (memory.Reader, error) {
	r := g.sender
	if !s.Exists() || memory.MayRead(s, r) {
		return r, nil
	}
	if s.Task != g.task.ID {
		r.Tasks = slices.Clone(r.Tasks)
		if err := taskstore.Join(ctx, g.store.tasks, g.workspace, &r, s.Task); err != nil || memory.MayRead(s, r) {
			return r, err
		}
	}
	if agent := r.Agent(); agent != "" && !g.looked {
		var err error
		if g.granted, err = g.store.granted(ctx, g.workspace, g.task, agent); err != nil {
			return r, err
		}
		g.looked = true
	}
	r.Granted = g.granted
	return r, nil
}

func (g *gathering) gap(kind envelope.PartKind, id string, why envelope.GapReason) {
	g.out.Gaps = append(g.out.Gaps, envelope.Gap{Kind: kind, ID: id, Reason: why})
}

// add puts an item in. Where there is no room for its text, one that must go in goes as a reference.
func (g *gathering) add(s memory.State, x Item, must bool) {
	m := envelope.MemoryRef{
		ID: x.ID, Version: x.Version, Digest: x.Digest, Title: x.Title, Author: strings.TrimPrefix(x.Author, "agent/"), Text: x.Text,
		Weight: envelope.Weight{Pinned: s.Pinning().Counts(), Importance: s.Importance},
	}
	if by := strings.TrimPrefix(s.PinnedBy, "agent/"); m.Pinned && by != m.Author {
		m.PinnedBy = by
	}
	room := g.room
	switch s.Pinning() {
	case memory.OperatorPin:
	case memory.AgentPin:
		room -= maxOperatorText
	case memory.NotPinned, memory.ProposedPin:
		room -= maxPinnedText
	}
	if len(m.Text) > room {
		if !must {
			return
		}
		m.Text = ""
	}
	g.room -= len(m.Text)
	g.out.Memory = append(g.out.Memory, m)
}

// open is who may read what goes in by itself: what is in the workspace's scope or the task's, as the owners since its last cold handoff do. A sender that
// reads more, such as the requester, names what else is to go along.
func (g *gathering) open() memory.Reader {
	r := memory.Reader{Principal: identity.Principal{Workspace: g.workspace, Role: identity.System, Name: "memories"}, Tasks: []string{g.task.ID}}
	if cold := g.task.ColdAt; !cold.IsZero() {
		r.Spans = map[string][]memory.Span{g.task.ID: {{From: cold}}}
	}
	return r
}

// pinned finds what operators have pinned in the task's scope, then in the workspace's, and then what agents have pinned in the
// task's: so that neither can crowd another out, least of all agents what operators have pinned.
func (g *gathering) pinned(ctx context.Context, _ Gather) error {
	here := view.MemoryFilter{Task: g.task.ID, Scope: memory.Task, Pinning: memory.OperatorPin}
	byAgents := here
	byAgents.Pinning = memory.AgentPin
	for _, f := range []view.MemoryFilter{here, {Scope: memory.Workspace, Pinning: memory.OperatorPin}, byAgents} {
		f.By, f.Limit = g.open(), view.MaxPage
		left, err := g.find(ctx, f, maxPinnedItems, true)
		if err != nil {
			return err
		}
		g.out.Pins += left
	}
	return nil
}

func (g *gathering) recent(ctx context.Context, q Gather) error {
	most := min(q.Recent, envelope.MaxMemory-len(g.out.Memory))
	if most <= 0 {
		return nil
	}
	text := telling(q.About) + " " + telling(g.task.Intent)
	f := view.MemoryFilter{By: g.open(), Text: text, Now: g.store.now(), Limit: most + len(g.seen)}
	_, err := g.find(ctx, f, most, false)
	return err
}

// tellingWords is how many words of a task's ask, and of its intent, are searched for: each costs a look at all that has
// it.
const tellingWords = 4

// telling are the longest words of a text: they say most about what it is about, and few other texts have them.
func telling(text string) string {
	words := slices.Compact(slices.Sorted(strings.FieldsSeq(refusal.Clip(text, 16*maxQuery))))
	slices.SortStableFunc(words, func(a, b string) int { return len(b) - len(a) })
	return strings.Join(words[:min(len(words), tellingWords)], " ")
}

// find adds what views find and the sender may read, at most so many items. It returns how many others the views found.
func (g *gathering) find(ctx context.Context, f view.MemoryFilter, most int, must bool) (left int, err error) {
	found, err := g.store.views.Memory(ctx, g.workspace, f)
	if err != nil {
		return 0, stream.Unavailable(err)
	}
	for _, x := range found {
		if g.seen[x.ID] {
			continue
		}
		if most == 0 {
			left++
			continue
		}
		m, err := g.store.Load(ctx, StreamOf(g.workspace, x.ID), true)
		if err != nil {
			return 0, err
		}
		s := m.State
		if f.Pinning != memory.NotPinned && s.Pinning() != f.Pinning || s.Forgotten() || !memory.MayRead(s, g.open()) || !memory.MayRead(s, g.sender) {
			continue
		}
		g.seen[x.ID] = true
		g.add(s, given(s, g.sender, memory.Reference{ID: s.ID}, 0), must)
		most--
	}
	return left, nil
}

func (g *gathering) conversation(ctx context.Context, _ Gather) error {
	if g.task.Conversation == "" {
		return nil
	}
	f, err := g.store.talks.Load(ctx, conversations.StreamOf(g.workspace, g.task.Conversation), true)
	if err != nil {
		return err
	}
	r, err := g.store.talks.Partner(ctx, g.workspace, g.sender, f.State)
	if err != nil {
		return err
	}
	r.Since = g.task.ColdAt // as for items: see open
	if !conversation.MayRead(f.State, r) {
		return nil
	}
	last, err := g.store.talks.LastTurns(ctx, g.workspace, f, r, maxTurnsSealed)
	if err != nil {
		return err
	}
	room := maxTurnText
	for _, t := range slices.Backward(last) {
		if room -= len(t.Text); room < 0 {
			break
		}
		g.out.Turns = append(g.out.Turns, envelope.Turn{Time: t.At, Agent: t.Agent, Role: string(t.Role), Text: t.Text})
	}
	slices.Reverse(g.out.Turns)
	g.out.Continuity, err = g.store.talks.Condense(ctx, g.workspace, f, r, last, g.task, MaxSummary)
	return err
}

// Refresh looks again at the items of an envelope that was sealed a while ago: those that were forgotten since, or are not
// there, become gaps. The others stay as they were sealed.
func (st *Store) Refresh(ctx context.Context, workspace string, sealed []envelope.MemoryRef) (kept []envelope.MemoryRef, gaps []envelope.Gap, err error) {
	for _, m := range sealed {
		f, err := st.Load(ctx, StreamOf(workspace, m.ID), true)
		if err != nil {
			return nil, nil, err
		}
		switch _, status := memory.Resolve(f.State, memory.Reference{ID: m.ID, Version: m.Version, Digest: m.Digest}); status {
		case memory.Forgotten:
			gaps = append(gaps, envelope.Gap{Kind: envelope.PartMemory, ID: m.ID, Reason: envelope.GapForgotten})
		case memory.Missing:
			gaps = append(gaps, envelope.Gap{Kind: envelope.PartMemory, ID: m.ID, Reason: envelope.GapNotFound})
		case memory.Current, memory.Changed:
			kept = append(kept, m)
		}
	}
	return kept, gaps, nil
}

// Forgetters counts the items among the gaps of an envelope that were forgotten at or after a time, by the principal that did; what the server
// forgot counts as its owner's.
func (st *Store) Forgetters(ctx context.Context, workspace string, gaps []envelope.Gap, since time.Time) (map[string]int, error) {
	by := map[string]int{}
	for _, g := range gaps {
		if g.Kind != envelope.PartMemory {
			continue
		}
		f, err := st.Load(ctx, StreamOf(workspace, g.ID), true)
		if err != nil {
			return nil, err
		}
		switch s := f.State; {
		case !s.Forgotten() || s.ForgottenAt.Before(since):
		case identity.ParsePrincipal(workspace, s.ForgottenBy).IsSystem():
			by[s.Owner]++
		default:
			by[s.ForgottenBy]++
		}
	}
	return by, nil
}

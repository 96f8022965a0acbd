package erasures

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/erasure"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
)

// retainEvery is the interval at which content is looked for that is kept no longer.
const (
	retainEvery = 24 * time.Hour
	retainAgain = 10 * time.Minute // after a failure
)

// retainAtOnce is the number of streams that one erasure by the policy has.
const retainAtOnce = 500

// content is a stream that has content.
type content struct {
	stream ledger.Stream
	kind   erasure.Kind
	keys   []string // of its entries

	names     map[erasure.Subject]bool // that name it
	since     time.Time                // from which on it is kept
	open      bool                     // a task that has not ended needs it
	forgotten bool
}

// contents are the streams of a workspace that have content.
type contents struct {
	*found
	rules  erasure.Retentions
	policy string // its digest
	all    map[ledger.Stream]*content
}

// RetainDaily is [Erasures.Retain] if a day has passed since it was done last, or if it was not done since the start.
func (es *Erasures) RetainDaily(ctx context.Context) error {
	es.one.Lock()
	due := !es.p.Now().Before(es.retainAt)
	es.one.Unlock()
	if !due {
		return nil
	}
	err := es.Retain(ctx)
	es.one.Lock()
	defer es.one.Unlock()
	es.retainAt = es.p.Now().Add(retainEvery)
	if err != nil {
		es.retainAt = es.p.Now().Add(retainAgain)
	}
	return err
}

// Retain erases, in every workspace, what the policy keeps no longer, and memory items that were forgotten while they were kept. It goes through the
// whole record. Workspaces without rules of retention, holds and erasures are left out.
func (es *Erasures) Retain(ctx context.Context) error {
	if es.o.Keys == nil {
		return nil
	}
	es.one.Lock()
	defer es.one.Unlock()
	by := map[string]*contents{} // by workspace; nil: nothing can be due
	for after := ledger.Position(0); ; {
		list, err := ledger.Page(ctx, es.p.Ledger, after, findPage)
		if err != nil {
			return stream.Unavailable(err)
		}
		if len(list) == 0 {
			break
		}
		for i := range list {
			after = list[i].Position
			if err := es.addContent(ctx, by, &list[i]); err != nil {
				return err
			}
		}
	}
	for _, workspace := range slices.Sorted(maps.Keys(by)) {
		if by[workspace] == nil {
			continue
		}
		if err := es.retain(ctx, by[workspace]); err != nil {
			return fmt.Errorf("retention in the workspace %s: %w", workspace, err)
		}
	}
	return nil
}

// addContent adds an entry to the contents of its workspace.
func (es *Erasures) addContent(ctx context.Context, by map[string]*contents, e *ledger.Entry) (err error) {
	workspace, kind, _ := e.Stream.Parts()
	cs, known := by[workspace]
	if !known {
		if cs, err = es.contents(ctx, workspace); err != nil {
			return err
		}
		by[workspace] = cs
	}
	if cs == nil {
		return nil
	}
	cs.add(e)
	if e.Enc != ledger.EncSealed || !slices.Contains(erasure.Kinds(), erasure.Kind(kind)) {
		return nil
	}
	c := cs.all[e.Stream]
	if c == nil {
		c = &content{stream: e.Stream, kind: erasure.Kind(kind)}
		cs.all[e.Stream] = c
	}
	if !slices.Contains(c.keys, e.KeyID) {
		c.keys = append(c.keys, e.KeyID)
	}
	return nil
}

// contents returns where to put those of a workspace; nil if nothing can be due there.
func (es *Erasures) contents(ctx context.Context, workspace string) (*contents, error) {
	rules, digest, err := es.o.Retention(ctx, workspace)
	if err != nil {
		return nil, err
	}
	if len(rules) == 0 {
		f, err := es.kind.Load(ctx, StreamOf(workspace), true)
		if err != nil || f.Head == 0 {
			return nil, err
		}
	}
	return &contents{found: newFound(workspace, erasure.Subject{}), rules: rules, policy: digest, all: map[ledger.Stream]*content{}}, nil
}

// retain erases what is due.
func (es *Erasures) retain(ctx context.Context, cs *contents) error {
	now := es.p.Now()
	var due []*content
	for _, name := range slices.Sorted(maps.Keys(cs.all)) {
		c := cs.all[name]
		if !slices.ContainsFunc(c.keys, es.o.Keys.Has) {
			continue // it was erased
		}
		if err := es.look(ctx, cs.found, c); err != nil {
			return err
		}
		kept, end := cs.rules.Kept(c.kind, c.names, c.since)
		if !c.open && !now.Before(kept) && (c.forgotten || !end.IsZero() && !now.Before(end)) {
			due = append(due, c)
		}
	}
	erased := 0
	for part := range slices.Chunk(due, retainAtOnce) {
		n, err := es.expire(ctx, cs, part)
		if err != nil {
			return err
		}
		erased += n
	}
	if erased == 0 {
		return nil
	}
	_, err := es.finish(ctx, cs.workspace)
	return err
}

// look sets what decides how long a content is kept.
func (es *Erasures) look(ctx context.Context, f *found, c *content) error {
	_, _, id := c.stream.Parts()
	c.names, c.since = map[erasure.Subject]bool{{Kind: c.kind, Name: id}: true}, f.last[c.stream]
	tasks := map[string]bool{}
	switch c.kind {
	case erasure.Tag, erasure.Named: // no stream is of this kind
	case erasure.Task:
		tasks[id] = true
		delete(c.names, erasure.Subject{Kind: erasure.Task, Name: id}) // which is added with those that name it
	case erasure.Conversation:
		tasks = f.users[id]
		f.addTalk(id, c.names)
	case erasure.Memory:
		item, err := es.p.Memories.Load(ctx, memories.StreamOf(f.workspace, id), true)
		if err != nil {
			return err
		}
		c.since, c.forgotten = item.State.UpdatedAt, item.State.Forgotten()
		if err := es.addItemNames(ctx, f.workspace, id, c.names); err != nil {
			return err
		}
		if of := item.State.Task; of != "" && !c.forgotten {
			tasks[of] = true
		}
	}
	for task := range tasks {
		if err := es.addNames(ctx, f.workspace, task, false, c.names); err != nil {
			return err
		}
		t, err := es.p.Tasks.Find(ctx, f.workspace, task)
		if refusal.CodeOf(err) == refusal.NotFound && c.kind != erasure.Task {
			continue // it may name a task that is not there
		} else if err != nil {
			return err
		}
		c.open = c.open || !t.State.Final()
		if c.kind == erasure.Task {
			c.since = t.Ended
		}
	}
	return nil
}

// expire records the erasure of contents that no legal hold keeps, and returns how many those are.
func (es *Erasures) expire(ctx context.Context, cs *contents, part []*content) (n int, err error) {
	c := caller.System(cs.workspace, "retention")
	es.holding.Lock()
	defer es.holding.Unlock()
	f, err := es.kind.Load(ctx, StreamOf(cs.workspace), true)
	if err != nil {
		return 0, err
	}
	part = slices.DeleteFunc(slices.Clone(part), func(c *content) bool { return f.State.Held(c.names) })
	if len(part) == 0 {
		return 0, nil
	}
	cmd := erasure.Expire{By: c.Principal, Policy: cs.policy}
	clear(cs.files)
	for _, x := range part {
		_, _, id := x.stream.Parts()
		switch x.kind {
		case erasure.Conversation, erasure.Tag, erasure.Named: // it has nothing else
		case erasure.Task:
			err = stream.Each(ctx, es.p.Ledger, x.stream, func(e ledger.Entry) error { cs.addFilesOf(&e); return nil })
		case erasure.Memory:
			err = es.p.Memories.ForgetForErasure(ctx, c, id)
		}
		if err != nil {
			return 0, err
		}
		cmd.Streams, cmd.Left = append(cmd.Streams, string(x.stream)), cmd.Left+cs.left[x.stream]
	}
	cmd.Files = slices.Sorted(maps.Keys(cs.files))
	if err := es.o.Keys.Begin(cs.workspace); err != nil {
		return 0, stream.Unavailable(err)
	}
	_, err = es.kind.Do(ctx, c.Write(""), StreamOf(cs.workspace), func(s erasure.State, now time.Time) ([]erasure.Event, error) {
		return erasure.Decide(s, cmd, now)
	})
	return len(part), err
}

// kept returns the time until which the retention policy keeps some streams, and the stream that it keeps the longest.
func (es *Erasures) kept(ctx context.Context, f *found, streams []ledger.Stream) (until time.Time, of ledger.Stream, err error) {
	rules, _, err := es.o.Retention(ctx, f.workspace)
	if err != nil || len(rules) == 0 {
		return until, of, err
	}
	for _, s := range streams {
		_, kind, _ := s.Parts()
		c := &content{stream: s, kind: erasure.Kind(kind)}
		if err := es.look(ctx, f, c); err != nil {
			return until, of, err
		}
		if t, _ := rules.Kept(c.kind, c.names, c.since); t.After(until) {
			until, of = t, s
		}
	}
	return until, of, nil
}

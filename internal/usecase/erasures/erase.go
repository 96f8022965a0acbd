package erasures

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/erasure"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/memories"
)

// EraseInput erases content.
type EraseInput struct {
	Subject string `json:"subject" minLength:"1" maxLength:"200" doc:"What is erased: task/ID with its descendants, tag/TAG for every task with the tag, subject/NAME for all that was made with the subject NAME, conversation/ID, conversation/NAME for all that are called so, or memory/ID." example:"subject/patient/4711"`
	Why     string `json:"why" minLength:"1" maxLength:"500" doc:"The reason. The record keeps it."`
}

// Erase erases the content of what a subject names. It is refused while a task among it has not ended, or a legal hold is on any of it. It goes
// through the whole record and builds the views again: until it returns, lists may be incomplete. It is for operators.
func (es *Erasures) Erase(ctx context.Context, c caller.Caller, in EraseInput) (Erasure, error) {
	out, err := es.erase(ctx, c, in)
	if err != nil {
		return Erasure{}, es.p.Access.Refused(ctx, c.Workspace, c.Actor(), "erase", in.Subject, err)
	}
	return out, nil
}

func (es *Erasures) erase(ctx context.Context, c caller.Caller, in EraseInput) (Erasure, error) {
	if err := c.May(identity.ActAny, "erase content"); err != nil {
		return Erasure{}, err
	}
	subject, err := erasure.ParseSubject(in.Subject)
	if err != nil {
		return Erasure{}, err
	}
	if es.o.Keys == nil {
		return Erasure{}, errNotErasable()
	}
	request, err := c.Digest("erase", in)
	if err != nil {
		return Erasure{}, err
	}
	es.one.Lock()
	defer es.one.Unlock()
	if err := es.rested(c.Workspace); err != nil {
		return Erasure{}, err
	}
	defer es.rest(c.Workspace, time.Now())
	cmd, items, err := es.command(ctx, c, subject, in.Why)
	if err != nil {
		return Erasure{}, err
	}
	// A hold is looked for before anything changes, and again when the erasure is recorded.
	f, err := es.kind.Load(ctx, StreamOf(c.Workspace), true)
	if err == nil {
		_, err = erasure.Decide(f.State, cmd, es.p.Now())
	}
	if err == nil {
		err = es.forget(ctx, c, items)
	}
	if err == nil {
		err = es.begin(c.Workspace)
	}
	if err != nil {
		return Erasure{}, err
	}
	out, err := es.kind.Do(ctx, c.Write(request), StreamOf(c.Workspace), func(s erasure.State, now time.Time) ([]erasure.Event, error) {
		return erasure.Decide(s, cmd, now)
	})
	if err != nil {
		return Erasure{}, err
	}
	n := out.State.Erasures[len(out.State.Erasures)-1].N
	s, err := es.finish(context.WithoutCancel(ctx), c.Workspace)
	if err != nil {
		return Erasure{}, err
	}
	i := slices.IndexFunc(s.Erasures, func(e erasure.Erasure) bool { return e.N == n })
	return of(s.Erasures[i]), nil
}

// begin notes that an erasure of a workspace may be pending.
func (es *Erasures) begin(workspace string) error {
	es.holding.Lock()
	defer es.holding.Unlock()
	return es.o.Keys.Begin(workspace)
}

// command looks for what a subject names. items are the memory items among it.
func (es *Erasures) command(ctx context.Context, c caller.Caller, subject erasure.Subject, why string) (cmd erasure.Erase, items []string, err error) {
	f, err := es.find(ctx, c.Workspace, subject)
	if err != nil {
		return cmd, nil, err
	}
	streams, left := f.streams()
	if len(streams) == 0 {
		return cmd, nil, refusal.New(refusal.NotFound, "check the spelling of the id or the name; tags are those of tasks", "the record has nothing that %s names", subject)
	}
	items = slices.Sorted(maps.Keys(f.items))
	cmd = erasure.Erase{By: c.Principal, Subject: subject, Why: why, Left: left, Files: slices.Sorted(maps.Keys(f.files)), Kept: f.kept()}
	for _, s := range streams {
		cmd.Streams = append(cmd.Streams, string(s))
	}
	names := map[erasure.Subject]bool{}
	for _, id := range slices.Sorted(maps.Keys(f.tasks)) {
		if err := es.addNames(ctx, c.Workspace, id, true, names); err != nil {
			return cmd, nil, err
		}
	}
	for talk := range f.talks {
		f.addTalk(talk, names)
		for task := range f.users[talk] {
			if err := es.addNames(ctx, c.Workspace, task, false, names); err != nil {
				return cmd, nil, err
			}
		}
	}
	for _, id := range items {
		if err := es.addItemNames(ctx, c.Workspace, id, names); err != nil {
			return cmd, nil, err
		}
	}
	cmd.Names = slices.Collect(maps.Keys(names))
	until, keeps, err := es.kept(ctx, f, streams)
	cmd.Until, cmd.Keeps = until, strings.TrimPrefix(string(keeps), c.Workspace+"/")
	return cmd, items, err
}

// addNames adds the subjects that name a task: itself, its ancestors, their tags and conversations. It refuses a task that has not ended, if that is
// asked for.
func (es *Erasures) addNames(ctx context.Context, workspace, id string, ended bool, names map[erasure.Subject]bool) error {
	for id != "" && (ended || !names[erasure.Subject{Kind: erasure.Task, Name: id}]) {
		t, err := es.p.Tasks.Find(ctx, workspace, id)
		if err != nil {
			if !ended && refusal.CodeOf(err) == refusal.NotFound {
				return nil // an item may name a task that is not there
			}
			return err // a hold on it may not be known
		}
		if ended && !t.State.Final() {
			return refusal.New(refusal.Conflict, "[cancel](task cancel) or [discard](dead discard) it first", "task %s has not ended: it is %s", id, t.State)
		}
		ended = false
		names[erasure.Subject{Kind: erasure.Task, Name: id}] = true
		for _, tag := range t.Tags {
			names[erasure.Subject{Kind: erasure.Tag, Name: tag}] = true
		}
		if t.Subject != "" {
			names[erasure.Subject{Kind: erasure.Named, Name: t.Subject}] = true
		}
		addTalkNames(t.Conversation, names)
		id = t.Parent.Task
	}
	return nil
}

// addItemNames adds the subjects that name a memory item: itself, its conversation, and those that name its tasks.
func (es *Erasures) addItemNames(ctx context.Context, workspace, id string, names map[erasure.Subject]bool) error {
	item, err := es.p.Memories.Load(ctx, memories.StreamOf(workspace, id), true)
	if err != nil {
		return err
	}
	names[erasure.Subject{Kind: erasure.Memory, Name: id}] = true
	if of := item.State.Subject; of != "" {
		names[erasure.Subject{Kind: erasure.Named, Name: of}] = true
	}
	addTalkNames(item.State.Conversation, names)
	for _, task := range []string{item.State.Task, item.State.Source.Task} {
		if err := es.addNames(ctx, workspace, task, false, names); err != nil {
			return err
		}
	}
	return nil
}

// forget has memory items given to nobody from now on, also not where envelopes of other tasks have them.
func (es *Erasures) forget(ctx context.Context, c caller.Caller, items []string) error {
	for _, id := range items {
		if err := es.p.Memories.ForgetForErasure(ctx, c, id); err != nil {
			return err
		}
	}
	return nil
}

package conversations

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// maxParents is how many generations of a task's parents are followed. The limit of the rules is lower.
const maxParents = 32

// Told reports whether a caller may read the conversation of an entry, as far as the views know its tasks.
func (st *Store) Told(ctx context.Context, c caller.Caller, e ledger.Entry) (bool, error) {
	f, err := st.LoadAt(ctx, e)
	if err != nil {
		return false, err
	}
	r := memory.Reader{Principal: c.Principal}
	_, err = st.join(ctx, c.Workspace, &r, f.State)
	return err == nil && conversation.MayRead(f.State, r), err
}

// Partner is a principal with what lets it read a conversation, if anything does.
func (st *Store) Partner(ctx context.Context, workspace string, r memory.Reader, s conversation.State) (memory.Reader, error) {
	had := st.views.Position()
	if found, err := st.join(ctx, workspace, &r, s); err != nil || found {
		return r, err
	}
	more, err := stream.CatchUp(ctx, st.ledger, had, st.views.Wait)
	if err == nil && more {
		_, err = st.carried(ctx, workspace, &r, s)
	}
	return r, err
}

// join gives a reader what lets it read a conversation, and reports whether anything does.
func (st *Store) join(ctx context.Context, workspace string, r *memory.Reader, s conversation.State) (found bool, err error) {
	if !s.Exists() || r.ReadsAny() || s.TakesPart(r.Agent()) {
		return true, nil
	}
	for _, id := range slices.Backward(s.Tasks[max(len(s.Tasks)-maxNamed, 0):]) {
		if err := taskstore.Join(ctx, st.tasks, workspace, r, id); err != nil {
			return false, err
		}
		if slices.Contains(r.Tasks, id) && hear(r, spansOf(*r, id), s.TaskSince[id]) {
			return true, nil
		}
	}
	found, err = st.carried(ctx, workspace, r, s)
	return found || len(r.Tasks) > 0, err
}

// spansOf are the times of what a reader reads of a task that it takes part in.
func spansOf(r memory.Reader, task string) []memory.Span {
	if spans, limited := r.Spans[task]; limited {
		return spans
	}
	return []memory.Span{{}}
}

// hear lets a reader read the turns of some times, not from before since, and reports whether it reads all turns now.
func hear(r *memory.Reader, spans []memory.Span, since time.Time) (all bool) {
	r.Heard = slices.Clip(r.Heard)
	for _, s := range spans {
		if s.From.Before(since) {
			s.From = since
		}
		r.Heard = append(r.Heard, s)
		all = all || s.From.IsZero() && s.Until.IsZero()
	}
	return all
}

// heardSince is the earliest time from which on a reader reads turns; zero: from the beginning.
func heardSince(r memory.Reader) time.Time {
	if len(r.Heard) == 0 {
		return time.Time{}
	}
	return slices.MinFunc(r.Heard, func(a, b memory.Span) int { return a.From.Compare(b.From) }).From
}

// carried looks for the tasks that a reader takes part in and that carry a conversation along.
func (st *Store) carried(ctx context.Context, workspace string, r *memory.Reader, s conversation.State) (found bool, err error) {
	ids, err := st.views.TasksOfConversation(ctx, workspace, s.ID, r.String(), view.MaxPage)
	if err != nil {
		return false, stream.Unavailable(err)
	}
	for _, id := range ids {
		t, err := st.tasks.Find(ctx, workspace, id)
		if err != nil {
			return false, err
		}
		since, carries, err := st.carries(ctx, workspace, t, s, r.Principal)
		if err != nil {
			return false, err
		}
		if !carries {
			continue
		}
		if !found {
			found, r.Conversations = true, append(r.Conversations, s.ID)
		}
		of := memory.Reader{Principal: r.Principal}
		taskstore.AddPart(&of, t)
		if hear(r, spansOf(of, id), since) {
			break
		}
	}
	return found, nil
}

// carries reports whether a task carries a conversation along to a principal, and from when on: see belongs.
func (st *Store) carries(ctx context.Context, workspace string, t task.Task, s conversation.State, p identity.Principal) (since time.Time, is bool, err error) {
	if !taskstore.TakesPart(t, p) {
		return since, false, nil
	}
	return st.belongs(ctx, workspace, t, s)
}

// holds reports whether a reader requested or owns a task that lets it read a conversation. Others that read it, such as a former owner or an approver, do so for a
// time, which ends with what lets them.
func (st *Store) holds(ctx context.Context, workspace string, r memory.Reader, s conversation.State) (bool, error) {
	if !s.Exists() || r.ReadsAny() || s.TakesPart(r.Agent()) { // which says enough
		return false, nil
	}
	ids, err := st.views.TasksOfConversation(ctx, workspace, s.ID, r.String(), view.MaxPage)
	if err != nil {
		return false, stream.Unavailable(err)
	}
	for _, id := range append(ids, r.Tasks...) {
		t, err := st.tasks.Find(ctx, workspace, id)
		if err != nil {
			return false, err
		}
		if !holdsTask(t, r.String()) {
			continue
		}
		_, belongs, err := st.belongs(ctx, workspace, t, s)
		if err != nil || belongs || slices.Contains(s.Tasks, id) {
			return err == nil, err
		}
	}
	return false, nil
}

// holdsTask reports whether a principal requested or owns a task that has not ended.
func holdsTask(t task.Task, principal string) bool {
	return t.Exists() && !t.State.Final() && slices.ContainsFunc(task.RelationsOf(&t, principal), func(r task.Relation) bool {
		return r == task.Requester || r == task.Owner
	})
}

// belongs reports whether a task belongs to a conversation, so that its owners read it. A child task got its
// conversation from its parent, so the principal that requested the first of them counts; and if the parent had been handed off cold before, its owner
// had no turn from before since to pass on.
func (st *Store) belongs(ctx context.Context, workspace string, t task.Task, s conversation.State) (since time.Time, is bool, err error) {
	if t.Conversation != s.ID {
		return since, false, nil
	}
	for range maxParents {
		if t.Parent.Task == "" {
			if own := s.Since[strings.TrimPrefix(t.Requester, "agent/")]; own.After(since) { // it passes on no more than it reads
				since = own
			}
			return since, conversation.Carries(s, t.Requester), nil
		}
		made := t.Created
		if t, err = st.tasks.Find(ctx, workspace, t.Parent.Task); err != nil {
			return since, false, err
		}
		if cold := t.ColdAt; cold.After(since) && !cold.After(made) {
			since = cold
		}
	}
	return since, false, nil
}

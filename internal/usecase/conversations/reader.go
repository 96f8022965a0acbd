package conversations

import (
	"context"
	"slices"

	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// maxParents is how many generations of a task's parents are followed. The limit of the rules is lower.
const maxParents = 32

// Partner is a principal with what lets it read a conversation, if anything does.
func (st *Store) Partner(ctx context.Context, workspace string, r memory.Reader, s conversation.State) (memory.Reader, error) {
	if !s.Exists() || conversation.MayRead(s, r) {
		return r, nil
	}
	for _, id := range slices.Backward(s.Tasks) {
		if err := taskstore.Join(ctx, st.tasks, workspace, &r, id); err != nil || len(r.Tasks) > 0 {
			return r, err
		}
	}
	had := st.views.Position()
	found, err := st.carried(ctx, workspace, &r, s)
	if err != nil || found {
		return r, err
	}
	more, err := stream.CatchUp(ctx, st.ledger, had, st.views.Wait)
	if err == nil && more {
		_, err = st.carried(ctx, workspace, &r, s)
	}
	return r, err
}

// carried looks for a task that a reader takes part in and that carries a conversation along.
func (st *Store) carried(ctx context.Context, workspace string, r *memory.Reader, s conversation.State) (found bool, err error) {
	ids, err := st.views.TasksOfConversation(ctx, workspace, conversation.NameOf(s.ID), r.String(), view.MaxPage)
	if err != nil {
		return false, stream.Unavailable(err)
	}
	for _, id := range ids {
		t, err := st.tasks.Find(ctx, workspace, id)
		if err != nil {
			return false, err
		}
		carries, err := st.carries(ctx, workspace, t, s, r.Principal)
		if err != nil {
			return false, err
		}
		if carries {
			r.Conversations = append(r.Conversations, s.ID)
			return true, nil
		}
	}
	return false, nil
}

// carries reports whether a task carries a conversation along to a principal.
func (st *Store) carries(ctx context.Context, workspace string, t task.Task, s conversation.State, p identity.Principal) (bool, error) {
	if !taskstore.TakesPart(t, p) {
		return false, nil
	}
	return st.belongs(ctx, workspace, t, s)
}

// belongs reports whether a conversation is a task's own: anybody can name one in a task. A child task got its
// conversation from its parent, so the principal that requested the first of them counts.
func (st *Store) belongs(ctx context.Context, workspace string, t task.Task, s conversation.State) (bool, error) {
	if t.Conversation != conversation.NameOf(s.ID) {
		return false, nil
	}
	for range maxParents {
		if t.Parent.Task == "" {
			return conversation.Carries(s, t.Requester), nil
		}
		var err error
		if t, err = st.tasks.Find(ctx, workspace, t.Parent.Task); err != nil {
			return false, err
		}
	}
	return false, nil
}

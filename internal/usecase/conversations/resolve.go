package conversations

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// maxNamed is how many conversations of one name are looked at.
const maxNamed = 100

// anybody reads every conversation: for a list that is checked for the caller afterwards.
var anybody = memory.Reader{Principal: identity.Principal{Role: identity.Auditor, Name: "conversations"}}

// Resolve returns the id of the conversation that a reader means by a name: the one of that name which it may read, or else the one that it
// would begin. What it may not read counts as not there, unless it has a part in a task of the conversation, such as one that has ended: it
// knows of the conversation, and should hear that it can no longer add to it.
func (st *Store) Resolve(ctx context.Context, workspace string, r memory.Reader, name string) (id string, err error) {
	if conversation.IsOwn(name) || r.ReadsAny() || r.Agent() == "" {
		return name, nil
	}
	if may, err := st.mayRead(ctx, workspace, r, name); err != nil || may {
		return name, err
	}
	plain, err := st.Load(ctx, StreamOf(workspace, name), true)
	if err != nil || !plain.State.Exists() {
		return name, err
	}
	if knows, err := st.knows(ctx, workspace, r, plain.State); err != nil || knows {
		return name, err
	}
	own := conversation.OwnID(name, r.Agent())
	if f, err := st.Load(ctx, StreamOf(workspace, own), true); err != nil || f.State.Exists() {
		return own, err
	}
	others, err := st.named(ctx, workspace, name)
	if err != nil {
		return "", err
	}
	for _, s := range others {
		if may, err := st.mayRead(ctx, workspace, r, s.ID); err != nil || may {
			return s.ID, err
		}
	}
	return own, nil
}

// knows reports whether a reader has a part in a task of a conversation.
func (st *Store) knows(ctx context.Context, workspace string, r memory.Reader, s conversation.State) (bool, error) {
	carriers, err := st.ownTasks(ctx, workspace, s)
	if err != nil {
		return false, err
	}
	for _, id := range append(carriers, s.Tasks[max(len(s.Tasks)-maxNamed, 0):]...) {
		t, err := st.tasks.Find(ctx, workspace, id)
		if err != nil || len(task.RelationsOf(t, r.String())) > 0 {
			return err == nil, err
		}
	}
	return false, nil
}

func (st *Store) mayRead(ctx context.Context, workspace string, r memory.Reader, id string) (bool, error) {
	f, err := st.Load(ctx, StreamOf(workspace, id), true)
	if err != nil {
		return false, err
	}
	r, err = st.Partner(ctx, workspace, r, f.State)
	return err == nil && conversation.MayRead(f.State, r), err
}

// named are the conversations of a name that agents began because it was taken.
func (st *Store) named(ctx context.Context, workspace, name string) ([]conversation.State, error) {
	list, err := st.views.Conversations(ctx, workspace, view.ConversationFilter{By: anybody, OwnOf: name, Limit: maxNamed})
	if err != nil {
		return nil, stream.Unavailable(err)
	}
	return list, nil
}

// shown is the id of a conversation for a reader: its name, if that means this conversation to the reader.
func (st *Store) shown(ctx context.Context, workspace string, r memory.Reader, id string) (string, error) {
	if !conversation.IsOwn(id) || r.ReadsAny() {
		return id, nil
	}
	name := conversation.NameOf(id)
	means, err := st.Resolve(ctx, workspace, r, name)
	if err != nil || means != id {
		return id, err
	}
	return name, nil
}

// carriedBy returns the conversations that a task carries along to a principal.
func (st *Store) carriedBy(ctx context.Context, workspace string, t task.Task, p identity.Principal) (ids []string, err error) {
	if t.Conversation == "" {
		return nil, nil
	}
	plain, err := st.Load(ctx, StreamOf(workspace, t.Conversation), false)
	if err != nil || !plain.State.Exists() {
		return nil, err
	}
	_, carries, err := st.carries(ctx, workspace, t, plain.State, p)
	if err != nil || carries {
		return []string{plain.State.ID}, err
	}
	others, err := st.named(ctx, workspace, t.Conversation)
	if err != nil {
		return nil, err
	}
	for _, s := range others {
		if _, carries, err = st.carries(ctx, workspace, t, s, p); err != nil {
			return nil, err
		}
		if carries {
			ids = append(ids, s.ID)
		}
	}
	return ids, nil
}

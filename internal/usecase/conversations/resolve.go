package conversations

import (
	"context"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/conversation/conversationid"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

const (
	maxNamed = 100 // tasks and conversations that are looked at for one name
	maxShown = 5   // ids in a message
)

// ownID is the id of the conversation that a principal calls by a name, whether or not it has begun.
func ownID(p identity.Principal, name string) string {
	owner := conversationid.Operators
	if agent := p.Agent(); agent != "" {
		owner = agent
	}
	return conversationid.Of(name, owner)
}

// Resolve returns the id of the conversation that a principal means: an id means itself, and a name the principal's own conversation of that name. Which others
// there are of the name changes nothing for an agent. Operators and auditors, who read every conversation, mean by a name the only one that there is; where there are
// several and none is theirs, they are asked for its id (conflict).
func (st *Store) Resolve(ctx context.Context, workspace string, r memory.Reader, text string) (id string, err error) {
	if _, owner := conversationid.Parse(text); owner != "" {
		return text, nil
	}
	own := ownID(r.Principal, text)
	if f, err := st.Load(ctx, StreamOf(workspace, own), true); err != nil || f.State.Exists() {
		return own, err
	}
	// In an older record, a name is the id of the conversation of its first user.
	f, err := st.Load(ctx, StreamOf(workspace, text), true)
	if err != nil || f.State.Exists() && (r.ReadsAny() || f.State.TakesPart(r.Agent())) {
		return text, err
	}
	if !r.ReadsAny() {
		return own, nil
	}
	others, err := st.named(ctx, workspace, view.ConversationFilter{By: r, Name: text})
	switch {
	case err != nil || len(others) == 0:
		return own, err
	case len(others) == 1:
		return others[0], nil
	}
	return "", several(text, others, own)
}

// Bind returns the id of the conversation to which a task or a memory item will belong for ever: see [Store.Resolve]. of is a task in the course of which a name is used;
// its conversation, if it has the name, comes before the caller's own. An id must be of a conversation that the caller has a part in. A name that an operator uses for
// the first time begins no conversation beside those that agents have: the operator is asked which one it is (conflict).
func (st *Store) Bind(ctx context.Context, workspace string, r memory.Reader, text, of string) (id string, err error) {
	if text == "" {
		return "", nil
	}
	if err := refusal.In("conversation", conversationid.Check(text)); err != nil {
		return "", err
	}
	if id, err = st.inTask(ctx, workspace, r.Principal, text, of); err != nil || id != "" {
		return id, err
	}
	if id, err = st.Resolve(ctx, workspace, r, text); err != nil {
		return "", err
	}
	own := ownID(r.Principal, conversationid.Name(text))
	if id == own {
		return id, nil
	}
	f, err := st.Load(ctx, StreamOf(workspace, id), true)
	if err != nil {
		return "", err
	}
	if r, err = st.Partner(ctx, workspace, r, f.State); err != nil {
		return "", err
	}
	if !conversation.MayRead(f.State, r) {
		return "", unknown(text)
	}
	if id != text { // by its name alone
		return "", several(text, []string{id}, own)
	}
	return id, nil
}

// inTask is the conversation that a task belongs to, if a principal that takes part in the task calls it by its name or id.
func (st *Store) inTask(ctx context.Context, workspace string, p identity.Principal, text, of string) (id string, err error) {
	if invalid := event.CheckTaskID(of); invalid != nil { // none, or one that is refused where it counts
		return "", nil //nolint:nilerr // see above
	}
	t, err := st.tasks.Find(ctx, workspace, of)
	if err != nil || t.Conversation == "" || !taskstore.TakesPart(t, p) && !identity.May(p.Role, identity.ReadAny) {
		return "", err
	}
	if text != t.Conversation && text != conversationid.Name(t.Conversation) {
		return "", nil
	}
	return t.Conversation, nil
}

// named are the ids of the conversations of a name that a filter finds.
func (st *Store) named(ctx context.Context, workspace string, f view.ConversationFilter) (ids []string, err error) {
	f.Limit = maxNamed
	list, err := st.views.Conversations(ctx, workspace, f)
	if err != nil {
		return nil, stream.Unavailable(err)
	}
	for _, s := range list {
		if conversation.MayRead(s, f.By) {
			ids = append(ids, s.ID)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

func several(name string, ids []string, own string) error {
	return refusal.New(refusal.Conflict, "name one by its id, or "+own+" for the one of the operators",
		"agents have conversations that they call %s: %s", name, shownIDs(ids))
}

func shownIDs(ids []string) string {
	more := ""
	if len(ids) > maxShown {
		ids, more = ids[:maxShown], ", …"
	}
	return strings.Join(ids, ", ") + more
}

// carriedBy returns the conversation that a task carries along to a principal, or "".
func (st *Store) carriedBy(ctx context.Context, workspace string, t task.Task, p identity.Principal) (id string, err error) {
	if t.Conversation == "" {
		return "", nil
	}
	f, err := st.Load(ctx, StreamOf(workspace, t.Conversation), false)
	if err != nil || !f.State.Exists() {
		return "", err
	}
	if _, carries, err := st.carries(ctx, workspace, t, f.State, p); err != nil || !carries {
		return "", err
	}
	return f.State.ID, nil
}

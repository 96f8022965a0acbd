package conversations

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// maxHopTasks is how many tasks of a conversation are looked at for their changes of hands.
const maxHopTasks = 20

// Condense is the continuity text of a conversation for a reader. of is a task that is newer than what is recorded, or none.
func (st *Store) Condense(ctx context.Context, workspace string, f stream.Folded[conversation.State], r memory.Reader, last []conversation.Turn, of task.Task, budget int) (string, error) {
	if first := max(f.State.Request, 1); len(last) > 0 && first < last[0].N {
		request, err := st.turns(ctx, workspace, f, first-1, 1)
		if err != nil {
			return "", err
		}
		last = append(readable(f.State, r, request), last...)
	}
	hops, err := st.hops(ctx, workspace, f.State, of, func(t task.Task) bool {
		if of.Exists() { // for its next owners, who need not be those of the others
			return t.ID == of.ID
		}
		return r.ReadsAny() || task.VisibilityFor(&t, r.String()).Work
	})
	if err != nil {
		return "", err
	}
	return conversation.Continuity(f.State.ID, f.State.Speakers, last, hops, budget), nil
}

// hops are the changes of hands of a conversation's newest tasks, oldest task first, with what their senders wrote of those that detailed accepts.
func (st *Store) hops(ctx context.Context, workspace string, s conversation.State, of task.Task, detailed func(task.Task) bool) ([]conversation.Hop, error) {
	ids, err := st.ownTasks(ctx, workspace, s)
	if err != nil {
		return nil, err
	}
	ids = append(ids, s.Tasks[max(len(s.Tasks)-maxHopTasks, 0):]...)
	if of.Exists() {
		ids = append(ids, of.ID)
	}
	slices.Sort(ids) // by creation, but for children, which have the time of their parent
	ids = slices.Compact(ids)
	var tasks []task.Task
	for _, id := range ids[max(len(ids)-maxHopTasks, 0):] {
		t := of
		if id != of.ID {
			if t, err = st.tasks.Find(ctx, workspace, id); err != nil {
				return nil, err
			}
		}
		tasks = append(tasks, t)
	}
	slices.SortStableFunc(tasks, func(a, b task.Task) int {
		return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.Parent.Task, b.Parent.Task)) // a task before its children
	})
	var hops []conversation.Hop
	for _, t := range tasks {
		hops = append(hops, hopsOf(t, detailed(t))...)
	}
	return hops, nil
}

// ownTasks are the newest tasks whose own the conversation is: what others say of theirs has no place in it.
func (st *Store) ownTasks(ctx context.Context, workspace string, s conversation.State) (own []string, err error) {
	ids, err := st.views.TasksOfConversation(ctx, workspace, s.ID, "", view.MaxPage)
	if err != nil {
		return nil, stream.Unavailable(err)
	}
	for _, id := range ids {
		t, err := st.tasks.Find(ctx, workspace, id)
		if err != nil {
			return nil, err
		}
		_, belongs, err := st.belongs(ctx, workspace, t, s)
		if err != nil {
			return nil, err
		}
		if belongs {
			own = append(own, id)
		}
		if len(own) == maxHopTasks {
			break
		}
	}
	return own, nil
}

// hopsOf are a task's changes of hands, those before a replay included. Of the last one the reason is known.
func hopsOf(t task.Task, detailed bool) (hops []conversation.Hop) {
	from := shortName(t.Requester)
	for _, v := range task.OwnPath(&t) {
		owner := v.Agent
		if owner != from {
			hops = append(hops, conversation.Hop{From: from, To: owner, Delegated: t.Parent.Task != "" && len(hops) == 0})
		}
		from = owner
	}
	if h := t.Handoff; h != nil && len(hops) > 0 {
		last := &hops[len(hops)-1]
		if h.Stage == event.Transferred && h.Receiver == last.To && shortName(h.From) == last.From {
			if last.Reason = string(h.Reason); detailed && h.Detail != "" {
				last.Reason += ": " + h.Detail
			}
		}
	}
	return hops
}

// shortName calls agents by their bare name.
func shortName(principal string) string { return strings.TrimPrefix(principal, "agent/") }

package tasks

import (
	"context"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Said tells what tasks say, to those who may read it.
type Said interface {
	// Unsaid returns those of some words, in lower case, that the caller does not read in the content of a task.
	Unsaid(ctx context.Context, c caller.Caller, id string, words []string) ([]string, error)
}

// MaxLooked is the most tasks in whose content one call looks for words.
const MaxLooked = 500

// ListSaying lists the tasks of a filter, in the order of [Tasks.List], that have each of some words in what the caller may read of them: in what the text of the filter looks in, and in their
// content. It looks in at most [MaxLooked] of them. next is the last one that it looked in, if there may be more; empty: there are none. It is recorded as one read.
func (ts *Tasks) ListSaying(ctx context.Context, c caller.Caller, in TasksInput, words string) (list []view.TaskRow, next string, err error) {
	f, err := ts.visible(ctx, c, in)
	if err != nil {
		return nil, "", err
	}
	leave, err := ts.work.Enter(ctx, c)
	if err != nil {
		return nil, "", err
	}
	defer leave()
	most := view.PageSize(f.Limit)
	f.Limit = MaxLooked
	rows, err := ts.views.Tasks(ctx, c.Workspace, f)
	if err != nil {
		return nil, "", stream.Unavailable(err)
	}
	var ids []string
	for i, row := range rows {
		left, err := ts.said.Unsaid(ctx, c, row.ID, unsaidBy(row, words))
		if err != nil {
			return nil, "", err
		}
		if len(left) > 0 {
			continue
		}
		list, ids = append(list, row), append(ids, row.ID)
		if len(list) == most && i+1 < len(rows) {
			return list, row.ID, ts.access.ReadList(ctx, c.Workspace, c.Actor(), "list of tasks by words", ids)
		}
	}
	if len(rows) == MaxLooked {
		next = rows[MaxLooked-1].ID
	}
	return list, next, ts.access.ReadList(ctx, c.Workspace, c.Actor(), "list of tasks by words", ids)
}

// unsaidBy are the words, in lower case, that lists of tasks do not show of one.
func unsaidBy(t view.TaskRow, words string) []string {
	shown := strings.ToLower(strings.Join(append([]string{t.ID, t.Requester, t.Owner, t.Intent}, t.To...), "\n"))
	return slices.DeleteFunc(strings.Fields(strings.ToLower(words)), func(w string) bool { return strings.Contains(shown, w) })
}

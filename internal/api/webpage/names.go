package webpage

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"

	"github.com/trapezehq/trapeze/internal/api/webpage/human"
)

// maxNames is how many tasks a page names beside those that it lists.
const maxNames = 500

// names are those of the tasks of some ids, which may be of their handoffs and tickets, as far as the person may see them.
func (v *visit) names(ctx context.Context, ids []string) (human.Names, error) {
	tasks := make([]string, 0, len(ids))
	for _, id := range ids {
		if task, _, _ := strings.Cut(strings.TrimPrefix(id, "task/"), "."); strings.HasPrefix(task, "task_") {
			tasks = append(tasks, task)
		}
	}
	slices.Sort(tasks)
	if tasks = slices.Compact(tasks); len(tasks) == 0 {
		return nil, nil
	}
	tasks = tasks[max(len(tasks)-maxNames, 0):] // the newest
	list, err := v.api.Tasks(ctx, client.TaskFilter{IDs: tasks, Limit: maxNames})
	all := human.Names{}
	for _, t := range list.Tasks {
		all[t.ID] = t.Intent
	}
	return all, err
}

// named is the refusal of a form that changes several tasks, with their names in the place of ids.
func (v *visit) named(ctx context.Context, ids []string, err error) error {
	var refused *client.Error
	if !errors.As(err, &refused) {
		return err
	}
	if names, failed := v.names(ctx, ids); failed == nil {
		refused.Message = names.In(refused.Message)
	}
	return refused
}

// behind are the ids of what is behind alerts.
func behind(alerts []admin.Alert) (ids []string) {
	for _, a := range alerts {
		ids = append(append(ids, a.Handoffs...), a.Tickets...)
	}
	return ids
}

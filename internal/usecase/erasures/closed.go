package erasures

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/erasure"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// Closed is the oldest part of the record that can be put away: every task in it has ended, with all of its family, before a time, no legal hold is on it, and
// the retention policy neither keeps it nor is still to erase it.
type Closed struct {
	Last  ledger.Position   // of its last entry; 0: there is none
	Tasks []ledger.Position // the entries of tasks in it
	Next  string            // what ends it, such as a task that is on hold; empty: the time
}

// aged is a task of the part that is looked at.
type aged struct {
	workspace, id, parent string
	entries               []ledger.Position // before the time
	family                *family
}

// family is a task without a parent, with its descendants.
type family struct{ open string } // a task of it that has not ended

// Closed looks for the part of the record after a position, and before a time, that can be put away.
func (es *Erasures) Closed(ctx context.Context, after ledger.Position, before time.Time) (Closed, error) {
	es.one.Lock()
	defer es.one.Unlock()
	out, list, err := es.aged(ctx, after, before)
	if err != nil || out.Last == 0 {
		return out, err
	}
	if err := es.families(ctx, list); err != nil {
		return Closed{}, err
	}
	for _, t := range list { // in the order of their first entries
		if len(t.entries) == 0 {
			continue
		}
		why, err := es.keeps(ctx, t, before)
		if err != nil {
			return Closed{}, err
		}
		if why != "" {
			out.Last, out.Next = t.entries[0]-1, why
			break
		}
	}
	for _, t := range list {
		for _, at := range t.entries {
			if at <= out.Last {
				out.Tasks = append(out.Tasks, at)
			}
		}
	}
	slices.Sort(out.Tasks)
	return out, nil
}

// aged lists the tasks that have entries after a position, and where the first entry is that is not before a time.
func (es *Erasures) aged(ctx context.Context, after ledger.Position, before time.Time) (out Closed, list []*aged, err error) {
	by, ended := map[ledger.Stream]*aged{}, false
	for {
		page, err := ledger.Page(ctx, es.p.Ledger, after, findPage)
		if err != nil {
			return out, nil, stream.Unavailable(err)
		}
		if len(page) == 0 {
			return out, list, nil
		}
		for i := range page {
			e := &page[i]
			after = e.Position
			if ended = ended || !e.Time.Before(before); !ended {
				out.Last = e.Position
			}
			workspace, kind, id := e.Stream.Parts()
			if kind != taskstore.Kind {
				continue
			}
			t := by[e.Stream]
			if t == nil {
				t = &aged{workspace: workspace, id: id}
				by[e.Stream], list = t, append(list, t)
			}
			if !ended {
				t.entries = append(t.entries, e.Position)
			}
			for _, ev := range e.Events {
				var made struct{ Parent event.Parent }
				if ev.Name == (event.Created{}).EventName() && json.Unmarshal(ev.Data, &made) == nil {
					t.parent = made.Parent.Task
				}
			}
		}
	}
}

// families finds the family of each task, and whether a task of it has not ended. Parents come before their children.
func (es *Erasures) families(ctx context.Context, list []*aged) error {
	by := map[string]*family{}
	for _, t := range list {
		t.family = by[t.workspace+"/"+t.parent]
		if t.parent == "" || t.family == nil {
			t.family = &family{}
		}
		by[t.workspace+"/"+t.id] = t.family
		now, err := es.p.Tasks.Find(ctx, t.workspace, t.id)
		if err != nil {
			return err
		}
		if !now.State.Final() && t.family.open == "" {
			t.family.open = t.id
		}
	}
	return nil
}

// keeps says what keeps a task in the record; empty: nothing does.
func (es *Erasures) keeps(ctx context.Context, t *aged, before time.Time) (string, error) {
	if t.family.open != "" {
		return fmt.Sprintf("task %s has not ended", t.family.open), nil
	}
	now, err := es.p.Tasks.Find(ctx, t.workspace, t.id)
	if err != nil {
		return "", err
	}
	if !now.Ended.Before(before) {
		return fmt.Sprintf("task %s ended on %s", t.id, now.Ended.Format(time.DateOnly)), nil
	}
	names := map[erasure.Subject]bool{}
	if err := es.addNames(ctx, t.workspace, t.id, false, names); err != nil {
		return "", err
	}
	f, err := es.kind.Load(ctx, StreamOf(t.workspace), true)
	if err != nil {
		return "", err
	}
	if f.State.Held(names) {
		return fmt.Sprintf("a legal hold is on task %s", t.id), nil
	}
	return es.retains(ctx, t, now, names)
}

// retains says how the retention policy keeps a task in the record: it is kept, or still to be erased.
func (es *Erasures) retains(ctx context.Context, t *aged, now task.Task, names map[erasure.Subject]bool) (string, error) {
	rules, _, err := es.o.Retention(ctx, t.workspace)
	if err != nil || len(rules) == 0 {
		return "", err
	}
	until, due := rules.Kept(erasure.Task, names, now.Ended)
	if es.p.Now().Before(until) {
		return fmt.Sprintf("the retention policy keeps task %s until %s", t.id, until.UTC().Format(time.DateOnly)), nil
	}
	if due.IsZero() || es.o.Keys == nil {
		return "", nil
	}
	keys, err := es.keysOf(ctx, taskstore.StreamOf(t.workspace, t.id))
	if err != nil {
		return "", stream.Unavailable(err)
	}
	if slices.ContainsFunc(keys, es.o.Keys.Has) {
		return fmt.Sprintf("the retention policy is to erase task %s on %s", t.id, due.UTC().Format(time.DateOnly)), nil
	}
	return "", nil
}

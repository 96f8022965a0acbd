package work

import (
	"context"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/client"
)

// losses are the events after which an agent may have lost a task.
var losses = []string{"task-cancelled", "task-parked", "task-discarded", "handoff-complete"}

// follow follows the events of the record, and has the jobs look at once at tasks that they may have lost. Without it, for example
// because too many streams are open, they find out by their next heartbeats.
func (w *worker) follow(ctx context.Context) {
	c, err := client.New(w.c.URLs(), w.o.Token, client.Options{TLS: w.o.TLS}) // the worker itself says that the server is away
	if err != nil {
		return
	}
	_ = c.Events(ctx, client.Now, func(e client.Event) error {
		if e.Kind == "task" && slices.ContainsFunc(e.Events, func(name string) bool { return slices.Contains(losses, name) }) {
			w.alert(e.ID)
		}
		return nil
	})
}

// watch has a job alerted of events of its task, until the function that it returns is called.
func (w *worker) watch(j *job) func() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.jobs[j] = true
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.jobs, j)
	}
}

func (w *worker) alert(task string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for j := range w.jobs {
		if j.task != task {
			continue
		}
		select {
		case j.look <- struct{}{}:
		default: // it will look
		}
	}
}

// notice prints a notice of the inbox, unless a job prints it itself.
func (w *worker) notice(item client.Item) {
	if w.printed(item.Task) {
		return
	}
	text := item.Type + " by " + item.From
	if item.Type == "parked" {
		text = "in the dead letters"
	}
	w.say("%s: %s", item.Task, strings.TrimSuffix(text+": "+item.Detail, ": "))
}

// printed reports whether a job prints, or has printed, that its task was lost.
func (w *worker) printed(task string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.told[task] {
		delete(w.told, task)
		return true
	}
	for j := range w.jobs {
		if j.task == task {
			return true
		}
	}
	return false
}

// lost prints that the task of a job was lost, once.
func (j *job) lost(why error) {
	j.say("stopped: %s", why)
	j.w.mu.Lock()
	defer j.w.mu.Unlock()
	if len(j.w.told) > 1000 {
		clear(j.w.told) // their notices went elsewhere
	}
	j.w.told[j.task] = true
}

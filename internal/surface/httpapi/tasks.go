package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trapezehq/trapeze/internal/app"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/view"
)

const tagTasks = "Tasks"

// TaskPage is one page of a list of tasks.
type TaskPage struct {
	Tasks    []view.Task `json:"tasks"`
	Next     string      `json:"next,omitempty" doc:"The parameter after of the next page; absent at the end."`
	Position uint64      `json:"position" doc:"Up to which the list is complete."`
}

func (p TaskPage) position() uint64 { return p.Position }

// usualPage is how much of a list an answer has where nobody says how much is wanted.
const usualPage = 50

// Page is how much of a list is wanted.
type Page struct {
	Limit int    `query:"limit" minimum:"1" maximum:"500" doc:"At most this many; 50 if left out."`
	After string `query:"after" maxLength:"80" doc:"The next of the page before."`
}

type tasksQuery struct {
	Reading
	Page
	State  fact.State `query:"state" doc:"Only tasks in this state."`
	Live   bool       `query:"live" doc:"Only tasks that are not completed, failed or cancelled."`
	Owner  string     `query:"owner" maxLength:"64" doc:"Only tasks that this agent owns."`
	Parent string     `query:"parent" maxLength:"80" doc:"Only children of this task."`
}

type createBody struct {
	Keyed
	Body app.CreateInput
}

func (s *service) tasks() {
	post := func(verb, summary string) route {
		return route{method: http.MethodPost, path: "/v1/tasks/{id}/" + verb, id: verb, summary: summary, tag: tagTasks}
	}
	create := s.operation(route{
		method: http.MethodPost, path: "/v1/tasks", id: "create-task", summary: "Make a task",
		about: "And start it or hand it off in the same decision, if the body says so.", tag: tagTasks, status: http.StatusCreated,
	})
	ready := through(s, &create, func(ctx context.Context, c app.Caller, _ string, in app.CreateInput) (app.Receipt, error) {
		return s.app.Create(ctx, c, in)
	})
	huma.Register(s.api, create, func(ctx context.Context, in *createBody) (*answer[app.Receipt], error) {
		r, err := s.app.Create(ctx, caller(ctx).WithKey(in.Key), in.Body)
		if err != nil {
			return nil, s.problem(ctx, err)
		}
		return answerOf(r), nil
	})
	ready()
	s.importing()
	read(s, route{path: "/v1/tasks", id: "list-tasks", summary: "List tasks, newest first", tag: tagTasks}, s.listTasks)
	read(s, route{path: "/v1/tasks/{id}", id: "show-task", summary: "Show a task", about: "The read is on record.", tag: tagTasks},
		func(ctx context.Context, c app.Caller, in *readingID) (Task, error) {
			t, err := s.app.Task(ctx, c, in.ID)
			return taskOf(t), err
		})
	act(s, post("start", "Work on one's own pending task"), s.app.Start)
	change(s, post("send", "Hand the task to others"), func(ctx context.Context, c app.Caller, id string, in app.SendInput) (app.Receipt, error) {
		in.Task = id
		return s.app.Send(ctx, c, in)
	})
	change(s, post("escalate", "Hand the task upwards"), func(ctx context.Context, c app.Caller, id string, in app.EscalateInput) (app.Receipt, error) {
		in.Task = id
		return s.app.Escalate(ctx, c, in)
	})
	change(s, post("share", "Give the task's context to another agent"), func(ctx context.Context, c app.Caller, id string, in app.ShareInput) (app.Receipt, error) {
		in.Task = id
		return s.app.Share(ctx, c, in)
	})
	change(s, post("takeover", "Ask for the task"), func(ctx context.Context, c app.Caller, id string, in app.TakeoverInput) (app.Receipt, error) {
		in.Task = id
		return s.app.Takeover(ctx, c, in)
	})
	change(s, post("cancel", "Call the task off, children included"), func(ctx context.Context, c app.Caller, id string, in app.CancelInput) (app.Receipt, error) {
		if err := fact.CheckTaskID(id); err != nil { // the use case takes handoffs too
			return app.Receipt{}, err
		}
		in.ID = id
		return s.app.Cancel(ctx, c, in)
	})
	s.work()
	s.constraints()
}

// work is what an owner does.
func (s *service) work() {
	post := func(verb, summary string) route {
		return route{method: http.MethodPost, path: "/v1/tasks/{id}/" + verb, id: verb, summary: summary, tag: tagTasks}
	}
	change(s, post("progress", "Report what was done, and renew the lease"), func(ctx context.Context, c app.Caller, id string, in app.ProgressInput) (app.Receipt, error) {
		in.Task = id
		return s.app.Progress(ctx, c, in)
	})
	change(s, post("heartbeat", "Show life, and renew the lease"), func(ctx context.Context, c app.Caller, id string, in app.HeartbeatInput) (app.Receipt, error) {
		in.Task = id
		return s.app.Heartbeat(ctx, c, in)
	})
	change(s, post("complete", "Finish the task with its result"), func(ctx context.Context, c app.Caller, id string, in app.CompleteInput) (app.Receipt, error) {
		in.Task = id
		return s.app.Complete(ctx, c, in)
	})
	change(s, post("fail", "End the task as not done"), func(ctx context.Context, c app.Caller, id string, in app.FailInput) (app.Receipt, error) {
		in.Task = id
		return s.app.Fail(ctx, c, in)
	})
}

type liftQuery struct {
	Keyed
	ID         string `path:"id" maxLength:"80" doc:"Of the task."`
	Constraint string `path:"constraint" maxLength:"64" doc:"Id of the constraint."`
	Why        string `query:"why" required:"true" minLength:"1" maxLength:"2000" doc:"Why it may be lifted."`
}

func (s *service) constraints() {
	add := route{method: http.MethodPost, path: "/v1/tasks/{id}/constraints", id: "constrain", summary: "Add a constraint, or tighten one", tag: tagTasks}
	change(s, add, func(ctx context.Context, c app.Caller, id string, in app.ConstrainInput) (app.Receipt, error) {
		in.Task = id
		return s.app.Constrain(ctx, c, in)
	})
	lift := s.operation(route{method: http.MethodDelete, path: "/v1/tasks/{id}/constraints/{constraint}", id: "lift", summary: "Take a constraint away", tag: tagTasks})
	huma.Register(s.api, lift, func(ctx context.Context, in *liftQuery) (*answer[app.Receipt], error) {
		r, err := s.app.Lift(ctx, caller(ctx).WithKey(in.Key), app.LiftInput{Task: in.ID, ID: in.Constraint, Why: in.Why})
		if err != nil {
			return nil, s.problem(ctx, err)
		}
		return answerOf(r), nil
	})
	note := route{method: http.MethodPost, path: "/v1/tasks/{id}/annotations", id: "annotate", summary: "Comment on an earlier entry", tag: tagTasks}
	change(s, note, func(ctx context.Context, c app.Caller, id string, in app.AnnotateInput) (app.Receipt, error) {
		in.Task = id
		return s.app.Annotate(ctx, c, in)
	})
}

func (s *service) listTasks(ctx context.Context, c app.Caller, in *tasksQuery) (TaskPage, error) {
	f := view.TaskFilter{State: in.State, Live: in.Live, Owner: in.Owner, Parent: in.Parent}
	return s.page(ctx, c, f, in.Page)
}

// page lists the tasks that a filter leaves.
func (s *service) page(ctx context.Context, c app.Caller, f view.TaskFilter, p Page) (TaskPage, error) {
	if p.After != "" {
		if err := fact.CheckTaskID(p.After); err != nil {
			return TaskPage{}, err
		}
	}
	if p.Limit == 0 {
		p.Limit = usualPage
	}
	f.After, f.Limit = p.After, p.Limit
	out := TaskPage{Position: uint64(s.app.Views().Position())}
	list, err := s.app.Tasks(ctx, c, app.TasksInput{TaskFilter: f})
	if err != nil {
		return out, err
	}
	out.Tasks = notNil(list)
	if len(list) == p.Limit {
		out.Next = list[len(list)-1].ID
	}
	return out, nil
}

// notNil makes an absent list an empty one, so that JSON has [] and not null.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

const tagDead = "Dead letters"

type deadQuery struct {
	Reading
	Page
}

func (s *service) dead() {
	read(s, route{path: "/v1/dead", id: "list-dead", summary: "List the tasks in the dead-letter queue, newest first", tag: tagDead},
		func(ctx context.Context, c app.Caller, in *deadQuery) (TaskPage, error) {
			return s.page(ctx, c, view.TaskFilter{State: fact.Parked}, in.Page)
		})
	replay := route{method: http.MethodPost, path: "/v1/dead/{id}/replay", id: "replay", summary: "Revive a task with fresh limits", tag: tagDead}
	change(s, replay, func(ctx context.Context, c app.Caller, id string, in app.ReplayInput) (app.Receipt, error) {
		in.Task = id
		return s.app.Replay(ctx, c, in)
	})
	discard := route{method: http.MethodPost, path: "/v1/dead/{id}/discard", id: "discard", summary: "Give a task up", tag: tagDead}
	change(s, discard, func(ctx context.Context, c app.Caller, id string, in app.DiscardInput) (app.Receipt, error) {
		in.Task = id
		return s.app.Discard(ctx, c, in)
	})
}

package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/trapezehq/trapeze/internal/app"
	"github.com/trapezehq/trapeze/internal/archive"
	"github.com/trapezehq/trapeze/internal/docket"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/surface/httpapi/door"
	"github.com/trapezehq/trapeze/internal/view"
)

// TaskPage is one page of a list of tasks.
type TaskPage struct {
	Tasks    []view.Task `json:"tasks"`
	Next     string      `json:"next,omitempty" doc:"The parameter after of the next page; absent at the end."`
	Position uint64      `json:"position" doc:"Up to which the list is complete."`
}

// At implements [door.Placed].
func (p TaskPage) At() uint64 { return p.Position }

type tasksQuery struct {
	door.Reading
	door.Page
	State  fact.State `query:"state" doc:"Only tasks in this state."`
	Live   bool       `query:"live" doc:"Only tasks that are not completed, failed or cancelled."`
	Owner  string     `query:"owner" maxLength:"64" doc:"Only tasks that this agent owns."`
	Parent string     `query:"parent" maxLength:"80" doc:"Only children of this task."`
}

type taskQuery struct {
	door.ReadingID
	Beyond uint64 `query:"after" doc:"With wait: until the task has an entry after this position, such as its position in an earlier answer. Left out: until it is completed, failed, cancelled or parked."`
	Wait   string `query:"wait" maxLength:"20" doc:"How long to wait, such as 30s; at most 55s. When that is over, the answer is the task as it is." example:"30s"`
}

func (s *service) tasks() {
	post := func(verb, summary string) door.Route {
		return door.Route{Method: http.MethodPost, Path: "/v1/tasks/{id}/" + verb, ID: verb, Summary: summary, Tag: door.TagTasks}
	}
	door.Create(s.door, door.Route{
		Method: http.MethodPost, Path: "/v1/tasks", ID: "create-task", Summary: "Make a task",
		About: "And start it or hand it off in the same decision, if the body says so.", Tag: door.TagTasks, Status: http.StatusCreated,
	}, s.app.Create)
	door.Create(s.door, door.Route{
		Method: http.MethodPost, Path: "/v1/tasks/import", ID: "import-task", Summary: "Make a task from another system's handoff document, or from an exported envelope",
		About: "Three formats of other systems, and envelopes as they were exported, of any major of their schema that is known, are told apart by their fields. What a document says about the past is kept as claimed history; the answer notes every field that was not simply taken over.",
		Tag:   door.TagTasks, Status: http.StatusCreated,
	}, s.app.Import)
	door.Read(s.door, door.Route{Path: "/v1/tasks", ID: "list-tasks", Summary: "List tasks, newest first", Tag: door.TagTasks}, s.listTasks)
	door.Read(s.door, door.Route{Path: "/v1/tasks/{id}", ID: "show-task", Summary: "Show a task, and wait for what comes of it", About: "The read is on record.", Tag: door.TagTasks}, s.showTask)
	door.Act(s.door, post("start", "Work on one's own pending task"), s.app.Start)
	door.Change(s.door, post("send", "Hand the task to others"), func(ctx context.Context, c app.Caller, id string, in app.SendInput) (docket.Receipt, error) {
		in.Task = id
		return s.app.Send(ctx, c, in)
	})
	door.Change(s.door, post("escalate", "Hand the task upwards"), func(ctx context.Context, c app.Caller, id string, in app.EscalateInput) (docket.Receipt, error) {
		in.Task = id
		return s.app.Escalate(ctx, c, in)
	})
	door.Change(s.door, post("share", "Give the task's context to another agent"), func(ctx context.Context, c app.Caller, id string, in app.ShareInput) (docket.Receipt, error) {
		in.Task = id
		return s.app.Share(ctx, c, in)
	})
	door.Change(s.door, post("takeover", "Ask for the task"), func(ctx context.Context, c app.Caller, id string, in app.TakeoverInput) (docket.Receipt, error) {
		in.Task = id
		return s.app.Takeover(ctx, c, in)
	})
	door.Change(s.door, post("cancel", "Call the task off, children included"), func(ctx context.Context, c app.Caller, id string, in app.CancelInput) (docket.Receipt, error) {
		if err := fact.CheckTaskID(id); err != nil { // the use case takes handoffs too
			return docket.Receipt{}, err
		}
		in.ID = id
		return s.app.Cancel(ctx, c, in)
	})
	s.work()
	door.Change(s.door, post("stuck", "Say that its owner gets nowhere: others are asked at once"),
		func(ctx context.Context, c app.Caller, id string, in app.StuckInput) (docket.Receipt, error) {
			in.Task = id
			return s.app.Stuck(ctx, c, in)
		})
	s.constraints()
}

// work is what an owner does.
func (s *service) work() {
	post := func(verb, summary string) door.Route {
		return door.Route{Method: http.MethodPost, Path: "/v1/tasks/{id}/" + verb, ID: verb, Summary: summary, Tag: door.TagTasks}
	}
	door.Change(s.door, post("progress", "Report what was done, and renew the lease"), func(ctx context.Context, c app.Caller, id string, in app.ProgressInput) (docket.Receipt, error) {
		in.Task = id
		return s.app.Progress(ctx, c, in)
	})
	door.Change(s.door, post("heartbeat", "Show life, and renew the lease"), func(ctx context.Context, c app.Caller, id string, in app.HeartbeatInput) (docket.Receipt, error) {
		in.Task = id
		return s.app.Heartbeat(ctx, c, in)
	})
	door.Change(s.door, post("complete", "Finish the task with its result"), func(ctx context.Context, c app.Caller, id string, in app.CompleteInput) (docket.Receipt, error) {
		in.Task = id
		return s.app.Complete(ctx, c, in)
	})
	door.Change(s.door, post("fail", "End the task as not done"), func(ctx context.Context, c app.Caller, id string, in app.FailInput) (docket.Receipt, error) {
		in.Task = id
		return s.app.Fail(ctx, c, in)
	})
}

type liftQuery struct {
	door.Keyed
	ID         string `path:"id" maxLength:"80" doc:"Of the task."`
	Constraint string `path:"constraint" maxLength:"64" doc:"Id of the constraint."`
	Why        string `query:"why" required:"true" minLength:"1" maxLength:"2000" doc:"Why it may be lifted."`
}

func (s *service) constraints() {
	add := door.Route{Method: http.MethodPost, Path: "/v1/tasks/{id}/constraints", ID: "constrain", Summary: "Add a constraint, or tighten one", Tag: door.TagTasks}
	door.Change(s.door, add, func(ctx context.Context, c app.Caller, id string, in app.ConstrainInput) (docket.Receipt, error) {
		in.Task = id
		return s.app.Constrain(ctx, c, in)
	})
	lift := door.Route{Method: http.MethodDelete, Path: "/v1/tasks/{id}/constraints/{constraint}", ID: "lift", Summary: "Take a constraint away", Tag: door.TagTasks}
	door.Serve(s.door, lift, func(ctx context.Context, c app.Caller, in *liftQuery) (docket.Receipt, error) {
		return s.app.Lift(ctx, c.WithKey(in.Key), app.LiftInput{Task: in.ID, ID: in.Constraint, Why: in.Why})
	})
	note := door.Route{Method: http.MethodPost, Path: "/v1/tasks/{id}/annotations", ID: "annotate", Summary: "Comment on an earlier entry", Tag: door.TagTasks}
	door.Change(s.door, note, func(ctx context.Context, c app.Caller, id string, in app.AnnotateInput) (docket.Receipt, error) {
		in.Task = id
		return s.app.Annotate(ctx, c, in)
	})
}

func (s *service) showTask(ctx context.Context, c app.Caller, in *taskQuery) (Task, error) {
	return patiently(ctx, s, in.Wait, func(ctx context.Context, wait time.Duration) (Task, error) {
		ask := archive.TaskInput{ID: in.ID, Wait: wait}
		door.SetPosition(&ask.After, in.Beyond)
		t, err := s.app.WaitTask(ctx, c, ask)
		return taskOf(t), err
	})
}

func (s *service) listTasks(ctx context.Context, c app.Caller, in *tasksQuery) (TaskPage, error) {
	f := view.TaskFilter{State: in.State, Live: in.Live, Owner: in.Owner, Parent: in.Parent}
	return s.page(ctx, c, f, in.Page)
}

// page lists the tasks that a filter leaves.
func (s *service) page(ctx context.Context, c app.Caller, f view.TaskFilter, p door.Page) (TaskPage, error) {
	if p.After != "" {
		if err := fact.CheckTaskID(p.After); err != nil {
			return TaskPage{}, err
		}
	}
	if p.Limit == 0 {
		p.Limit = door.UsualPage
	}
	f.After, f.Limit = p.After, p.Limit
	out := TaskPage{Position: uint64(s.app.Views().Position())}
	list, err := s.app.Tasks(ctx, c, app.TasksInput{TaskFilter: f})
	if err != nil {
		return out, err
	}
	out.Tasks = door.NotNil(list)
	if len(list) == p.Limit {
		out.Next = list[len(list)-1].ID
	}
	return out, nil
}

type deadQuery struct {
	door.Reading
	door.Page
}

func (s *service) dead() {
	door.Read(s.door, door.Route{Path: "/v1/dead", ID: "list-dead", Summary: "List the tasks in the dead-letter queue, newest first", Tag: door.TagDead},
		func(ctx context.Context, c app.Caller, in *deadQuery) (TaskPage, error) {
			return s.page(ctx, c, view.TaskFilter{State: fact.Parked}, in.Page)
		})
	replay := door.Route{Method: http.MethodPost, Path: "/v1/dead/{id}/replay", ID: "replay", Summary: "Revive a task with fresh limits", Tag: door.TagDead}
	door.Change(s.door, replay, func(ctx context.Context, c app.Caller, id string, in app.ReplayInput) (docket.Receipt, error) {
		in.Task = id
		return s.app.Replay(ctx, c, in)
	})
	discard := door.Route{Method: http.MethodPost, Path: "/v1/dead/{id}/discard", ID: "discard", Summary: "Give a task up", Tag: door.TagDead}
	door.Change(s.door, discard, func(ctx context.Context, c app.Caller, id string, in app.DiscardInput) (docket.Receipt, error) {
		in.Task = id
		return s.app.Discard(ctx, c, in)
	})
}

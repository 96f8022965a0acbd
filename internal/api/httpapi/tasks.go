package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// TaskPage is one page of a list of tasks.
type TaskPage struct {
	Tasks    []view.Task `json:"tasks"`
	Next     string      `json:"next,omitempty" doc:"Parameter after for the next page; absent on the last page."`
	Position uint64      `json:"position" doc:"The list includes every change up to this position of the record."`
}

// At implements [door.Placed].
func (p TaskPage) At() uint64 { return p.Position }

type tasksQuery struct {
	endpoint.Reading
	endpoint.Page
	State  event.State `query:"state" doc:"Only tasks in this state."`
	Live   bool        `query:"live" doc:"Only tasks that are not completed, failed or cancelled."`
	Owner  string      `query:"owner" maxLength:"64" doc:"Only tasks that this agent owns."`
	Parent string      `query:"parent" maxLength:"80" doc:"Only children of this task."`
}

type taskQuery struct {
	endpoint.ReadingID
	Beyond uint64 `query:"after" doc:"With wait: wait until the task has an entry after this position, such as its position in an earlier answer. If omitted: until it is completed, failed, cancelled or parked."`
	Wait   string `query:"wait" maxLength:"20" doc:"How long to wait, such as 30s; at most 55s. After that, the answer is the current task." example:"30s"`
}

func (s *service) tasks() {
	post := func(verb, summary string) endpoint.Route {
		return endpoint.Route{Method: http.MethodPost, Path: "/v1/tasks/{id}/" + verb, ID: verb, Summary: summary, Tag: endpoint.TagTasks}
	}
	endpoint.Create(s.door, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/tasks", ID: "create-task", Summary: "Create a task",
		About: "The body may also start it or hand it off, atomically.", Tag: endpoint.TagTasks, Status: http.StatusCreated,
	}, s.app.Tasks.Create)
	endpoint.Create(s.door, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/tasks/import", ID: "import-task", Summary: "Create a task from a handoff document of another system, or from an exported envelope",
		About: "Supports three formats of other systems and exported envelopes of every known major version, told apart by their fields. What a document says about the past is kept as claimed history; the answer notes every field that was not copied unchanged.",
		Tag:   endpoint.TagTasks, Status: http.StatusCreated,
	}, s.app.Tasks.Import)
	endpoint.Read(s.door, endpoint.Route{Path: "/v1/tasks", ID: "list-tasks", Summary: "List tasks, newest first", Tag: endpoint.TagTasks}, s.listTasks)
	endpoint.Read(s.door, endpoint.Route{Path: "/v1/tasks/{id}", ID: "show-task", Summary: "Show a task, and optionally wait for a change", About: "The read is recorded.", Tag: endpoint.TagTasks}, s.showTask)
	endpoint.Act(s.door, post("start", "Start a pending task that you requested"), s.app.Tasks.Start)
	endpoint.Change(s.door, post("send", "Hand off a task"), func(ctx context.Context, c caller.Caller, id string, in handoffs.SendInput) (taskstore.Receipt, error) {
		in.Task = id
		return s.app.Tasks.Send(ctx, c, in)
	})
	endpoint.Change(s.door, post("escalate", "Escalate a task to the next level"), func(ctx context.Context, c caller.Caller, id string, in tasks.EscalateInput) (taskstore.Receipt, error) {
		in.Task = id
		return s.app.Tasks.Escalate(ctx, c, in)
	})
	endpoint.Change(s.door, post("share", "Share the context of a task with another agent"), func(ctx context.Context, c caller.Caller, id string, in tasks.ShareInput) (taskstore.Receipt, error) {
		in.Task = id
		return s.app.Tasks.Share(ctx, c, in)
	})
	endpoint.Change(s.door, post("takeover", "Ask the owner to hand you a task"), func(ctx context.Context, c caller.Caller, id string, in tasks.TakeoverInput) (taskstore.Receipt, error) {
		in.Task = id
		return s.app.Tasks.Takeover(ctx, c, in)
	})
	endpoint.Change(s.door, post("cancel", "Cancel a task and its children"), func(ctx context.Context, c caller.Caller, id string, in tasks.CancelInput) (taskstore.Receipt, error) {
		if err := event.CheckTaskID(id); err != nil { // the use case accepts handoff ids too
			return taskstore.Receipt{}, err
		}
		in.ID = id
		return s.app.Tasks.Cancel(ctx, c, in)
	})
	s.work()
	endpoint.Change(s.door, post("stuck", "Report that the owner of a task makes no progress: others are asked to take over"),
		func(ctx context.Context, c caller.Caller, id string, in tasks.StuckInput) (taskstore.Receipt, error) {
			in.Task = id
			return s.app.Tasks.Stuck(ctx, c, in)
		})
	s.constraints()
}

// work adds the routes for the owner of a task.
func (s *service) work() {
	post := func(verb, summary string) endpoint.Route {
		return endpoint.Route{Method: http.MethodPost, Path: "/v1/tasks/{id}/" + verb, ID: verb, Summary: summary, Tag: endpoint.TagTasks}
	}
	endpoint.Change(s.door, post("progress", "Report progress on a task, and renew its lease"), func(ctx context.Context, c caller.Caller, id string, in tasks.ProgressInput) (taskstore.Receipt, error) {
		in.Task = id
		return s.app.Tasks.Progress(ctx, c, in)
	})
	endpoint.Change(s.door, post("heartbeat", "Renew the lease of a task"), func(ctx context.Context, c caller.Caller, id string, in tasks.HeartbeatInput) (taskstore.Receipt, error) {
		in.Task = id
		return s.app.Tasks.Heartbeat(ctx, c, in)
	})
	endpoint.Change(s.door, post("complete", "Complete a task with its result"), func(ctx context.Context, c caller.Caller, id string, in tasks.CompleteInput) (taskstore.Receipt, error) {
		in.Task = id
		return s.app.Tasks.Complete(ctx, c, in)
	})
	endpoint.Change(s.door, post("fail", "End a task as failed"), func(ctx context.Context, c caller.Caller, id string, in tasks.FailInput) (taskstore.Receipt, error) {
		in.Task = id
		return s.app.Tasks.Fail(ctx, c, in)
	})
}

type liftQuery struct {
	endpoint.Keyed
	ID         string `path:"id" maxLength:"80" doc:"Id of the task."`
	Constraint string `path:"constraint" maxLength:"64" doc:"Id of the constraint."`
	Why        string `query:"why" required:"true" minLength:"1" maxLength:"2000" doc:"Reason for lifting it."`
}

func (s *service) constraints() {
	add := endpoint.Route{Method: http.MethodPost, Path: "/v1/tasks/{id}/constraints", ID: "constrain", Summary: "Add or tighten a constraint of a task", Tag: endpoint.TagTasks}
	endpoint.Change(s.door, add, func(ctx context.Context, c caller.Caller, id string, in tasks.ConstrainInput) (taskstore.Receipt, error) {
		in.Task = id
		return s.app.Tasks.Constrain(ctx, c, in)
	})
	lift := endpoint.Route{Method: http.MethodDelete, Path: "/v1/tasks/{id}/constraints/{constraint}", ID: "lift", Summary: "Lift a constraint of a task", Tag: endpoint.TagTasks}
	endpoint.Serve(s.door, lift, func(ctx context.Context, c caller.Caller, in *liftQuery) (taskstore.Receipt, error) {
		return s.app.Tasks.Lift(ctx, c.WithKey(in.Key), tasks.LiftInput{Task: in.ID, ID: in.Constraint, Why: in.Why})
	})
	note := endpoint.Route{Method: http.MethodPost, Path: "/v1/tasks/{id}/annotations", ID: "annotate", Summary: "Annotate an entry of the history of a task", Tag: endpoint.TagTasks}
	endpoint.Change(s.door, note, func(ctx context.Context, c caller.Caller, id string, in tasks.AnnotateInput) (taskstore.Receipt, error) {
		in.Task = id
		return s.app.Tasks.Annotate(ctx, c, in)
	})
}

func (s *service) showTask(ctx context.Context, c caller.Caller, in *taskQuery) (Task, error) {
	return patiently(ctx, s, in.Wait, func(ctx context.Context, wait time.Duration) (Task, error) {
		ask := tasks.TaskInput{ID: in.ID, Wait: wait}
		endpoint.SetPosition(&ask.After, in.Beyond)
		t, err := s.app.Tasks.Wait(ctx, c, ask)
		return taskOf(t), err
	})
}

func (s *service) listTasks(ctx context.Context, c caller.Caller, in *tasksQuery) (TaskPage, error) {
	f := view.TaskFilter{State: in.State, Live: in.Live, Owner: in.Owner, Parent: in.Parent}
	return s.page(ctx, c, f, in.Page)
}

// page lists a page of the tasks that match a filter.
func (s *service) page(ctx context.Context, c caller.Caller, f view.TaskFilter, p endpoint.Page) (TaskPage, error) {
	if p.After != "" {
		if err := event.CheckTaskID(p.After); err != nil {
			return TaskPage{}, err
		}
	}
	if p.Limit == 0 {
		p.Limit = endpoint.UsualPage
	}
	f.After, f.Limit = p.After, p.Limit
	out := TaskPage{Position: uint64(s.app.Positions.Viewed())}
	list, err := s.app.Tasks.List(ctx, c, tasks.TasksInput{TaskFilter: f})
	if err != nil {
		return out, err
	}
	out.Tasks = endpoint.NotNil(list)
	if len(list) == p.Limit {
		out.Next = list[len(list)-1].ID
	}
	return out, nil
}

type deadQuery struct {
	endpoint.Reading
	endpoint.Page
}

func (s *service) dead() {
	endpoint.Read(s.door, endpoint.Route{Path: "/v1/dead", ID: "list-dead", Summary: "List the tasks in the dead-letter queue, newest first", Tag: endpoint.TagDead},
		func(ctx context.Context, c caller.Caller, in *deadQuery) (TaskPage, error) {
			return s.page(ctx, c, view.TaskFilter{State: event.Parked}, in.Page)
		})
	replay := endpoint.Route{Method: http.MethodPost, Path: "/v1/dead/{id}/replay", ID: "replay", Summary: "Replay a task from the dead letters with new limits", Tag: endpoint.TagDead}
	endpoint.Change(s.door, replay, func(ctx context.Context, c caller.Caller, id string, in tasks.ReplayInput) (taskstore.Receipt, error) {
		in.Task = id
		return s.app.Tasks.Replay(ctx, c, in)
	})
	discard := endpoint.Route{Method: http.MethodPost, Path: "/v1/dead/{id}/discard", ID: "discard", Summary: "Discard a task in the dead letters", Tag: endpoint.TagDead}
	endpoint.Change(s.door, discard, func(ctx context.Context, c caller.Caller, id string, in tasks.DiscardInput) (taskstore.Receipt, error) {
		in.Task = id
		return s.app.Tasks.Discard(ctx, c, in)
	})
}

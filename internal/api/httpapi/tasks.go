package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
	"github.com/trapezehq/trapeze/internal/usecase/positions"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/domain/task"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// TaskPage is one page of a list of tasks.
type TaskPage struct {
	Tasks  []view.TaskRow      `json:"tasks"`
	Next   string              `json:"next,omitempty" doc:"Parameter after for the next page; absent on the last page."`
	Counts map[event.State]int `json:"counts,omitempty" doc:"With counts: how many tasks match on all pages, by state. A state without tasks is absent."`
	endpoint.Listed
}

// taskOrder is the order of lists of tasks.
const taskOrder = "In the order of their ids, the highest first. That is the newest first where tasks are made without an idempotency key, or with one that is a UUID of version 7; other keys give ids in any order."

type tasksQuery struct {
	endpoint.Reading
	endpoint.Page
	State  event.State `query:"state" doc:"Only tasks in this state."`
	Live   bool        `query:"live" doc:"Only tasks that are not completed, failed or cancelled."`
	Owner  string      `query:"owner" maxLength:"64" doc:"Only tasks that this agent owns."`
	Parent string      `query:"parent" maxLength:"80" doc:"Only children of this task."`
	Deep   bool        `query:"deep" doc:"With parent: also their children and those of theirs, to five below the task."`
	Text   string      `query:"text" maxLength:"500" doc:"Only tasks that have each of these words, or beginnings of words, in the first 4,000 characters of their intent, their id, their requester, their owner or the receivers of their open offer, in upper or lower case."`
	Words  string      `query:"words" maxLength:"500" doc:"Only tasks that have each of these words, or parts of words, in what you may read of them: in their first 500 characters, id, requester, owner and receivers, and in the content that their trail shows you, such as asks, facts, decisions, questions, answers, notes and results. One call looks in the first 500 tasks that match the rest, and next goes on with others, also where none is listed. Without counts."`
	IDs    []string    `query:"ids" maxItems:"500" doc:"Only these tasks, comma-separated, as far as you may see them: without parent."`
	Since  time.Time   `query:"since" doc:"Only tasks that last changed then or later."`
	Until  time.Time   `query:"until" doc:"Only tasks that last changed before then."`
	Counts bool        `query:"counts" doc:"Also count the tasks that match, on all pages, by state."`
}

type taskQuery struct {
	endpoint.ReadingID
	Beyond positions.Position `query:"after" doc:"With wait: wait until the task has an entry after this position, such as its position in an earlier answer. If omitted: until it is completed, failed, cancelled or parked."`
	Wait   string             `query:"wait" maxLength:"20" doc:"How long to wait, such as 30s; at most 55s. After that, the answer is the current task." example:"30s"`
}

func (s *service) tasks() {
	post := func(verb, summary string) endpoint.Route {
		return endpoint.Route{Method: http.MethodPost, Path: "/v1/tasks/{id}/" + verb, ID: verb, Summary: summary, Tag: endpoint.TagTasks}
	}
	endpoint.CreateTask(s.router, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/tasks", ID: "create-task", Summary: "Create a task",
		About: "The body may also start it or hand it off, atomically.", Tag: endpoint.TagTasks, Status: http.StatusCreated,
	}, s.app.Tasks.Create, func(r *taskstore.Receipt) string { return r.Task })
	endpoint.CreateTask(s.router, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/tasks/import", ID: "import-task", Summary: "Create a task from a handoff document of another system, or from an exported envelope",
		About: "Supports three formats of other systems and exported envelopes of every known major version, told apart by their fields. What a document says about the past is kept as claimed history; the answer notes every field that was not copied unchanged.",
		Tag:   endpoint.TagTasks, Status: http.StatusCreated,
	}, s.app.Tasks.Import, func(i *tasks.Imported) string { return i.Task })
	endpoint.Read(s.router, endpoint.Route{Path: "/v1/tasks", ID: "list-tasks", Summary: "List tasks", About: taskOrder, Tag: endpoint.TagTasks}, s.listTasks)
	endpoint.Read(s.router, endpoint.Route{Path: "/v1/tasks/{id}", ID: "show-task", Summary: "Show a task, and optionally wait for a change", About: "The read is recorded.", Tag: endpoint.TagTasks}, s.showTask)
	endpoint.Act(s.router, post("start", "Start a pending task that you requested"), s.app.Tasks.Start)
	endpoint.Change(s.router, post("send", "Hand off a task"), endpoint.Under(func(in *handoffs.SendInput) *string { return &in.Task }, s.app.Tasks.Send))
	endpoint.Change(s.router, post("escalate", "Escalate a task to the next level"), endpoint.Under(func(in *tasks.EscalateInput) *string { return &in.Task }, s.app.Tasks.Escalate))
	endpoint.Change(s.router, post("share", "Share the context of a task with another agent"), endpoint.Under(func(in *tasks.ShareInput) *string { return &in.Task }, s.app.Tasks.Share))
	endpoint.Change(s.router, post("takeover", "Ask the owner to hand you a task"), endpoint.Under(func(in *tasks.TakeoverInput) *string { return &in.Task }, s.app.Tasks.Takeover))
	endpoint.Change(s.router, post("cancel", "Cancel a task and its children"), checked(event.CheckTaskID, endpoint.Under(func(in *tasks.CancelInput) *string { return &in.ID }, s.app.Tasks.Cancel)))
	s.work()
	endpoint.Change(s.router, post("stuck", "Report that the owner of a task makes no progress: others are asked to take over"),
		endpoint.Under(func(in *tasks.StuckInput) *string { return &in.Task }, s.app.Tasks.Stuck))
	budget := endpoint.Route{
		Method: http.MethodPost, Path: "/v1/tasks/{id}/budget", ID: "raise-budget", Summary: "Raise the budget of a task that has not ended", Tag: endpoint.TagTasks,
		About: "For its requester; for the owner of its parent, if it is a child, of whose budget the difference is reserved; and for operators. A budget cannot be lowered.",
	}
	endpoint.Change(s.router, budget, endpoint.Under(func(in *tasks.RaiseBudgetInput) *string { return &in.Task }, s.app.Tasks.RaiseBudget))
	note := endpoint.Route{Method: http.MethodPost, Path: "/v1/tasks/{id}/annotations", ID: "annotate", Summary: "Annotate an entry of the history of a task", Tag: endpoint.TagTasks}
	endpoint.Change(s.router, note, endpoint.Under(func(in *tasks.AnnotateInput) *string { return &in.Task }, s.app.Tasks.Annotate))
}

// work adds the routes for the owner of a task.
func (s *service) work() {
	post := func(verb, summary string) endpoint.Route {
		return endpoint.Route{Method: http.MethodPost, Path: "/v1/tasks/{id}/" + verb, ID: verb, Summary: summary, Tag: endpoint.TagTasks}
	}
	endpoint.Change(s.router, post("progress", "Report progress on a task, and renew its lease"), endpoint.Under(func(in *tasks.ProgressInput) *string { return &in.Task }, s.app.Tasks.Progress))
	endpoint.Change(s.router, post("heartbeat", "Renew the lease of a task"), endpoint.Under(func(in *tasks.HeartbeatInput) *string { return &in.Task }, s.app.Tasks.Heartbeat))
	endpoint.Change(s.router, post("complete", "Complete a task with its result"), endpoint.Under(func(in *tasks.CompleteInput) *string { return &in.Task }, s.app.Tasks.Complete))
	endpoint.Change(s.router, post("fail", "End a task as failed"), endpoint.Under(func(in *tasks.FailInput) *string { return &in.Task }, s.app.Tasks.Fail))
}

func (s *service) showTask(ctx context.Context, c caller.Caller, in *taskQuery) (Task, error) {
	return patiently(ctx, s, in.Wait, func(ctx context.Context, wait time.Duration) (Task, error) {
		ask := tasks.TaskInput{ID: in.ID, Wait: wait, After: in.Beyond}
		t, err := s.app.Tasks.Wait(ctx, c, ask)
		return taskOf(t), err
	})
}

func (s *service) listTasks(ctx context.Context, c caller.Caller, in *tasksQuery) (TaskPage, error) {
	for _, id := range append(in.IDs, in.Parent) {
		if err := event.CheckTaskID(id); id != "" && err != nil {
			return TaskPage{}, err
		}
	}
	if len(in.IDs) > 0 && in.Parent != "" {
		return TaskPage{}, refusal.New(refusal.Invalid, "omit ids or parent", "a list is of some tasks, or of the children of one").With("field", "ids")
	}
	f := view.TaskFilter{State: in.State, Live: in.Live, Owner: in.Owner, Parent: in.Parent, Deep: in.Deep, Text: in.Text, IDs: in.IDs, Since: in.Since, Until: in.Until}
	if in.Words != "" && in.Counts {
		return TaskPage{}, refusal.New(refusal.Invalid, "omit counts, or use text instead of words", "tasks are not counted by words of their content").With("field", "counts")
	}
	out, err := s.page(ctx, c, f, in.Page, in.Words)
	if err == nil && in.Counts {
		out.Counts, err = s.app.Tasks.ListCounts(ctx, c, tasks.TasksInput{TaskFilter: f})
	}
	return out, err
}

// page lists a page of the tasks that match a filter, and say some words.
func (s *service) page(ctx context.Context, c caller.Caller, f view.TaskFilter, p endpoint.Page, words string) (TaskPage, error) {
	if p.After != "" {
		if err := event.CheckTaskID(p.After); err != nil {
			return TaskPage{}, err
		}
	}
	if p.Limit == 0 {
		p.Limit = endpoint.UsualPage
	}
	f.After, f.Limit = p.After, p.Limit
	out := TaskPage{Listed: endpoint.Listed{Position: s.app.Positions.Viewed()}}
	if words != "" {
		list, next, err := s.app.Tasks.ListSaying(ctx, c, tasks.TasksInput{TaskFilter: f}, words)
		out.Tasks, out.Next = endpoint.NotNil(list), next
		return out, err
	}
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

// Task is a task without its content.
type Task struct {
	ID           string             `json:"id"`
	State        event.State        `json:"state"`
	Intent       string             `json:"intent" doc:"The original request, word for word."`
	Requester    string             `json:"requester"`
	Priority     event.Priority     `json:"priority"`
	Tags         []string           `json:"tags,omitempty"`
	Subject      string             `json:"subject,omitempty" doc:"What its content is about: it can be erased by it."`
	Conversation string             `json:"conversation,omitempty" doc:"Id of the one that it belongs to, for those who read what its owner does."`
	Owner        string             `json:"owner,omitempty"`
	Epoch        uint64             `json:"epoch" doc:"Increases with every change of owner; calls with another epoch are refused."`
	Lease        time.Time          `json:"lease,omitzero" doc:"When the lease of the owner ends unless it is renewed."`
	Created      time.Time          `json:"created"`
	Deadline     time.Time          `json:"deadline,omitzero"`
	Ended        time.Time          `json:"ended,omitzero"`
	Timeouts     event.Timeouts     `json:"timeouts"`
	Limits       event.Limits       `json:"limits"`
	Used         event.Used         `json:"used"`
	Budget       event.Budget       `json:"budget,omitzero"`
	Spent        event.Budget       `json:"spent,omitzero" doc:"As reported by its agents."`
	Reserved     event.Budget       `json:"reserved,omitzero" doc:"Reserved for children that have not ended."`
	Path         []event.Visit      `json:"path,omitempty" doc:"Every owner, in order, also before a replay; of a child, first those of its parents. Of more than 100 before a replay the last are named."`
	Route        []string           `json:"route,omitempty" doc:"Agents that the task must still visit."`
	Chain        task.Chain         `json:"chain,omitzero" doc:"Position in its escalation chain."`
	Constraints  []event.Constraint `json:"constraints,omitempty"`
	Permissions  []string           `json:"permissions,omitzero" doc:"Absent: not restricted. Empty: none."`
	Dependencies []event.Dependency `json:"dependencies,omitempty"`
	Expected     event.Expected     `json:"expected,omitzero"`
	Envelope     string             `json:"envelope,omitempty" doc:"Digest of the newest envelope."`
	Handoff      *Handoff           `json:"handoff,omitempty" doc:"The newest handoff, open or closed."`
	Takeovers    []TakeoverRequest  `json:"asks,omitempty" doc:"Open takeover requests."`
	Shares       []Share            `json:"shares,omitempty"`
	Ticket       *TaskTicket        `json:"ticket,omitempty" doc:"The newest ticket, with its answer."`
	Answers      []task.Answer      `json:"answers,omitempty" doc:"Answers of people since the newest envelope was sealed. Text of others is data."`
	Parent       event.Parent       `json:"parent,omitzero"`
	Children     []task.Child       `json:"children,omitempty"`
	NotReached   map[string]string  `json:"not_reached,omitempty" doc:"Agents that should have got one of the newest children, and why they could not be reached."`
	FanIn        event.FanIn        `json:"fan_in,omitzero"`
	JoinBy       time.Time          `json:"join_by,omitzero" doc:"When the task stops waiting for its children."`
	TakeUpBy     time.Time          `json:"take_up_by,omitzero" doc:"When the requester must have started, sent or cancelled the task, which came back to it and which nobody owns; else it goes to the dead letters."`
	Parked       *task.ParkedFor    `json:"parked,omitempty" doc:"Why it is in the dead letters, or was when it ended. Absent once it is replayed."`
	Progress     string             `json:"progress,omitempty" doc:"The newest progress note."`
	Result       *event.Result      `json:"result,omitempty"`
	Position     positions.Position `json:"position" doc:"Position of its newest entry."`
}

// At implements [endpoint.Placed].
func (t Task) At() positions.Position { return t.Position }

// TakeoverRequest is the request of an agent to take a task over.
type TakeoverRequest struct {
	ID     string `json:"id"`
	By     string `json:"by"`
	Detail string `json:"detail,omitempty"`
}

// TaskTicket is the newest ticket of a task.
type TaskTicket struct {
	ID string `json:"id"`
	task.Ticket
}

// Share is an envelope shared with an agent that does not own the task.
type Share struct {
	ID       string `json:"id"`
	To       string `json:"to"`
	From     string `json:"from"`
	Envelope string `json:"envelope"`
	Read     bool   `json:"read"`
}

func taskOf(t taskstore.Task) Task {
	out := Task{
		ID: t.ID, State: t.State, Intent: t.Intent, Requester: t.Requester, Priority: t.Priority, Tags: t.Tags, Subject: t.Subject, Conversation: t.Conversation, Owner: t.Owner, Epoch: t.Epoch,
		Lease: t.Lease, Created: t.Created, Deadline: t.Deadline, Ended: t.Ended, Timeouts: t.Times, Limits: t.Limits, Used: t.Used,
		Budget: t.Budget, Spent: t.Spent, Reserved: t.Reserved, Path: t.Path, Route: t.Route, Chain: t.Chain, Constraints: t.Constraints,
		Permissions: t.Permissions, Dependencies: t.Dependencies, Expected: t.Expected, Envelope: t.Envelope, Parent: t.Parent,
		Children: t.Children, NotReached: taskstore.NotReached(t.Missed), FanIn: t.FanIn, JoinBy: t.JoinBy, TakeUpBy: t.TakeUpBy, Parked: t.Parked, Progress: t.Progress, Result: t.Result,
		Answers: t.Answers, Position: t.Position,
	}
	if t.Ticket != nil {
		out.Ticket = &TaskTicket{event.TicketID(t.ID, t.Ticket.N), *t.Ticket}
	}
	if t.Handoff != nil {
		h := handoffOf(t.ID, t.Handoff)
		out.Handoff = &h
	}
	for _, a := range t.Takeovers {
		out.Takeovers = append(out.Takeovers, TakeoverRequest{ID: event.TakeoverID(t.ID, a.N), By: a.By, Detail: a.Detail})
	}
	for _, s := range t.Shares {
		out.Shares = append(out.Shares, Share{ID: event.ShareID(t.ID, s.N), To: s.To, From: s.From, Envelope: s.Envelope, Read: s.Read})
	}
	return out
}

package mcpapi

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/liveness"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/show"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/taskext"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/toolset"
)

// handles implements [taskext.Source] for one principal. It keeps no state: the record has everything that a handle refers to. The
// handle of a question is the id of its ticket. The handle of a delegation or fan-out is the id of the parent and the number of the
// group of children that were created together ("task_….g2"), which the record has before the children exist.
type handles struct {
	*client.Client
	person string // the user of the client; empty if there is none
	set    toolset.Set
	remote bool // the API is in another process, which may restart
}

const (
	// poll is the advised polling interval of a handle: agents and people take minutes.
	poll = 2 * time.Second
	// linger is the maximum time that one call waits for a change.
	linger = 50 * time.Second
)

// names is the set of tools of the client of ctx.
func (r handles) names(ctx context.Context) toolset.Set {
	if set, ok := toolset.From(ctx); ok {
		return set
	}
	return r.set
}

// operators is the desk of the operators of the server.
const operators = "operators"

// forPerson reports whether the user of the client of an agent may answer a ticket: a question that was put to the operators, of whom that
// user is one, from the beginning. The API refuses others.
func forPerson(person string, k client.Ticket) bool {
	return person != "" && k.ID != "" && k.Open() && k.Kind == "question" && k.To == "" && k.Desk == operators && k.Level == 0
}

// questions returns the open question of a ticket, if the user of the client may answer it. A ticket is answered once, so its id is never
// used again as a key.
func (r handles) questions(k client.Ticket) map[string]*mcp.ElicitParams {
	if !forPerson(r.person, k) {
		return nil
	}
	return map[string]*mcp.ElicitParams{k.ID: questionOf(k).form()}
}

// questionTask converts a ticket to a task of the extension. Its result is what ask would have answered if it had waited.
func (r handles) questionTask(k client.Ticket) taskext.Task {
	t := taskext.Task{ID: k.ID, Status: taskext.Working, Created: k.Opened, Updated: k.Opened, Poll: poll}
	for _, at := range []time.Time{k.Claimed, k.Closed} {
		if at.After(t.Updated) {
			t.Updated = at
		}
	}
	switch {
	case k.Open():
		t.Message, t.Questions = show.TicketText(k), r.questions(k)
		if len(t.Questions) > 0 {
			t.Status = taskext.InputRequired
		}
	case k.Outcome == "withdrawn":
		t.Status, t.Message = taskext.Cancelled, show.TicketText(k)
	default:
		const next = "continue the task"
		t.Status = taskext.Completed
		t.Result = &mcp.CallToolResult{
			Content:           []mcp.Content{&mcp.TextContent{Text: show.TicketText(k) + "\nNext: " + next}},
			StructuredContent: askAnswer{receipt: receipt{Task: k.Task, State: client.Executing, Ticket: k.ID, Next: next}, Answer: k.Answer, By: k.ClosedBy},
		}
	}
	return t
}

// Get implements [taskext.Source].
func (r handles) Get(ctx context.Context, id string) (taskext.Task, error) {
	t, _, err := r.look(ctx, id)
	return t, sourceError(err)
}

func isTicket(id string) bool { return strings.Contains(id, ".k") }

// sourceError converts an error of the API to an error of a [taskext.Source].
func sourceError(err error) error {
	var refused *client.Error
	if !errors.As(err, &refused) {
		return err
	}
	switch refused.Code { //nolint:exhaustive // the others become internal errors
	case client.NotFound, client.Invalid:
		return taskext.ErrUnknown
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: refused.Error()}
}

// Answer implements [taskext.Source]: the questions are tickets, and the user of the client answers them. A question that the user
// declines stays open for other people.
func (r handles) Answer(ctx context.Context, _ string, answers map[string]*mcp.ElicitResult) error {
	for ticket, a := range answers {
		text, ok := saidBy(a, "answer")
		if !ok {
			continue
		}
		_, err := r.Client.Answer(asPerson(ctx, r.person, ticket), ticket, client.AnswerInput{Answer: text})
		if err != nil && !errors.Is(err, client.Expired) && !errors.Is(err, client.Conflict) { // another person answered first
			return sourceError(err)
		}
	}
	return nil
}

// Cancel implements [taskext.Source]. A parent without an owner is cancelled with its children. A parent with an owner keeps running, and
// only the children are cancelled. A question stays open until it is answered: the agent that asked need not wait for it.
func (r handles) Cancel(ctx context.Context, id string) error {
	const why = "cancelled by its sender's client"
	if isTicket(id) {
		return nil
	}
	w, err := r.delegation(ctx, id)
	if err != nil {
		return sourceError(err)
	}
	off := []string{w.parent.ID}
	if w.parent.Owner != "" {
		off = nil
		for _, k := range w.group {
			if !k.State.Final() {
				off = append(off, k.Task)
			}
		}
	}
	for _, task := range off {
		switch _, err := r.Client.Cancel(ctx, task, client.CancelInput{Detail: why}); {
		case errors.Is(err, client.NotFound):
			return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "what was delegated is being made: cancel it again in a moment"}
		case err != nil && !errors.Is(err, client.Conflict): // a conflict: the task has ended
			return sourceError(err)
		}
	}
	return nil
}

// Changed implements [taskext.Source].
func (r handles) Changed(ctx context.Context, seen taskext.Task) (taskext.Task, error) {
	for {
		t, wait, err := r.look(ctx, seen.ID)
		if err == nil {
			if t.Status != seen.Status || t.Message != seen.Message || len(t.Questions) != len(seen.Questions) {
				return t, nil
			}
			err = wait()
		}
		if err != nil && !liveness.Again(ctx, r.remote, err) {
			return t, sourceError(err)
		}
	}
}

// look reads what a handle refers to. The returned wait blocks until that may have changed. A parent resumes when the last child
// that it needs has ended, or shortly after.
func (r handles) look(ctx context.Context, id string) (t taskext.Task, wait func() error, err error) {
	if isTicket(id) {
		k, err := r.Ticket(ctx, id, 0)
		return r.questionTask(k), func() error {
			_, err := r.Ticket(ctx, id, linger)
			return err
		}, err
	}
	w, err := r.delegation(ctx, id)
	if err != nil {
		return t, nil, err
	}
	return w.task(id, r.questions(w.asks())), func() error {
		switch {
		case w.first.ID == "": // not created yet
			_, err := r.WaitTask(ctx, w.parent.ID, w.parent.Position, time.Second)
			return err
		case w.first.State.Final():
			return r.either(ctx, w.parent)
		case len(w.group) == 1:
			return r.either(ctx, w.first)
		}
		return r.either(ctx, w.first, w.parent)
	}, nil
}

// either waits until one of the tasks has changed, at most for linger.
func (r handles) either(ctx context.Context, of ...client.Task) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	over := make(chan error, len(of))
	for _, t := range of {
		go func() {
			_, err := r.WaitTask(ctx, t.ID, t.Position, linger)
			over <- err
		}()
	}
	return <-over
}

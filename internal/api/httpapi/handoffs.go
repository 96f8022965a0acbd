package httpapi

import (
	"context"
	"net/http"

	"github.com/trapezehq/trapeze/internal/usecase/caller"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

func (s *service) handoffs() {
	post := func(verb, summary string) endpoint.Route {
		return endpoint.Route{Method: http.MethodPost, Path: "/v1/handoffs/{id}/" + verb, ID: verb, Summary: summary, Tag: endpoint.TagHandoffs}
	}
	endpoint.Read(s.door, endpoint.Route{Path: "/v1/handoffs/{id}", ID: "show-handoff", Summary: "Show a handoff", About: "The read is recorded.", Tag: endpoint.TagHandoffs}, s.showHandoff)
	accept := post("accept", "Accept an offer")
	accept.About = "With automatic confirmation the caller owns the task when this call returns, and the answer has its content."
	endpoint.Change(s.door, accept, func(ctx context.Context, c caller.Caller, id string, in tasks.AcceptInput) (tasks.Accepted, error) {
		in.Handoff = id
		return s.app.Tasks.Accept(ctx, c, in)
	})
	endpoint.Change(s.door, post("reject", "Reject an offer"), func(ctx context.Context, c caller.Caller, id string, in tasks.RejectInput) (taskstore.Receipt, error) {
		in.Handoff = id
		return s.app.Tasks.Reject(ctx, c, in)
	})
	endpoint.Change(s.door, post("confirm", "Confirm an accepted handoff: the receiver becomes the owner"), func(ctx context.Context, c caller.Caller, id string, in tasks.ConfirmInput) (taskstore.Receipt, error) {
		in.Handoff = id
		return s.app.Tasks.Confirm(ctx, c, in)
	})
	endpoint.Change(s.door, post("withdraw", "Withdraw a handoff that is not complete"), func(ctx context.Context, c caller.Caller, id string, in tasks.CancelInput) (taskstore.Receipt, error) {
		if _, _, err := event.ParseHandoffID(id); err != nil { // the use case accepts task ids too
			return taskstore.Receipt{}, err
		}
		in.ID = id
		return s.app.Tasks.Cancel(ctx, c, in)
	})
	s.verdicts("handoffs", "handoff", event.ParseHandoffID)
	s.verdicts("asks", "ask", event.ParseAskID)
	endpoint.Read(s.door, endpoint.Route{Path: "/v1/tasks/{id}/trail", ID: "trail", Summary: "Read all recorded events of a task", About: "The read is recorded.", Tag: endpoint.TagTasks},
		func(ctx context.Context, c caller.Caller, in *endpoint.ReadingID) (view.Trail, error) {
			tr, err := s.app.History.Trail(ctx, c, in.ID)
			if err != nil {
				return view.Trail{}, err
			}
			return *tr, nil
		})
}

// verdicts adds approve and deny, for supervised handoffs and for takeover requests (asks).
func (s *service) verdicts(of, name string, parse func(string) (string, int, error)) {
	post := func(verb, summary string) endpoint.Route {
		return endpoint.Route{Method: http.MethodPost, Path: "/v1/" + of + "/{id}/" + verb, ID: verb + "-" + name, Summary: summary, Tag: endpoint.TagHandoffs}
	}
	summaries := map[string][2]string{
		"handoff": {"Approve a supervised handoff", "Deny a supervised handoff"},
		"ask":     {"Approve a takeover: hand the task to the agent that asked for it", "Deny a takeover: keep the task"},
	}[name]
	endpoint.Change(s.door, post("approve", summaries[0]), func(ctx context.Context, c caller.Caller, id string, in tasks.ApproveInput) (taskstore.Receipt, error) {
		if _, _, err := parse(id); err != nil {
			return taskstore.Receipt{}, err
		}
		in.ID = id
		return s.app.Tasks.Approve(ctx, c, in)
	})
	endpoint.Change(s.door, post("deny", summaries[1]), func(ctx context.Context, c caller.Caller, id string, in tasks.DenyInput) (taskstore.Receipt, error) {
		if _, _, err := parse(id); err != nil {
			return taskstore.Receipt{}, err
		}
		in.ID = id
		return s.app.Tasks.Deny(ctx, c, in)
	})
}

func (s *service) showHandoff(ctx context.Context, c caller.Caller, in *endpoint.ReadingID) (Handoff, error) {
	task, n, err := event.ParseHandoffID(in.ID)
	if err != nil {
		return Handoff{}, err
	}
	t, err := s.app.Tasks.Show(ctx, c, task)
	if err != nil {
		return Handoff{}, err
	}
	if t.Handoff != nil && t.Handoff.N == n {
		h := handoffOf(t.ID, t.Handoff)
		h.Decision = t.Handoff.Decision
		return h, nil
	}
	if t.Handoff != nil && n < t.Handoff.N {
		tr, err := s.app.History.Trail(ctx, c, task)
		if err != nil {
			return Handoff{}, err
		}
		for _, r := range tr.Handoffs {
			if r.HandoffID == in.ID {
				return pastHandoff(r), nil
			}
		}
	}
	return Handoff{}, refusal.New(refusal.NotFound, "fetch the task to see its handoffs", "task %s has no handoff %d", task, n)
}

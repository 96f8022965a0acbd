package httpapi

import (
	"context"
	"net/http"

	"github.com/trapezehq/trapeze/internal/app"
	"github.com/trapezehq/trapeze/internal/docket"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/refusal"
	"github.com/trapezehq/trapeze/internal/surface/httpapi/door"
	"github.com/trapezehq/trapeze/internal/view"
)

func (s *service) handoffs() {
	post := func(verb, summary string) door.Route {
		return door.Route{Method: http.MethodPost, Path: "/v1/handoffs/{id}/" + verb, ID: verb, Summary: summary, Tag: door.TagHandoffs}
	}
	door.Read(s.door, door.Route{Path: "/v1/handoffs/{id}", ID: "show-handoff", Summary: "Show a handoff", About: "The read is on record.", Tag: door.TagHandoffs}, s.showHandoff)
	accept := post("accept", "Take an offer")
	accept.About = "With automatic confirm the caller owns the task when this answers, and has its content."
	door.Change(s.door, accept, func(ctx context.Context, c app.Caller, id string, in app.AcceptInput) (app.Accepted, error) {
		in.Handoff = id
		return s.app.Accept(ctx, c, in)
	})
	door.Change(s.door, post("reject", "Turn an offer down"), func(ctx context.Context, c app.Caller, id string, in app.RejectInput) (docket.Receipt, error) {
		in.Handoff = id
		return s.app.Reject(ctx, c, in)
	})
	door.Change(s.door, post("confirm", "Let go of a task that was accepted"), func(ctx context.Context, c app.Caller, id string, in app.ConfirmInput) (docket.Receipt, error) {
		in.Handoff = id
		return s.app.Confirm(ctx, c, in)
	})
	door.Change(s.door, post("withdraw", "Take a handoff under way back"), func(ctx context.Context, c app.Caller, id string, in app.CancelInput) (docket.Receipt, error) {
		if _, _, err := fact.ParseHandoffID(id); err != nil { // the use case takes tasks too
			return docket.Receipt{}, err
		}
		in.ID = id
		return s.app.Cancel(ctx, c, in)
	})
	s.verdicts("handoffs", "handoff", fact.ParseHandoffID)
	s.verdicts("asks", "ask", fact.ParseAskID)
	door.Read(s.door, door.Route{Path: "/v1/tasks/{id}/trail", ID: "trail", Summary: "Read everything on record about the task", About: "The read is on record.", Tag: door.TagTasks},
		func(ctx context.Context, c app.Caller, in *door.ReadingID) (view.Trail, error) {
			tr, err := s.app.Trail(ctx, c, in.ID)
			if err != nil {
				return view.Trail{}, err
			}
			return *tr, nil
		})
}

// verdicts are approve and deny, of supervised handoffs and of asks to take over.
func (s *service) verdicts(of, name string, parse func(string) (string, int, error)) {
	post := func(verb, summary string) door.Route {
		return door.Route{Method: http.MethodPost, Path: "/v1/" + of + "/{id}/" + verb, ID: verb + "-" + name, Summary: summary, Tag: door.TagHandoffs}
	}
	summaries := map[string][2]string{
		"handoff": {"Let a supervised handoff go on", "Stop a supervised handoff"},
		"ask":     {"Give the task to the agent that asked for it", "Keep the task"},
	}[name]
	door.Change(s.door, post("approve", summaries[0]), func(ctx context.Context, c app.Caller, id string, in app.ApproveInput) (docket.Receipt, error) {
		if _, _, err := parse(id); err != nil {
			return docket.Receipt{}, err
		}
		in.ID = id
		return s.app.Approve(ctx, c, in)
	})
	door.Change(s.door, post("deny", summaries[1]), func(ctx context.Context, c app.Caller, id string, in app.DenyInput) (docket.Receipt, error) {
		if _, _, err := parse(id); err != nil {
			return docket.Receipt{}, err
		}
		in.ID = id
		return s.app.Deny(ctx, c, in)
	})
}

func (s *service) showHandoff(ctx context.Context, c app.Caller, in *door.ReadingID) (Handoff, error) {
	task, n, err := fact.ParseHandoffID(in.ID)
	if err != nil {
		return Handoff{}, err
	}
	t, err := s.app.Task(ctx, c, task)
	if err != nil {
		return Handoff{}, err
	}
	if t.Handoff != nil && t.Handoff.N == n {
		h := handoffOf(t.ID, t.Handoff)
		h.Decision = t.Handoff.Decision
		return h, nil
	}
	if t.Handoff != nil && n < t.Handoff.N {
		tr, err := s.app.Trail(ctx, c, task)
		if err != nil {
			return Handoff{}, err
		}
		for _, r := range tr.Handoffs {
			if r.HandoffID == in.ID {
				return pastHandoff(r), nil
			}
		}
	}
	return Handoff{}, refusal.New(refusal.NotFound, "look at the task for its handoffs", "task %s has no handoff %d", task, n)
}

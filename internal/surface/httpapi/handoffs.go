package httpapi

import (
	"context"
	"net/http"
	"time"

	"github.com/trapezehq/trapeze/internal/app"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/refusal"
	"github.com/trapezehq/trapeze/internal/view"
)

const tagHandoffs = "Handoffs"

func (s *service) handoffs() {
	post := func(verb, summary string) route {
		return route{method: http.MethodPost, path: "/v1/handoffs/{id}/" + verb, id: verb, summary: summary, tag: tagHandoffs}
	}
	read(s, route{path: "/v1/handoffs/{id}", id: "show-handoff", summary: "Show a handoff", about: "The read is on record.", tag: tagHandoffs}, s.showHandoff)
	accept := post("accept", "Take an offer")
	accept.about = "With automatic confirm the caller owns the task when this answers, and has its content."
	change(s, accept, func(ctx context.Context, c app.Caller, id string, in app.AcceptInput) (app.Accepted, error) {
		in.Handoff = id
		return s.app.Accept(ctx, c, in)
	})
	change(s, post("reject", "Turn an offer down"), func(ctx context.Context, c app.Caller, id string, in app.RejectInput) (app.Receipt, error) {
		in.Handoff = id
		return s.app.Reject(ctx, c, in)
	})
	change(s, post("confirm", "Let go of a task that was accepted"), func(ctx context.Context, c app.Caller, id string, in app.ConfirmInput) (app.Receipt, error) {
		in.Handoff = id
		return s.app.Confirm(ctx, c, in)
	})
	change(s, post("withdraw", "Take a handoff under way back"), func(ctx context.Context, c app.Caller, id string, in app.CancelInput) (app.Receipt, error) {
		if _, _, err := fact.ParseHandoffID(id); err != nil { // the use case takes tasks too
			return app.Receipt{}, err
		}
		in.ID = id
		return s.app.Cancel(ctx, c, in)
	})
	s.verdicts("handoffs", "handoff", fact.ParseHandoffID)
	s.verdicts("asks", "ask", fact.ParseAskID)
	s.content()
}

// verdicts are approve and deny, of supervised handoffs and of asks to take over.
func (s *service) verdicts(of, name string, parse func(string) (string, int, error)) {
	post := func(verb, summary string) route {
		return route{method: http.MethodPost, path: "/v1/" + of + "/{id}/" + verb, id: verb + "-" + name, summary: summary, tag: tagHandoffs}
	}
	summaries := map[string][2]string{
		"handoff": {"Let a supervised handoff go on", "Stop a supervised handoff"},
		"ask":     {"Give the task to the agent that asked for it", "Keep the task"},
	}[name]
	change(s, post("approve", summaries[0]), func(ctx context.Context, c app.Caller, id string, in app.ApproveInput) (app.Receipt, error) {
		if _, _, err := parse(id); err != nil {
			return app.Receipt{}, err
		}
		in.ID = id
		return s.app.Approve(ctx, c, in)
	})
	change(s, post("deny", summaries[1]), func(ctx context.Context, c app.Caller, id string, in app.DenyInput) (app.Receipt, error) {
		if _, _, err := parse(id); err != nil {
			return app.Receipt{}, err
		}
		in.ID = id
		return s.app.Deny(ctx, c, in)
	})
}

type contentQuery struct {
	Reading
	ID     string `path:"id" maxLength:"80" doc:"Id, as other answers give it."`
	Render bool   `query:"render" doc:"Also give the envelope as a prompt."`
	Source bool   `query:"source" doc:"Give what was sent, not what was packed of it for its receiver."`
	Majors []int  `query:"majors" maxItems:"8" doc:"Also give the envelope in these majors of its schema, comma-separated: for readers that have not moved to the newest one yet."`
}

// content are the three ways to an envelope; the id says what it is of.
func (s *service) content() {
	checks := map[string]func(string) error{
		"tasks":    fact.CheckTaskID,
		"handoffs": func(id string) error { _, _, err := fact.ParseHandoffID(id); return err },
		"shares":   func(id string) error { _, _, err := fact.ParseShareID(id); return err },
	}
	for _, of := range []struct{ path, id, summary, tag string }{
		{"tasks", "task-content", "Read the task's newest envelope", tagTasks},
		{"handoffs", "handoff-content", "Read the handoff's envelope", tagHandoffs},
		{"shares", "share-content", "Read what was shared", tagHandoffs},
	} {
		r := route{path: "/v1/" + of.path + "/{id}/content", id: of.id, summary: of.summary, about: "The read is on record.", tag: of.tag}
		read(s, r, func(ctx context.Context, c app.Caller, in *contentQuery) (app.Sheet, error) {
			if err := checks[of.path](in.ID); err != nil {
				return app.Sheet{}, err
			}
			return s.app.Content(ctx, c, app.ContentInput{ID: in.ID, Render: in.Render, Source: in.Source, Majors: in.Majors})
		})
	}
	read(s, route{path: "/v1/tasks/{id}/trail", id: "trail", summary: "Read everything on record about the task", about: "The read is on record.", tag: tagTasks},
		func(ctx context.Context, c app.Caller, in *readingID) (view.Trail, error) {
			tr, err := s.app.Trail(ctx, c, in.ID)
			if err != nil {
				return view.Trail{}, err
			}
			return *tr, nil
		})
}

func (s *service) showHandoff(ctx context.Context, c app.Caller, in *readingID) (Handoff, error) {
	task, n, err := fact.ParseHandoffID(in.ID)
	if err != nil {
		return Handoff{}, err
	}
	t, err := s.app.Task(ctx, c, task)
	if err != nil {
		return Handoff{}, err
	}
	if t.Handoff != nil && t.Handoff.N == n {
		return handoffOf(t.ID, t.Handoff), nil
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

const tagInbox = "Inbox"

type inboxQuery struct {
	Reading
	Agent string `query:"agent" maxLength:"64" doc:"Another agent's inbox, for operators and auditors."`
	Limit int    `query:"limit" minimum:"1" maximum:"500" doc:"At most this many; 10 if left out."`
	Wait  string `query:"wait" maxLength:"20" doc:"How long to wait for the first item, such as 30s; at most 55s." example:"30s"`
	Peek  bool   `query:"peek" doc:"Look without taking note: nothing counts as seen."`
}

// Inbox is what waits for an agent.
type Inbox struct {
	Items    []view.Item `json:"items" doc:"Highest priority first."`
	Position uint64      `json:"position"`
}

func (i Inbox) position() uint64 { return i.Position }

func (s *service) inbox() {
	read(s, route{
		path: "/v1/inbox", id: "inbox", summary: "What waits for the caller, and wait for it",
		about: "An offer that an agent gets here counts as seen, and its acknowledgment clock runs.", tag: tagInbox,
	}, s.lookIn)
}

func (s *service) lookIn(ctx context.Context, c app.Caller, in *inboxQuery) (Inbox, error) {
	var wait fact.Duration
	if in.Wait != "" {
		if err := wait.UnmarshalText([]byte(in.Wait)); err != nil {
			return Inbox{}, err
		}
	}
	if wait > 0 {
		patient(ctx)
	}
	position := uint64(s.app.Views().Position()) // before the list, so that the list has no less
	items, err := s.app.Inbox(ctx, c, app.InboxInput{Agent: in.Agent, Limit: in.Limit, Wait: time.Duration(wait), Peek: in.Peek})
	if v, ok := ctx.Value(visitKey{}).(*visit); ok && err == nil && wait > 0 {
		_, err = s.authenticate(v.r) // the token may have ended meanwhile
	}
	return Inbox{Items: notNil(items), Position: position}, err
}

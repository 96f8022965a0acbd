package httpapi

import (
	"context"
	"net/http"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/content/drift"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

// envelopes are what becomes of a task's context on its way.
func (s *service) envelopes() {
	endpoint.Read(s.door, endpoint.Route{
		Path: "/v1/tasks/{id}/drift", ID: "drift", Summary: "Report what each hop kept, changed, left out and dropped",
		About: "Facts, decisions, constraints and references are compared by id. The read is on record.", Tag: endpoint.TagTasks,
	}, func(ctx context.Context, c tasks.Caller, in *endpoint.ReadingID) (drift.Report, error) {
		return s.app.Drift(ctx, c, in.ID)
	})
	gap := endpoint.Route{Method: http.MethodPost, Path: "/v1/tasks/{id}/gap", ID: "gap", Summary: "Report what is missing from the context", Tag: endpoint.TagTasks}
	gap.About = "As the task's owner, who goes on working with what there is."
	endpoint.Change(s.door, gap, func(ctx context.Context, c tasks.Caller, id string, in tasks.GapInput) (taskstore.Receipt, error) {
		in.Task = id
		return s.app.ReportGap(ctx, c, in)
	})
	endpoint.Change(s.door, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/tasks/{id}/preview", ID: "preview-envelope", Summary: "Pack the task's next envelope without sending it",
		About: "What a receiver would get, with its tokens, omissions and gaps. Nothing changes.", Tag: endpoint.TagTasks,
	}, func(ctx context.Context, c tasks.Caller, id string, in tasks.PreviewInput) (tasks.Preview, error) {
		in.Task = id
		return s.app.Preview(ctx, c, in)
	})
	s.content()
}

type contentQuery struct {
	endpoint.Reading
	ID     string `path:"id" maxLength:"80" doc:"Id, as other answers give it."`
	Render bool   `query:"render" doc:"Also give the envelope as a prompt."`
	Source bool   `query:"source" doc:"Give what was sent, not what was packed of it for its receiver."`
	Majors []int  `query:"majors" maxItems:"8" doc:"Also give the envelope in these majors of its schema, comma-separated: for readers that have not moved to the newest one yet."`
}

// content are the three ways to an envelope; the id says what it is of.
func (s *service) content() {
	checks := map[string]func(string) error{
		"tasks":    event.CheckTaskID,
		"handoffs": func(id string) error { _, _, err := event.ParseHandoffID(id); return err },
		"shares":   func(id string) error { _, _, err := event.ParseShareID(id); return err },
	}
	for _, of := range []struct{ path, id, summary, tag string }{
		{"tasks", "task-content", "Read the task's newest envelope", endpoint.TagTasks},
		{"handoffs", "handoff-content", "Read the handoff's envelope", endpoint.TagHandoffs},
		{"shares", "share-content", "Read what was shared", endpoint.TagHandoffs},
	} {
		r := endpoint.Route{Path: "/v1/" + of.path + "/{id}/content", ID: of.id, Summary: of.summary, About: "The read is on record.", Tag: of.tag}
		endpoint.Read(s.door, r, func(ctx context.Context, c tasks.Caller, in *contentQuery) (tasks.Sheet, error) {
			if err := checks[of.path](in.ID); err != nil {
				return tasks.Sheet{}, err
			}
			return s.app.Content(ctx, c, tasks.ContentInput{ID: in.ID, Render: in.Render, Source: in.Source, Majors: in.Majors})
		})
	}
}

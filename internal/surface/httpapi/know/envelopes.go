package know

import (
	"context"
	"net/http"

	"github.com/trapezehq/trapeze/internal/app"
	"github.com/trapezehq/trapeze/internal/docket"
	"github.com/trapezehq/trapeze/internal/drift"
	"github.com/trapezehq/trapeze/internal/fact"
	"github.com/trapezehq/trapeze/internal/surface/httpapi/door"
)

// envelopes are what becomes of a task's context on its way.
func (s *routes) envelopes() {
	door.Read(s.door, door.Route{
		Path: "/v1/tasks/{id}/drift", ID: "drift", Summary: "Report what each hop kept, changed, left out and dropped",
		About: "Facts, decisions, constraints and references are compared by id. The read is on record.", Tag: door.TagTasks,
	}, func(ctx context.Context, c app.Caller, in *door.ReadingID) (drift.Report, error) {
		return s.app.Drift(ctx, c, in.ID)
	})
	gap := door.Route{Method: http.MethodPost, Path: "/v1/tasks/{id}/gap", ID: "gap", Summary: "Report what is missing from the context", Tag: door.TagTasks}
	gap.About = "As the task's owner, who goes on working with what there is."
	door.Change(s.door, gap, func(ctx context.Context, c app.Caller, id string, in app.GapInput) (docket.Receipt, error) {
		in.Task = id
		return s.app.ReportGap(ctx, c, in)
	})
	door.Change(s.door, door.Route{
		Method: http.MethodPost, Path: "/v1/tasks/{id}/preview", ID: "preview-envelope", Summary: "Pack the task's next envelope without sending it",
		About: "What a receiver would get, with its tokens, omissions and gaps. Nothing changes.", Tag: door.TagTasks,
	}, func(ctx context.Context, c app.Caller, id string, in app.PreviewInput) (app.Preview, error) {
		in.Task = id
		return s.app.Preview(ctx, c, in)
	})
	s.content()
}

type contentQuery struct {
	door.Reading
	ID     string `path:"id" maxLength:"80" doc:"Id, as other answers give it."`
	Render bool   `query:"render" doc:"Also give the envelope as a prompt."`
	Source bool   `query:"source" doc:"Give what was sent, not what was packed of it for its receiver."`
	Majors []int  `query:"majors" maxItems:"8" doc:"Also give the envelope in these majors of its schema, comma-separated: for readers that have not moved to the newest one yet."`
}

// content are the three ways to an envelope; the id says what it is of.
func (s *routes) content() {
	checks := map[string]func(string) error{
		"tasks":    fact.CheckTaskID,
		"handoffs": func(id string) error { _, _, err := fact.ParseHandoffID(id); return err },
		"shares":   func(id string) error { _, _, err := fact.ParseShareID(id); return err },
	}
	for _, of := range []struct{ path, id, summary, tag string }{
		{"tasks", "task-content", "Read the task's newest envelope", door.TagTasks},
		{"handoffs", "handoff-content", "Read the handoff's envelope", door.TagHandoffs},
		{"shares", "share-content", "Read what was shared", door.TagHandoffs},
	} {
		r := door.Route{Path: "/v1/" + of.path + "/{id}/content", ID: of.id, Summary: of.summary, About: "The read is on record.", Tag: of.tag}
		door.Read(s.door, r, func(ctx context.Context, c app.Caller, in *contentQuery) (app.Sheet, error) {
			if err := checks[of.path](in.ID); err != nil {
				return app.Sheet{}, err
			}
			return s.app.Content(ctx, c, app.ContentInput{ID: in.ID, Render: in.Render, Source: in.Source, Majors: in.Majors})
		})
	}
}

package httpapi

import (
	"context"
	"net/http"

	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/content/drift"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

// envelopes adds the routes of envelopes: their content, drift, gaps and previews.
func (s *service) envelopes() {
	endpoint.Read(s.router, endpoint.Route{
		Path: "/v1/tasks/{id}/drift", ID: "drift", Summary: "Show what each hop kept, changed, omitted and dropped",
		About: "Facts, decisions, constraints and references are compared by id. The read is recorded.", Tag: endpoint.TagTasks,
	}, func(ctx context.Context, c caller.Caller, in *endpoint.ReadingID) (drift.Report, error) {
		return s.app.History.Drift(ctx, c, in.ID)
	})
	gap := endpoint.Route{Method: http.MethodPost, Path: "/v1/tasks/{id}/gap", ID: "gap", Summary: "Report what is missing from the context", Tag: endpoint.TagTasks}
	gap.About = "For the owner of the task, who continues with the context it has. Renews its lease, as a heartbeat does."
	endpoint.Change(s.router, gap, endpoint.Under(func(in *tasks.GapInput) *string { return &in.Task }, s.app.Tasks.ReportGap))
	endpoint.Change(s.router, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/tasks/{id}/preview", ID: "preview-envelope", Summary: "Pack the next envelope of a task without sending it",
		About: "What a receiver would get, with its tokens, omissions and gaps. Changes nothing.", Tag: endpoint.TagTasks,
	}, endpoint.Under(func(in *envelopes.PreviewInput) *string { return &in.Task }, s.app.Envelopes.Preview))
	s.content()
}

type contentQuery struct {
	endpoint.Reading
	ID     string `path:"id" maxLength:"80" doc:"Id."`
	Render bool   `query:"render" doc:"Also return the envelope as a prompt."`
	Source bool   `query:"source" doc:"Return what was sent, not what was packed for the receiver."`
	Majors []int  `query:"majors" maxItems:"8" doc:"Also return the envelope in these major versions of its schema, comma-separated: for readers that do not support the newest."`
}

// content adds the routes to the envelope of a task, a handoff or a share.
func (s *service) content() {
	checks := map[string]func(string) error{
		"tasks":    event.CheckTaskID,
		"handoffs": wellFormed(event.ParseHandoffID),
		"shares":   wellFormed(event.ParseShareID),
	}
	for _, of := range []struct{ path, id, summary, tag string }{
		{"tasks", "task-content", "Read the newest envelope of a task", endpoint.TagTasks},
		{"handoffs", "handoff-content", "Read the envelope of a handoff", endpoint.TagHandoffs},
		{"shares", "share-content", "Read the envelope of a share", endpoint.TagHandoffs},
	} {
		r := endpoint.Route{Path: "/v1/" + of.path + "/{id}/content", ID: of.id, Summary: of.summary, About: "The read is recorded.", Tag: of.tag}
		endpoint.Read(s.router, r, func(ctx context.Context, c caller.Caller, in *contentQuery) (envelopes.Sheet, error) {
			if err := checks[of.path](in.ID); err != nil {
				return envelopes.Sheet{}, err
			}
			return s.app.Envelopes.Fetch(ctx, c, envelopes.ContentInput{ID: in.ID, Render: in.Render, Source: in.Source, Majors: in.Majors})
		})
	}
}

package httpapi

import (
	"context"
	"net/http"
	"strings"

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
	}, endpoint.Under(func(in *tasks.PreviewInput) *string { return &in.Task }, s.app.Tasks.Preview))
	s.content()
}

type contentQuery struct {
	endpoint.Reading
	ID     string        `path:"id" maxLength:"80" doc:"Id."`
	Render bool          `query:"render" doc:"Also return the envelope as a prompt."`
	Via    envelopes.Via `query:"via" doc:"With render: how the reader came. The prompt names the call that fetches what was left out in this form; http if omitted."`
	Source bool          `query:"source" doc:"Return what was sent, not what was packed for the receiver."`
	Majors []int         `query:"majors" maxItems:"8" doc:"Also return the envelope in these major versions of its schema, comma-separated: for readers that do not support the newest."`
}

type partsQuery struct {
	endpoint.Reading
	ID     string        `path:"id" maxLength:"80" doc:"Id."`
	Parts  []string      `query:"part,explode" maxItems:"200" doc:"Part to read, repeatable: fact:f1, decision:d2, reasoning:d2, step:3, memory:ID, artifact:DIGEST, data, summary, state or conversation; a range such as fact:f3-f9; a kind for all of it that was left out; or all."`
	Tokens int           `query:"tokens" minimum:"1" maximum:"32000" doc:"Maximum size of the text in tokens, at most the context window of the agent; if omitted 4000, or half the window if that is less. Less than a page needs is refused with the number that it needs."`
	Beyond int           `query:"after" minimum:"0" doc:"Field after of the previous page."`
	Via    envelopes.Via `query:"via" doc:"How the reader came: the text says how to go on in this form; http if omitted."`
}

// parts serves the parts of the envelope of a task, a handoff or a share.
func (s *service) parts(r endpoint.Route, of string, check func(string) error) {
	r.Path, r.ID = "/v1/"+of+"/{id}/parts", strings.TrimSuffix(of, "s")+"-parts"
	r.Summary = "Read parts of " + strings.TrimPrefix(r.Summary, "Read ") + ", such as those left out"
	r.About = "For the owner of the task, the receiver of a share, and those that may read the whole. The read is recorded."
	endpoint.Read(s.router, r, func(ctx context.Context, c caller.Caller, in *partsQuery) (envelopes.Parts, error) {
		if err := check(in.ID); err != nil {
			return envelopes.Parts{}, err
		}
		return s.app.Envelopes.Parts(ctx, c, envelopes.PartsInput{
			ID: in.ID, Parts: in.Parts, Tokens: in.Tokens, After: in.Beyond, Via: in.Via,
		})
	})
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
			return s.app.Envelopes.Fetch(ctx, c, envelopes.ContentInput{ID: in.ID, Render: in.Render, Via: in.Via, Source: in.Source, Majors: in.Majors})
		})
		s.parts(r, of.path, checks[of.path])
	}
}

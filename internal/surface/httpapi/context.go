package httpapi

import (
	"context"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trapezehq/trapeze/internal/app"
	"github.com/trapezehq/trapeze/internal/drift"
)

type importBody struct {
	Keyed
	Body app.ImportInput
}

// importing is how tasks come over from other systems.
func (s *service) importing() {
	op := s.operation(route{
		method: http.MethodPost, path: "/v1/tasks/import", id: "import-task", summary: "Make a task from another system's handoff document",
		about: "Three formats are told apart by their fields. What a document says about the past is kept as claimed history; the answer notes every field that was not simply taken over.",
		tag:   tagTasks, status: http.StatusCreated,
	})
	huma.Register(s.api, op, func(ctx context.Context, in *importBody) (*answer[app.Imported], error) {
		r, err := s.app.Import(ctx, caller(ctx).WithKey(in.Key), in.Body)
		if err != nil {
			return nil, s.problem(ctx, err)
		}
		return answerOf(r), nil
	})
}

// context is what becomes of a task's context on its way.
func (s *service) context() {
	read(s, route{
		path: "/v1/tasks/{id}/drift", id: "drift", summary: "Report what each hop kept, changed, left out and dropped",
		about: "Facts, decisions, constraints and references are compared by id. The read is on record.", tag: tagTasks,
	}, func(ctx context.Context, c app.Caller, in *readingID) (drift.Report, error) {
		return s.app.Drift(ctx, c, in.ID)
	})
	gap := route{method: http.MethodPost, path: "/v1/tasks/{id}/gap", id: "gap", summary: "Report what is missing from the context", tag: tagTasks}
	gap.about = "As the task's owner, who goes on working with what there is."
	change(s, gap, func(ctx context.Context, c app.Caller, id string, in app.GapInput) (app.Receipt, error) {
		in.Task = id
		return s.app.ReportGap(ctx, c, in)
	})
	change(s, route{
		method: http.MethodPost, path: "/v1/tasks/{id}/preview", id: "preview-envelope", summary: "Pack the task's next envelope without sending it",
		about: "What a receiver would get, with its tokens, omissions and gaps. Nothing changes.", tag: tagTasks,
	}, func(ctx context.Context, c app.Caller, id string, in app.PreviewInput) (app.Preview, error) {
		in.Task = id
		return s.app.Preview(ctx, c, in)
	})
}

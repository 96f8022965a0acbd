package httpapi

import (
	"context"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/history"
)

func (s *service) trail() {
	endpoint.Read(s.router, endpoint.Route{Path: "/v1/tasks/{id}/trail", ID: "trail", Summary: "Read all recorded events of a task", About: "The read is recorded.", Tag: endpoint.TagTasks},
		func(ctx context.Context, c caller.Caller, in *trailQuery) (view.Trail, error) {
			tr, err := s.app.History.TrailAround(ctx, c, history.ExportInput{
				Task: in.ID, SkipDamaged: in.SkipDamaged, Skipped: func(at uint64, err error) { s.router.Skipped(ctx, at, err) },
			})
			if err != nil {
				return view.Trail{}, err
			}
			return *tr, nil
		})
}

// trailQuery asks for the trail of a task.
type trailQuery struct {
	endpoint.ReadingID
	SkipDamaged bool `query:"skip_damaged" doc:"Whether to go on after entries that cannot be read, which are then listed in their places as entry-damaged, or as entry-put-away if their segment is not there; for operators and auditors."`
}

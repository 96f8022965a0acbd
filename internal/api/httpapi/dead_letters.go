package httpapi

import (
	"context"
	"net/http"

	"github.com/trapezehq/trapeze/internal/usecase/caller"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

type deadQuery struct {
	endpoint.Reading
	endpoint.Page
}

func (s *service) dead() {
	endpoint.Read(s.router, endpoint.Route{Path: "/v1/dead", ID: "list-dead", Summary: "List the tasks in the dead letters", About: taskOrder, Tag: endpoint.TagDead},
		func(ctx context.Context, c caller.Caller, in *deadQuery) (TaskPage, error) {
			return s.page(ctx, c, view.TaskFilter{State: event.Parked}, in.Page, "")
		})
	replay := endpoint.Route{Method: http.MethodPost, Path: "/v1/dead/{id}/replay", ID: "replay", Summary: "Replay a task from the dead letters with new limits", Tag: endpoint.TagDead}
	endpoint.Change(s.router, replay, endpoint.Under(func(in *tasks.ReplayInput) *string { return &in.Task }, s.app.Tasks.Replay))
	discard := endpoint.Route{Method: http.MethodPost, Path: "/v1/dead/{id}/discard", ID: "discard", Summary: "Discard a task in the dead letters", Tag: endpoint.TagDead}
	endpoint.Change(s.router, discard, endpoint.Under(func(in *tasks.DiscardInput) *string { return &in.Task }, s.app.Tasks.Discard))
}

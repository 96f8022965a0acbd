package httpapi

import (
	"context"
	"net/http"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/erasures"
)

type erasuresQuery struct {
	endpoint.Reading
	Task   string `query:"task" maxLength:"80" doc:"Only holds that keep this task from being erased, and erasures of it."`
	Memory string `query:"memory" maxLength:"80" doc:"The same, of a memory item."`
}

// erasures adds the routes of erasures and legal holds.
func (s *service) erasures() {
	e := s.app.Erasures
	endpoint.Read(s.router, endpoint.Route{
		Path: "/v1/erasures", ID: "list-erasures", Summary: "List legal holds and erasures", Tag: endpoint.TagRecord,
		About: "The holds that were not lifted, and what was erased, when, by whom and why. For operators and auditors.",
	}, func(ctx context.Context, c caller.Caller, in *erasuresQuery) (erasures.ErasureList, error) {
		return e.List(ctx, c, erasures.ListInput{Task: in.Task, Memory: in.Memory})
	})
	endpoint.Create(s.router, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/erasures", ID: "erase", Summary: "Erase content", Tag: endpoint.TagRecord, Status: http.StatusCreated,
		About: "The content of what the subject names cannot be read any more, and is in no file of the server; names, times and digests stay, and every proof still verifies. " +
			"It is refused while a task among it has not ended, and while a legal hold is on any of it. It goes through the whole record and builds the views again, about a minute " +
			"per million entries, in which lists may be incomplete. For operators.",
	}, e.Erase)
	endpoint.Create(s.router, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/holds", ID: "set-hold", Summary: "Set a legal hold", Tag: endpoint.TagRecord, Status: http.StatusCreated,
		About: "Nothing that the subject names is erased until the hold is lifted. Returns the holds and erasures. For operators.",
	}, e.SetHold)
	endpoint.Create(s.router, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/holds/lift", ID: "lift-hold", Summary: "Lift a legal hold", Tag: endpoint.TagRecord,
		About: "Returns the holds and erasures. For operators.",
	}, e.LiftHold)
}

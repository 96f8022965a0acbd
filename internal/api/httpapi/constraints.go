package httpapi

import (
	"context"
	"net/http"

	"github.com/trapezehq/trapeze/internal/usecase/caller"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
)

type liftQuery struct {
	endpoint.Keyed
	ID         string `path:"id" maxLength:"80" doc:"Id of the task."`
	Constraint string `path:"constraint" maxLength:"64" doc:"Id of the constraint."`
	Tightened  string `query:"tightened_by" maxLength:"80" doc:"Lift only what this principal has tightened of the constraint: an agent's name, or operator/NAME. Omitted: the whole constraint."`
	Why        string `query:"why" required:"true" minLength:"1" maxLength:"2000" doc:"Reason for lifting it."`
}

func (s *service) constraints() {
	add := endpoint.Route{Method: http.MethodPost, Path: "/v1/tasks/{id}/constraints", ID: "constrain", Summary: "Add or tighten a constraint of a task", Tag: endpoint.TagTasks}
	endpoint.Change(s.router, add, endpoint.Under(func(in *tasks.ConstrainInput) *string { return &in.Task }, s.app.Tasks.Constrain))
	lift := endpoint.Route{Method: http.MethodDelete, Path: "/v1/tasks/{id}/constraints/{constraint}", ID: "lift", Summary: "Lift a constraint of a task, or what one principal has tightened of it", Tag: endpoint.TagTasks}
	endpoint.Serve(s.router, lift, func(ctx context.Context, c caller.Caller, in *liftQuery) (taskstore.Receipt, error) {
		return s.app.Tasks.Lift(ctx, c.WithKey(in.Key), tasks.LiftInput{Task: in.ID, ID: in.Constraint, TightenedBy: in.Tightened, Why: in.Why})
	})
}

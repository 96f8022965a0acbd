package httpapi

import (
	"net/http"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/usecase/policies"
)

// policyRoute adds the call that asks where the policy would send a task.
func (s *service) policyRoute() {
	endpoint.Change(s.router, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/tasks/{id}/route", ID: "route-task", Summary: "Show where the policy would send a task",
		About: "Which rule decides and why, the possible receivers, and why others are passed over. Changes nothing. For callers that may hand the task off.",
		Tag:   endpoint.TagTasks,
	}, endpoint.Under(func(in *policies.RouteInput) *string { return &in.Task }, s.app.Policies.Route))
}

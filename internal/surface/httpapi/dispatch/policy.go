package dispatch

import (
	"context"
	"net/http"

	"github.com/trapezehq/trapeze/internal/app"
	"github.com/trapezehq/trapeze/internal/rulebook"
	"github.com/trapezehq/trapeze/internal/surface/httpapi/door"
)

// PolicyVersions is a list of policies.
type PolicyVersions struct {
	Policies []rulebook.PolicyInForce `json:"policies" doc:"The newest first."`
}

// versionsQuery says which part of the list is wanted.
type versionsQuery struct {
	door.Reading
	Before int `query:"before" minimum:"0" doc:"Only versions before this one; 0: all."`
}

// policies hangs the routes of policies and of what they decide on a door.
func policies(d *door.Door, a *app.App) {
	door.Change(d, door.Route{
		Method: http.MethodPost, Path: "/v1/tasks/{id}/route", ID: "route-task", Summary: "Ask where the policy would send a task",
		About: "Which rule decides and why, who could receive it, and why others are passed over. Nothing changes. For who could hand the task off.",
		Tag:   door.TagTasks,
	}, func(ctx context.Context, c app.Caller, id string, in rulebook.RouteInput) (rulebook.Routed, error) {
		in.Task = id
		return a.Route(ctx, c, in)
	})
	door.Read(d, door.Route{
		Path: "/v1/policy", ID: "show-policy", Summary: "Show the policy in force", About: "For operators and auditors.", Tag: door.TagPolicy,
	}, func(ctx context.Context, c app.Caller, _ *door.Reading) (rulebook.PolicyInForce, error) {
		return a.Show(ctx, c)
	})
	door.Read(d, door.Route{
		Path: "/v1/policy/versions", ID: "list-policies", Summary: "List the policies that came into force", About: "The newest 100, or the newest 100 before a version, without their texts.", Tag: door.TagPolicy,
	}, func(ctx context.Context, c app.Caller, in *versionsQuery) (PolicyVersions, error) {
		list, err := a.Versions(ctx, c, in.Before)
		return PolicyVersions{Policies: door.NotNil(list)}, err
	})
	door.Create(d, door.Route{
		Method: http.MethodPost, Path: "/v1/policy/check", ID: "check-policy", Summary: "Find what is wrong with a policy file",
		About: "With file, line, column and reason; targets that do not exist too. Nothing changes.", Tag: door.TagPolicy,
	}, a.Book.Check)
	door.Serve(d, door.Route{
		Method: http.MethodPost, Path: "/v1/policy/reload", ID: "reload-policy", Summary: "Bring the server's policy file, as it is now, into force",
		About: "A file with any problem is refused with all of them, and the policy in force stays.", Tag: door.TagPolicy,
	}, func(ctx context.Context, c app.Caller, in *door.Keyed) (rulebook.PolicyInForce, error) {
		return a.Reload(ctx, c.WithKey(in.Key))
	})
}

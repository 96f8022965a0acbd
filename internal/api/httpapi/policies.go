package httpapi

import (
	"context"
	"net/http"

	"github.com/trapezehq/trapeze/internal/usecase/caller"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/usecase/policies"
)

// PolicyVersions is a list of policies.
type PolicyVersions struct {
	Policies []policies.PolicyInForce `json:"policies" doc:"Newest first."`
}

// policiesQuery selects a page of the list.
type policiesQuery struct {
	endpoint.Reading
	Before int `query:"before" minimum:"0" doc:"Only versions before this one; 0 means all."`
}

// policies adds the routes of policies.
func (s *service) policies() {
	d, a := s.router, s.app
	endpoint.Read(d, endpoint.Route{
		Path: "/v1/policy", ID: "show-policy", Summary: "Show the policy in force", About: "For operators and auditors.", Tag: endpoint.TagPolicy,
	}, func(ctx context.Context, c caller.Caller, _ *endpoint.Reading) (policies.PolicyInForce, error) {
		return a.Policies.Show(ctx, c)
	})
	endpoint.Read(d, endpoint.Route{
		Path: "/v1/policy/versions", ID: "list-policies", Summary: "List the policies that have been in force", About: "The newest 100, or the newest 100 before a version, without their texts.", Tag: endpoint.TagPolicy,
	}, func(ctx context.Context, c caller.Caller, in *policiesQuery) (PolicyVersions, error) {
		list, err := a.Policies.Versions(ctx, c, in.Before)
		return PolicyVersions{Policies: endpoint.NotNil(list)}, err
	})
	endpoint.Create(d, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/policy/check", ID: "check-policy", Summary: "Check a policy file",
		About: "Returns each problem with file, line, column and reason, including targets that do not exist. Changes nothing.", Tag: endpoint.TagPolicy,
	}, a.Policies.Check)
	endpoint.Serve(d, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/policy/reload", ID: "reload-policy", Summary: "Put the current policy file of the server into force",
		About: "A file with problems is refused with all of them, and the current policy stays in force.", Tag: endpoint.TagPolicy,
	}, func(ctx context.Context, c caller.Caller, in *endpoint.Keyed) (policies.PolicyInForce, error) {
		return a.Policies.Reload(ctx, c.WithKey(in.Key))
	})
}

package httpapi

import (
	"context"
	"net/http"

	"github.com/trapezehq/trapeze/internal/usecase/caller"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/policies"
	"github.com/trapezehq/trapeze/internal/usecase/positions"
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

// DecisionPage is one page of a list of decisions.
type DecisionPage struct {
	Decisions []view.DecisionRow `json:"decisions" doc:"Newest first."`
	Next      positions.Position `json:"next,omitempty" doc:"Parameter before for the next page; absent on the last page."`
	endpoint.Listed
}

type decisionsQuery struct {
	endpoint.Reading
	Rule   string             `query:"rule" maxLength:"64" doc:"Only decisions of this rule; advice: of the model that the policy asks."`
	Policy string             `query:"policy" maxLength:"80" doc:"Only decisions by the policy with this digest."`
	Before positions.Position `query:"before" doc:"Field next of the previous page."`
	Limit  int                `query:"limit" minimum:"1" maximum:"500" doc:"Maximum number; 50 if omitted."`
}

func (s *service) listDecisions(ctx context.Context, c caller.Caller, in *decisionsQuery) (DecisionPage, error) {
	if in.Limit == 0 {
		in.Limit = endpoint.UsualPage
	}
	page := DecisionPage{Listed: endpoint.Listed{Position: s.app.Positions.Viewed()}}
	list, err := s.app.Policies.Decisions(ctx, c, policies.DecisionsInput{Rule: in.Rule, Policy: in.Policy, Before: in.Before, Limit: in.Limit})
	page.Decisions = endpoint.NotNil(list)
	if len(list) == in.Limit {
		page.Next = list[len(list)-1].At
	}
	return page, err
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
	endpoint.Read(d, endpoint.Route{
		Path: "/v1/policy/decisions", ID: "list-decisions", Summary: "List what the policy has decided", Tag: endpoint.TagPolicy,
		About: "The handoffs to auto, also those by which a task stayed where it is, each with the rule that decided, the reasons, and the receivers that were weighed. For operators and auditors; the read is recorded.",
	}, s.listDecisions)
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

package policies

import (
	"context"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/policy"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// PolicyInput is a policy file that is to be looked at.
type PolicyInput struct {
	File string `json:"file,omitempty" maxLength:"200" doc:"Its name in the problems; policy.yaml if left out."`
	Text string `json:"text" doc:"The file, as YAML."`
}

// PolicyProblem is one thing that is wrong with a policy file.
type PolicyProblem policy.Problem

// PolicyChecked is what is wrong with a policy file.
type PolicyChecked struct {
	Digest   string          `json:"digest"`
	Problems []PolicyProblem `json:"problems" doc:"By line; none if it could come into force now."`
	InForce  bool            `json:"in_force,omitempty" doc:"The same file is in force."`
}

// Check says what is wrong with a policy file, its targets included, and changes nothing.
func (ps *Policies) Check(ctx context.Context, c caller.Caller, in PolicyInput) (PolicyChecked, error) {
	out := PolicyChecked{Digest: policy.DigestOf([]byte(in.Text)), Problems: []PolicyProblem{}}
	p, problems, err := ps.check(ctx, c, in)
	if err != nil {
		return PolicyChecked{}, ps.access.Refused(ctx, c.Workspace, c.Actor(), "check-policy", "", err)
	}
	for _, one := range problems {
		out.Problems = append(out.Problems, PolicyProblem(one))
	}
	f, err := ps.store.kind.Load(ctx, streamOf(c.Workspace), true)
	out.InForce = p != nil && f.State.Digest == out.Digest
	return out, err
}

func (ps *Policies) check(ctx context.Context, c caller.Caller, in PolicyInput) (*policy.Policy, policy.Problems, error) {
	if err := c.May(identity.ReadAny, "check a policy"); err != nil {
		return nil, nil, err
	}
	file := in.File
	if file == "" {
		file = "policy.yaml"
	}
	p, problems := policy.Parse(file, []byte(in.Text))
	if p == nil {
		return nil, problems, nil
	}
	missing, err := ps.store.missing(ctx, c.Workspace, file, p)
	return p, missing, err
}

package policies

import (
	"context"
	"slices"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/policy"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// PolicyInForce is a policy that is, or was, in force.
type PolicyInForce struct {
	Version     int             `json:"version" doc:"The how manieth that came into force in the workspace."`
	Digest      string          `json:"digest"`
	By          string          `json:"by" doc:"Who brought it into force: a principal, or the server when it started."`
	Since       time.Time       `json:"since"`
	Text        string          `json:"text,omitempty" doc:"The file; left out of lists."`
	FileProblem string          `json:"file_problem,omitempty" doc:"Why the file, as it is now, is not in force."`
	Position    ledger.Position `json:"position"`
}

// At is up to which position the answer is true.
func (p PolicyInForce) At() uint64 { return uint64(p.Position) }

func inForce(s policy.State, at ledger.Position) PolicyInForce {
	return PolicyInForce{Version: s.Version, Digest: s.Digest, By: s.By, Since: s.At, Text: s.Text, Position: at}
}

// Show is the policy in force. It is a fresh read, and on record.
func (b *Book) Show(ctx context.Context, c caller.Caller) (PolicyInForce, error) {
	p, err := b.show(ctx, c)
	if err != nil {
		return PolicyInForce{}, b.access.Refused(ctx, c.Workspace, c.Actor(), "show-policy", "", err)
	}
	return p, b.access.Read(ctx, c.Workspace, c.Actor(), "", "policy", p.Digest)
}

func (b *Book) show(ctx context.Context, c caller.Caller) (PolicyInForce, error) {
	if err := c.May(identity.ReadAny, "see the policy"); err != nil {
		return PolicyInForce{}, err
	}
	f, err := b.kind.Load(ctx, streamOf(c.Workspace), true)
	if err != nil {
		return PolicyInForce{}, err
	}
	if !f.State.Exists() {
		return PolicyInForce{}, refusal.New(refusal.NotFound, "write one, check it with trapeze policy check FILE, and start the server with --policy FILE",
			"no policy is in force in workspace %s", c.Workspace)
	}
	p := inForce(f.State, f.Head)
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.stale[c.Workspace]; err != nil {
		p.FileProblem = err.Error()
	}
	return p, nil
}

// maxVersions is how many versions one answer has.
const maxVersions = 100

// Versions lists the policies that came into force, the newest first, without their texts: at most 100 of those before a version,
// or of all if that is 0.
func (b *Book) Versions(ctx context.Context, c caller.Caller, before int) ([]PolicyInForce, error) {
	if err := c.May(identity.ReadAny, "see the policies"); err != nil {
		return nil, b.access.Refused(ctx, c.Workspace, c.Actor(), "list-policies", "", err)
	}
	var list []PolicyInForce
	var s policy.State
	err := stream.Each(ctx, b.ledger, streamOf(c.Workspace), func(e ledger.Entry) error {
		events, err := b.kind.Codec().DecodeAll(e.Events)
		if err != nil {
			return err
		}
		for _, ev := range events {
			s = policy.Fold(s, ev)
		}
		if before > 0 && s.Version >= before {
			return nil
		}
		v := inForce(s, e.Position)
		v.Text = ""
		if len(list) == maxVersions {
			list = list[1:]
		}
		list = append(list, v)
		return nil
	})
	slices.Reverse(list)
	return list, err
}

// Reload brings the workspace's file, as it is now, into force. A bad file is refused (invalid) with all its problems, and
// the policy in force stays.
func (b *Book) Reload(ctx context.Context, c caller.Caller) (PolicyInForce, error) {
	p, err := b.reload(ctx, c)
	if err != nil {
		return PolicyInForce{}, b.access.Refused(ctx, c.Workspace, c.Actor(), "reload-policy", "", err)
	}
	return p, nil
}

func (b *Book) reload(ctx context.Context, c caller.Caller) (PolicyInForce, error) {
	if err := c.May(identity.ManageAgents, "reload the policy"); err != nil {
		return PolicyInForce{}, err
	}
	request, err := c.Digest("reload-policy", nil)
	if err != nil {
		return PolicyInForce{}, err
	}
	out, err := b.latest(ctx, c.Workspace, func(now policy.State) (out stream.Outcome[policy.State], err error) {
		f, p, err := b.file(c.Workspace)
		if err == nil && f.None {
			return out, refusal.New(refusal.NotFound, "write it, or start the server with --policy FILE", "workspace %s has no policy file", c.Workspace)
		}
		var missing policy.Problems
		if err == nil && now.Digest != p.Digest() { // else it is in force, whoever was removed since
			missing, err = b.missing(ctx, c.Workspace, f.Name, p)
		}
		if err == nil {
			err = missing.Err()
		}
		b.note(c.Workspace, err)
		if err != nil {
			return out, err
		}
		return b.adopt(ctx, c, f, request, now)
	})
	if err != nil {
		return PolicyInForce{}, err
	}
	return inForce(*out.State, out.At), nil
}

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
func (b *Book) Check(ctx context.Context, c caller.Caller, in PolicyInput) (PolicyChecked, error) {
	out := PolicyChecked{Digest: policy.DigestOf([]byte(in.Text)), Problems: []PolicyProblem{}}
	p, problems, err := b.check(ctx, c, in)
	if err != nil {
		return PolicyChecked{}, b.access.Refused(ctx, c.Workspace, c.Actor(), "check-policy", "", err)
	}
	for _, one := range problems {
		out.Problems = append(out.Problems, PolicyProblem(one))
	}
	f, err := b.kind.Load(ctx, streamOf(c.Workspace), true)
	out.InForce = p != nil && f.State.Digest == out.Digest
	return out, err
}

func (b *Book) check(ctx context.Context, c caller.Caller, in PolicyInput) (*policy.Policy, policy.Problems, error) {
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
	missing, err := b.missing(ctx, c.Workspace, file, p)
	return p, missing, err
}

// DecideBy is [Book.Decide] by a file that need not be in force, which must have no problems. It is for trying.
func (b *Book) DecideBy(ctx context.Context, c caller.Caller, in PolicyInput, q routing.Question) (event.Decision, error) {
	p, problems, err := b.check(ctx, c, in)
	if err == nil {
		err = problems.Err()
	}
	if err != nil {
		return event.Decision{}, err
	}
	q.Policy, q.Now = p, b.now()
	return b.roster.Consult(ctx, c.Workspace, q)
}

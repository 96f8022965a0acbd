package policies

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/policy"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
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
func (p PolicyInForce) At() ledger.Position { return p.Position }

func inForce(s policy.State, at ledger.Position) PolicyInForce {
	return PolicyInForce{Version: s.Version, Digest: s.Digest, By: s.By, Since: s.At, Text: s.Text, Position: at}
}

// Show is the policy in force. It is a fresh read, and is recorded.
func (ps *Policies) Show(ctx context.Context, c caller.Caller) (PolicyInForce, error) {
	p, err := ps.show(ctx, c)
	if err != nil {
		return PolicyInForce{}, ps.access.Refused(ctx, c.Workspace, c.Actor(), "show-policy", "", err)
	}
	return p, ps.access.Read(ctx, c.Workspace, c.Actor(), "", "policy", p.Digest)
}

func (ps *Policies) show(ctx context.Context, c caller.Caller) (PolicyInForce, error) {
	if err := c.May(identity.ReadAny, "see the policy"); err != nil {
		return PolicyInForce{}, err
	}
	f, err := ps.store.kind.Load(ctx, streamOf(c.Workspace), true)
	if err != nil {
		return PolicyInForce{}, err
	}
	if !f.State.Exists() {
		return PolicyInForce{}, refusal.New(refusal.NotFound, "write one, [check it](policy check), and [start the server](serve .policy=FILE) with it",
			"no policy is in force in workspace %s", c.Workspace)
	}
	p := inForce(f.State, f.Head)
	ps.store.mu.Lock()
	defer ps.store.mu.Unlock()
	if err := ps.store.stale[c.Workspace]; err != nil {
		p.FileProblem = err.Error()
	}
	return p, nil
}

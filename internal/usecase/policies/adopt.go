package policies

import (
	"context"
	"errors"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/policy"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// maxOvertaken bounds how often a file is read again because another one came into force meanwhile.
const maxOvertaken = 100

// errOvertaken ends bringing a file into force where another policy came into force after it was read.
var errOvertaken = errors.New("another policy came into force meanwhile")

// latest brings a file into force that is read after the policy that it replaces is known, so that of two that are read at the
// same time the newer one stays.
func (s *Store) latest(ctx context.Context, workspace string, bring func(now policy.State) (stream.Outcome[policy.State], error)) (stream.Outcome[policy.State], error) {
	for range maxOvertaken {
		now, err := s.kind.Load(ctx, streamOf(workspace), true)
		if err != nil {
			return stream.Outcome[policy.State]{}, err
		}
		if out, err := bring(now.State); !errors.Is(err, errOvertaken) {
			return out, err
		}
	}
	return stream.Outcome[policy.State]{}, refusal.New(refusal.Unavailable, "repeat the call", "too many others bring policies into force at the same time")
}

// InForce reports whether a workspace has a recorded policy.
func (s *Store) InForce(ctx context.Context, workspace string) (bool, error) {
	f, err := s.kind.Load(ctx, streamOf(workspace), true)
	return f.State.Exists(), err
}

// adopt brings a file into force that was read when now was in force.
func (s *Store) adopt(ctx context.Context, c caller.Caller, f File, request string, now policy.State) (stream.Outcome[policy.State], error) {
	cmd := policy.Adopt{By: c.String(), File: f.Name, Text: string(f.Text)}
	out, err := s.kind.Do(ctx, c.Write(request), streamOf(c.Workspace), func(was policy.State, at time.Time) ([]policy.Event, error) {
		if was.Version != now.Version {
			return nil, errOvertaken
		}
		return policy.Decide(was, cmd, at)
	})
	if err == nil {
		_, err = s.Policy(ctx, c.Workspace)
	}
	return out, err
}

// missing are the targets of a policy that are not there, as far as is recorded now.
func (s *Store) missing(ctx context.Context, workspace, file string, p *policy.Policy) (policy.Problems, error) {
	if _, err := stream.CatchUp(ctx, s.ledger, s.views.Position(), s.views.Wait); err != nil {
		return nil, err
	}
	known, err := s.routes.There(ctx, workspace)
	if err != nil {
		return nil, err
	}
	known.Unerasable = s.unerasable
	return p.Missing(file, known), nil
}

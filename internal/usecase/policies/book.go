package policies

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/policy"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/routing"
	"github.com/trapezehq/trapeze/internal/usecase/agents"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

const (
	cached     = 256    // workspaces whose policy is kept in memory
	remembered = 10_000 // idempotency keys that a workspace's policy remembers at least
)

// File is a workspace's policy file as it is now.
type File struct {
	Name string // in problems
	Text []byte // at most one byte more than policy.MaxFile
	None bool   // there is no file
}

// Options of a Book. The zero value has no files and no adviser.
type Options struct {
	// Read reads a workspace's policy file; nil: there are none.
	Read func(workspace string) (File, error)
	// Adviser makes who is asked where no rule matches, as a policy says; nil: nobody is.
	Adviser func(policy.LLM) (routing.Adviser, error)
}

// read is a policy as it was read from the record, up to a position of its stream.
type read struct {
	*policy.Policy
	at ledger.Position
}

// Book knows the policies of one ledger. Its methods are safe for many goroutines.
type Book struct {
	kind   stream.Kind[policy.State, policy.Event]
	ledger ledger.Ledger
	views  view.Store
	roster *agents.Roster
	tasks  Tasks
	access *access.Log
	now    func() time.Time
	opts   Options

	mu     sync.Mutex
	parsed map[string]read  // by workspace
	stale  map[string]error // why a workspace's file is not in force

	advisers map[string]kept // by workspace
}

// New returns the policies on a ledger.
func New(l ledger.Ledger, v view.Store, r *agents.Roster, tasks Tasks, log *access.Log, now func() time.Time, o Options) (*Book, error) {
	b := &Book{
		ledger: l, views: v, roster: r, tasks: tasks, access: log, now: now, opts: o,
		parsed: map[string]read{}, stale: map[string]error{}, advisers: map[string]kept{},
	}
	if b.opts.Read == nil {
		b.opts.Read = func(string) (File, error) { return File{None: true}, nil }
	}
	var err error
	if b.kind, err = stream.New("policy", l, policy.Fold, now, policy.Events, stream.Options[policy.State, policy.Event]{
		Cached: cached, Remember: remembered,
	}); err != nil {
		return nil, err
	}
	return b, nil
}

func streamOf(workspace string) ledger.Stream { return ledger.StreamOf(workspace, "policy", "current") }

// Policy is the policy in force in a workspace; nil if there is none. It is a fresh read.
func (b *Book) Policy(ctx context.Context, workspace string) (*policy.Policy, error) {
	f, err := b.kind.Load(ctx, streamOf(workspace), true)
	if err != nil || !f.State.Exists() {
		return nil, err
	}
	b.mu.Lock()
	p := b.parsed[workspace]
	b.mu.Unlock()
	if p.Policy != nil && p.Digest() == f.State.Digest {
		return p.Policy, nil
	}
	own, problems := policy.Parse("the policy in force", []byte(f.State.Text))
	if len(problems) > 0 { // written by another version of the server
		return nil, refusal.New(refusal.Unavailable, "mend the file, and reload it", "the policy in force cannot be read by this server: %s", problems[0])
	}
	b.keep(workspace, read{own, f.Head})
	return own, nil
}

// keep keeps a policy in memory, unless a newer one is there: reading one takes its time.
func (b *Book) keep(workspace string, p read) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if have := b.parsed[workspace]; have.Policy == nil || have.at < p.at {
		b.parsed[workspace] = p
	}
}

// InMemory is a workspace's policy as it was last read or brought into force here; nil if it was not. It is for what is a
// hint.
func (b *Book) InMemory(workspace string) *policy.Policy {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.parsed[workspace].Policy
}

// Decide says what the policy in force makes of a task. Of q, it adds the policy, the agents, the adviser and the time. The
// adviser is asked by k, which takes [Consult]; without one it is not.
func (b *Book) Decide(ctx context.Context, workspace string, q routing.Question, k *Consultation, now time.Time) (event.Decision, error) {
	p, err := b.Policy(ctx, workspace)
	if err != nil {
		return event.Decision{}, err
	}
	q.Policy, q.Adviser, q.Now = p, b.adviser(workspace, p, k), now
	d, err := b.roster.Consult(ctx, workspace, q)
	if err == nil && k.wanted() {
		err = errUnasked
	}
	return d, err
}

// Err says which workspace's file is not in force, and why; nil if all are. What is on record is in force all the same.
func (b *Book) Err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	var errs []error
	for workspace, err := range b.stale {
		errs = append(errs, refusal.New(refusal.Invalid, "mend it, and reload it", "the policy file of workspace %s is not in force: %s", workspace, err))
	}
	return errors.Join(errs...)
}

func (b *Book) note(workspace string, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.stale, workspace)
	if err != nil {
		b.stale[workspace] = err
	}
}

// file is a workspace's file and the policy in it. A bad file, and one that cannot be read, is refused.
func (b *Book) file(workspace string) (File, *policy.Policy, error) {
	f, err := b.opts.Read(workspace)
	if err != nil {
		return f, nil, refusal.New(refusal.Unavailable, "see that the server may read it", "the policy file cannot be read: %s", err)
	}
	if f.None {
		return f, nil, nil
	}
	p, problems := policy.Parse(f.Name, f.Text)
	return f, p, problems.Err()
}

// Load brings a workspace's file into force when the server starts. A bad file is an error, and what is on record stays in
// force; so it does if targets of the file do not exist. Where nothing is on record, a file whose targets do not exist yet
// comes into force, and they are returned to be told.
func (b *Book) Load(ctx context.Context, workspace string) (policy.Problems, error) {
	missing, err := b.load(ctx, workspace)
	b.note(workspace, err)
	if _, unread := b.Policy(ctx, workspace); err == nil { // from now on what is in force is in memory, whatever the file is like
		err = unread
	}
	return missing, err
}

func (b *Book) load(ctx context.Context, workspace string) (missing policy.Problems, err error) {
	_, err = b.latest(ctx, workspace, func(now policy.State) (out stream.Outcome[policy.State], err error) {
		f, p, err := b.file(workspace)
		if err != nil || f.None || now.Digest == p.Digest() {
			return out, err
		}
		missing, err = b.missing(ctx, workspace, f.Name, p)
		if err == nil && now.Exists() {
			err = missing.Err()
		}
		if err != nil {
			missing = nil
			return out, err
		}
		return b.adopt(ctx, caller.System(workspace, "server"), f, "", now)
	})
	return missing, err
}

// maxOvertaken bounds how often a file is read anew because another one came into force meanwhile.
const maxOvertaken = 100

// errOvertaken ends bringing a file into force where another policy came into force after it was read.
var errOvertaken = errors.New("another policy came into force meanwhile")

// latest brings a file into force that is read after the policy that it replaces is known, so that of two that are read at the
// same time the newer one stays.
func (b *Book) latest(ctx context.Context, workspace string, bring func(now policy.State) (stream.Outcome[policy.State], error)) (stream.Outcome[policy.State], error) {
	for range maxOvertaken {
		now, err := b.kind.Load(ctx, streamOf(workspace), true)
		if err != nil {
			return stream.Outcome[policy.State]{}, err
		}
		if out, err := bring(now.State); !errors.Is(err, errOvertaken) {
			return out, err
		}
	}
	return stream.Outcome[policy.State]{}, refusal.New(refusal.Unavailable, "repeat the call", "too many others bring policies into force at the same time")
}

// InForce reports whether a workspace has a policy on record.
func (b *Book) InForce(ctx context.Context, workspace string) (bool, error) {
	f, err := b.kind.Load(ctx, streamOf(workspace), true)
	return f.State.Exists(), err
}

// adopt brings a file into force that was read when now was in force.
func (b *Book) adopt(ctx context.Context, c caller.Caller, f File, request string, now policy.State) (stream.Outcome[policy.State], error) {
	cmd := policy.Adopt{By: c.String(), File: f.Name, Text: string(f.Text)}
	out, err := b.kind.Do(ctx, c.Write(request), streamOf(c.Workspace), func(s policy.State, at time.Time) ([]policy.Event, error) {
		if s.Version != now.Version {
			return nil, errOvertaken
		}
		return policy.Decide(s, cmd, at)
	})
	if err == nil {
		_, err = b.Policy(ctx, c.Workspace)
	}
	return out, err
}

// missing are the targets of a policy that are not there, as far as is on record now.
func (b *Book) missing(ctx context.Context, workspace, file string, p *policy.Policy) (policy.Problems, error) {
	if _, err := stream.CatchUp(ctx, b.ledger, b.views.Position(), b.views.Wait); err != nil {
		return nil, err
	}
	known, err := b.roster.There(ctx, workspace)
	if err != nil {
		return nil, err
	}
	return p.Missing(file, known), nil
}

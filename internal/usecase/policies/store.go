package policies

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/alert"
	"github.com/trapezehq/trapeze/internal/domain/policy"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/routes"
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

// read is a policy as it was read from the record, up to a position of its stream.
type read struct {
	*policy.Policy
	at ledger.Position
}

// Store is the policies of one ledger, as other use cases reach them. Its methods are safe for many goroutines.
type Store struct {
	kind   stream.Kind[policy.State, policy.Event]
	ledger ledger.Ledger
	views  view.Store
	routes *routes.Routes
	files  func(workspace string) (File, error)

	unerasable bool // content of the record cannot be erased

	mu     sync.Mutex
	parsed map[string]read  // by workspace
	stale  map[string]error // why the file of a workspace is not in force
}

// NewStore returns the policies of a ledger. files reads the policy file of a workspace; nil: there are none. erasable says whether content of the
// record can be erased, without which no policy can say how long it is kept at most.
func NewStore(l ledger.Ledger, v view.Store, r *routes.Routes, now func() time.Time, files func(workspace string) (File, error), erasable bool) (*Store, error) {
	s := &Store{unerasable: !erasable, ledger: l, views: v, routes: r, files: files, parsed: map[string]read{}, stale: map[string]error{}}
	if s.files == nil {
		s.files = func(string) (File, error) { return File{None: true}, nil }
	}
	var err error
	if s.kind, err = stream.New("policy", l, policy.Fold, now, policy.Events, stream.Options[policy.State, policy.Event]{Cached: cached, Remember: remembered}); err != nil {
		return nil, err
	}
	return s, nil
}

func streamOf(workspace string) ledger.Stream { return ledger.StreamOf(workspace, "policy", "current") }

// Policy is the policy in force in a workspace; nil if there is none. It is a fresh read.
func (s *Store) Policy(ctx context.Context, workspace string) (*policy.Policy, error) {
	f, err := s.kind.Load(ctx, streamOf(workspace), true)
	if err != nil || !f.State.Exists() {
		return nil, err
	}
	s.mu.Lock()
	p := s.parsed[workspace]
	s.mu.Unlock()
	if p.Policy != nil && p.Digest() == f.State.Digest {
		return p.Policy, nil
	}
	own, problems := policy.Parse("the policy in force", []byte(f.State.Text))
	if len(problems) > 0 { // written by another version of the server
		return nil, refusal.New(refusal.Unavailable, "fix the file and [reload it](policy reload)", "the policy in force cannot be read by this server: %s", problems[0])
	}
	s.keep(workspace, read{own, f.Head})
	return own, nil
}

// keep keeps a policy in memory, unless a newer one is there: reading one takes its time.
func (s *Store) keep(workspace string, p read) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if have := s.parsed[workspace]; have.Policy == nil || have.at < p.at {
		s.parsed[workspace] = p
	}
}

// InMemory is a workspace's policy as it was last read or brought into force here; nil if it was not. It is for what is a
// hint.
func (s *Store) InMemory(workspace string) *policy.Policy {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.parsed[workspace].Policy
}

// AlertChanges returns what the policy in force in a workspace changes of the definitions of alerts. It is a fresh read.
func (s *Store) AlertChanges(ctx context.Context, workspace string) (map[string]alert.Change, error) {
	p, err := s.Policy(ctx, workspace)
	return p.AlertChanges(), err
}

// Err says which workspace's file is not in force, and why; nil if all are. What is recorded is in force all the same.
func (s *Store) Err() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for workspace, err := range s.stale {
		errs = append(errs, refusal.New(refusal.Invalid, "fix it and [reload it](policy reload)", "the policy file of workspace %s is not in force: %s", workspace, err))
	}
	return errors.Join(errs...)
}

func (s *Store) note(workspace string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.stale, workspace)
	if err != nil {
		s.stale[workspace] = err
	}
}

// file is a workspace's file and the policy in it. A bad file, and one that cannot be read, is refused.
func (s *Store) file(workspace string) (File, *policy.Policy, error) {
	f, err := s.files(workspace)
	if err != nil {
		return f, nil, refusal.New(refusal.Conflict, "see that the server may read it", "the policy file cannot be read: %s", err)
	}
	if f.None {
		return f, nil, nil
	}
	p, problems := policy.Parse(f.Name, f.Text)
	return f, p, problems.Err()
}

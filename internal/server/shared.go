package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/record/frontend"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/proof/treefile"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview"
	"github.com/trapezehq/trapeze/internal/server/recordfile"
	"github.com/trapezehq/trapeze/internal/server/sharedrecord"
	"github.com/trapezehq/trapeze/internal/usecase"
	"github.com/trapezehq/trapeze/internal/usecase/presence"
)

const (
	// viewsName is the database of the views in a data directory that follows a shared record.
	viewsName = "views.db"
	// nodeName is the directory of the node of a cluster that runs in this process.
	nodeName = "jetstream"

	// presenceSlack is how late one front end may learn what another heard.
	presenceSlack = 3 * frontend.Every
)

type (
	// Place says where a record is that several servers share.
	Place = sharedrecord.Place
	// NATS says where a record in JetStream is.
	NATS = sharedrecord.NATS
	// Node is a server of NATS in this process.
	Node = sharedrecord.Node
)

// shared is what a server has of the other front ends of its record.
type shared struct {
	*frontend.FrontEnd // nil until it is open
	record             sharedrecord.Record
	presence           *presence.Presence
	learner            *sharedrecord.Learner
	current            *stream.Current // of what the learner tells
}

// close closes what is shared, the ledger last.
func (s *shared) close(ctx context.Context) error {
	if s.FrontEnd != nil {
		s.Close()
	}
	return s.record.Close(context.WithoutCancel(ctx))
}

// checkShared refuses what a shared record does not have.
func (c Config) checkShared() error {
	kind := c.Record.Kind()
	switch {
	case kind == sharedrecord.None:
		return nil
	case c.Temporary || c.Clock != nil:
		return refusal.New(refusal.Invalid, "omit one of them", "a server for tests keeps its record in its own data directory, not in %s", kind)
	case c.Erasable:
		return refusal.New(refusal.Invalid, "omit it, or keep the record in a data directory: content in "+kind.String()+" cannot be erased",
			"erasable content does not go with a record in %s, whose copies and logs would keep it", kind)
	}
	return c.Record.Check()
}

// openShared opens a shared record, and the views that follow it.
func (s *Server) openShared(ctx context.Context) error {
	c := s.config
	kind := c.Record.Kind()
	if _, err := os.Stat(filepath.Join(c.DataDir, recordfile.Database)); err == nil {
		return refusal.New(refusal.Conflict, "use another directory, with --data-dir", "%s has a record of its own, and does not follow one in %s", c.DataDir, kind)
	}
	if err := sharedrecord.CheckFollows(c.DataDir, kind, ""); err != nil { // before a node starts there
		return err
	}
	place := c.Record
	place.NATS.Dir = filepath.Join(c.DataDir, nodeName)
	record, err := sharedrecord.Open(ctx, place, sharedrecord.Options{Committed: s.counts.committed, Log: c.Log, Prepare: usecase.Prepare()})
	if err != nil {
		return err
	}
	current := stream.NewCurrent(record.Ledger().Last)
	s.shared = &shared{
		record: record, presence: presence.NewShared(c.Now, presenceSlack), learner: sharedrecord.NewLearner(record.Ledger(), current.Told), current: current,
	}
	s.log = record.Ledger()
	if err := sharedrecord.CheckFollows(c.DataDir, kind, record.ID()); err != nil {
		return err
	}
	if err := writeFile(sharedrecord.FollowFile(c.DataDir, kind), record.ID()+"\n"); err != nil {
		return err
	}
	if s.views, err = sqlview.Follow(context.WithoutCancel(ctx), s.shared.learner, filepath.Join(c.DataDir, viewsName)); err != nil {
		return err
	}
	return s.openFrontEnd(ctx)
}

// openFrontEnd opens what front ends share: the key of the tree, among others. The lock of the views reserves the data directory for this process.
func (s *Server) openFrontEnd(ctx context.Context) error {
	store, err := s.shared.record.FrontEnds(ctx)
	if err != nil {
		return err
	}
	s.shared.FrontEnd = frontend.New(store)
	key, err := s.shared.Secret(ctx, sharedrecord.SigningKey, treefile.NewSharedKey)
	if err != nil {
		return err
	}
	if s.tree, err = openTree(s.config, key); err != nil {
		return err
	}
	s.shared.record.Acknowledged(s.tree.Acknowledged())
	if err := sharedrecord.WhenMajority(ctx, s.config.Log, func() error { return s.tree.Check(ctx, s.log) }); err != nil {
		return err
	}
	if s.config.RebuildViews {
		s.config.Log.Info("the views are built again from the ledger")
		return s.views.Rebuild(ctx)
	}
	s.config.Log.Info("the views follow the record in "+s.config.Record.Kind().String(), "position", s.views.Position())
	return s.views.Heal(ctx)
}

// openSharedArtifacts opens the artifacts that the front ends share.
func (s *Server) openSharedArtifacts(ctx context.Context) (artifact.Store, error) {
	c := s.config
	store, err := s.shared.record.Artifacts(ctx, sharedrecord.ArtifactOptions{MaxSize: c.Artifacts.MaxSize, Quota: c.Artifacts.Quota, Now: c.Now})
	return store.Store, err
}

// exchange does what a front end does for the others, until ctx ends.
func (s *Server) exchange(ctx context.Context) {
	if s.shared == nil {
		return
	}
	s.running.Go(func() { s.shared.TakeTurn(ctx) })
	s.running.Go(func() { s.cluster.Run(ctx) })
	s.running.Go(func() {
		s.shared.Share(ctx, s.shared.presence, func(err error) {
			if err != nil {
				s.config.Log.Warn("nothing is exchanged with the other front ends; it is tried again", "error", err)
				return
			}
			s.config.Log.Info("the front ends exchange again who is there")
		})
	})
}

// alone calls fn while no other front end does so, until ctx ends.
func (s *Server) alone(ctx context.Context, fn func(context.Context)) {
	if s.shared == nil {
		fn(ctx)
		return
	}
	s.shared.Alone(ctx, fn)
}

// store returns the views, with cursors that the front ends share.
func (s *Server) viewStore() view.Store {
	v := s.views.Store()
	if s.shared != nil {
		v.Cursors = s.shared.Cursors(s.views)
	}
	return v
}

// ledger returns the ledger for the use cases.
func (s *Server) ledger() ledger.Ledger {
	if s.shared == nil {
		return s.log
	}
	return sharedrecord.NewVisible(s.log, s.views, s.shared.current.Last)
}

// fixedKey is a tree whose key is not rotated.
type fixedKey struct{ *treefile.Store }

// PrepareKey refuses the rotation.
func (fixedKey) PrepareKey() (old, public string, err error) {
	return "", "", refusal.New(refusal.Conflict, "the front ends share one key for the life of the record; if it is known to others, begin a new record",
		"the key of a record that several servers share cannot be rotated")
}

// sharedPageKey returns the key of the sessions of the page, which is the same at all front ends.
func (s *Server) sharedPageKey(ctx context.Context) (key [32]byte, err error) {
	text, err := s.shared.Secret(ctx, sharedrecord.PageKey, func() (string, error) { return newPageKey(), nil })
	if err != nil {
		return key, err
	}
	if key, ok := recordfile.ParsePageKey(text); ok {
		return key, nil
	}
	return key, fmt.Errorf("the key of the page that the front ends share is damaged: delete the secret page-key beside the record, and start again")
}

package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/files/artifact/pgstore"
	"github.com/trapezehq/trapeze/internal/record/frontend"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/pglog"
	"github.com/trapezehq/trapeze/internal/record/proof/treefile"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview"
	"github.com/trapezehq/trapeze/internal/server/pgrecord"
	"github.com/trapezehq/trapeze/internal/usecase/presence"
)

const (
	// followsName is the file that names the record in PostgreSQL which a data directory follows.
	followsName = "postgres.record"
	// viewsName is the database of the views in such a directory.
	viewsName = "views.db"

	sharedConnections   = 3 // of a front end, beside those of the ledger: the turn, and what is exchanged
	artifactConnections = 4
	// presenceSlack is how late one front end may learn what another heard.
	presenceSlack = 3 * frontend.Every
	// visibleWithin is how long the answer to a change waits for the views of its front end.
	visibleWithin = 2 * time.Second
)

// shared is what a server has of the other front ends of its record.
type shared struct {
	*frontend.FrontEnd
	log      *pglog.Log
	presence *presence.Presence
	learner  *learner
}

// checkPostgres refuses what a record in PostgreSQL does not have.
func (c Config) checkPostgres() error {
	switch {
	case c.Postgres == "":
		return nil
	case c.Temporary || c.Clock != nil:
		return refusal.New(refusal.Invalid, "omit one of them", "a server for tests keeps its record in its own data directory, not in PostgreSQL")
	case c.Erasable:
		return refusal.New(refusal.Invalid, "omit it, or keep the record in a data directory: content in PostgreSQL cannot be erased",
			"erasable content does not go with a record in PostgreSQL, whose copies and write-ahead log would keep it")
	}
	return nil
}

// followed returns the name of the record in PostgreSQL that a data directory follows; "" if it does not.
func followed(dir string) (string, error) {
	text, err := os.ReadFile(filepath.Join(dir, followsName)) //nolint:gosec // the operator's directory
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(text)), err
}

// checkOwnRecord refuses a data directory whose record is in PostgreSQL.
func checkOwnRecord(dir, hint string) error {
	if id, err := followed(dir); err != nil || id == "" {
		return err
	}
	return refusal.New(refusal.Conflict, hint, "the record of %s is in PostgreSQL", dir)
}

// openPostgres opens the record in PostgreSQL, and the views that follow it.
func (s *Server) openPostgres(ctx context.Context) error {
	c := s.config
	if _, err := os.Stat(filepath.Join(c.DataDir, databaseName)); err == nil {
		return refusal.New(refusal.Conflict, "use another directory, with --data-dir", "%s has a record of its own, and does not follow one in PostgreSQL", c.DataDir)
	}
	id, err := followed(c.DataDir)
	if err != nil {
		return err
	}
	log, err := pglog.Open(ctx, c.Postgres, pglog.Options{Committed: s.counts.committed})
	if err != nil {
		return err
	}
	s.log = log
	switch id {
	case "":
		err = writeFile(filepath.Join(c.DataDir, followsName), log.ID()+"\n")
	case log.ID():
	default:
		err = refusal.New(refusal.Conflict, "check the URL, or use another directory, with --data-dir",
			"%s follows another record than that of the PostgreSQL database", c.DataDir)
	}
	if err != nil {
		return err
	}
	s.shared = &shared{log: log, presence: presence.NewShared(c.Now, presenceSlack), learner: &learner{Ledger: log}}
	if s.views, err = sqlview.Follow(context.WithoutCancel(ctx), s.shared.learner, filepath.Join(c.DataDir, viewsName)); err != nil {
		return err
	}
	return s.openShared(ctx)
}

// openShared opens what front ends share: the key of the tree, among others. The lock of the views reserves the data directory for this process.
func (s *Server) openShared(ctx context.Context) error {
	pool, err := s.shared.log.Pool(ctx, sharedConnections)
	if err != nil {
		return err
	}
	if s.shared.FrontEnd, err = frontend.Open(ctx, pool, s.shared.log.Schema()); err != nil {
		pool.Close()
		return err
	}
	key, err := s.shared.Secret(ctx, pgrecord.SigningKey, treefile.NewSharedKey)
	if err != nil {
		return err
	}
	if s.tree, err = openTree(s.config, key); err != nil {
		return err
	}
	s.shared.log.Acknowledged(s.tree.Acknowledged())
	if err := s.tree.Check(ctx, s.log); err != nil {
		return err
	}
	if s.config.RebuildViews {
		s.config.Log.Info("the views are built again from the ledger")
		return s.views.Rebuild(ctx)
	}
	s.config.Log.Info("the views follow the record in PostgreSQL", "position", s.views.Position())
	return s.views.Heal(ctx)
}

// openSharedArtifacts opens the artifacts that the front ends share.
func (s *Server) openSharedArtifacts(ctx context.Context) (artifact.Store, error) {
	pool, err := s.shared.log.Pool(ctx, artifactConnections)
	if err != nil {
		return nil, err
	}
	c := s.config
	store, err := pgstore.Open(ctx, pool, s.shared.log.Schema(), pgstore.Options{MaxSize: c.Artifacts.MaxSize, Quota: c.Artifacts.Quota, Now: c.Now})
	if err != nil {
		pool.Close()
		return nil, err
	}
	return store, nil
}

// exchange does what a front end does for the others, until ctx ends.
func (s *Server) exchange(ctx context.Context) {
	if s.shared == nil {
		return
	}
	s.running.Go(func() { s.shared.TakeTurn(ctx) })
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
	return visible{s.log, s.views}
}

// learner is a ledger that tells the caches of entries before it tells its followers, the views: who sees an entry in these finds it in those.
type learner struct {
	ledger.Ledger
	learn atomic.Pointer[func([]ledger.Entry)]
}

// Follow implements [ledger.Ledger].
func (l *learner) Follow(ctx context.Context, after ledger.Position, fn func([]ledger.Entry) error) error {
	return l.Ledger.Follow(ctx, after, func(entries []ledger.Entry) error {
		if learn := l.learn.Load(); learn != nil {
			(*learn)(entries)
		}
		return fn(entries)
	})
}

// visible is a ledger whose appends return when the views have the entry, so that a caller who lists afterwards finds it. Views that are late
// hold up an answer for a moment only: the entry is in the record.
type visible struct {
	ledger.Ledger
	views view.Freshness
}

// Append implements [ledger.Ledger].
func (v visible) Append(ctx context.Context, e ledger.Entry, expect ledger.Position) (ledger.Position, error) {
	at, err := v.Ledger.Append(ctx, e, expect)
	if err != nil || expect == ledger.Any || ledger.IsForRead(ctx) {
		return at, err
	}
	wait, cancel := context.WithTimeout(ctx, visibleWithin)
	defer cancel()
	_ = v.views.Wait(wait, at) // see above
	return at, nil
}

// fixedKey is a tree whose key is not rotated.
type fixedKey struct{ *treefile.Store }

// PrepareKey refuses the rotation.
func (fixedKey) PrepareKey() (old, public string, err error) {
	return "", "", refusal.New(refusal.Conflict, "the front ends share one key for the life of the record; if it is known to others, begin a new record",
		"the key of a record in PostgreSQL cannot be rotated")
}

// sharedPageKey returns the key of the sessions of the page, which is the same at all front ends.
func (s *Server) sharedPageKey(ctx context.Context) (key [32]byte, err error) {
	text, err := s.shared.Secret(ctx, pgrecord.PageKey, func() (string, error) { return newPageKey(), nil })
	if err != nil {
		return key, err
	}
	if key, ok := parsePageKey(text); ok {
		return key, nil
	}
	return key, fmt.Errorf("the key of the page in the database is damaged: delete the row page-key of the table secret, and start again")
}

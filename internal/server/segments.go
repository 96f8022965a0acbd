package server

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/proof"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/server/putaway"
	"github.com/trapezehq/trapeze/internal/server/recordfile"
	"github.com/trapezehq/trapeze/internal/server/sharedrecord"
	"github.com/trapezehq/trapeze/internal/usecase"
)

// Segment is one that was written.
type Segment = putaway.Segment

// PutAway writes the oldest entries of a record, from before a time, into a segment, and puts away those of tasks: the data directory has only their leaves after
// that. No server may run there. It first finishes what was interrupted. Refusals: conflict if there is nothing to put away.
func PutAway(ctx context.Context, dir string, before time.Time) (Segment, error) {
	return putAwayUntil(ctx, dir, before, func() error { return nil })
}

// putAwayUntil is PutAway with a function that is called before each step that changes something: its error ends it, as a crash would.
func putAwayUntil(ctx context.Context, dir string, before time.Time, step func() error) (_ Segment, err error) {
	if err := sharedrecord.CheckOwn(dir, sharedInstead, ""); err != nil {
		return Segment{}, err
	}
	if _, err := os.Stat(filepath.Join(dir, recordfile.Database)); err != nil {
		return Segment{}, refusal.New(refusal.Invalid, "name that of the server with --data-dir", "%s is not a data directory: %v", dir, err)
	}
	s := &Server{config: Config{DataDir: dir}.withDefaults(), counts: newCounts(), workers: stream.NewWorkers()}
	defer func() { err = errors.Join(err, s.Close(ctx)) }()
	if err := s.openRecord(ctx); errors.Is(err, sqlitelog.ErrInUse) {
		return Segment{}, refusal.New(refusal.Conflict, "[stop the server](stop) first, and start it again after", "the data directory %s is in use", dir)
	} else if err != nil {
		return Segment{}, err
	}
	if err := s.tree.Err(); err != nil {
		return Segment{}, err
	}
	if s.store, err = s.openArtifacts(ctx); err != nil {
		return Segment{}, err
	}
	o := usecase.Options{Decide: s.workers.Run, Now: s.config.Now, Artifacts: s.store}
	if s.sealer != nil {
		o.Erasure.Keys = s.sealer
	}
	if s.UseCases, err = usecase.New(s.log, s.views.Store(), o); err != nil {
		return Segment{}, err
	}
	running, stop := context.WithCancel(ctx)
	s.running.Go(func() { s.tree.Run(running, s.log) })
	defer func() { stop(); s.running.Wait() }()
	record := putaway.Record{DataDir: dir, Log: s.embedded, Tree: s.tree, Closed: s.UseCases.Erasures.Closed, Scrub: s.scrub, Now: s.config.Now}
	return record.PutAway(ctx, before, step)
}

// sayDetached logs which segments are not attached.
func (s *Server) sayDetached(ctx context.Context) error {
	list, err := proof.Detached(ctx, s.log)
	for _, away := range list {
		s.config.Log.Info("entries are put away in a segment that is not here: what is in it is refused until it is copied back, and is in no figure",
			"segment", away.Segment, "directory", filepath.Join(s.config.DataDir, putaway.Dir))
	}
	return err
}

// sharedInstead is what to do instead if servers share a record.
const sharedInstead = "only a data directory that has its record itself puts entries away: leave all of it where it is, or move the record into a data directory with trapeze backup and trapeze restore"

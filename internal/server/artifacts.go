package server

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/files/artifact/filestore"
	"github.com/trapezehq/trapeze/internal/server/recordfile"
	"github.com/trapezehq/trapeze/internal/usecase/artifacts"
)

// openArtifacts opens the store in the data directory, which the lock of the record reserves for this process, or that of the database.
func (s *Server) openArtifacts(ctx context.Context) (artifact.Store, error) {
	if s.shared != nil {
		return s.openSharedArtifacts(ctx)
	}
	c := s.config
	store, err := filestore.Open(filepath.Join(c.DataDir, recordfile.Artifacts), filestore.Options{
		MaxSize: c.Artifacts.MaxSize, Quota: c.Artifacts.Quota, Now: c.Now,
	})
	if err != nil {
		return nil, err
	}
	return store, nil
}

// sweep deletes the artifacts that nothing refers to, at intervals, until ctx ends.
func sweep(ctx context.Context, s *artifacts.Artifacts, every time.Duration, log *slog.Logger) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for ctx.Err() == nil {
		swept, err := s.Sweep(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			log.Error("sweeping artifacts failed; it is tried again at the next interval", "error", err)
		case swept.Deleted > 0:
			log.Info("deleted artifacts that nothing refers to", "count", swept.Deleted, "bytes", swept.Freed, "kept", swept.Kept)
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

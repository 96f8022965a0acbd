package server

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/trapezehq/trapeze/internal/files/artifact/filestore"
	"github.com/trapezehq/trapeze/internal/usecase/artifacts"
)

// openArtifacts opens the store in the data directory, which the record's lock has made this process's own.
func openArtifacts(c Config) (*filestore.Store, error) {
	return filestore.Open(filepath.Join(c.DataDir, "artifacts"), filestore.Options{
		MaxSize: c.Artifacts.MaxSize, Quota: c.Artifacts.Quota, Now: c.Now,
	})
}

// sweep deletes the artifacts that nothing refers to, now and then, until ctx ends.
func sweep(ctx context.Context, s *artifacts.Artifacts, every time.Duration, log *slog.Logger) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for ctx.Err() == nil {
		swept, err := s.Sweep(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			log.Error("artifacts are not swept until the next time", "because", err)
		case swept.Deleted > 0:
			log.Info("artifacts that nothing refers to are deleted", "count", swept.Deleted, "bytes", swept.Freed, "kept", swept.Kept)
		}
		select {
		case <-ctx.Done():
		case <-tick.C:
		}
	}
}

package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/trapezehq/trapeze/internal/delivery/cosigner"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/record/proof/treefile"
	"github.com/trapezehq/trapeze/internal/server/recordfile"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// openTree opens the tree of the record, with its checkpoints and its key, which is its own unless the front ends of a record share one.
func openTree(c Config, sharedKey string) (*treefile.Store, error) {
	list, err := c.witnesses()
	if err != nil {
		return nil, err
	}
	keys := make([]string, 0, len(list))
	for _, w := range list {
		keys = append(keys, w.Key.String())
	}
	tree, err := treefile.Open(filepath.Join(c.DataDir, "proof"), treefile.Options{Log: c.Log, Volatile: c.Temporary, Shared: sharedKey, Witnesses: keys})
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return nil, fmt.Errorf("%w (the data directory and its files must be writable by this user)", err)
	}
	return tree, err
}

// witnesses returns the witnesses of the record.
func (c Config) witnesses() (list []cosigner.Witness, err error) {
	for _, spec := range c.Witnesses {
		w, err := cosigner.Parse(spec)
		if err != nil {
			return nil, err
		}
		list = append(list, w)
	}
	return list, nil
}

// openCosigner prepares to ask the witnesses.
func (s *Server) openCosigner() error {
	list, err := s.config.witnesses()
	if err == nil {
		s.cosigner = cosigner.New(s.tree, list, s.config.Log)
	}
	return err
}

// resumeRotation ends a rotation of the key of the record that was interrupted.
func (s *Server) resumeRotation(ctx context.Context) {
	err := s.UseCases.History.ResumeRotation(ctx, caller.System(identity.DefaultWorkspace, "start"))
	if err != nil && ctx.Err() == nil {
		s.config.Log.Error("a rotation of the key of the record was interrupted and could not go on: rotate the key again", "error", err)
	}
}

// OpenRecord opens the record in a data directory for reading, also while a server runs there. Segments are looked for in the directory and in others.
func OpenRecord(dir string, segments ...string) (*recordfile.File, error) {
	return recordfile.Open(dir, segments...)
}

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
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/proof/treefile"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// databaseName is the name of the record in the data directory.
const databaseName = "trapeze.db"

// openTree opens the tree of the record, with its key and its checkpoints.
func openTree(c Config) (*treefile.Store, error) {
	tree, err := treefile.Open(filepath.Join(c.DataDir, "proof"), treefile.Options{Log: c.Log, Volatile: c.Temporary})
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

// RecordFile is the record in a data directory, with its views.
type RecordFile struct{ *sqlitelog.Reader }

// OpenRecord opens the record in a data directory for reading, also while a server runs there.
func OpenRecord(dir string) (*RecordFile, error) {
	r, err := sqlitelog.OpenReader(filepath.Join(dir, databaseName))
	if err != nil {
		return nil, err
	}
	return &RecordFile{r}, nil
}

// CheckViews builds the views again in a temporary file and returns what differs in those that are stored. Views of another version are not compared: the
// server builds them again.
func (f *RecordFile) CheckViews(ctx context.Context) (found []string, err error) {
	db, err := f.Views()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	differ, at, err := sqlview.Compare(ctx, f, db)
	if errors.Is(err, sqlview.ErrSchema) {
		return nil, nil
	}
	for _, name := range differ {
		found = append(found, fmt.Sprintf("the view %s differs from the record at position %d: the server shows what was not recorded; build the views again with trapeze serve --rebuild-views", name, at))
	}
	return found, err
}

package server

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/proof/treefile"
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

// OpenRecord opens the record in a data directory for reading, also while a server runs there.
func OpenRecord(dir string) (*sqlitelog.Reader, error) {
	return sqlitelog.OpenReader(filepath.Join(dir, databaseName))
}

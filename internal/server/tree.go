package server

import (
	"path/filepath"

	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/proof/treefile"
)

// databaseName is the name of the record in the data directory.
const databaseName = "trapeze.db"

// openTree opens the tree of the record, with its key and its checkpoints.
func openTree(c Config) (*treefile.Store, error) {
	return treefile.Open(filepath.Join(c.DataDir, "proof"), treefile.Options{Log: c.Log, Volatile: c.Temporary})
}

// OpenRecord opens the record in a data directory for reading, also while a server runs there.
func OpenRecord(dir string) (*sqlitelog.Reader, error) {
	return sqlitelog.OpenReader(filepath.Join(dir, databaseName))
}

package server

import (
	"path/filepath"

	"github.com/trapezehq/trapeze/internal/record/proof/treefile"
)

// openTree opens the tree of the record, with its key and its checkpoints.
func openTree(c Config) (*treefile.Store, error) {
	return treefile.Open(filepath.Join(c.DataDir, "proof"), treefile.Options{Log: c.Log, Volatile: c.Temporary})
}

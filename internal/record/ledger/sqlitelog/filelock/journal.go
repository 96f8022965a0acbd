package filelock

import (
	"fmt"
	"os"
	"path/filepath"
)

// ForeignJournal returns an error if there is a rollback journal beside a database of more bytes than its first page: SQLite would copy what is in it into the
// database when it opens that to write. A database that has had a write-ahead log from its first page on has no such journal.
func ForeignJournal(path string, first int64) error {
	journal, err := os.Stat(path + "-journal")
	if err != nil || journal.Size() == 0 {
		return nil //nolint:nilerr // there is none
	}
	if file, err := os.Stat(path); err != nil || file.Size() <= first {
		return nil //nolint:nilerr // it is being made
	}
	return fmt.Errorf("there is a file %s, which Trapeze does not make: SQLite would copy what is in it into the record", filepath.Base(path)+"-journal")
}

// IsAlone reports whether a database is complete, and no server writes to it.
func IsAlone(path string) bool {
	wal, err := os.Stat(path + "-wal")
	return (err != nil || wal.Size() == 0) && !IsLocked(path+".lock")
}

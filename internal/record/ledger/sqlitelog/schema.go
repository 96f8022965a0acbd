package sqlitelog

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"modernc.org/sqlite"

	"github.com/trapezehq/trapeze/internal/record/durable"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/walbuffer"
)

// The name of a stream is stored once. Streams are numbered in order of creation, so that the index of entries grows at its
// end: an index of names would touch a random page for every entry.
const schema = `
CREATE TABLE streams(name TEXT PRIMARY KEY, id INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE entries(position INTEGER PRIMARY KEY, stream INTEGER NOT NULL, bytes BLOB NOT NULL) STRICT;
CREATE INDEX entries_by_stream ON entries(stream);
`

// Format is the number of the format of data directories: what a program must be able to read to open one. It is stored in the
// database, as its user_version, and increases with everything that older programs cannot read: how entries are stored, and events
// or versions of them that they do not have. Entries of all earlier formats stay readable.
//
//	1: entries as their bytes
//	2: entries in frames, see package frame; events as in the first release
//	3: frames with a checksum of the entry and its place
//	4: frames with a checksum of the stored bytes; lifts of a part of a constraint
//	5: frames with a sum over the index of streams
//	6: entries that were put away in segments
const Format = 6

// indexedFormat is the first one with sums over the index of streams.
const indexedFormat = 5

// sealedFormats is added to the format of a directory with sealed entries, which programs from before them refuse to open.
const sealedFormats = 1000

// ErrSealed is the error of Open for a log with sealed entries without a [Options.Sealer].
var ErrSealed = errors.New("sqlitelog: the content of this record is sealed, and its keys are not there")

func pragma(name string, value any) string { return fmt.Sprintf("%s(%v)", name, value) }

// writerDSN sets up the writer: every commit waits for the fsync of the write-ahead log (synchronous FULL, which package walbuffer needs), and
// the writer runs the checkpoints, because automatic ones hide their errors. It waits for locks: a reader that meets the index of the log
// while it changes takes the lock of the writer for a moment.
func writerDSN(path string) string {
	return sqlconn.DSN(path, "rw", pragma("page_size", pageSize), pragma("journal_mode", "wal"),
		pragma("synchronous", "full"), pragma("wal_autocheckpoint", 0), pragma("temp_store", "memory"),
		pragma("busy_timeout", 5000), pragma("cache_size", -writerCacheKiB), pragma("cell_size_check", "on")) + "&vfs=" + walbuffer.Name()
}

func readerDSN(path string) string {
	return sqlconn.DSN(path, "ro", pragma("query_only", "on"), pragma("cache_size", -readerCacheKiB),
		pragma("temp_store", "memory"), pragma("busy_timeout", 5000), pragma("cell_size_check", "on"))
}

// createFile creates the database if it does not exist, for its owner only. SQLite creates its other files with the same
// mode.
func createFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) //nolint:gosec // the path is the operator's
	if err != nil {
		return err
	}
	return f.Close()
}

// migrate creates the schema in an empty file, raises the number of an older format, and refuses files of other programs or of a
// newer format.
func migrate(c *sqlconn.Conn, path string, sealed bool) error {
	version, err := c.Number("PRAGMA user_version")
	if err != nil {
		return err
	}
	number := version
	was := version >= sealedFormats
	version %= sealedFormats
	app, err := c.Number("PRAGMA application_id")
	if err != nil {
		return err
	}
	tables, err := c.Number("SELECT count(*) FROM sqlite_schema")
	switch {
	case err != nil:
		return err
	case version == 0 && app == 0 && tables == 0:
		script := fmt.Sprintf("BEGIN IMMEDIATE; %s PRAGMA user_version=%d; PRAGMA application_id=%d; COMMIT",
			schema, formatNumber(sealed), applicationID)
		return errors.Join(c.Exec(script), durable.Sync(filepath.Dir(path)))
	case app != applicationID:
		return errors.New("this is a SQLite database of another program: choose another data directory")
	case number > 0 && version > Format:
		return newerFormat(version)
	case !isFormat(number):
		return fmt.Errorf("%s; nothing was changed: restore the data directory from a backup that verifies", notAFormat(number))
	case was && !sealed:
		return ErrSealed
	}
	list, err := planted(c)
	switch {
	case err != nil:
		return err
	case len(list) > 0:
		return fmt.Errorf("%s; keep a copy of the data directory, find out who could write to it, and restore it from a backup that verifies", list[0])
	case version < Format || was != sealed:
		to := formatNumber(sealed)
		if err := c.Exec(fmt.Sprintf("PRAGMA user_version=%d", to)); err != nil {
			return fmt.Errorf("the format %d of the data could not be raised to %d, which takes a few KiB: %w", version, to, err)
		}
	}
	return nil
}

// formatNumber is the user_version of files of this version.
func formatNumber(sealed bool) int {
	if sealed {
		return Format + sealedFormats
	}
	return Format
}

// isFormat reports whether a user_version is one that a version of this package has written.
func isFormat(number int64) bool {
	return number >= 1 && number <= Format || number > sealedFormats && number <= sealedFormats+Format
}

func notAFormat(number int64) string {
	return fmt.Sprintf("its number of the format (user_version) is %d, which Trapeze never writes", number)
}

// planted returns what is in the file that acts by itself, and that this package never makes.
func planted(c *sqlconn.Conn) (found []string, err error) {
	err = c.Query(func(row sqlconn.Row) error {
		found = append(found, fmt.Sprintf("the file has the %s named %q, which Trapeze does not make, or not so: it can change what is stored or shown", row.Text(0), row.Text(1)))
		return nil
	}, "SELECT type, name FROM sqlite_master WHERE type IN ('trigger', 'view') OR tbl_name IN ('streams', 'entries') AND instr(?, sql || ';') = 0", schema)
	return found, err
}

// newerFormat is the error for data that a newer version of the program has written.
func newerFormat(version int64) error {
	return fmt.Errorf("the data has format %d, written by a newer version of Trapeze, and this version reads formats up to %d: "+
		"upgrade the program to that version or a newer one, or use another data directory; nothing was changed", version, Format)
}

// The result codes of SQLite that this package tests for; https://www.sqlite.org/rescode.html. The low byte is the primary
// code.
const (
	codeBusy     = 5
	codeNoMem    = 7
	codeReadOnly = 8
	codeIOErr    = 10
	codeCorrupt  = 11
	codeFull     = 13
	codeCantOpen = 14
	codeNotADB   = 26
)

// code returns the primary result code of an error of SQLite, 0 for other errors.
func code(err error) int {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return 0
	}
	return e.Code() & 0xff
}

// explain adds to an error what the operator can do about it.
func explain(path string, err error) error {
	var hint string
	switch {
	case errors.Is(err, os.ErrPermission) || code(err) == codeReadOnly || isReadOnly(err):
		hint = "the data directory and its files must be writable by this user"
	case code(err) == codeCorrupt || code(err) == codeNotADB:
		hint = "the file is damaged or not a database: restore it from a backup"
	case code(err) == codeCantOpen:
		hint = "check that the path is correct and the directory writable"
	case isFull(err):
		hint = "the disk is full: free some space"
	default:
		return fmt.Errorf("sqlitelog: %s: %w", path, err)
	}
	return fmt.Errorf("sqlitelog: %s: %w (%s)", path, err, hint)
}

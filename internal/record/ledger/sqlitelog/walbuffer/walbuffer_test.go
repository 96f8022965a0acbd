package walbuffer

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/libc/sys/types"
	_ "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest/memdir"
)

// disk is what the system does with writes to a log: it counts them, and one of them, and those after it until it is well again, fail.
var disk struct {
	writes int
	fail   int // this one; 0: none
	code   int32
	open   func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32
	system sqlite3.Tsqlite3_io_methods
}

func TestMain(m *testing.M) {
	Name()
	disk.open = function[func(*libc.TLS, uintptr, uintptr, uintptr, int32, uintptr) int32](base.FxOpen)
	under := *base
	under.FxOpen = pointer(openDisk)
	base = &under
	memdir.Main(m)
}

func openDisk(tls *libc.TLS, vfs, name, id uintptr, flags int32, out uintptr) int32 {
	rc := disk.open(tls, vfs, name, id, flags, out)
	if rc == sqlite3.SQLITE_OK && flags&sqlite3.SQLITE_OPEN_WAL != 0 {
		methods := &at[sqlite3.Tsqlite3_file](id).FpMethods
		disk.system = *at[sqlite3.Tsqlite3_io_methods](*methods)
		own := libc.Xmalloc(tls, types.Size_t(unsafe.Sizeof(disk.system)))
		m := at[sqlite3.Tsqlite3_io_methods](own)
		*m = disk.system
		m.FxWrite = pointer(writeDisk)
		*methods = own
	}
	return rc
}

func writeDisk(tls *libc.TLS, id, p uintptr, n int32, offset int64) int32 {
	if disk.writes++; disk.fail > 0 && disk.writes >= disk.fail {
		return disk.code
	}
	return function[transfer](disk.system.FxWrite)(tls, id, p, n, offset)
}

func connect(t *testing.T, path, vfs string) *sql.Conn {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(wal)&_pragma=synchronous(full)&_pragma=wal_autocheckpoint(0)&_pragma=cache_size(10)"+vfs)
	if err != nil {
		t.Fatal(err)
	}
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(c.Close(), db.Close()); err != nil {
			t.Error(err)
		}
	})
	return c
}

func exec(t *testing.T, c *sql.Conn, script string) {
	t.Helper()
	if _, err := c.ExecContext(t.Context(), script); err != nil {
		t.Fatalf("%s: %v", script, err)
	}
}

func text(t *testing.T, c *sql.Conn, query string) (s string) {
	t.Helper()
	if err := c.QueryRowContext(t.Context(), query).Scan(&s); err != nil {
		t.Fatal(err)
	}
	return s
}

func sound(t *testing.T, c *sql.Conn) {
	t.Helper()
	if got := text(t, c, "PRAGMA integrity_check"); got != "ok" {
		t.Errorf("the database is damaged: %s", got)
	}
}

const (
	table  = "CREATE TABLE t(id INTEGER PRIMARY KEY, body BLOB)"
	insert = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i < %d) INSERT INTO t(body) SELECT randomblob(1000) FROM n;"
	all    = "SELECT count(*) || ' ' || coalesce(max(id), 0) FROM t"
)

func TestACommitIsOneWrite(t *testing.T) {
	disk.fail = 0
	path := filepath.Join(t.TempDir(), "t.db")
	c := connect(t, path, "&vfs="+Name())
	exec(t, c, table)
	other := connect(t, path, "")
	before := disk.writes
	for i := range 10 {
		exec(t, c, fmt.Sprintf(insert, 20))
		if got, want := text(t, other, all), fmt.Sprint((i+1)*20, " ", (i+1)*20); got != want {
			t.Errorf("another connection sees %s, want %s", got, want)
		}
	}
	if got := disk.writes - before; got != 10 {
		t.Errorf("%d writes for 10 commits of several pages, want 10", got)
	}
}

// Another connection may write once a commit has failed, whose frames are kept here.
func TestNothingIsWrittenAfterTheLockIsLetGo(t *testing.T) {
	disk.fail = 0
	path := filepath.Join(t.TempDir(), "t.db")
	c := connect(t, path, "&vfs="+Name())
	exec(t, c, table)
	other := connect(t, path, "")
	disk.writes, disk.fail, disk.code = 0, 1, sqlite3.SQLITE_FULL
	if _, err := commit(t.Context(), c, "BEGIN IMMEDIATE;"+fmt.Sprintf(insert, 20)); err == nil {
		t.Fatal("a commit whose write failed is acknowledged")
	}
	disk.fail = 0
	exec(t, other, fmt.Sprintf(insert, 200))
	exec(t, c, fmt.Sprintf(insert, 50))
	for _, c := range []*sql.Conn{c, other, connect(t, path, "")} {
		if got := text(t, c, all); got != "250 250" {
			t.Errorf("there are %s, want 250", got)
		}
		sound(t, c)
	}
}

// Wherever a write fails: what was acknowledged is there for everybody, and nothing else.
func TestAFailedWriteFailsTheCommit(t *testing.T) {
	hits := 0
	for fail := 1; fail <= 120; fail++ {
		code := int32(sqlite3.SQLITE_FULL)
		if fail%2 == 0 {
			code = sqlite3.SQLITE_IOERR_WRITE
		}
		if work(t, uint64(fail), fail, code) { //nolint:gosec // positive
			hits++
		}
	}
	if hits < 80 {
		t.Errorf("only %d writes failed", hits)
	}
}

// work runs transactions by chance while the write of a number fails, and reports whether there was such a write.
func work(t *testing.T, seed uint64, fail int, code int32) (hit bool) {
	t.Helper()
	disk.fail = 0
	path := filepath.Join(t.TempDir(), "t.db")
	c := connect(t, path, "&vfs="+Name())
	exec(t, c, table)
	other := connect(t, path, "")
	disk.writes, disk.fail, disk.code = 0, fail, code
	random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // a test
	var want string
	for range 12 {
		script := "BEGIN IMMEDIATE;" + fmt.Sprintf(insert, 1+random.IntN(120))
		switch random.IntN(5) {
		case 0:
			script += "SAVEPOINT s;" + fmt.Sprintf(insert, random.IntN(120)) + "ROLLBACK TO s;" + fmt.Sprintf(insert, 5)
		case 1:
			script += "UPDATE t SET body = randomblob(1001) WHERE id % 7 = 0; DELETE FROM t WHERE id % 11 = 0;"
		case 2:
			exec(t, other, fmt.Sprintf(insert, 3))
		case 3:
			_, _ = c.ExecContext(t.Context(), "PRAGMA wal_checkpoint(TRUNCATE)")
		}
		want = text(t, other, all)
		if random.IntN(4) == 0 {
			_, _ = c.ExecContext(t.Context(), script)
			_, _ = c.ExecContext(t.Context(), "ROLLBACK")
		} else if ends, err := commit(t.Context(), c, script); err == nil {
			want = ends
		} else {
			disk.fail, hit = 0, true // the disk is well again
		}
		if got := text(t, other, all); got != want {
			t.Fatalf("write %d fails with %d: another connection sees %s, want %s", fail, code, got, want)
		}
	}
	sound(t, other)
	sound(t, c)
	return hit || disk.writes >= fail
}

// commit returns what the table has in the transaction before it ends.
func commit(ctx context.Context, c *sql.Conn, script string) (ends string, err error) {
	if _, err = c.ExecContext(ctx, script); err == nil {
		err = c.QueryRowContext(ctx, all).Scan(&ends)
	}
	if err == nil {
		_, err = c.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		if _, again := c.ExecContext(ctx, "ROLLBACK"); again != nil && !strings.Contains(again.Error(), "no transaction") {
			err = errors.Join(err, again)
		}
	}
	return ends, err
}

//go:build outside

package pglog

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/ledger/pglog/pgtest"
)

// refused checks that a log is not opened, with an error that has some text.
func refused(t *testing.T, url string, opts Options, text string) {
	t.Helper()
	l, err := Open(t.Context(), url, opts)
	if err == nil {
		_ = l.Close()
	}
	if err == nil || !strings.Contains(err.Error(), text) || strings.Contains(err.Error(), pgtest.Password) || strings.Contains(err.Error(), secret) {
		t.Errorf("got %v, want %q", err, text)
	}
}

func append1(t *testing.T, l *Log, stream string) ledger.Position {
	t.Helper()
	p, err := l.Append(t.Context(), ledgertest.NewEntry(ledger.Stream("w/task/"+stream), 1, "x"), 0)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestAServerThatWouldLoseEntriesIsRefused(t *testing.T) {
	s := pgtest.Start(t)
	c := admin(t, s)
	l := open(t, s.URL(), Options{})
	append1(t, l, "a")
	for _, name := range []string{"fsync", "full_page_writes", "synchronous_commit"} {
		s.Configure(name + " = off")
		s.Reload()
		until(t, "that the log notices "+name, func() bool { return l.Err() != nil })
		_, err := l.Append(t.Context(), ledgertest.NewEntry("w/task/b", 1, "x"), 0)
		for _, err := range []error{err, l.Err()} {
			if !errors.Is(err, ledger.ErrUnavailable) || err == nil || !strings.Contains(err.Error(), "set "+name+" = on") {
				t.Errorf("%s is off: %v", name, err)
			}
		}
		refused(t, s.URL(), Options{}, "set "+name+" = on")
		s.Configure(name + " = on")
		s.Reload()
		until(t, "that the log notices "+name, func() bool { return l.Err() == nil })
	}
	do(t, c, "ALTER ROLE postgres SET synchronous_commit = off")
	refused(t, s.URL(), Options{}, "for the role")
	do(t, c, "ALTER ROLE postgres RESET synchronous_commit")
	if append1(t, l, "b") != 2 {
		t.Error("something was written in between")
	}
}

// It is set for a role, for a database, by the URL, or by another user of a session that a pooler gives to several.
func TestCommitsThatDoNotWaitAreRefusedAtEachLevelAtWhichThatIsSet(t *testing.T) {
	s := pgtest.Start(t)
	c := admin(t, s)
	const text = "synchronous_commit is off"
	writes := open(t, s.URL(), Options{})
	append1(t, writes, "a")
	for level, set := range map[string]string{
		"the role": "ALTER ROLE postgres %s", "the database": "ALTER DATABASE postgres %s", "the role in the database": "ALTER ROLE postgres IN DATABASE postgres %s",
	} {
		do(t, c, fmt.Sprintf(set, "SET synchronous_commit = off"))
		refused(t, s.URL(), Options{}, text)
		do(t, c, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'trapeze'") // a log that is open connects again
		_, err := writes.Append(t.Context(), ledgertest.NewEntry("w/task/b", 1, "x"), 0)
		if !errors.Is(err, ledger.ErrUnavailable) || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", level, err)
		}
		do(t, c, fmt.Sprintf(set, "RESET synchronous_commit"))
		until(t, "that the log notices "+level, func() bool { return writes.Err() == nil })
	}
	refused(t, s.URL()+"&synchronous_commit=off", Options{}, text)
	refused(t, s.URL()+"&options=-c%20synchronous_commit%3Doff", Options{}, text)
	pooled := newWriter(writes, writes.config)
	defer pooled.drop()
	if err := pooled.connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := pooled.conn.Exec(t.Context(), "SET synchronous_commit = off"); err != nil {
		t.Fatal(err)
	}
	r, err := newRequest(ledgertest.NewEntry("w/task/c", 1, "x"), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pooled.plan(t.Context(), []*request{r}); err == nil || !strings.Contains(err.Error(), text) || pooled.conn != nil {
		t.Errorf("in a session that others have set: %v", err)
	}
	if append1(t, writes, "d") != 2 {
		t.Error("something was written in between")
	}
}

func TestADatabaseThatIsNotOursIsRefused(t *testing.T) {
	s := pgtest.Start(t)
	c := admin(t, s)
	refused(t, strings.Replace(s.URL(), pgtest.Password, secret, 1), Options{}, "password authentication failed")
	refused(t, strings.Replace(s.URL(), "/postgres?", "/absent?", 1), Options{}, "does not exist")
	do(t, c, "CREATE SCHEMA theirs; CREATE TABLE theirs.entries(x int)")
	refused(t, s.URL(), Options{Schema: "theirs"}, "tables of another program")
	do(t, c, "CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
	refused(t, strings.Replace(s.URL(), "/postgres?", "/latin?", 1), Options{}, "ENCODING 'UTF8'")
	do(t, c, "CREATE ROLE guest LOGIN PASSWORD '"+pgtest.Password+"'")
	guest := strings.Replace(s.URL(), "//postgres:", "//guest:", 1)
	refused(t, guest, Options{}, "CREATE SCHEMA trapeze AUTHORIZATION")
	do(t, c, "CREATE SCHEMA trapeze AUTHORIZATION guest")
	append1(t, open(t, guest, Options{}), "a") // no other right is needed

	l := open(t, s.URL(), Options{Schema: "newer"})
	append1(t, l, "a")
	do(t, c, fmt.Sprintf("UPDATE newer.record SET format = %d", Format+1)) // a newer program was started beside this one
	if _, err := l.Append(t.Context(), ledgertest.NewEntry("w/task/b", 1, "x"), 0); !errors.Is(err, ledger.ErrUnavailable) || !strings.Contains(err.Error(), "newer one") {
		t.Errorf("with a newer format: %v", err)
	}
	refused(t, s.URL(), Options{Schema: "newer"}, "newer one")
}

// A standby that was not synchronous, and a backup, end before what was confirmed.
func TestADatabaseThatHasLostEntriesIsNotWrittenTo(t *testing.T) {
	s := pgtest.Start(t)
	c := admin(t, s)
	l := open(t, s.URL(), Options{})
	for i := range 5 {
		append1(t, l, fmt.Sprint(i))
	}
	do(t, c, `ALTER TABLE trapeze.entries DISABLE TRIGGER ALL; DELETE FROM trapeze.entries WHERE position > 3; UPDATE trapeze.record SET last = 3`)
	for range 2 { // it stays so
		_, err := l.Append(t.Context(), ledgertest.NewEntry("w/task/new", 1, "x"), 0)
		if !errors.Is(err, ledger.ErrUnavailable) || !strings.Contains(err.Error(), "ends at 3, and 5 was confirmed") {
			t.Errorf("got %v", err)
		}
	}
	if got, err := l.Read(t.Context(), 0, 10); len(got) != 3 || err != nil {
		t.Errorf("%d entries are read, %v", len(got), err)
	}
	again := open(t, s.URL(), Options{Acknowledged: 5})
	if _, err := again.Append(t.Context(), ledgertest.NewEntry("w/task/new", 1, "x"), 0); !errors.Is(err, ledger.ErrUnavailable) || again.Err() == nil {
		t.Errorf("after a restart: %v", err)
	}

	other := open(t, s.URL(), Options{Schema: "other"})
	append1(t, other, "a")
	do(t, c, "UPDATE other.record SET id = 'another', last = 1")
	if _, err := other.Append(t.Context(), ledgertest.NewEntry("w/task/b", 1, "x"), 0); !errors.Is(err, ledger.ErrUnavailable) || !strings.Contains(err.Error(), "another record") {
		t.Errorf("another record: %v", err)
	}
}

// damaged checks that an error names a damaged entry.
func damaged(t *testing.T, what string, err error, want ledger.Position) {
	t.Helper()
	d, ok := errors.AsType[*ledger.Damaged](err)
	if !ok || d.Position != want {
		t.Errorf("%s: got %v, want that %d is damaged", what, err, want)
	}
}

func TestADamagedEntryIsNamed(t *testing.T) {
	s := pgtest.Start(t)
	c := admin(t, s)
	for what, change := range map[string]string{
		"a bit of its bytes":     "UPDATE S.entries SET bytes = set_bit(bytes, 200, 1 - get_bit(bytes, 200)) WHERE position = 3",
		"no bytes":               "UPDATE S.entries SET bytes = '' WHERE position = 3",
		"bytes without checksum": `UPDATE S.entries SET bytes = '{"x":1}' WHERE position = 3`,
		"the bytes of another":   "UPDATE S.entries SET bytes = (SELECT bytes FROM S.entries WHERE position = 2) WHERE position = 3",
		"another predecessor":    "UPDATE S.entries SET previous = 1 WHERE position = 3",
		"it was removed":         "DELETE FROM S.entries WHERE position = 3",
	} {
		t.Run(strings.ReplaceAll(what, " ", "-"), func(t *testing.T) {
			schema := newSchema()
			l := open(t, s.URL(), Options{Schema: schema})
			var expect ledger.Position
			for v := range 5 {
				stream := ledger.Stream("w/task/x")
				if v == 0 {
					stream = "w/task/other"
				}
				p, err := l.Append(t.Context(), ledgertest.NewEntry(stream, uint64(max(v, 1)), "some text"), expect) //nolint:gosec // small
				if err != nil {
					t.Fatal(err)
				}
				if expect = p; v == 0 {
					expect = 0
				}
			}
			in := func(script string) string { return strings.ReplaceAll(script, "S.", schema+".") }
			if _, err := c.Exec(t.Context(), in(change)); err == nil || !strings.Contains(err.Error(), "never changed") {
				t.Fatalf("the database has allowed it: %v", err)
			}
			do(t, c, in("ALTER TABLE S.entries DISABLE TRIGGER ALL;"+change))
			got, err := l.Read(t.Context(), 0, 10)
			if damaged(t, "Read", err, 3); len(got) != 2 {
				t.Errorf("Read returned %d entries before it", len(got))
			}
			_, err = l.Stream(t.Context(), "w/task/x", 0, 10)
			damaged(t, "Stream", err, 3)
			other := open(t, s.URL(), Options{Schema: schema})
			var seen, skipped []ledger.Position
			err = ledger.FollowPast(t.Context(), other, 0, func(at ledger.Position, _ error) { skipped = append(skipped, at) }, func(batch []ledger.Entry) error {
				for _, e := range batch {
					seen = append(seen, e.Position)
				}
				if len(seen) == 4 {
					return errEnough
				}
				return nil
			})
			if !errors.Is(err, errEnough) || fmt.Sprint(seen, skipped) != "[1 2 4 5] [3]" {
				t.Errorf("followed %v, without %v: %v", seen, skipped, err)
			}
		})
	}
}

func TestTheEndOfTheRecordIsMissed(t *testing.T) {
	s := pgtest.Start(t)
	c := admin(t, s)
	l := open(t, s.URL(), Options{})
	for i := range 3 {
		append1(t, l, fmt.Sprint(i))
	}
	do(t, c, "ALTER TABLE trapeze.entries DISABLE TRIGGER ALL; DELETE FROM trapeze.entries WHERE position = 3")
	got, err := l.Read(t.Context(), 0, 10)
	if damaged(t, "Read", err, 3); len(got) != 2 {
		t.Errorf("Read returned %d entries before it", len(got))
	}
	if _, err := l.Append(t.Context(), ledgertest.NewEntry("w/task/new", 1, "x"), 0); !errors.Is(err, ledger.ErrUnavailable) {
		t.Errorf("the position would be given twice: %v", err)
	}
}

var errEnough = errors.New("enough")

func TestTheServerEndsTheSessionOfAFrontEndWhoseNetworkIsGone(t *testing.T) {
	c, err := configure(pgtest.Start(t).URL())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := connect(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer hangUp(conn)
	for name, want := range sessionParams {
		var got string
		if err := conn.QueryRow(t.Context(), "SELECT setting FROM pg_settings WHERE name = $1", name).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %q, want %q: %v", name, got, want, err)
		}
	}
}

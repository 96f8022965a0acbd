package sqlview

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// crowd fills an inbox with offers of several senders, oldest first of each in turn.
func crowd(t *testing.T, senders, each int) *Views {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trapeze.db")
	_, v := embedded(t, path)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(t, db)
	_, err = db.ExecContext(t.Context(), `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?1 * ?2)
		INSERT INTO view_inbox(ws, rest, agent, sender, ord, id, item)
		SELECT 'default', 0, 'bob', printf('s%05d', i % ?1), (2 << 56) + i + 1, printf('task_%d.h1', i),
		CAST(json_object('type', 'offer', 'from', printf('s%05d', i % ?1)) AS BLOB) FROM n`, senders, each)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestAPageOfAnInboxReadsWhatItNeedsHoweverManyTheSenders(t *testing.T) {
	const limit, most = 100, 500
	for _, c := range []struct{ senders, each, keys int }{{1, most, limit + 2}, {20, most / 20, 20 * (limit/20 + 2)}, {most, 20, 2 * most}} {
		v := crowd(t, c.senders, c.each)
		keys, read, _, err := v.waiting(t.Context(), "default", "bob", view.Cursor{}, limit)
		if err != nil || len(keys) > c.keys || read < 2 {
			t.Errorf("%d senders: %d keys are read, %d of each, at most %d are needed: %v", c.senders, len(keys), read, c.keys, err)
		}
		for _, after := range []ledger.Position{0, 1} {
			box, err := v.Inbox(t.Context(), "default", "bob", view.InboxFilter{After: view.CursorAt(after), Limit: limit})
			if err != nil || len(box.Items) != limit {
				t.Fatalf("%d senders, after %d: %d items, %v", c.senders, after, len(box.Items), err)
			}
			for i, item := range box.Items {
				if n := i + int(after); item.ID != fmt.Sprintf("task_%d.h1", n) || item.From != fmt.Sprintf("s%05d", n%c.senders) {
					t.Fatalf("item %d of %d senders after %d is %s of %s", i, c.senders, after, item.ID, item.From)
				}
			}
		}
	}
}

func TestAPageHasWhatNobodyHoldsBehindMoreThanAPageThatOthersHold(t *testing.T) {
	held := map[string]bool{}
	for i := range 2 * view.MaxPage {
		held[fmt.Sprintf("task_%d.h1", i)] = true
	}
	box, err := crowd(t, 2, 2*view.MaxPage).Inbox(t.Context(), "default", "bob", view.InboxFilter{Limit: 1, Turns: view.Turns{Held: func(id string) bool { return held[id] }, Holds: len(held)}})
	if want := fmt.Sprintf("task_%d.h1", len(held)); err != nil || len(box.Items) != 1 || box.Items[0].ID != want {
		t.Errorf("%+v, %v; want %s", box.Items, err, want)
	}
}

func TestOffersLieTogetherAndNoItemRepeatsItsKey(t *testing.T) {
	log, v := embedded(t, filepath.Join(t.TempDir(), "trapeze.db"))
	play(t, log, newLife(), 3*20) // twenty notices that a task has ended
	for n := range 20 {
		l := newLife()
		l.step = 3 * (n + 50)
		play(t, log, l, 1)
	}
	if err := v.catchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	var types []string
	rows, err := v.readers.QueryContext(t.Context(), "SELECT id, CAST(item AS TEXT) FROM view_inbox ORDER BY ws, rest, agent, sender, ord, id") //nolint:sqlclosecheck // closeAll
	if err != nil {
		t.Fatal(err)
	}
	defer closeAll(t, rows)
	for rows.Next() {
		var id, item string
		var of struct{ Type string }
		if err := errors.Join(rows.Scan(&id, &item), json.Unmarshal([]byte(item), &of)); err != nil {
			t.Fatal(err)
		}
		if task, _, _ := strings.Cut(id, "."); strings.Contains(item, task) {
			t.Errorf("%s: %s", id, item)
		}
		types = append(types, of.Type)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	want := slices.Concat(slices.Repeat([]string{"offer"}, 20), slices.Repeat([]string{"completed"}, 20))
	if !slices.Equal(types, want) {
		t.Errorf("in the order of the table: %v", types)
	}
}

func TestWhatAClaimSaysIsStoredOnceForAllOfItsReceivers(t *testing.T) {
	const receivers = 64
	log, v := embedded(t, filepath.Join(t.TempDir(), "trapeze.db"))
	l := newLife()
	l.crowd = receivers
	play(t, log, l, 1)
	var rows, bytes, whole int
	if err := v.readers.QueryRowContext(t.Context(), "SELECT count(*), sum(length(item)), (SELECT length(item) FROM view_offer) FROM view_inbox").Scan(&rows, &bytes, &whole); err != nil {
		t.Fatal(err)
	}
	if rows != receivers || bytes > receivers*whole/4 {
		t.Errorf("%d items of a claim take %d bytes beside the %d that they have in common", rows, bytes, whole)
	}
	box, err := v.Inbox(t.Context(), "default", "digger-61", view.InboxFilter{})
	if err != nil || len(box.Items) != 1 {
		t.Fatalf("%v, %v", box, err)
	}
	if i := box.Items[0]; !i.Claim || i.From != "agent-1" || i.Intent == "" || i.At != 1 || i.Since.IsZero() || i.Ends.IsZero() || i.Type != view.ItemOffer {
		t.Errorf("a receiver reads %+v", i)
	}
	counts, err := v.InboxCounts(t.Context())
	if err != nil || len(counts) != receivers || counts[0].From != "agent-1" || counts[0].Oldest.IsZero() {
		t.Errorf("%d inboxes are counted, first %+v: %v", len(counts), counts, err)
	}
	play(t, log, l, 1) // one accepts it
	if err := v.readers.QueryRowContext(t.Context(), "SELECT count(*) FROM view_offer").Scan(&rows); err != nil || rows != 0 {
		t.Errorf("%d are left of a claim that is over: %v", rows, err)
	}
}

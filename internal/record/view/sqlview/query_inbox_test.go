package sqlview

import (
	"database/sql"
	"fmt"
	"path/filepath"
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
		INSERT INTO view_inbox(ws, agent, sender, ord, id, item)
		SELECT 'default', 'bob', printf('s%05d', i % ?1), (2 << 56) + i + 1, printf('task_%d.h1', i),
		CAST(json_object('type', 'offer', 'id', printf('task_%d.h1', i), 'from', printf('s%05d', i % ?1)) AS BLOB) FROM n`, senders, each)
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

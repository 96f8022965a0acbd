package search

import (
	"context"
	"database/sql"
	"errors"

	"github.com/trapezehq/trapeze/internal/record/view/sqlview/kept"
)

// Differ returns the names of the tables that are not compared with a rebuild, and that are not as they were written, and of the indexes of words that lost some.
func Differ(ctx context.Context, have *sql.DB) (names []string, err error) {
	if names, err = kept.Differ(ctx, have, strayRows); err != nil {
		return names, err
	}
	list, err := lost(ctx, have)
	for _, name := range list {
		names = append(names, name+", in which searches do not find all,")
	}
	return names, err
}

// lost returns the names of the indexes of words in which a search does not find all that they have: SQLite looks up the page of a word in a table of which it checks
// only a part. It reads all words, as they are in their pages, and looks each up. It writes to the temporary schema of a connection.
func lost(ctx context.Context, db *sql.DB) (names []string, err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	for _, index := range []string{"view_memory_text", "view_memory_title"} {
		some, err := lostIn(ctx, conn, index)
		if err != nil {
			return names, err
		}
		if some {
			names = append(names, index)
		}
	}
	return names, nil
}

// posting is a word of an index, in how many items it is and how often.
type posting struct {
	text        string
	items, uses int64
}

func lostIn(ctx context.Context, conn *sql.Conn, index string) (lost bool, err error) {
	table := "words_of_" + index
	for _, do := range []string{
		"PRAGMA query_only=off", // the file is opened for reading alone
		"CREATE VIRTUAL TABLE IF NOT EXISTS temp." + table + " USING fts5vocab(main, " + index + ", row)",
		"BEGIN", // a server may write meanwhile
	} {
		if _, err := conn.ExecContext(ctx, do); err != nil {
			return false, err
		}
	}
	defer func() {
		_, rerr := conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK; DROP TABLE temp."+table+"; PRAGMA query_only=on")
		err = errors.Join(err, rerr)
	}()
	words, err := postings(ctx, conn, table)
	if err != nil {
		return false, err
	}
	find, err := conn.PrepareContext(ctx, "SELECT doc, cnt FROM temp."+table+" WHERE term = ?") //nolint:gosec // a name of its own
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, find.Close()) }()
	for _, w := range words {
		var items, uses int64
		err := find.QueryRowContext(ctx, w.text).Scan(&items, &uses)
		if errors.Is(err, sql.ErrNoRows) || err == nil && (items != w.items || uses != w.uses) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

// postings reads all words of an index.
func postings(ctx context.Context, conn *sql.Conn, table string) (list []posting, err error) {
	rows, err := conn.QueryContext(ctx, "SELECT term, doc, cnt FROM temp."+table) //nolint:gosec // a name of its own
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var w posting
		if err := rows.Scan(&w.text, &w.items, &w.uses); err != nil {
			return nil, err
		}
		list = append(list, w)
	}
	return list, rows.Err()
}

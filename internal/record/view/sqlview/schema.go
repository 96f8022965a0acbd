package sqlview

import (
	"errors"
	"slices"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/cursor"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/kept"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/search"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/sweep"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/ticketlist"
)

// schemaVersion increases with every change of a table or its content: the views are then rebuilt at the next start.
const schemaVersion = 42

// schemaNumber is the same as text, for a constraint by which SQLite finds a number that was changed: views of another version are not compared.
const schemaNumber = "42"

// The number of a task is the position of its first entry, so that the table grows at its end. Indexes are partial if only
// few tasks matter: they stay small however many tasks have ended. Properties of few tasks have a table of their own,
// because every index of a table costs time at every insert. view_rare holds the tasks in one of the less frequent states.
//
// who, of a claim, is a capability, or [tasklist.MissedBy] and an agent; of a handoff that waits for a circuit, [tasklist.WaitsFor] and a candidate.
//
// view_offer has what all items of a claim say, by the handoff: a claim has an item for each of many receivers, which says the rest.
//
// sender, of an inbox, is that of an offer, or [view.OtherThanOffer] and who sent something else. rest is 0 for offers, which come and go, and 1 for what else waits, mostly longer: so
// the offers of all agents, which nearly every entry changes, share a few pages.
//
// view_intent has the intents that are longer than rows show, for searches.
//
// view_count has the number of open tasks of each principal that ever requested one, and of entries of each day ([ofDay] and its number): in one table, since nearly every commit writes both.
//
// live: 0 ended, 1 parked, 2 neither. due is in microseconds, rounded up; that of a task in an archived workspace is later by [never]. ord orders an inbox: priority, then age.
const schema = `
CREATE TABLE view_task(
	n INTEGER PRIMARY KEY, ws TEXT NOT NULL, id TEXT NOT NULL, state TEXT NOT NULL, live INTEGER NOT NULL,
	owner TEXT NOT NULL, due INTEGER, row BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX view_task_id ON view_task(ws, id);
CREATE INDEX view_task_live ON view_task(ws, id) WHERE live > 0;
CREATE INDEX view_task_owner ON view_task(ws, owner, live, id) WHERE live > 0 AND owner <> '';
CREATE INDEX view_task_due ON view_task(due) WHERE due IS NOT NULL;
CREATE TABLE view_intent(n INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
CREATE TABLE view_child(ws TEXT NOT NULL, parent TEXT NOT NULL, task TEXT NOT NULL,
	PRIMARY KEY(ws, parent, task)) STRICT, WITHOUT ROWID;
CREATE TABLE view_rare(ws TEXT NOT NULL, state TEXT NOT NULL, task TEXT NOT NULL,
	PRIMARY KEY(ws, state, task)) STRICT, WITHOUT ROWID;
CREATE TABLE view_inbox(ws TEXT NOT NULL, rest INTEGER NOT NULL, agent TEXT NOT NULL, sender TEXT NOT NULL, ord INTEGER NOT NULL, id TEXT NOT NULL,
	item BLOB NOT NULL, PRIMARY KEY(ws, rest, agent, sender, ord, id)) STRICT, WITHOUT ROWID;
CREATE TABLE view_offer(ws TEXT NOT NULL, id TEXT NOT NULL, item BLOB NOT NULL, PRIMARY KEY(ws, id)) STRICT, WITHOUT ROWID;
CREATE TABLE view_involved(ws TEXT NOT NULL, agent TEXT NOT NULL, task TEXT NOT NULL,
	PRIMARY KEY(ws, agent, task)) STRICT, WITHOUT ROWID;
CREATE TABLE view_dependent(ws TEXT NOT NULL, needed TEXT NOT NULL, task TEXT NOT NULL,
	PRIMARY KEY(ws, needed, task)) STRICT, WITHOUT ROWID;
CREATE TABLE view_claim(ws TEXT NOT NULL, who TEXT NOT NULL, handoff TEXT NOT NULL,
	PRIMARY KEY(ws, who, handoff)) STRICT, WITHOUT ROWID;
CREATE TABLE view_count(ws TEXT NOT NULL, of TEXT NOT NULL, n INTEGER NOT NULL,
	PRIMARY KEY(ws, of)) STRICT, WITHOUT ROWID;
CREATE TABLE view_artifact(ws TEXT NOT NULL, digest TEXT NOT NULL, task TEXT NOT NULL,
	PRIMARY KEY(ws, digest, task)) STRICT, WITHOUT ROWID;
CREATE TABLE view_agent(ws TEXT NOT NULL, name TEXT NOT NULL, removed INTEGER NOT NULL, state BLOB NOT NULL,
	PRIMARY KEY(ws, name)) STRICT, WITHOUT ROWID;
CREATE TABLE view_token(ws TEXT NOT NULL, id TEXT NOT NULL, n INTEGER NOT NULL, state BLOB NOT NULL,
	PRIMARY KEY(ws, id)) STRICT, WITHOUT ROWID;
CREATE TABLE view_channel(ws TEXT NOT NULL, name TEXT NOT NULL, removed INTEGER NOT NULL, state BLOB NOT NULL,
	PRIMARY KEY(ws, name)) STRICT, WITHOUT ROWID;
CREATE INDEX view_channel_there ON view_channel(ws, name) WHERE removed = 0;
` + workspaceSchema + decisionSchema + ticketlist.Schema + search.CarrierSchema + search.Schema + `
CREATE TABLE view_meta(one INTEGER PRIMARY KEY CHECK (one = 1), position INTEGER NOT NULL, schema INTEGER NOT NULL CHECK (schema = ` + schemaNumber + `)) STRICT;
`

// tables are the tables that a rebuild creates, with their order in a digest.
var tables = slices.Concat(sweep.Tables, []struct{ Name, Order string }{
	{"view_intent", "n"},
	{"view_count", "ws, of"},
	{"view_artifact", "ws, digest, task"},
	{"view_workspace", "name"},
	{"view_carrier", "ws, conversation, task"},
	{"view_decision", "ws, n"},
}, search.Tables)

// compared are what is compared with a rebuild.
var compared = kept.Compared(tables, search.Settings)

// setup creates the tables, again if they have another version, and returns their position.
func setup(tx *sqlconn.Tx) (at ledger.Position, err error) {
	// Cursors and vectors are not views: they survive a rebuild and any change of the schema.
	if err := errors.Join(tx.Exec(cursor.Schema), tx.Exec(search.VectorTable), tx.Exec(kept.Schema)); err != nil {
		return 0, err
	}
	exists, version := false, int64(0)
	err = tx.Query(func(sqlconn.Row) error { exists = true; return nil },
		"SELECT 1 FROM sqlite_schema WHERE name = 'view_meta'")
	if err == nil && exists {
		err = tx.Query(func(row sqlconn.Row) error {
			at, version = ledger.Position(row.Int64(0)), row.Int64(1) //nolint:gosec // never negative
			return nil
		}, "SELECT position, schema FROM view_meta")
	}
	if err != nil || version == schemaVersion {
		return at, err
	}
	err = tx.Exec("DROP TABLE IF EXISTS view_meta")
	for _, t := range tables {
		err = errors.Join(err, tx.Exec("DROP TABLE IF EXISTS "+t.Name))
	}
	if err != nil {
		return 0, err
	}
	if err := errors.Join(tx.Exec(schema), kept.Begin(tx)); err != nil {
		return 0, err
	}
	return 0, tx.Exec("INSERT INTO view_meta VALUES(1, 0, ?)", schemaVersion)
}

// statements are the statements of the projector, in the order of its work.
type statements struct {
	insertTask             *sqlconn.Stmt
	updateTask             [1 << 4]*sqlconn.Stmt // by the columns that have changed
	addChild, addIntent    *sqlconn.Stmt
	addRare, dropRare      *sqlconn.Stmt
	insertItem, updateItem *sqlconn.Stmt
	deleteItem             *sqlconn.Stmt
	putOffer, dropOffer    *sqlconn.Stmt
	involve                *sqlconn.Stmt
	addDependent           *sqlconn.Stmt
	dropDependent          *sqlconn.Stmt
	anyDependent           *sqlconn.Stmt
	addClaim, dropClaim    *sqlconn.Stmt
	addCount               *sqlconn.Stmt
	addArtifact            *sqlconn.Stmt
	addCarrier             *sqlconn.Stmt
	addDecision            *sqlconn.Stmt
	putAgent, getAgent     *sqlconn.Stmt
	putToken, getToken     *sqlconn.Stmt
	putChannel, getChannel *sqlconn.Stmt
	setPosition            *sqlconn.Stmt
	ticketStatement
	workspaceStatements
}

func (s *statements) prepare(tx *sqlconn.Tx) error {
	err := tx.PrepareAll(map[**sqlconn.Stmt]string{
		&s.insertTask:    "INSERT INTO view_task(n, ws, id, state, live, owner, due, row) VALUES(?, ?, ?, ?, ?, ?, ?, ?)",
		&s.addChild:      "INSERT INTO view_child(ws, parent, task) VALUES(?, ?, ?)",
		&s.addIntent:     "INSERT INTO view_intent(n, text) VALUES(?, ?)",
		&s.addRare:       "INSERT INTO view_rare(ws, state, task) VALUES(?, ?, ?)",
		&s.dropRare:      "DELETE FROM view_rare WHERE ws = ? AND state = ? AND task = ?",
		&s.insertItem:    "INSERT OR REPLACE INTO view_inbox(ws, rest, agent, sender, ord, id, item) VALUES(?, ?, ?, ?, ?, ?, ?)",
		&s.updateItem:    "UPDATE view_inbox SET item = ? WHERE ws = ? AND rest = ? AND agent = ? AND sender = ? AND ord = ? AND id = ?",
		&s.deleteItem:    "DELETE FROM view_inbox WHERE ws = ? AND rest = ? AND agent = ? AND sender = ? AND ord = ? AND id = ?",
		&s.putOffer:      "INSERT OR REPLACE INTO view_offer(ws, id, item) VALUES(?, ?, ?)",
		&s.dropOffer:     "DELETE FROM view_offer WHERE ws = ? AND id = ?",
		&s.involve:       "INSERT INTO view_involved(ws, agent, task) VALUES(?, ?, ?) ON CONFLICT DO NOTHING",
		&s.addDependent:  "INSERT INTO view_dependent(ws, needed, task) VALUES(?, ?, ?) ON CONFLICT DO NOTHING",
		&s.dropDependent: "DELETE FROM view_dependent WHERE ws = ? AND needed = ? AND task = ?",
		&s.anyDependent:  "SELECT 1 FROM view_dependent LIMIT 1",
		&s.addClaim:      "INSERT INTO view_claim(ws, who, handoff) VALUES(?, ?, ?) ON CONFLICT DO NOTHING",
		&s.dropClaim:     "DELETE FROM view_claim WHERE ws = ? AND who = ? AND handoff = ?",
		&s.addCount:      "INSERT INTO view_count(ws, of, n) VALUES(?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n",
		&s.addArtifact:   "INSERT INTO view_artifact(ws, digest, task) VALUES(?, ?, ?) ON CONFLICT DO NOTHING",
		&s.addCarrier:    "INSERT INTO view_carrier(ws, conversation, task) VALUES(?, ?, ?)",
		&s.addDecision:   "INSERT OR REPLACE INTO view_decision(ws, n, rule, policy, row) VALUES(?, ?, ?, ?, ?)",
		&s.putAgent:      "INSERT OR REPLACE INTO view_agent(ws, name, removed, state) VALUES(?, ?, ?, ?)",
		&s.getAgent:      "SELECT state FROM view_agent WHERE ws = ? AND name = ?",
		&s.putToken:      "INSERT OR REPLACE INTO view_token(ws, id, n, state) VALUES(?, ?, ?, ?)",
		&s.getToken:      "SELECT state, n FROM view_token WHERE ws = ? AND id = ?",
		&s.putChannel:    "INSERT OR REPLACE INTO view_channel(ws, name, removed, state) VALUES(?, ?, ?, ?)",
		&s.getChannel:    "SELECT state FROM view_channel WHERE ws = ? AND name = ?",
		&s.putTicket:     ticketlist.Put,
		&s.putWorkspace:  "INSERT OR REPLACE INTO view_workspace(name, archived, state) VALUES(?, ?, ?)",
		&s.getWorkspace:  "SELECT state FROM view_workspace WHERE name = ?",
		&s.allArchived:   "SELECT name FROM view_workspace WHERE archived = 1",
		&s.shiftDue:      shiftDueQuery,
		&s.setPosition:   "UPDATE view_meta SET position = ?",
	})
	if err != nil {
		return err
	}
	for changed := range s.updateTask {
		set := "row = ?"
		for i, columns := range [...]string{", state = ?", ", live = ?", ", owner = ?", ", due = ?"} {
			if changed&(1<<i) != 0 {
				set += columns
			}
		}
		if s.updateTask[changed], err = tx.Prepare("UPDATE view_task SET " + set + " WHERE n = ?"); err != nil {
			return err
		}
	}
	return nil
}

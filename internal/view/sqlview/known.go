package sqlview

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/trapezehq/trapeze/internal/conversation"
	"github.com/trapezehq/trapeze/internal/ledger"
	"github.com/trapezehq/trapeze/internal/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/memory"
)

// knownSchema is the tables of what is known. The number of an item or a conversation is the position of its first
// entry. written is when the newest version was, in microseconds, and size the bytes of its title and text. Secure delete makes the index forget words at once
// and not when its segments are next merged.
const knownSchema = `
CREATE TABLE view_memory(
	n INTEGER PRIMARY KEY, ws TEXT NOT NULL, id TEXT NOT NULL, scope TEXT NOT NULL, owner TEXT NOT NULL, task TEXT NOT NULL,
	conversation TEXT NOT NULL, pinned INTEGER NOT NULL, importance REAL NOT NULL, written INTEGER NOT NULL,
	size INTEGER NOT NULL) STRICT;
CREATE TABLE view_memory_count(ws TEXT PRIMARY KEY, items INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX view_memory_id ON view_memory(ws, id);
CREATE INDEX view_memory_scope ON view_memory(ws, scope);
CREATE INDEX view_memory_owner ON view_memory(ws, owner);
CREATE INDEX view_memory_task ON view_memory(ws, task) WHERE task <> '';
CREATE INDEX view_memory_conversation ON view_memory(ws, conversation) WHERE conversation <> '';
CREATE INDEX view_memory_pinned ON view_memory(ws) WHERE pinned = 1;
CREATE TABLE view_memory_tag(ws TEXT NOT NULL, tag TEXT NOT NULL, n INTEGER NOT NULL,
	PRIMARY KEY(ws, tag, n)) STRICT, WITHOUT ROWID;
CREATE INDEX view_memory_tag_n ON view_memory_tag(n);
CREATE VIRTUAL TABLE view_memory_text USING fts5(text, tokenize = 'porter unicode61 remove_diacritics 2');
INSERT INTO view_memory_text(view_memory_text, rank) VALUES('secure-delete', 1);
CREATE VIRTUAL TABLE view_memory_title USING fts5(title, tags, tokenize = 'porter unicode61 remove_diacritics 2');
INSERT INTO view_memory_title(view_memory_title, rank) VALUES('secure-delete', 1);
CREATE TABLE view_conversation(n INTEGER PRIMARY KEY, ws TEXT NOT NULL, id TEXT NOT NULL, state BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX view_conversation_id ON view_conversation(ws, id);
CREATE INDEX view_conversation_ws ON view_conversation(ws);
CREATE TABLE view_conversation_speaker(ws TEXT NOT NULL, agent TEXT NOT NULL, n INTEGER NOT NULL,
	PRIMARY KEY(ws, agent, n)) STRICT, WITHOUT ROWID;
CREATE TABLE view_conversation_task(ws TEXT NOT NULL, task TEXT NOT NULL, n INTEGER NOT NULL,
	PRIMARY KEY(ws, task, n)) STRICT, WITHOUT ROWID;
CREATE TABLE view_carrier(ws TEXT NOT NULL, conversation TEXT NOT NULL, task TEXT NOT NULL,
	PRIMARY KEY(ws, conversation, task)) STRICT, WITHOUT ROWID;
CREATE INDEX view_carrier_task ON view_carrier(ws, task);
CREATE TABLE view_turn(c INTEGER NOT NULL, turn INTEGER NOT NULL, row BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX view_turn_number ON view_turn(c, turn);
`

// workspacesWithMemory steps from one workspace to the next, however many items each has.
const workspacesWithMemory = `WITH RECURSIVE w(ws) AS (SELECT min(ws) FROM view_memory UNION ALL
	SELECT (SELECT min(ws) FROM view_memory WHERE ws > w.ws) FROM w WHERE ws IS NOT NULL) SELECT ws FROM w WHERE ws IS NOT NULL`

// recallStatements are the projector's for what is known.
type recallStatements struct {
	addItem, findItem, dropItem         *sqlitelog.Stmt
	countItem                           *sqlitelog.Stmt
	rewriteItem, pinItem, weighItem     *sqlitelog.Stmt
	addText, rewriteText, dropText      *sqlitelog.Stmt
	addTitle, rewriteTitle, dropTitle   *sqlitelog.Stmt
	retag, addTag, dropTags             *sqlitelog.Stmt
	getConversation, addConversation    *sqlitelog.Stmt
	putConversation, addSpeaker, addTie *sqlitelog.Stmt
	addTurn, addCarrier                 *sqlitelog.Stmt
}

func (s *recallStatements) queries() []query {
	return []query{
		{&s.addItem, "INSERT INTO view_memory(n, ws, id, scope, owner, task, conversation, pinned, importance, written, size) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"},
		{&s.countItem, "INSERT INTO view_memory_count(ws, items) VALUES(?, ?) ON CONFLICT DO UPDATE SET items = items + excluded.items"},
		{&s.findItem, "SELECT n FROM view_memory WHERE ws = ? AND id = ?"},
		{&s.dropItem, "DELETE FROM view_memory WHERE n = ?"},
		{&s.rewriteItem, "UPDATE view_memory SET written = ?, size = ? WHERE n = ?"},
		{&s.pinItem, "UPDATE view_memory SET pinned = ? WHERE n = ?"},
		{&s.weighItem, "UPDATE view_memory SET importance = ? WHERE n = ?"},
		{&s.addText, "INSERT INTO view_memory_text(rowid, text) VALUES(?, ?)"},
		{&s.rewriteText, "UPDATE view_memory_text SET text = ? WHERE rowid = ?"},
		{&s.dropText, "DELETE FROM view_memory_text WHERE rowid = ?"},
		{&s.addTitle, "INSERT INTO view_memory_title(rowid, title, tags) VALUES(?, ?, ?)"},
		{&s.rewriteTitle, "UPDATE view_memory_title SET title = ? WHERE rowid = ?"},
		{&s.retag, "UPDATE view_memory_title SET tags = ? WHERE rowid = ?"},
		{&s.dropTitle, "DELETE FROM view_memory_title WHERE rowid = ?"},
		{&s.addTag, "INSERT INTO view_memory_tag(ws, tag, n) VALUES(?, ?, ?)"},
		{&s.dropTags, "DELETE FROM view_memory_tag WHERE n = ?"},
		{&s.getConversation, "SELECT n, state FROM view_conversation WHERE ws = ? AND id = ?"},
		{&s.addConversation, "INSERT INTO view_conversation(n, ws, id, state) VALUES(?, ?, ?, ?)"},
		{&s.putConversation, "UPDATE view_conversation SET state = ? WHERE n = ?"},
		{&s.addSpeaker, "INSERT INTO view_conversation_speaker(ws, agent, n) VALUES(?, ?, ?)"},
		{&s.addTie, "INSERT INTO view_conversation_task(ws, task, n) VALUES(?, ?, ?)"},
		{&s.addTurn, "INSERT INTO view_turn(c, turn, row) VALUES(?, ?, ?)"},
		{&s.addCarrier, "INSERT INTO view_carrier(ws, conversation, task) VALUES(?, ?, ?)"},
	}
}

// memoryEntry writes what an entry changes of a memory item. Of a forgotten one there is no row left.
func (p *projector) memoryEntry(workspace, id string, e *ledger.Entry) error {
	p.remembers.Store(workspace, true)
	n, found := int64(e.Position), e.Version == 1 //nolint:gosec // positions fit
	if !found {
		err := p.recall.findItem.Query(func(row sqlitelog.Row) error { n, found = row.Int64(0), true; return nil }, workspace, id)
		if err != nil {
			return err
		}
	}
	for i := range e.Events {
		event, err := p.items.Decode(e.Events[i])
		if err == nil && found {
			err = p.memoryEvent(workspace, n, event)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (p *projector) memoryEvent(workspace string, n int64, event memory.Event) (err error) {
	k := &p.recall
	do := func(s *sqlitelog.Stmt, args ...any) {
		if err == nil {
			_, err = s.Exec(args...)
		}
	}
	tags := func(list []string) {
		for _, tag := range list {
			do(k.addTag, workspace, tag, n)
		}
	}
	switch e := event.(type) {
	case memory.ItemStored:
		do(k.addItem, n, workspace, e.ID, string(e.Scope), e.Owner, e.Task, e.Conversation, e.Pinned, e.Importance, e.Version.At.UnixMicro(), size(e.Version))
		do(k.countItem, workspace, 1)
		do(k.addText, n, e.Version.Text)
		do(k.addTitle, n, e.Version.Title, strings.Join(e.Tags, " "))
		tags(e.Tags)
	case memory.ItemRevised:
		do(k.rewriteItem, e.Version.At.UnixMicro(), size(e.Version), n)
		do(k.rewriteText, e.Version.Text, n)
		do(k.rewriteTitle, e.Version.Title, n)
	case memory.ItemPinned:
		do(k.pinItem, true, n)
	case memory.ItemUnpinned:
		do(k.pinItem, false, n)
	case memory.ItemTagged:
		do(k.dropTags, n)
		tags(e.Tags)
		do(k.retag, strings.Join(e.Tags, " "), n)
	case memory.ItemWeighed:
		do(k.weighItem, e.Importance, n)
	case memory.ItemForgotten:
		do(k.dropTags, n)
		do(k.dropText, n)
		do(k.dropTitle, n)
		do(k.dropItem, n)
		do(k.countItem, workspace, -1)
	}
	return err
}

func size(v memory.Version) int { return len(v.Title) + len(v.Text) }

// conversationEntry adds the turns of an entry.
func (p *projector) conversationEntry(workspace, id string, e *ledger.Entry) error {
	k := &p.recall
	var s conversation.State
	n := int64(e.Position) //nolint:gosec // positions fit
	if e.Version != 1 {
		err := k.getConversation.Query(func(row sqlitelog.Row) error {
			n = row.Int64(0)
			return json.Unmarshal(row.Blob(1), &s)
		}, workspace, id)
		if err != nil {
			return err
		}
		if !s.Exists() {
			return fmt.Errorf("version %d of what has no first", e.Version)
		}
	}
	for i := range e.Events {
		event, err := p.talks.Decode(e.Events[i])
		if err != nil {
			return err
		}
		before := s
		s = conversation.Fold(s, event)
		if err := p.conversationEvent(workspace, n, before, s, event); err != nil {
			return err
		}
	}
	state, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if e.Version == 1 {
		_, err = k.addConversation.Exec(n, workspace, id, state)
	} else {
		_, err = k.putConversation.Exec(state, n)
	}
	return err
}

func (p *projector) conversationEvent(workspace string, n int64, before, after conversation.State, event conversation.Event) error {
	if t, ok := event.(conversation.TurnAppended); ok {
		row, err := json.Marshal(t.Turn)
		if err != nil {
			return err
		}
		if _, err := p.recall.addTurn.Exec(n, after.Turns, row); err != nil {
			return err
		}
	}
	for _, speaker := range after.Speakers[len(before.Speakers):] {
		if _, err := p.recall.addSpeaker.Exec(workspace, speaker.Agent, n); err != nil {
			return err
		}
	}
	for _, task := range after.Tasks[len(before.Tasks):] {
		if _, err := p.recall.addTie.Exec(workspace, task, n); err != nil {
			return err
		}
	}
	return nil
}

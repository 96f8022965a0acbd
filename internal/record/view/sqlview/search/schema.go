package search

import (
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
)

// Schema is the tables of memory items and conversations. The number n of an item or a conversation is the position of its
// first entry. named is the name of its conversation, pinned is a [memory.Pinning], written is the time of the newest version, in microseconds, and size the bytes of its title and text. The indexes
// of words have texts as [indexed] prepares them. Secure delete removes words from the index at once and not when its segments
// are next merged; it needs format 5 of the index, which SQLite otherwise writes with the first word that it removes. view_memory_word is the vocabulary; ending is a word from its end to its beginning, without its inflection.
const Schema = `
CREATE TABLE view_memory(
	n INTEGER PRIMARY KEY, ws TEXT NOT NULL, id TEXT NOT NULL, scope TEXT NOT NULL, owner TEXT NOT NULL, task TEXT NOT NULL,
	conversation TEXT NOT NULL, named TEXT NOT NULL, pinned INTEGER NOT NULL, importance REAL NOT NULL, written INTEGER NOT NULL,
	size INTEGER NOT NULL) STRICT;
CREATE TABLE view_memory_count(ws TEXT PRIMARY KEY, items INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX view_memory_id ON view_memory(ws, id);
CREATE INDEX view_memory_scope ON view_memory(ws, scope);
CREATE INDEX view_memory_owner ON view_memory(ws, owner);
CREATE INDEX view_memory_written ON view_memory(ws, written);
CREATE INDEX view_memory_task ON view_memory(ws, task) WHERE task <> '';
CREATE INDEX view_memory_conversation ON view_memory(ws, named) WHERE named <> '';
CREATE INDEX view_memory_pinned ON view_memory(ws) WHERE pinned > 0;
CREATE TABLE view_memory_tag(ws TEXT NOT NULL, tag TEXT NOT NULL, n INTEGER NOT NULL,
	PRIMARY KEY(ws, tag, n)) STRICT, WITHOUT ROWID;
CREATE INDEX view_memory_tag_n ON view_memory_tag(n);
CREATE TABLE view_memory_word(ws TEXT NOT NULL, owner TEXT NOT NULL, word TEXT NOT NULL, ending TEXT NOT NULL, items INTEGER NOT NULL,
	PRIMARY KEY(ws, owner, word)) STRICT, WITHOUT ROWID;
CREATE INDEX view_memory_word_ending ON view_memory_word(ws, owner, ending);
CREATE VIRTUAL TABLE view_memory_text USING fts5(text, tokenize = 'porter unicode61 remove_diacritics 2');
INSERT INTO view_memory_text(view_memory_text, rank) VALUES('secure-delete', 1);
UPDATE view_memory_text_config SET v = 5 WHERE k = 'version';
CREATE VIRTUAL TABLE view_memory_title USING fts5(title, tags, tokenize = 'porter unicode61 remove_diacritics 2');
INSERT INTO view_memory_title(view_memory_title, rank) VALUES('secure-delete', 1);
UPDATE view_memory_title_config SET v = 5 WHERE k = 'version';
CREATE TABLE view_conversation(n INTEGER PRIMARY KEY, ws TEXT NOT NULL, id TEXT NOT NULL, state BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX view_conversation_id ON view_conversation(ws, id);
CREATE INDEX view_conversation_ws ON view_conversation(ws);
CREATE TABLE view_conversation_speaker(ws TEXT NOT NULL, agent TEXT NOT NULL, n INTEGER NOT NULL,
	PRIMARY KEY(ws, agent, n)) STRICT, WITHOUT ROWID;
CREATE TABLE view_conversation_task(ws TEXT NOT NULL, task TEXT NOT NULL, n INTEGER NOT NULL,
	PRIMARY KEY(ws, task, n)) STRICT, WITHOUT ROWID;
CREATE TABLE view_turn(c INTEGER NOT NULL, turn INTEGER NOT NULL, row BLOB NOT NULL) STRICT;
CREATE UNIQUE INDEX view_turn_number ON view_turn(c, turn);
`

// Tables are those of [Schema], with their order in a digest.
var Tables = []struct{ Name, Order string }{
	{"view_memory", "n"},
	{"view_memory_count", "ws"},
	{"view_memory_tag", "n, tag"},
	{"view_memory_word", "ws, owner, word"},
	{"view_memory_text", "rowid"},
	{"view_memory_title", "rowid"},
	{"view_conversation", "n"},
	{"view_conversation_speaker", "n, agent"},
	{"view_conversation_task", "n, task"},
	{"view_turn", "c, turn"},
}

// Settings are the tables of the indexes of words that say how those are kept.
var Settings = []string{"view_memory_text_config", "view_memory_title_config"}

// strayRows counts the rows of an index of words that are about a page or a segment that it cannot have, or that have another number of changed settings than [Schema] makes. SQLite does not look
// for them. How many pages were written is not compared: there is no other count of it, and it decides only when segments are merged.
var strayRows = map[string]string{
	"view_memory_text_idx":   strays("view_memory_text"),
	"view_memory_title_idx":  strays("view_memory_title"),
	"view_memory_text_data":  resets("view_memory_text"),
	"view_memory_title_data": resets("view_memory_title"),
}

// resets uses that the row with the structure of an index begins with how often its settings changed: once, or twice if the connection that made it was the first to delete a word, since that sets
// the format which it does not know to be set.
func resets(index string) string {
	return "SELECT count(*) FROM " + index + "_data WHERE id = 10 AND substr(block, 1, 4) NOT IN (x'00000001', x'00000002')"
}

// strays uses that the data of a segment has its number in the bits from 37 on, and that a page has 31 bits, above the lowest.
func strays(index string) string {
	return "SELECT count(*) FROM " + index + "_idx AS i WHERE pgno NOT BETWEEN 2 AND 4294967295 OR segid NOT BETWEEN 1 AND 65535 OR NOT EXISTS(" +
		"SELECT 1 FROM " + index + "_data AS d WHERE d.id BETWEEN i.segid << 37 AND (i.segid + 1 << 37) - 1)"
}

// statements are the statements of the writer.
type statements struct {
	addItem, findItem, dropItem          *sqlconn.Stmt
	countItem                            *sqlconn.Stmt
	rewriteItem, pinItem, weighItem      *sqlconn.Stmt
	unsettlePin                          *sqlconn.Stmt
	addText, rewriteText, dropText       *sqlconn.Stmt
	addTitle, rewriteTitle, dropTitle    *sqlconn.Stmt
	retag, addTag, dropTags              *sqlconn.Stmt
	addWord, forgetWord, dropWord        *sqlconn.Stmt
	getText, getTitle, getScope          *sqlconn.Stmt
	dropVector                           *sqlconn.Stmt
	getConversation, addConversation     *sqlconn.Stmt
	putConversation, addSpeaker, addTask *sqlconn.Stmt
	addTurn                              *sqlconn.Stmt
}

func (s *statements) all() map[**sqlconn.Stmt]string {
	return map[**sqlconn.Stmt]string{
		&s.addItem:         "INSERT INTO view_memory(n, ws, id, scope, owner, task, conversation, named, pinned, importance, written, size) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		&s.countItem:       "INSERT INTO view_memory_count(ws, items) VALUES(?, ?) ON CONFLICT DO UPDATE SET items = items + excluded.items",
		&s.findItem:        "SELECT n FROM view_memory WHERE ws = ? AND id = ?",
		&s.dropItem:        "DELETE FROM view_memory WHERE n = ?",
		&s.rewriteItem:     "UPDATE view_memory SET written = ?, size = ? WHERE n = ?",
		&s.pinItem:         "UPDATE view_memory SET pinned = ? WHERE n = ?",
		&s.unsettlePin:     "UPDATE view_memory SET pinned = ? WHERE n = ? AND pinned > 0",
		&s.weighItem:       "UPDATE view_memory SET importance = ? WHERE n = ?",
		&s.addText:         "INSERT INTO view_memory_text(rowid, text) VALUES(?, ?)",
		&s.rewriteText:     "UPDATE view_memory_text SET text = ? WHERE rowid = ?",
		&s.dropText:        "DELETE FROM view_memory_text WHERE rowid = ?",
		&s.addTitle:        "INSERT INTO view_memory_title(rowid, title, tags) VALUES(?, ?, ?)",
		&s.rewriteTitle:    "UPDATE view_memory_title SET title = ? WHERE rowid = ?",
		&s.retag:           "UPDATE view_memory_title SET tags = ? WHERE rowid = ?",
		&s.dropTitle:       "DELETE FROM view_memory_title WHERE rowid = ?",
		&s.addTag:          "INSERT INTO view_memory_tag(ws, tag, n) VALUES(?, ?, ?)",
		&s.dropTags:        "DELETE FROM view_memory_tag WHERE n = ?",
		&s.addWord:         "INSERT INTO view_memory_word(ws, owner, word, ending, items) VALUES(?, ?, ?, ?, 1) ON CONFLICT DO UPDATE SET items = items + 1",
		&s.forgetWord:      "UPDATE view_memory_word SET items = items - 1 WHERE ws = ? AND owner = ? AND word = ?",
		&s.dropWord:        "DELETE FROM view_memory_word WHERE ws = ? AND owner = ? AND word = ? AND items = 0",
		&s.dropVector:      "DELETE FROM view_memory_vector WHERE n = ?",
		&s.getText:         "SELECT text FROM view_memory_text WHERE rowid = ?",
		&s.getScope:        "SELECT scope, owner FROM view_memory WHERE n = ?",
		&s.getTitle:        "SELECT title, tags FROM view_memory_title WHERE rowid = ?",
		&s.getConversation: "SELECT n, state FROM view_conversation WHERE ws = ? AND id = ?",
		&s.addConversation: "INSERT INTO view_conversation(n, ws, id, state) VALUES(?, ?, ?, ?)",
		&s.putConversation: "UPDATE view_conversation SET state = ? WHERE n = ?",
		&s.addSpeaker:      "INSERT INTO view_conversation_speaker(ws, agent, n) VALUES(?, ?, ?)",
		&s.addTask:         "INSERT INTO view_conversation_task(ws, task, n) VALUES(?, ?, ?)",
		&s.addTurn:         "INSERT INTO view_turn(c, turn, row) VALUES(?, ?, ?)",
	}
}

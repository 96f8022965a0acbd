package search

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/conversation/conversationid"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog/sqlconn"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/kept"
)

// Writer writes the tables. Its methods run on one goroutine at a time, in a transaction of its database.
type Writer struct {
	statements
	items         *ledger.Codec[memory.Event]
	conversations *ledger.Codec[conversation.Event]
	// remembers has the workspaces in which a memory item was ever stored.
	remembers sync.Map
	sketches  sketches
}

// NewWriter returns a writer. Call Setup before its other methods.
func NewWriter() *Writer {
	return &Writer{items: ledger.NewCodec(memory.Events...), conversations: ledger.NewCodec(conversation.Events...)}
}

// Setup prepares the statements; the tables must exist.
func (w *Writer) Setup(tx *sqlconn.Tx) error {
	if err := tx.PrepareAll(w.all()); err != nil {
		return err
	}
	return tx.Query(func(row sqlconn.Row) error {
		w.remembers.Store(row.Text(0), true)
		return nil
	}, workspacesWithMemory)
}

// workspacesWithMemory skips from one workspace to the next, however many items each has.
const workspacesWithMemory = `WITH RECURSIVE w(ws) AS (SELECT min(ws) FROM view_memory UNION ALL
	SELECT (SELECT min(ws) FROM view_memory WHERE ws > w.ws) FROM w WHERE ws IS NOT NULL) SELECT ws FROM w WHERE ws IS NOT NULL`

// Memory writes the changes of an entry of a memory item. A forgotten item has no row.
func (w *Writer) Memory(tx *sqlconn.Tx, workspace, id string, e *ledger.Entry) error {
	w.remembers.Store(workspace, true)
	n, found := int64(e.Position), e.Version == 1 //nolint:gosec // positions fit
	if !found {
		err := w.findItem.Query(func(row sqlconn.Row) error { n, found = row.Int64(0), true; return nil }, workspace, id)
		if err != nil {
			return err
		}
	}
	for i := range e.Events {
		event, err := w.items.Decode(e.Events[i])
		if err == nil && found {
			err = w.memoryEvent(tx, workspace, n, event)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (w *Writer) memoryEvent(tx *sqlconn.Tx, workspace string, n int64, event memory.Event) (err error) {
	do := func(s *sqlconn.Stmt, args ...any) {
		if err == nil {
			_, err = s.Exec(args...)
		}
	}
	tags := func(list []string) {
		for _, tag := range list {
			do(w.addTag, workspace, tag, n)
		}
	}
	readers := func() (s memory.Scope, owner string) {
		if err == nil {
			err = w.getScope.Query(func(row sqlconn.Row) error {
				s, owner = memory.Scope(row.Text(0)), strings.Clone(row.Text(1))
				return nil
			}, n)
		}
		return s, owner
	}
	scope := func() memory.Scope { s, _ := readers(); return s }
	// learn replaces words of the vocabulary. Call it before the index changes. The words of items that not everybody in the
	// workspace reads are learned for their owners: what a search finds by close words would tell others of them.
	learn := func(part part, texts ...string) {
		scope, owner := readers()
		if scope == memory.Workspace {
			owner = ""
		}
		if err == nil {
			err = w.learn(vocabularyKey{workspace, owner}, n, part, texts)
		}
	}
	switch e := event.(type) {
	case memory.ItemStored:
		text, title, labels := indexed(e.Version.Text), indexed(e.Version.Title), indexed(strings.Join(e.Tags, " "))
		do(w.addItem, n, workspace, e.ID, string(e.Scope), e.Owner, e.Task, e.Conversation, conversationid.Name(e.Conversation), int(memory.Fold(memory.State{}, e).Pinning()), e.Importance, e.Version.At.UnixMicro(), size(e.Version))
		do(w.countItem, workspace, 1)
		learn(newItem, text, title, labels)
		do(w.addText, n, text)
		do(w.addTitle, n, title, labels)
		tags(e.Tags)
	case memory.ItemRevised:
		text, title := indexed(e.Version.Text), indexed(e.Version.Title)
		do(w.rewriteItem, e.Version.At.UnixMicro(), size(e.Version), n)
		learn(contentOfItem, text, title)
		do(w.rewriteText, text, n)
		do(w.rewriteTitle, title, n)
		if memory.Unsettles(e.Version.By) {
			do(w.unsettlePin, int(memory.PinnedFor(scope(), e.Version.By)), n)
		}
	case memory.ItemPinned:
		do(w.pinItem, int(memory.PinnedFor(scope(), e.By)), n)
	case memory.ItemUnpinned:
		do(w.pinItem, int(memory.NotPinned), n)
	case memory.ItemTagged:
		labels := indexed(strings.Join(e.Tags, " "))
		do(w.dropTags, n)
		tags(e.Tags)
		learn(tagsOfItem, labels)
		do(w.retag, labels, n)
	case memory.ItemWeighed:
		do(w.weighItem, e.Importance, n)
	case memory.ItemForgotten:
		learn(wholeItem)
		if err == nil {
			w.sketches.drop(workspace, n)
			err = kept.Vectors.Change(tx, n, func() error { _, err := w.dropVector.Exec(n); return err })
		}
		do(w.dropTags, n)
		do(w.dropText, n)
		do(w.dropTitle, n)
		do(w.dropItem, n)
		do(w.countItem, workspace, -1)
	}
	return err
}

// part is the part of an item whose words in the vocabulary are replaced.
type part int

const (
	newItem       part = iota // there are no words of it yet
	contentOfItem             // text and title
	tagsOfItem
	wholeItem
)

// vocabularyKey names the words of a workspace: those of the items that all of it reads, without an owner, or of the others of one owner.
type vocabularyKey struct{ workspace, owner string }

// learn replaces the words that the index has for a part of an item by those of other texts.
func (w *Writer) learn(key vocabularyKey, n int64, of part, texts []string) error {
	var before []string
	if of == contentOfItem || of == wholeItem {
		if err := w.getText.Query(func(row sqlconn.Row) error { before = append(before, row.Text(0)); return nil }, n); err != nil {
			return err
		}
	}
	if of != newItem {
		err := w.getTitle.Query(func(row sqlconn.Row) error {
			if of != tagsOfItem {
				before = append(before, row.Text(0))
			}
			if of != contentOfItem {
				before = append(before, row.Text(1))
			}
			return nil
		}, n)
		if err != nil {
			return err
		}
	}
	change := map[string]int{}
	for _, text := range texts {
		for _, word := range vocabularyWords(text) {
			change[word]++
		}
	}
	for _, text := range before {
		for _, word := range vocabularyWords(text) {
			change[word]--
		}
	}
	for _, word := range slices.Sorted(maps.Keys(change)) {
		for ; change[word] > 0; change[word]-- {
			if _, err := w.addWord.Exec(key.workspace, key.owner, word, ending(word)); err != nil {
				return err
			}
		}
		for ; change[word] < 0; change[word]++ {
			if _, err := w.forgetWord.Exec(key.workspace, key.owner, word); err != nil {
				return err
			}
			if _, err := w.dropWord.Exec(key.workspace, key.owner, word); err != nil {
				return err
			}
		}
	}
	return nil
}

func size(v memory.Version) int { return len(v.Title) + len(v.Text) }

// Conversation adds the turns of an entry.
func (w *Writer) Conversation(workspace, id string, e *ledger.Entry) error {
	var s conversation.State
	n := int64(e.Position) //nolint:gosec // positions fit
	if e.Version != 1 {
		err := w.getConversation.Query(func(row sqlconn.Row) error {
			n = row.Int64(0)
			return json.Unmarshal(row.Blob(1), &s)
		}, workspace, id)
		if err != nil {
			return err
		}
		if !s.Exists() {
			return fmt.Errorf("version %d of a conversation without version 1", e.Version)
		}
	}
	for i := range e.Events {
		event, err := w.conversations.Decode(e.Events[i])
		if err != nil {
			return err
		}
		before := s
		s = conversation.Fold(s, event)
		if err := w.conversationEvent(workspace, n, before, s, event); err != nil {
			return err
		}
	}
	state, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if e.Version == 1 {
		_, err = w.addConversation.Exec(n, workspace, id, state)
	} else {
		_, err = w.putConversation.Exec(state, n)
	}
	return err
}

func (w *Writer) conversationEvent(workspace string, n int64, before, after conversation.State, event conversation.Event) error {
	if t, ok := event.(conversation.TurnAppended); ok {
		row, err := json.Marshal(t.Turn)
		if err != nil {
			return err
		}
		if _, err := w.addTurn.Exec(n, after.Turns, row); err != nil {
			return err
		}
	}
	for _, speaker := range after.Speakers[len(before.Speakers):] {
		if _, err := w.addSpeaker.Exec(workspace, speaker.Agent, n); err != nil {
			return err
		}
	}
	for _, task := range after.Tasks[len(before.Tasks):] {
		if _, err := w.addTask.Exec(workspace, task, n); err != nil {
			return err
		}
	}
	return nil
}

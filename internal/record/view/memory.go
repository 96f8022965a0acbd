package view

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// MaxWords is the number of different words of a text that are searched for; further ones are ignored.
const MaxWords = 32

// MemoryFilter narrows a search of memory items. A zero field does not narrow it, except By.
type MemoryFilter struct {
	// By is the caller: the search finds only items that it may read. Grants by envelopes do not count. Of tasks of which it reads only what was
	// written in some times, items can be among them that it may not read.
	By memory.Reader
	// Text is words to find in titles, texts and tags, in any form and any order; other characters are ignored. An item
	// need not have all of them. Words that nearly every text has may be ignored, and of a word that hundreds of items
	// have only the newest items count. An identifier finds its other forms and its parts find it; Chinese, Japanese and
	// Korean need no blanks. A word that few items have also finds words that it is a part of or consists of, and one that
	// no item has those at one typing error, if it has five letters or more.
	Text         string
	Tag          string
	Author       string // an agent by name, or a principal
	Task         string
	Conversation string // its id; or its name, for those of every owner
	Scope        memory.Scope
	// Pinned asks for items whose pin counts, and Pinning for those of one kind of pin.
	Pinned  bool
	Pinning memory.Pinning
	// Since and Until bound the time of the newest version: at or after Since, before Until.
	Since, Until time.Time
	// After is the position of the last item of the previous page. It needs an empty Text: a ranked search has one page.
	After ledger.Position
	// Now is the time relative to which the recency of ranked items is computed.
	Now   time.Time
	Limit int
}

// MemoryHit is a memory item that a search found, and its position in a list.
type MemoryHit struct {
	ID string
	At ledger.Position
}

// ConversationFilter narrows a list of conversations. A zero field does not narrow it, except By.
type ConversationFilter struct {
	By    memory.Reader // the caller: the list has only conversations that it may read
	Agent string        // a speaker, by name
	Task  string        // to which a turn belongs
	Name  string        // those that somebody calls so
	After string        // id of the last conversation of the previous page
	Limit int
}

// MemoryQueries finds memory items that were not forgotten, and conversations.
type MemoryQueries interface {
	// Memory finds memory items: with a text ranked by words, importance and recency, the best first; otherwise from the
	// newest to the oldest.
	Memory(ctx context.Context, workspace string, f MemoryFilter) ([]MemoryHit, error)
	// HasMemory reports whether the views have ever had a memory item of the workspace. It does no I/O.
	HasMemory(workspace string) bool
	// Conversations lists conversations from the newest to the oldest, by their first turns.
	Conversations(ctx context.Context, workspace string, f ConversationFilter) ([]conversation.State, error)
	// Turns lists the turns of a conversation after one by its number, oldest first.
	Turns(ctx context.Context, workspace, id string, after, limit int) ([]conversation.Turn, error)
	// GrantingTasks lists the tasks that may give a principal read access: they have not ended, it is involved in them, and an
	// item is in their scope, a turn belongs to them, or they name a conversation. The newest come first.
	GrantingTasks(ctx context.Context, workspace, principal string, limit int) ([]string, error)
	// TasksOfConversation lists the tasks that name a conversation as theirs, the newest first. With a principal, only those that
	// give it read access to the conversation: they have not ended, and it is involved in them.
	TasksOfConversation(ctx context.Context, workspace, conversation, principal string, limit int) ([]string, error)
}

// ItemVector is the vector of the newest version of a memory item.
type ItemVector struct {
	ID      string
	At      ledger.Position // as in a MemoryHit
	Written time.Time       // when that version was written
	Values  []float32       // empty: it was found to have none
}

// MemoryVectors keeps vectors of memory items beside the views: they do not follow from the entries and survive a rebuild. Only
// vectors of the same space can be compared.
type MemoryVectors interface {
	// WithoutVector lists items whose newest version has no vector in a space, those first that were written first, from a time on; not
	// those of some owners, which are principals.
	WithoutVector(ctx context.Context, workspace, space string, since time.Time, except []string, limit int) ([]ItemVector, error)
	// PutVectors stores vectors in a space, except of items that were revised or forgotten since.
	PutVectors(ctx context.Context, workspace, space string, list []ItemVector) error
	// Nearest finds items whose vectors are at least so similar to another (by cosine), the most similar first. It looks at at most [MaxNearest] that pass the
	// filter, whose text it ignores: the newest, or, once WithoutVector was called and if the filter leaves out none, those that seem to be the most similar of all.
	Nearest(ctx context.Context, workspace string, f MemoryFilter, space string, to []float32, least float64) ([]MemoryHit, error)
}

// MaxNearest is the number of vectors that one search looks at.
const MaxNearest = 5000

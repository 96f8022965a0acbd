package view

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/conversation"
	"github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// MaxWords is how many different words of a text are searched for; those after them do not count.
const MaxWords = 32

// MemoryFilter narrows a search of memory items. Zero fields do not, except By.
type MemoryFilter struct {
	// By is who asks: nothing that it may not read is found. What envelopes grant to it does not count.
	By memory.Reader
	// Text is words to be found in titles, texts and tags, in any form and any order; whatever else is in it means
	// nothing. An item need not have all of them. Words that nearly every text has
	// may not count beside others, and of a word that hundreds of items have, the newest items count.
	Text         string
	Tag          string
	Author       string // an agent by name, or a principal
	Task         string
	Conversation string
	Scope        memory.Scope
	Pinned       bool
	// Since and Until bound when the newest version was written: not before, and before.
	Since, Until time.Time
	// After is the place of the last item of the page before. It needs an empty Text: what is ranked has one page.
	After ledger.Position
	// Now is what the recency of ranked items is counted from.
	Now   time.Time
	Limit int
}

// Found is a memory item, and its place in a list.
type Found struct {
	ID string
	At ledger.Position
}

// ConversationFilter narrows a list of conversations. Zero fields do not, except By.
type ConversationFilter struct {
	By    memory.Reader // who asks: nothing that it may not read is found
	Agent string        // who has spoken in it, by name
	Task  string        // that a turn belongs to
	After string        // id of the last conversation of the page before
	Limit int
}

// Recall finds what is known: memory items that were not forgotten, and conversations.
type Recall interface {
	// Memory finds memory items: with a text the best first, which weighs words, importance and recency, otherwise
	// from the newest to the oldest.
	Memory(ctx context.Context, workspace string, f MemoryFilter) ([]Found, error)
	// Remembers is false as long as the views know of no memory item that was ever stored in the workspace. It costs
	// nothing to ask.
	Remembers(workspace string) bool
	// Conversations lists conversations from the one that began last to the oldest.
	Conversations(ctx context.Context, workspace string, f ConversationFilter) ([]conversation.State, error)
	// Turns lists the turns of a conversation after one by its number, oldest first.
	Turns(ctx context.Context, workspace, id string, after, limit int) ([]conversation.Turn, error)
	// TasksOf lists tasks that may let a principal read something: they have not ended, it is involved in them, and an
	// item is in their scope, a turn belongs to them, or they carry a conversation along. The newest come first.
	TasksOf(ctx context.Context, workspace, principal string, limit int) ([]string, error)
	// Carriers lists the tasks that name a conversation as theirs, the newest first. With a principal, only those that may
	// let it read the conversation: they have not ended, and it is involved in them.
	Carriers(ctx context.Context, workspace, conversation, principal string, limit int) ([]string, error)
}

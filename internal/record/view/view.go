package view

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/channel"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// MaxPage is the most items one page of a list has. A limit of 0 means 50.
const (
	MaxPage     = 500
	defaultPage = 50
)

// PageSize is how many items a page with a limit has.
func PageSize(limit int) int {
	if limit <= 0 {
		return defaultPage
	}
	return min(limit, MaxPage)
}

// Task is a task on the board: enough to list it. The whole of it is the fold of its stream.
type Task struct {
	ID        string         `json:"id"`
	State     event.State    `json:"state"`
	Intent    string         `json:"intent"` // the first 200 characters
	Owner     string         `json:"owner,omitempty"`
	Epoch     uint64         `json:"epoch"`
	Requester string         `json:"requester"`
	Priority  event.Priority `json:"priority"`
	Parent    string         `json:"parent,omitempty"`
	Handoff   string         `json:"handoff,omitempty"` // id of the newest
	Stage     event.Stage    `json:"stage,omitempty"`   // of the newest handoff
	Kind      event.Kind     `json:"kind,omitempty"`    // of the newest handoff
	To        []string       `json:"to,omitempty"`      // who has its open offer
	Hops      int            `json:"hops"`
	Created   time.Time      `json:"created"`
	Updated   time.Time      `json:"updated"`
	Deadline  time.Time      `json:"deadline,omitzero"`
	// Parked says why a task is in the dead-letter queue.
	Parked *Parked         `json:"parked,omitempty"`
	At     ledger.Position `json:"position"` // of its newest entry
}

// Parked is why and since when a task is in the dead-letter queue.
type Parked struct {
	Cause  event.ParkCause `json:"cause"`
	Detail string          `json:"detail"`
	Since  time.Time       `json:"since"`
}

// TaskFilter narrows a list of tasks. Zero fields do not.
type TaskFilter struct {
	State  event.State
	Live   bool   // not completed, failed or cancelled
	Owner  string // an agent
	Parent string // a task
	// Involving is an agent that requested, owned, approves, or was offered or shared the task: all it may see. Or a
	// principal "role/NAME" that requested it.
	Involving string
	After     string // id of the last task of the page before; lists run from the newest id to the oldest
	Limit     int
}

// ItemType says what an inbox item asks of its reader. The set is closed.
type ItemType string

// The types of inbox items.
const (
	ItemOffer    ItemType = "offer"    // accept or reject
	ItemApproval ItemType = "approval" // approve or deny
	ItemConfirm  ItemType = "confirm"  // confirm, as the source of an explicit handoff that was accepted
	ItemTakeover ItemType = "takeover" // approve or deny, as the source
	ItemShare    ItemType = "share"    // read
	ItemQuestion ItemType = "question" // answer: it was asked of the agent by name
	ItemStranded ItemType = "stranded" // a child that its parent waits for is in the dead letters: cancel it, or have it replayed
	ItemResumed  ItemType = "resumed"  // the task is the reader's to go on with again: results or an answer are in, or a handoff came back
)

// ItemTypes lists every type of inbox item.
func ItemTypes() []ItemType {
	return []ItemType{ItemOffer, ItemApproval, ItemConfirm, ItemTakeover, ItemShare, ItemQuestion, ItemStranded, ItemResumed}
}

// Item is something in an agent's inbox. It previews: the content is fetched by id, or comes with the acceptance.
type Item struct {
	Type     ItemType        `json:"type"`
	ID       string          `json:"id"` // of the handoff, ask, share, ticket, child or, of resumed, task; also the delivery id: duplicates carry the same
	Task     string          `json:"task"`
	Offer    int             `json:"offer,omitempty"`
	Epoch    uint64          `json:"epoch,omitempty"` // of the task, where the reader is its source
	From     string          `json:"from"`
	Kind     event.Kind      `json:"kind,omitempty"`
	Claim    bool            `json:"claim,omitempty"`   // others have the same offer; the first to accept wins
	Channel  string          `json:"channel,omitempty"` // that it was published to
	Reason   event.Reason    `json:"reason,omitempty"`
	Detail   string          `json:"detail,omitempty"` // the first 500 characters
	Intent   string          `json:"intent"`           // the first 500 characters
	Priority event.Priority  `json:"priority"`
	Envelope string          `json:"envelope,omitempty"` // its digest
	Seen     bool            `json:"seen"`
	Since    time.Time       `json:"since"`
	Ends     time.Time       `json:"ends,omitzero"` // when it goes elsewhere by itself
	At       ledger.Position `json:"position"`      // of the entry that put it here
}

// InboxFilter narrows an inbox. Zero fields do not.
type InboxFilter struct {
	After ledger.Position // only what came after this
	Limit int             // at most [MaxPage]; 0 means 50
}

// Inbox is what waits for an agent, or as much of it as there was room for.
type Inbox struct {
	Items []Item // highest priority first, then oldest
	// At is where to go on: what waits and came up to there is among the items, or is not after what was asked for. So
	// who asks next for what came after At misses nothing, and is told nothing twice that it got after a position.
	At ledger.Position
}

// Ref names a task in a workspace.
type Ref struct {
	Workspace string
	Task      string
}

// Board lists tasks and inboxes.
type Board interface {
	// Tasks lists a workspace's tasks from the newest to the oldest.
	Tasks(ctx context.Context, workspace string, f TaskFilter) ([]Task, error)
	// Inbox lists what waits for an agent. Where that is more than the limit, it is what has the highest priority, or,
	// after a position, what came first, and all that came with one entry even if the limit parts it: else it could not
	// be gone on from. Approvals that any operator may give are in the inbox of the empty agent name.
	Inbox(ctx context.Context, workspace, agent string, f InboxFilter) (Inbox, error)
	// Dependents lists the tasks that depend on a task and have not ended.
	Dependents(ctx context.Context, workspace, task string) ([]string, error)
	// Claims lists the handoffs (their ids) that are offered to whoever has a capability and still open.
	Claims(ctx context.Context, workspace, capability string) ([]string, error)
	// Missed lists the handoffs (their ids) that were published to a channel when an agent subscribed to it but could
	// take nothing, and that are still open to whoever of the subscribers is first.
	Missed(ctx context.Context, workspace, agent string) ([]string, error)
	// Open counts the tasks that a principal requested and that have not ended, parked ones included.
	Open(ctx context.Context, workspace, principal string) (int, error)
}

// Directory lists agents, tokens and channels.
type Directory interface {
	// Agents lists a workspace's agents by name, removed ones left out.
	Agents(ctx context.Context, workspace string) ([]agent.State, error)
	// Held counts the tasks that an agent owns and that have not ended or been parked.
	Held(ctx context.Context, workspace, agent string) (int, error)
	// Crowd is a workspace's agents and what they hold. before is what an earlier call gave, or nil: what has not changed
	// since is not read again.
	Crowd(ctx context.Context, workspace string, before *Crowd) (*Crowd, error)
	// Workspaces lists the workspaces that have agents, removed ones too, by name.
	Workspaces(ctx context.Context) ([]string, error)
	// Tokens lists a workspace's tokens, revoked ones too, oldest first.
	Tokens(ctx context.Context, workspace string) ([]identity.State, error)
	// Channels lists a workspace's channels by name, those after a name, removed ones left out.
	Channels(ctx context.Context, workspace, after string, limit int) ([]channel.State, error)
	// ChannelCount counts a workspace's channels, removed ones left out.
	ChannelCount(ctx context.Context, workspace string) (int, error)
}

// Clockwork is what the courier needs: whose clocks are due, and how far it has come.
type Clockwork interface {
	// Due lists up to limit tasks whose next clock is due at or before a moment, the longest overdue first, and when
	// the first clock after those is due (zero if none).
	Due(ctx context.Context, by time.Time, limit int) ([]Ref, time.Time, error)
	// Cursor is the position that a follower has saved under a name; 0 if none.
	Cursor(ctx context.Context, name string) (ledger.Position, error)
	// SaveCursor keeps a follower's position. It is as durable as the next entry.
	SaveCursor(ctx context.Context, name string, at ledger.Position) error
}

// Freshness says how far the views have come, and wakes those who wait.
type Freshness interface {
	// Wait returns when the views have everything up to a position, or when ctx ends.
	Wait(ctx context.Context, at ledger.Position) error
	// Watch calls for a signal whenever the inbox of an agent of the workspace may have changed; the empty workspace
	// and agent mean any change of any view. The channel holds one pending signal and is never closed; stop ends it.
	Watch(workspace, agent string) (changed <-chan struct{}, stop func())
	// WatchTask calls for a signal whenever a task has a new entry, once the views have it.
	WatchTask(workspace, task string) (changed <-chan struct{}, stop func())
	// Position is the newest entry that the views have.
	Position() ledger.Position
	// Err is nil while the views can be trusted; otherwise it says what to do.
	Err() error
}

// Store is everything that views offer, usually one technology several times.
type Store struct {
	Board
	Desks
	Directory
	References
	Recall
	Clockwork
	Freshness
}

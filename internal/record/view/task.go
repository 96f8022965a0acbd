package view

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// TaskRow is a task as lists show it. The whole task is the fold of its stream.
type TaskRow struct {
	ID        string         `json:"id"`
	State     event.State    `json:"state"`
	Intent    string         `json:"intent"` // the first 200 characters
	Owner     string         `json:"owner,omitempty"`
	Epoch     uint64         `json:"epoch"`
	Requester string         `json:"requester"`
	Priority  event.Priority `json:"priority"`
	Parent    string         `json:"parent,omitempty"`
	Handoff   string         `json:"handoff,omitempty"` // id of the newest handoff
	Stage     event.Stage    `json:"stage,omitempty"`   // of the newest handoff
	Kind      event.Kind     `json:"kind,omitempty"`    // of the newest handoff
	To        []string       `json:"to,omitempty"`      // the receivers of its open offer
	Hops      int            `json:"hops"`
	Created   time.Time      `json:"created"`
	Updated   time.Time      `json:"updated"`
	Deadline  time.Time      `json:"deadline,omitzero"`
	// Parked is set while the task is in the dead letters.
	Parked *ParkedRow      `json:"parked,omitempty"`
	At     ledger.Position `json:"position"` // of its newest entry
}

// ParkedRow says why and since when a task is in the dead letters.
type ParkedRow struct {
	Cause  event.ParkCause `json:"cause"`
	Detail string          `json:"detail"`
	Since  time.Time       `json:"since"`
	Route  []string        `json:"route,omitempty" doc:"Agents that the task still visits, the next first."`
}

// MaxDepth is how far below a task a deep list of its children goes.
const MaxDepth = 5

// TaskFilter narrows a list of tasks. A zero field does not narrow it.
type TaskFilter struct {
	State  event.State
	Live   bool   // not completed, failed or cancelled
	Owner  string // an agent
	Parent string // a task
	Deep   bool   // also the children of its children, to [MaxDepth] below it
	// Text is words, each of which must be in the first 4,000 characters of the intent, the id, the requester, the owner or a receiver of the open offer, in upper or lower case.
	Text string
	// Involving is an agent that requested, owned, approves, or was offered or shared the task: all that it may see. Or
	// a principal "role/NAME" that requested it.
	Involving string
	// IDs are those of the tasks to list, in any order, and without Parent; nil lists all.
	IDs []string
	// Since and Until bound when the task last changed: not before, and before.
	Since, Until time.Time
	After        string // id of the last task of the previous page; lists run from the highest id to the lowest
	Limit        int
}

// TaskQueries lists tasks and inboxes.
type TaskQueries interface {
	// Tasks lists a workspace's tasks in the order of their ids, the highest first.
	Tasks(ctx context.Context, workspace string, f TaskFilter) ([]TaskRow, error)
	// Inbox lists the items that wait for an agent and are after the cursor. If there are more than the limit, it lists those of the highest
	// priority: of one priority each sender's in turn if the cursor is at its beginning, and otherwise the oldest, with all items of the last entry even
	// beyond the limit, because a cursor cannot point inside an entry. Approvals that any operator may give are in the inbox of the empty agent name.
	Inbox(ctx context.Context, workspace, agent string, f InboxFilter) (Inbox, error)
	// Dependents lists the tasks that depend on a task and have not ended.
	Dependents(ctx context.Context, workspace, task string) ([]string, error)
	// Claims lists the ids of handoffs that are offered to all agents with a capability and still open.
	Claims(ctx context.Context, workspace, capability string) ([]string, error)
	// MissedClaims lists the ids of handoffs that were published to a channel whose subscriber an agent was, though it could take no
	// handoff then, and that are still open to the first subscriber that accepts.
	MissedClaims(ctx context.Context, workspace, agent string) ([]string, error)
	// OpenTaskCount counts the tasks that a principal requested and that have not ended, parked ones included.
	OpenTaskCount(ctx context.Context, workspace, principal string) (int, error)
	// SentCount counts what one sender, as [Item].From names it, has sent to an agent and waits in its inbox, up to most.
	SentCount(ctx context.Context, workspace, agent, sender string, most int) (int, error)
}

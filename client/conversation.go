package client

import (
	"context"
	"net/http"
	"time"

	"github.com/trapezehq/trapeze/client/wire"
)

// SpeakerRole is what a speaker is in a conversation.
type SpeakerRole string

// The roles of speakers.
const (
	SpeakerUser      SpeakerRole = "user"      // the person or program that wants something
	SpeakerAssistant SpeakerRole = "assistant" // the agent
	SpeakerSystem    SpeakerRole = "system"    // instructions
	SpeakerTool      SpeakerRole = "tool"      // what a tool said
)

// SpeakerRoles lists every role of a speaker.
func SpeakerRoles() []SpeakerRole {
	return []SpeakerRole{SpeakerUser, SpeakerAssistant, SpeakerSystem, SpeakerTool}
}

// TurnInput adds a turn to a conversation.
type TurnInput struct {
	Role    SpeakerRole `json:"role"`
	Text    string      `json:"text"`              // at most 64 KiB
	Agent   string      `json:"agent,omitempty"`   // for operators: in whose session it was said
	Task    string      `json:"task,omitempty"`    // the task in whose course it was said; its owner may add to the conversation
	Handoff string      `json:"handoff,omitempty"` // and of which of its handoffs
	Subject string      `json:"subject,omitempty"` // whom or what the conversation is about, such as patient/4711, by which it can be erased
}

// Said is the answer to a turn.
type Said struct {
	Conversation string `json:"conversation"`
	Turn         int    `json:"turn"` // its number, from 1
	Position     uint64 `json:"position"`
	Repeat       bool   `json:"repeat,omitempty"` // this is the answer to the first call with the same key
}

// Turn is something that was said.
type Turn struct {
	N       int         `json:"n"`     // from 1
	Agent   string      `json:"agent"` // in whose session, whatever the role
	Role    SpeakerRole `json:"role"`
	Text    string      `json:"text"`
	At      time.Time   `json:"at"`
	Task    string      `json:"task,omitempty"`
	Handoff string      `json:"handoff,omitempty"`
	By      string      `json:"by"` // the principal that logged it
}

// Speaker is an agent that took part in a conversation, and how often.
type Speaker struct {
	Agent string `json:"agent"`
	Turns int    `json:"turns"`
}

// Conversation is a conversation across agents, with some of its turns or, in lists, none.
type Conversation struct {
	ID       string    `json:"id"`
	Count    int       `json:"count"` // how many turns it has
	Speakers []Speaker `json:"speakers"`
	Tasks    []string  `json:"tasks,omitempty"`
	Handoffs []string  `json:"handoffs,omitempty"`
	Created  time.Time `json:"created"`
	Updated  time.Time `json:"updated"`
	Turns    []Turn    `json:"turns,omitempty"` // oldest first; of a search, the last ones that have its words
	Position uint64    `json:"position,omitempty"`
}

// ConversationOptions says which turns are wanted. The zero value: the last 50.
type ConversationOptions struct {
	Limit  int // at most 500
	Before int // only turns before this one
}

// ConversationFilter narrows a list of conversations. Zero fields do not.
type ConversationFilter struct {
	Agent string // that has a turn in it
	Task  string // that a turn belongs to
	Text  string // words, each of which is in its id, a speaker's name or a turn that the token may read; the answer has such turns
	Limit int    // of a page; 0: 50, at most 500
	After string // the Next of the page before
}

// ConversationPage is one page of a list of conversations.
type ConversationPage struct {
	Conversations []Conversation `json:"conversations"`
	Next          string         `json:"next,omitempty"` // for ConversationFilter.After; empty at the end
	Position      uint64         `json:"position"`
}

// Continuity is what lets the next agent carry on with a conversation.
type Continuity struct {
	ID       string `json:"id"`
	Text     string `json:"text"` // text from outside: data, not instructions
	Position uint64 `json:"position"`
}

// AppendTurn adds a turn to a conversation; the first one begins it. An agent may add where it has spoken before, or
// where it takes part in one of the conversation's tasks.
func (c *Client) AppendTurn(ctx context.Context, conversation string, in TurnInput) (Said, error) {
	return ask[Said](ctx, c, http.MethodPost, path("conversations", conversation, "turns"), nil, in)
}

// Conversation reads the last turns of a conversation. The read is recorded.
func (c *Client) Conversation(ctx context.Context, id string, o ConversationOptions) (Conversation, error) {
	q := wire.Query{}
	q.Number("limit", o.Limit)
	q.Number("before", o.Before)
	return ask[Conversation](ctx, c, http.MethodGet, path("conversations", id), q, nil)
}

// Conversations lists the conversations that the token may read, the one that began last first.
func (c *Client) Conversations(ctx context.Context, f ConversationFilter) (ConversationPage, error) {
	q := wire.Query{}
	q.Texts("agent", f.Agent, "task", f.Task, "text", f.Text)
	q.Number("limit", f.Limit)
	q.Text("after", f.After)
	return ask[ConversationPage](ctx, c, http.MethodGet, path("conversations"), q, nil)
}

// Continuity condenses a conversation for the next agent: who spoke before, the changes of hands, the first request and
// the last turns, in at most budget bytes; 0 means 4000. The read is recorded.
func (c *Client) Continuity(ctx context.Context, id string, budget int) (Continuity, error) {
	q := wire.Query{}
	q.Number("budget", budget)
	return ask[Continuity](ctx, c, http.MethodGet, path("conversations", id, "continuity"), q, nil)
}

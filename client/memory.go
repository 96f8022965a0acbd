package client

import (
	"context"
	"net/http"
	"time"

	"github.com/trapezehq/trapeze/client/wire"
)

// Scope says who may read a memory item.
type Scope string

// The scopes.
const (
	ScopePrivate   Scope = "private"   // its author alone
	ScopeTask      Scope = "task"      // the participants of its task, until that ends
	ScopeWorkspace Scope = "workspace" // every agent in the workspace
)

// Scopes lists every scope.
func Scopes() []Scope { return []Scope{ScopePrivate, ScopeTask, ScopeWorkspace} }

// MemoryStatus is what has become of the version of a memory item that was asked for.
type MemoryStatus string

// The statuses. What is missing is refused ([NotFound]).
const (
	MemoryCurrent   MemoryStatus = "current"   // it is the newest
	MemoryChanged   MemoryStatus = "changed"   // there is a newer one
	MemoryForgotten MemoryStatus = "forgotten" // the item gives out nothing any more
)

// MemoryStatuses lists every status.
func MemoryStatuses() []MemoryStatus {
	return []MemoryStatus{MemoryCurrent, MemoryChanged, MemoryForgotten}
}

// MemorySource says where a memory item comes from, if not from its author.
type MemorySource struct {
	Agent   string `json:"agent,omitempty"`
	Task    string `json:"task,omitempty"`
	Handoff string `json:"handoff,omitempty"`
}

// RememberInput stores a memory item.
type RememberInput struct {
	Text         string       `json:"text"`                   // at most 256 KiB
	Title        string       `json:"title,omitempty"`        // one line of at most 200 bytes
	Scope        Scope        `json:"scope,omitempty"`        // left out: private
	Task         string       `json:"task,omitempty"`         // that it belongs to; scope task needs it
	Conversation string       `json:"conversation,omitempty"` // in which it was said
	Tags         []string     `json:"tags,omitempty"`         // at most 32 names
	Subject      string       `json:"subject,omitempty"`      // whom or what it is about, such as patient/4711, by which it can be erased
	Importance   float64      `json:"importance,omitempty"`   // 0 to 1
	Pinned       bool         `json:"pinned,omitempty"`       // into every envelope that may hold it, before others
	Source       MemorySource `json:"source,omitzero"`
}

// MemoryItem is a memory item: one version of it, the newest unless another was asked for. Answers to changes leave the
// text out; lists give an excerpt. The fields from Scope on are for tokens that may read the item itself, and not only a version that an envelope refers to.
type MemoryItem struct {
	ID           string       `json:"id"`
	Version      int          `json:"version,omitempty"`
	Title        string       `json:"title,omitempty"`
	Text         string       `json:"text,omitempty"`
	Excerpt      string       `json:"excerpt,omitempty"`
	Digest       string       `json:"digest,omitempty"` // with ID and Version it makes a reference
	Status       MemoryStatus `json:"status"`
	Author       string       `json:"author"` // a principal, such as agent/scout
	Scope        Scope        `json:"scope,omitempty"`
	Source       MemorySource `json:"source,omitzero"`
	Task         string       `json:"task,omitempty"`
	Conversation string       `json:"conversation,omitempty"`
	Tags         []string     `json:"tags,omitempty"`
	Subject      string       `json:"subject,omitempty"`
	Importance   float64      `json:"importance,omitempty"`
	Pinned       bool         `json:"pinned,omitempty"`
	PinnedBy     string       `json:"pinned_by,omitempty"` // the principal that pinned it, or proposes to
	Proposed     bool         `json:"proposed,omitempty"`  // for the whole workspace by an agent: it counts once an operator pins it, too
	Versions     int          `json:"versions,omitempty"`  // how many there are
	Created      time.Time    `json:"created,omitzero"`
	Updated      time.Time    `json:"updated,omitzero"`
	Forgotten    time.Time    `json:"forgotten,omitzero"`
	ForgottenBy  string       `json:"forgotten_by,omitempty"` // the principal that had it forgotten, or erased
	Position     uint64       `json:"position,omitempty"`
	Repeat       bool         `json:"repeat,omitempty"` // this is the answer to the first call with the same key
}

// MemoryReference says more about what is wanted of a memory item than its id. The zero value: the newest version.
type MemoryReference struct {
	// Version and Digest are as an envelope has them; then the item's Status says what has become of that version. A
	// Version alone asks for that version.
	Version int
	Digest  string
	Task    string // whose envelope refers to it, where that alone gives the right to read it
}

// MemoryFilter narrows a search of memory items. Zero fields do not.
type MemoryFilter struct {
	Query        string // words, of which an item need not have all; the best come first. Empty: the newest come first
	Tag          string
	Agent        string // the author: an agent by name, or a principal such as operator/ann
	Task         string
	Conversation string
	Scope        Scope
	Pinned       bool
	Proposed     bool      // that an agent proposes to pin for the whole workspace
	Since, Until time.Time // when the newest version was written: not before, and before
	Limit        int       // 0: 20 with a Query, otherwise 50; at most 500
	After        uint64    // the Next of the page before; not with a Query
}

// MemoryPage is one page of memory items.
type MemoryPage struct {
	Items    []MemoryItem `json:"items"`
	Next     uint64       `json:"next,omitempty"` // for MemoryFilter.After; 0 at the end
	Position uint64       `json:"position"`
}

// ReviseInput adds a version to a memory item.
type ReviseInput struct {
	Text   string `json:"text"`
	Title  string `json:"title,omitempty"`  // "": as it was
	Expect int    `json:"expect,omitempty"` // the newest version as you know it; 0: whatever it is
}

// TagInput replaces the tags of a memory item.
type TagInput struct {
	Tags []string `json:"tags,omitempty"`
}

// WeighInput says how important a memory item is.
type WeighInput struct {
	Importance float64 `json:"importance"` // 0 to 1
}

// MemoryVersion is one version of a memory item.
type MemoryVersion struct {
	Version int       `json:"version"`
	Title   string    `json:"title,omitempty"`
	Text    string    `json:"text"`
	Digest  string    `json:"digest"`
	By      string    `json:"by"`
	At      time.Time `json:"at"`
}

// MemoryVersions are some versions of a memory item, oldest first.
type MemoryVersions struct {
	ID       string          `json:"id"`
	Versions []MemoryVersion `json:"versions"`
	Count    int             `json:"count"` // how many there are in all
	Position uint64          `json:"position"`
}

// Remember stores a memory item, of which the caller is the author.
func (c *Client) Remember(ctx context.Context, in RememberInput) (MemoryItem, error) {
	return c.memory(ctx, http.MethodPost, in)
}

// Memory reads a memory item, or the version that a reference names. The read is recorded.
func (c *Client) Memory(ctx context.Context, id string, r MemoryReference) (MemoryItem, error) {
	q := wire.Query{}
	q.Number("version", r.Version)
	q.Texts("digest", r.Digest, "task", r.Task)
	return ask[MemoryItem](ctx, c, http.MethodGet, path("memory", id), q, nil)
}

// SearchMemory finds memory items that the token may read. The read is recorded.
func (c *Client) SearchMemory(ctx context.Context, f MemoryFilter) (MemoryPage, error) {
	q := wire.Query{}
	q.Texts("q", f.Query, "tag", f.Tag, "agent", f.Agent, "task", f.Task, "conversation", f.Conversation, "scope", string(f.Scope))
	q.Times("since", f.Since, "until", f.Until)
	q.Number("limit", f.Limit)
	q.Flag("pinned", f.Pinned)
	q.Flag("proposed", f.Proposed)
	q.Position("after", f.After)
	return ask[MemoryPage](ctx, c, http.MethodGet, path("memory"), q, nil)
}

// MemoryVersions reads the versions of a memory item after one by its number; a limit of 0 means 50. The read is recorded.
func (c *Client) MemoryVersions(ctx context.Context, id string, after, limit int) (MemoryVersions, error) {
	q := wire.Query{}
	q.Number("after", after)
	q.Number("limit", limit)
	return ask[MemoryVersions](ctx, c, http.MethodGet, path("memory", id, "versions"), q, nil)
}

// Revise adds a version to a memory item, as its author or an operator.
func (c *Client) Revise(ctx context.Context, id string, in ReviseInput) (MemoryItem, error) {
	return c.memory(ctx, http.MethodPost, in, id, "revise")
}

// Pin puts a memory item into every envelope that may hold it, before others. If an agent pins an item for the whole workspace, it is
// Proposed: that counts once an operator pins it, too. An agent holds at most 32 pins.
func (c *Client) Pin(ctx context.Context, id string) (MemoryItem, error) {
	return c.memory(ctx, http.MethodPost, nil, id, "pin")
}

// Unpin undoes Pin.
func (c *Client) Unpin(ctx context.Context, id string) (MemoryItem, error) {
	return c.memory(ctx, http.MethodPost, nil, id, "unpin")
}

// Tag replaces the tags of a memory item.
func (c *Client) Tag(ctx context.Context, id string, in TagInput) (MemoryItem, error) {
	return c.memory(ctx, http.MethodPost, in, id, "tag")
}

// Weigh says how important a memory item is.
func (c *Client) Weigh(ctx context.Context, id string, in WeighInput) (MemoryItem, error) {
	return c.memory(ctx, http.MethodPost, in, id, "weigh")
}

// Forget makes the content of a memory item unreadable: no reference, search, envelope, trail or export gives it, to nobody.
// An erasable record erases the content, unless a legal hold is on it, except in envelopes that have it, until their tasks are erased.
// What the record keeps, an operator can export ([ExportOptions]). Copies that others made, such as in a fact, stay.
func (c *Client) Forget(ctx context.Context, id string) (MemoryItem, error) {
	return c.memory(ctx, http.MethodPost, nil, id, "forget")
}

func (c *Client) memory(ctx context.Context, method string, in any, segments ...string) (MemoryItem, error) {
	return ask[MemoryItem](ctx, c, method, path(append([]string{"memory"}, segments...)...), nil, in)
}

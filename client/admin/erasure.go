package admin

import (
	"context"
	"net/http"
	"time"

	"github.com/trapezehq/trapeze/client/wire"
)

// Erasure is what was erased.
type Erasure struct {
	N        int        `json:"n"`
	Subject  string     `json:"subject"`
	Why      string     `json:"why"`
	By       string     `json:"by"`
	At       time.Time  `json:"at"`
	Streams  int        `json:"streams"`            // tasks, conversations and memory items
	Left     int        `json:"left"`               // entries from before the record was erasable, which stay readable
	Kept     []string   `json:"kept"`               // what else has content of the subject, and was not erased
	Keys     int        `json:"keys"`               // that were destroyed
	Files    int        `json:"files"`              // artifacts that were deleted
	Finished *time.Time `json:"finished,omitempty"` // when nothing of it was left in the files; nil: the server is still at it
}

// Hold is a legal hold.
type Hold struct {
	Subject string    `json:"subject"`
	Why     string    `json:"why"`
	By      string    `json:"by"`
	At      time.Time `json:"at"`
}

// ErasureList is the legal holds and erasures of a workspace.
type ErasureList struct {
	Erasable bool      `json:"erasable"` // the content of the record is sealed
	Holds    []Hold    `json:"holds"`    // the oldest first
	Erasures []Erasure `json:"erasures"` // the newest first
	Position uint64    `json:"position"`
}

// SubjectInput names what is erased or held: task/ID, tag/TAG, subject/NAME, conversation/ID, conversation/NAME for all that are called so, or memory/ID.
type SubjectInput struct {
	Subject string `json:"subject"`
	Why     string `json:"why"` // the record keeps it
}

// ErasureFilter narrows the list of holds and erasures to those of a task or of a memory item. Its zero value does not.
type ErasureFilter struct {
	Task   string
	Memory string
}

// Erasures lists the legal holds and erasures: of a task or a memory item, the holds that keep it from being erased and the erasures of it. It is for
// operators and auditors.
func (c Client) Erasures(ctx context.Context, f ErasureFilter) (ErasureList, error) {
	q := wire.Query{}
	q.Texts("task", f.Task, "memory", f.Memory)
	return call[ErasureList](ctx, c, http.MethodGet, q, nil, "erasures")
}

// Erase erases the content of what a subject names, for good. It is for operators.
func (c Client) Erase(ctx context.Context, in SubjectInput) (Erasure, error) {
	return call[Erasure](ctx, c, http.MethodPost, nil, in, "erasures")
}

// SetHold sets a legal hold: nothing that the subject names is erased until it is lifted. It is for operators.
func (c Client) SetHold(ctx context.Context, in SubjectInput) (ErasureList, error) {
	return call[ErasureList](ctx, c, http.MethodPost, nil, in, "holds")
}

// LiftHold lifts a legal hold. It is for operators.
func (c Client) LiftHold(ctx context.Context, in SubjectInput) (ErasureList, error) {
	return call[ErasureList](ctx, c, http.MethodPost, nil, in, "holds", "lift")
}

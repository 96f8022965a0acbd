package access

import (
	"time"

	"github.com/trapezehq/trapeze/internal/record/proof"
)

// The events of accesses: reads of content, exports, refused attempts, tokens of outside issuers, restores, and orders to
// nodes. Their entries go to a stream per principal, without compare-and-set, so that they never make the writer of a task retry.
type (
	// ContentRead: a principal was given content of a task, or memory.
	ContentRead struct {
		Task   string   `json:"task"`
		What   string   `json:"what"`
		Digest string   `json:"digest,omitempty"`
		Items  []string `json:"items,omitempty"` // the ids of the items, if there were several
		Count  int      `json:"count,omitempty"` // of the items, if not all are named
	}
	// Exported: a principal was given records.
	Exported struct {
		What    string         `json:"what"`
		Format  string         `json:"format"`
		Counted *proof.Counted `json:"counted,omitempty"` // of an export of proofs
	}
	// Refused: an attempt of a principal was refused. Suppressed counts the refusals before it that the rate limit omitted.
	Refused struct {
		Verb       string `json:"verb"`
		Subject    string `json:"subject,omitempty"`
		Code       string `json:"code"`
		Message    string `json:"message"`
		Suppressed int    `json:"suppressed,omitempty"`
	}
	// Vouched: a token of an outside issuer was accepted for a principal.
	Vouched struct {
		Token   string    `json:"token"` // as in the actors of the entries made with it
		Issuer  string    `json:"issuer"`
		Subject string    `json:"subject"`
		Client  string    `json:"client,omitempty"`
		ID      string    `json:"id,omitempty"` // of the token, by the issuer
		Scope   string    `json:"scope"`
		Expires time.Time `json:"expires"`
	}
	// Restored: the record was restored from a backup that ended at a position. What had followed there before the restore is not in it.
	Restored struct {
		Position uint64    `json:"position"`
		Root     string    `json:"root"` // of the tree at the position
		Made     time.Time `json:"made"` // when the backup was made
	}
	// WorkspaceReceived: the entries of this workspace up to this one, from a position on, are those of another log, in their order. Positions in their events are
	// those of that log, and so are checkpoints and receipts from before.
	WorkspaceReceived struct {
		Log        string `json:"log"`
		Checkpoint string `json:"checkpoint"`  // that has the entry that says what was sent: a signed note
		PublicKeys string `json:"public_keys"` // of that log, one in each line
		Entries    int64  `json:"entries"`
		Root       string `json:"root"` // of the tree whose leaves are these entries alone
		First      uint64 `json:"first"`
		Last       uint64 `json:"last"`
	}
	// NodeOrdered: an administrator had a node of those that share the record drained, resumed or removed. It is recorded before that happens.
	NodeOrdered struct {
		Verb string `json:"verb"` // drain-node, resume-node or remove-node
		Node string `json:"node"`
	}
)

// event is one of the seven events.
type event interface{ EventName() string }

var events = []event{ContentRead{}, Exported{}, Refused{}, Vouched{}, Restored{}, NodeOrdered{}, WorkspaceReceived{}}

// EventName is "content-read".
func (ContentRead) EventName() string { return "content-read" }

// EventName is "record-exported".
func (Exported) EventName() string { return "record-exported" }

// EventName is "attempt-refused".
func (Refused) EventName() string { return "attempt-refused" }

// EventName is "principal-vouched".
func (Vouched) EventName() string { return "principal-vouched" }

// EventName is "record-restored".
func (Restored) EventName() string { return "record-restored" }

// EventName is "node-ordered".
func (NodeOrdered) EventName() string { return "node-ordered" }

// EventName is "workspace-received".
func (WorkspaceReceived) EventName() string { return proof.Received }

package history

import (
	"context"
	"errors"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/proof"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// Tree is the Merkle tree over the record.
type Tree interface {
	// Checkpoint returns the last checkpoint and its signed note, nil if there is none yet.
	Checkpoint() (proof.Checkpoint, []byte)
	// Await returns the first checkpoint that has the entry at a position.
	Await(ctx context.Context, at ledger.Position) (proof.Checkpoint, []byte, error)
	// ReadHashes returns stored hashes.
	ReadHashes(indexes []int64) ([]proof.Hash, error)
	// Keys are the public keys of the log, one in each line.
	Keys() string
	Keyring
}

// Keyring is the key that signs, and the one that is to follow.
type Keyring interface {
	// PrepareKey makes the key that is to follow, and returns the public keys of both.
	PrepareKey() (old, next string, err error)
	// Prepared is the public key that was prepared and does not sign yet; empty: there is none.
	Prepared() string
	// UseKey has checkpoints signed by the key that was prepared, if its public key is this one.
	UseKey(public string) error
}

// mayProve refuses callers that may not read the audit, and servers without a tree.
func (h *History) mayProve(ctx context.Context, c caller.Caller, verb, what string) error {
	if err := c.May(identity.ReadAudit, what); err != nil {
		return h.access.Refused(ctx, c.Workspace, c.Actor(), verb, "", err)
	}
	return h.hasTree()
}

func (h *History) hasTree() error {
	if h.tree == nil {
		return refusal.New(refusal.Unavailable, "ask the operator of the server", "this server proves nothing")
	}
	return nil
}

// GetCheckpoint returns the last signed checkpoint of the record. It is for callers that may read the audit. It has no content, and the read is not
// recorded.
func (h *History) GetCheckpoint(ctx context.Context, c caller.Caller) ([]byte, error) {
	if err := h.mayProve(ctx, c, "checkpoint", "read the checkpoints of the record"); err != nil {
		return nil, err
	}
	last, err := h.ledger.Last(ctx)
	if err != nil {
		return nil, stream.Unavailable(err)
	}
	if _, note := h.tree.Checkpoint(); note != nil {
		return note, nil
	}
	_, note, err := h.tree.Await(ctx, last) // the server has just started for the first time
	if err != nil {
		return nil, stream.Unavailable(err)
	}
	return note, nil
}

// GetTile returns the hashes of a tile of the tree, by its path after "tile/". It is for callers that may read the audit. Hashes tell no content, and the
// read is not recorded.
func (h *History) GetTile(ctx context.Context, c caller.Caller, path string) ([]byte, error) {
	if err := h.mayProve(ctx, c, "tile", "read the tree of the record"); err != nil {
		return nil, err
	}
	t, err := proof.ParseTile(path)
	if err == nil {
		var b []byte
		signed, _ := h.tree.Checkpoint()
		if b, err = proof.Tile(t, signed.Size, h.tree); err == nil {
			return b, nil
		}
	}
	if errors.Is(err, proof.ErrTile) {
		return nil, refusal.New(refusal.NotFound, "fetch /v1/proof/checkpoint for the size of the tree; c2sp.org/tlog-tiles says which tiles it has",
			"there is no tile %.80q", path)
	}
	return nil, stream.Unavailable(err)
}

// GetKeys returns the public keys with which checkpoints are signed, one in each line, the oldest first. Any caller may have them.
func (h *History) GetKeys(_ context.Context, c caller.Caller) (string, error) {
	if err := c.May(identity.ReadOwn, "read the public keys of the record"); err != nil {
		return "", err
	}
	if err := h.hasTree(); err != nil {
		return "", err
	}
	return h.tree.Keys(), nil
}

// GetReceipt returns the receipt of a handoff: the entries that request, accept and complete it, each with the proof that it is in the record. It
// has the bytes of those entries, and so it is for callers that may read them whole. The read is recorded.
func (h *History) GetReceipt(ctx context.Context, c caller.Caller, handoff string) ([]byte, error) {
	b, err := h.receipt(ctx, c, handoff)
	return b, h.access.Refused(ctx, c.Workspace, c.Actor(), "receipt", handoff, err)
}

func (h *History) receipt(ctx context.Context, c caller.Caller, handoff string) ([]byte, error) {
	if err := h.hasTree(); err != nil {
		return nil, err
	}
	id, n, err := event.ParseHandoffID(handoff)
	if err != nil {
		return nil, err
	}
	in := ExportInput{Task: id}
	t, err := h.subject(ctx, c, in)
	if err != nil {
		return nil, err
	}
	var entries []ledger.Entry
	err = h.eachEntry(ctx, c, t, in, func(e ledger.Entry) error {
		if proof.InReceipt(e, n) {
			entries = append(entries, e)
		}
		return nil
	}, func(view.Row) error { return nil })
	if err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		return nil, refusal.New(refusal.NotFound, "fetch the task to see its handoffs", "task %s has no handoff %d", id, n)
	}
	if err := h.access.Read(ctx, c.Workspace, c.Actor(), id, "receipt", ""); err != nil {
		return nil, err
	}
	return h.prove(ctx, entries)
}

// prove returns the inclusion proofs of entries, oldest first.
func (h *History) prove(ctx context.Context, entries []ledger.Entry) ([]byte, error) {
	checkpoint, note, err := h.tree.Await(ctx, entries[len(entries)-1].Position)
	if err != nil {
		return nil, stream.Unavailable(err)
	}
	var text []byte
	for _, e := range entries {
		raw, err := e.Encode()
		if err != nil {
			return nil, stream.Unavailable(err)
		}
		p, err := proof.Prove(raw, int64(e.Position-1), checkpoint.Size, h.tree, note) //nolint:gosec // a position
		if err != nil {
			return nil, stream.Unavailable(err)
		}
		if p.Check(checkpoint) != nil { // it is not the entry as it was recorded
			return nil, refusal.New(refusal.NotPermitted, "ask an operator or an auditor; of memory items that were forgotten, nothing is given",
				"a receipt holds whole entries, and a part of entry %d is withheld from the caller", e.Position)
		}
		text = p.Append(text)
	}
	return text, nil
}

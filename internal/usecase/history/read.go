package history

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/proof"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/positions"
	"github.com/trapezehq/trapeze/internal/usecase/taskstore"
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
		return refusal.New(refusal.Conflict, "ask the operator of the server", "this server proves nothing")
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
	if now, note := h.tree.Checkpoint(); note != nil && now.Size > 0 {
		last = ledger.Position(now.Size) //nolint:gosec // never negative
	} // otherwise the server has just started for the first time
	_, note, err := h.tree.Await(ctx, last)
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

// GetReceipt returns the receipt of a handoff: the entries that request, approve or deny, accept or reject, confirm, complete or return it, each with the proof that it is in the record. It
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
	of := proof.HandoffEntries{Number: n}
	err = h.eachEntry(ctx, c, t, in, func(e ledger.Entry) error {
		if of.Has(e) {
			entries = append(entries, e)
		}
		return nil
	}, func(view.Row) error { return nil })
	if err != nil {
		return nil, err
	}
	if len(entries) == 0 {
		return nil, refusal.New(refusal.NotFound, "[fetch the task](task show) to see its handoffs", "task %s has no handoff %d", id, n)
	}
	if err := h.access.Read(ctx, c.Workspace, c.Actor(), id, "receipt", ""); err != nil {
		return nil, err
	}
	return h.prove(ctx, entries)
}

// GetReceiptAt returns the receipt of the entry at a position: for the principal that made it, for those that read it whole in the trail of its task, and for
// those that may read the audit. The read is recorded.
func (h *History) GetReceiptAt(ctx context.Context, c caller.Caller, at positions.Position) ([]byte, error) {
	b, err := h.receiptAt(ctx, c, at)
	return b, h.access.Refused(ctx, c.Workspace, c.Actor(), "receipt", strconv.FormatUint(uint64(at), 10), err)
}

// GetReceiptOfCall returns the receipt of the entries that a call has made, whose caller is [caller.Caller.Collecting].
func (h *History) GetReceiptOfCall(ctx context.Context, c caller.Caller) ([]byte, error) {
	made := c.Made()
	if len(made) == 0 {
		return nil, refusal.New(refusal.NotFound, "there is nothing to prove", "the call recorded no change")
	}
	return h.receiptAt(ctx, c, made...)
}

func (h *History) receiptAt(ctx context.Context, c caller.Caller, at ...ledger.Position) ([]byte, error) {
	if err := h.hasTree(); err != nil {
		return nil, err
	}
	entries := make([]ledger.Entry, len(at))
	for i, p := range at {
		var err error
		if entries[i], err = h.entry(ctx, c, p); err != nil {
			return nil, err
		}
		var task string
		if _, kind, id := entries[i].Stream.Parts(); kind == taskstore.Kind {
			task = id
		}
		if err := h.access.Read(ctx, c.Workspace, c.Actor(), task, fmt.Sprintf("receipt of entry %d", p), ""); err != nil {
			return nil, err
		}
	}
	return h.prove(ctx, entries)
}

// entry is the entry at a position as the caller reads it.
func (h *History) entry(ctx context.Context, c caller.Caller, at ledger.Position) (e ledger.Entry, err error) {
	none := refusal.New(refusal.NotFound, "answers that change something have the position of their entry", "there is no entry at position %d for the caller", at)
	last, err := h.ledger.Last(ctx)
	if err != nil {
		return e, stream.Unavailable(err)
	}
	if at < 1 || at > last {
		return e, none
	}
	list, err := ledger.Page(ctx, h.ledger, at-1, 1)
	switch {
	case err != nil:
		return e, stream.Unavailable(err)
	case len(list) == 0 || list[0].Position != at:
		return e, none
	}
	workspace, kind, id := list[0].Stream.Parts()
	visible := func(e ledger.Entry) ledger.Entry { return e }
	switch {
	case workspace != c.Workspace:
		return e, none
	case kind == taskstore.Kind:
		t, err := h.tasks.For(ctx, c, id)
		if err != nil {
			return e, none
		}
		if visible, err = h.reader(ctx, c, t.Task); err != nil {
			return e, err
		}
	case list[0].Actor.Principal != c.Actor().Principal && !c.Can(identity.ReadAudit):
		return e, none
	}
	if e, err = h.memories.Reader()(ctx, list[0]); err != nil {
		return e, err
	}
	return visible(e), nil
}

// prove returns the inclusion proofs of entries, oldest first.
func (h *History) prove(ctx context.Context, entries []ledger.Entry) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, signsWithin)
	defer cancel()
	resume := ledger.Pause(ctx)
	checkpoint, note, err := h.tree.Await(ctx, entries[len(entries)-1].Position)
	resume()
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

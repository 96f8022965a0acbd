package history

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/proof"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

// CheckInput is a checkpoint that somebody kept.
type CheckInput struct {
	Checkpoint string `json:"checkpoint" minLength:"1" maxLength:"10000" doc:"Text of a checkpoint (c2sp.org/tlog-checkpoint), which each proof of a receipt ends with."`
}

// Checked says whether the record is still the one that a checkpoint signed.
type Checked struct {
	Holds    bool   `json:"holds" doc:"Whether the record still has everything that the checkpoint signed, unchanged."`
	Log      string `json:"log" doc:"Name of the log."`
	Signed   int64  `json:"signed" doc:"Position up to which the checkpoint signed the record."`
	Position int64  `json:"position" doc:"Position up to which the record is signed now."`
	Meaning  string `json:"meaning" doc:"What that means, in a sentence."`
}

// Check compares a checkpoint that somebody kept with the record as it is now. Any caller may: it tells nothing that the checkpoint does not say. It is not
// recorded. Errors: Invalid, if it is no checkpoint of this log.
func (h *History) Check(ctx context.Context, c caller.Caller, in CheckInput) (Checked, error) {
	if err := c.May(identity.ReadOwn, "compare a checkpoint with the record"); err != nil {
		return Checked{}, err
	}
	if err := h.hasTree(); err != nil {
		return Checked{}, err
	}
	kept, err := h.kept([]byte(in.Checkpoint))
	if err != nil {
		return Checked{}, err
	}
	last, err := h.ledger.Last(ctx)
	if err != nil {
		return Checked{}, stream.Unavailable(err)
	}
	now, note := h.tree.Checkpoint()
	if note == nil || now.Size < kept.Size && int64(last) >= kept.Size { //nolint:gosec // a position
		if now, err = h.signed(ctx, last); err != nil {
			return Checked{}, stream.Unavailable(err)
		}
	}
	out := Checked{Log: kept.Origin, Signed: kept.Size, Position: min(now.Size, int64(last))} //nolint:gosec // a position
	if h.integrity != nil {
		if found := h.integrity(); found != nil {
			out.Meaning = fmt.Sprintf("The record does not agree with its own tree: %v", found)
			return out, nil
		}
	}
	if out.Position < kept.Size {
		out.Meaning = fmt.Sprintf("The record ends at position %d, before what was signed: it was restored from an older backup, or lost entries.", out.Position)
		return out, nil
	}
	tree, err := proof.LoadTree(kept.Size, h.tree)
	if err != nil {
		return Checked{}, stream.Unavailable(err)
	}
	if out.Holds = tree.Root() == kept.Root; out.Holds {
		out.Meaning = "The record still has everything that was signed, unchanged."
	} else {
		out.Meaning = fmt.Sprintf("The record up to position %d is not what was signed: it was changed, or restored from an older backup and continued.", kept.Size)
	}
	return out, nil
}

// signsWithin is how long a checkpoint is waited for. One is signed each second, if the disk is not full.
const signsWithin = 5 * time.Second

// signed waits for a checkpoint that has the entry at a position.
func (h *History) signed(ctx context.Context, at ledger.Position) (proof.Checkpoint, error) {
	ctx, cancel := context.WithTimeout(ctx, signsWithin)
	defer cancel()
	defer ledger.Pause(ctx)()
	c, _, err := h.tree.Await(ctx, at)
	return c, err
}

// kept reads a checkpoint of this log.
func (h *History) kept(text []byte) (proof.Checkpoint, error) {
	keys, err := proof.ParseKeys(h.tree.Keys())
	if err != nil {
		return proof.Checkpoint{}, stream.Unavailable(err)
	}
	c, err := proof.OpenCheckpoint(text, keys)
	switch {
	case errors.Is(err, proof.ErrSignature):
		return c, refusal.New(refusal.Invalid, "compare it with the server that signed it; the first line of a checkpoint names the log", "the checkpoint is not signed with a key of this log")
	case err != nil:
		return c, refusal.New(refusal.Invalid, "send the text of [a checkpoint](audit checkpoint) as it was written, or the end of a proof in a receipt",
			"this is not a checkpoint")
	}
	return c, nil
}

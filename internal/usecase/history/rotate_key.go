package history

import (
	"context"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/proof"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/positions"
)

// keyKind is the kind of the stream of the key that signs checkpoints.
const keyKind = "signing-key"

// keyStream is that stream: one key signs for all workspaces.
var keyStream = ledger.StreamOf(identity.DefaultWorkspace, keyKind, "current")

// keyKeys is how many idempotency keys the stream remembers at least.
const keyKeys = 100

// keys is the state of that stream: the key that was rotated to last.
type keys = stream.Kind[proof.KeyRotated, proof.KeyEvent]

func newKeys(l ledger.Ledger, now func() time.Time) (keys, error) {
	return stream.New(keyKind, l, func(was proof.KeyRotated, e proof.KeyEvent) proof.KeyRotated {
		if e, ok := e.(proof.KeyRotated); ok {
			return e
		}
		return was
	}, now, proof.KeyEvents, stream.Options[proof.KeyRotated, proof.KeyEvent]{Cached: 1, Remember: keyKeys})
}

// RotateKeyInput rotates the key of the record.
type RotateKeyInput struct {
	Why string `json:"why,omitempty" maxLength:"500" doc:"Why the key is rotated, for the record."`
}

// Rotated is the outcome of a rotation.
type Rotated struct {
	Log      string             `json:"log" doc:"Name of the log, which stays the same."`
	Old      string             `json:"old" doc:"The public key that signed until now. It still verifies what it signed."`
	New      string             `json:"new" doc:"The public key of the checkpoints from now on."`
	Receipt  string             `json:"receipt" doc:"The entry of the rotation in a checkpoint that the old key signed (c2sp.org/tlog-proof): it shows those who know the old key that this log has the new one. In the answer to a repeated call the new key signed it."`
	Repeat   bool               `json:"repeat,omitempty" doc:"This is the answer to the first call with the same key."`
	Position positions.Position `json:"position" doc:"Position of the entry in the record."`
}

// At is the position of the record that the answer includes.
func (r Rotated) At() positions.Position { return r.Position }

// RotateKey gives the record another key for its checkpoints. The rotation is recorded, and the old key signs a checkpoint that has its entry, before the new
// key signs. An interrupted rotation that was recorded goes on when the server starts, or with the next call. It is for administrators of the default workspace.
func (h *History) RotateKey(ctx context.Context, c caller.Caller, in RotateKeyInput) (Rotated, error) {
	r, err := h.rotateKey(ctx, c, in)
	return r, h.access.Refused(ctx, c.Workspace, c.Actor(), "rotate-key", "", err)
}

func (h *History) rotateKey(ctx context.Context, c caller.Caller, in RotateKeyInput) (r Rotated, err error) {
	const what = "rotate the key of the record"
	if err := c.May(identity.ManageTokens, what); err != nil {
		return r, err
	}
	if c.Workspace != identity.DefaultWorkspace {
		return r, refusal.New(refusal.NotPermitted, "use an admin's token of the workspace "+identity.DefaultWorkspace, "%s may not %s: it signs for all workspaces", c.Short(), what)
	}
	if err := h.hasTree(); err != nil {
		return r, err
	}
	request, err := c.Digest("rotate-key", in)
	if err != nil {
		return r, err
	}
	h.rotating.Lock()
	defer h.rotating.Unlock()
	if err := h.resumeRotation(ctx); err != nil {
		return r, err
	}
	name, _ := h.tree.Checkpoint()
	old, public, err := h.tree.PrepareKey()
	if _, refused := refusal.As(err); refused {
		return r, err
	}
	if err != nil {
		return r, stream.Unavailable(err)
	}
	out, err := h.keys.Do(ctx, c.Write(request), keyStream, func(proof.KeyRotated, time.Time) ([]proof.KeyEvent, error) {
		return []proof.KeyEvent{proof.KeyRotated{Log: name.Origin, Old: old, New: public, Why: in.Why}}, nil
	})
	if err != nil {
		return r, err
	}
	receipt, err := h.handOver(ctx, out.At)
	r = Rotated{Log: out.State.Log, Old: out.State.Old, New: out.State.New, Receipt: string(receipt), Repeat: out.Repeat, Position: out.At}
	return r, err
}

// handOver has the key that signs now sign a checkpoint with the entry of a rotation, and then the new key sign. It returns the proof of the entry in the
// first of them.
func (h *History) handOver(ctx context.Context, at ledger.Position) ([]byte, error) {
	entries, err := h.ledger.Stream(ctx, keyStream, at-1, 1)
	if err != nil {
		return nil, stream.Unavailable(err)
	}
	if len(entries) != 1 || entries[0].Position != at {
		return nil, refusal.New(refusal.Unavailable, "repeat the call", "the entry %d of the rotation cannot be read yet", at)
	}
	events, err := h.keys.Codec().DecodeAll(entries[0].Events)
	if err != nil {
		return nil, stream.Unavailable(err)
	}
	receipt, err := h.prove(ctx, entries)
	if err != nil {
		return nil, err
	}
	for _, e := range events {
		if rotated, ok := e.(proof.KeyRotated); ok {
			if err := h.tree.UseKey(rotated.New); err != nil {
				return nil, stream.Unavailable(err)
			}
		}
	}
	return receipt, nil
}

func (h *History) resumeRotation(ctx context.Context) error {
	if h.tree == nil || h.tree.Prepared() == "" {
		return nil
	}
	now, err := h.keys.Load(ctx, keyStream, true)
	if err != nil || now.Head == 0 || h.tree.Prepared() != now.State.New {
		return err
	}
	_, err = h.handOver(ctx, now.Head)
	return err
}

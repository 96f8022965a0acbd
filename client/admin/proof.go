package admin

import (
	"context"
	"io"

	"github.com/trapezehq/trapeze/client/wire"
)

// Checkpoint writes the last signed checkpoint of the record to w. It is for operators and auditors.
func (c Client) Checkpoint(ctx context.Context, w io.Writer) error {
	return c.Fetch(ctx, wire.Path("proof", "checkpoint"), w)
}

// ProofKeys writes the public keys with which checkpoints of the record are signed, one in each line, the oldest first. Any token will do.
func (c Client) ProofKeys(ctx context.Context, w io.Writer) error {
	return c.Fetch(ctx, wire.Path("proof", "keys"), w)
}

// HandoffReceipt writes the receipt of a handoff to w: the entries that request, accept and complete it, whole, each with the proof that it is in
// the record. Any token will do that may read those entries. The command trapeze verify checks it without the server. The read is recorded.
func (c Client) HandoffReceipt(ctx context.Context, handoff string, w io.Writer) error {
	return c.Fetch(ctx, wire.Path("handoffs", handoff, "receipt"), w)
}

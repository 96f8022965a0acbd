package admin

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"

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

// ReceiptAt writes the receipt of the entry at a position of the record to w, such as the position of an answer. Any token will do that made the entry
// or may read it whole. The read is recorded.
func (c Client) ReceiptAt(ctx context.Context, position uint64, w io.Writer) error {
	return c.Fetch(ctx, wire.Path("proof", "receipts", strconv.FormatUint(position, 10)), w)
}

// Receipt is the receipt of what a call changed.
type Receipt = wire.Receipt

// WithReceipt has the next changing call that is given the context ask for its receipt, which is then in r. A call that is refused has none.
func WithReceipt(ctx context.Context, r *Receipt) context.Context { return wire.WithReceipt(ctx, r) }

// Checked says whether the record of a server is still the one that a checkpoint signed.
type Checked struct {
	Holds    bool   `json:"holds"`
	Log      string `json:"log"`      // its name
	Signed   int64  `json:"signed"`   // the position up to which the checkpoint signed it
	Position int64  `json:"position"` // the position up to which it is signed now
	Meaning  string `json:"meaning"`  // in a sentence
}

// CheckRecord compares the record with a checkpoint that was kept, or the first one of a receipt: a server that was restored from an older backup, or whose
// record was changed, no longer has what was signed. Any token will do. Error: Invalid, if it is not signed by the log of this server.
func (c Client) CheckRecord(ctx context.Context, text string) (Checked, error) {
	const header = "c2sp.org/tlog-proof@v1\n"
	if strings.HasPrefix(text, header) { // the checkpoint follows an empty line
		_, text, _ = strings.Cut(text, "\n\n")
		text, _, _ = strings.Cut(text, header)
	}
	return call[Checked](ctx, c, http.MethodPost, nil, map[string]string{"checkpoint": text}, "proof", "check")
}

// Rotation is the outcome of a rotation of the key of the record.
type Rotation struct {
	Log      string `json:"log"`              // its name, which stays the same
	Old      string `json:"old"`              // the public key that signed until now
	New      string `json:"new"`              // the public key that signs from now on
	Receipt  string `json:"receipt"`          // the entry of the rotation in a checkpoint that the old key signed
	Repeat   bool   `json:"repeat,omitempty"` // this is the answer to the first call with the same key
	Position uint64 `json:"position"`         // of the entry
}

// RotateKey gives the record another key for its checkpoints. What the old one signed still verifies, and both are among [Client.ProofKeys]. It is for
// administrators of the default workspace; why is for the record, and can be empty.
func (c Client) RotateKey(ctx context.Context, why string) (Rotation, error) {
	return call[Rotation](ctx, c, http.MethodPost, nil, map[string]string{"why": why}, "proof", "keys")
}

package archive

import (
	"context"

	"github.com/trapezehq/trapeze/internal/access"
	"github.com/trapezehq/trapeze/internal/custody"
	"github.com/trapezehq/trapeze/internal/docket"
	"github.com/trapezehq/trapeze/internal/envelope"
	"github.com/trapezehq/trapeze/internal/ledger"
)

// Chain gives what a task has said, envelope by envelope, and what each receiver was given of it.
type Chain func(ctx context.Context, workspace string, t custody.Task) (said, given []envelope.Envelope, err error)

// Archive is the use cases over one ledger. Its methods are safe for many goroutines.
type Archive struct {
	ledger   ledger.Ledger
	tasks    *docket.Docket
	access   *access.Log
	readable func(context.Context, ledger.Entry) (ledger.Entry, error)
	chain    Chain
}

// New returns the use cases. readable leaves out of an entry what has been forgotten.
func New(l ledger.Ledger, tasks *docket.Docket, log *access.Log,
	readable func(context.Context, ledger.Entry) (ledger.Entry, error), chain Chain,
) *Archive {
	return &Archive{ledger: l, tasks: tasks, access: log, readable: readable, chain: chain}
}

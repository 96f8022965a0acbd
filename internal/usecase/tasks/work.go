package tasks

import (
	"context"
	"sync"

	"github.com/trapezehq/trapeze/internal/usecase/caller"
	"github.com/trapezehq/trapeze/internal/usecase/envelopes"
	"github.com/trapezehq/trapeze/internal/usecase/handoffs"
)

// heavy is the size of content, in bytes, from which the calls of one principal that seal it wait for each other (quota.Work): composing
// and sealing it then takes the processor for longer than all else in the call.
const heavy = 8 << 10

// enterWork waits until the caller may seal content, before the decision. The decision calls leave when it is made: what is sealed waits
// for the disk beside that of others. leave may be called several times.
func (ts *Tasks) enterWork(ctx context.Context, c caller.Caller, content envelopes.Content, send *handoffs.SendInput) (leave func(), err error) {
	n := content.Size()
	if send != nil {
		n += send.Content.Size()
	}
	if n < heavy {
		return func() {}, nil
	}
	leave, err = ts.work.EnterChange(ctx, c)
	if err != nil {
		return nil, err
	}
	return sync.OnceFunc(leave), nil
}

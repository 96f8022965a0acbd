package ledgertest

import "context"

// Turn is the turn of a call that is alone. It is not safe for concurrent use.
type Turn struct {
	Held    bool
	Resumed int // how often the call waited for another
}

// Pause implements [ledger.Turn].
func (t *Turn) Pause() bool {
	held := t.Held
	t.Held = false
	return held
}

// Resume implements [ledger.Turn].
func (t *Turn) Resume(context.Context) {
	t.Held = true
	t.Resumed++
}

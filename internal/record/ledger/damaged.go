package ledger

import "fmt"

// Damaged is the error of a read that finds an entry that was changed, or one missing: those before it come with the error, and a read after
// its position goes on.
type Damaged struct {
	Position Position
	Err      error // why it cannot be decoded
}

func (d *Damaged) Error() string {
	return fmt.Sprintf("ledger: entry %d is damaged: %v", d.Position, d.Err)
}

func (d *Damaged) Unwrap() error { return d.Err }

package ledger

import (
	"errors"
	"fmt"
)

// PutAway is the error of a read that comes to an entry whose bytes were moved to a segment that is not attached: those before it come with the error,
// and a read after its position goes on. Nothing is wrong with the record; but who goes on after a [Damaged] entry goes on after this one, so that it is one
// for errors.As. Who reports damage looks for PutAway first.
type PutAway struct {
	Position Position
	Segment  string   // the name of its file
	Leaf     [32]byte // of the entry, in the tree of package proof
}

func (p *PutAway) Error() string {
	return fmt.Sprintf("ledger: entry %d is put away in %s, which is not there (copy that file to the directory segments of the data directory)", p.Position, p.Segment)
}

// As implements the method that errors.As asks.
func (p *PutAway) As(target any) bool {
	d, ok := target.(**Damaged)
	if ok {
		*d = &Damaged{p.Position, p}
	}
	return ok
}

// AsPutAway returns the error of an entry that was put away, if an error is one.
func AsPutAway(err error) (*PutAway, bool) { return errors.AsType[*PutAway](err) }

// NotCompared is the error of a verification of what is beside a record that has nothing to compare with. It is no finding.
type NotCompared struct{ Why string }

func (e *NotCompared) Error() string { return e.Why }

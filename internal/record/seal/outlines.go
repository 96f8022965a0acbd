package seal

import (
	"context"
	"fmt"
	"slices"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// Reader reads entries in the order of their positions.
type Reader interface {
	Read(ctx context.Context, after ledger.Position, limit int) ([]ledger.Entry, error)
}

// Record is what Outlines read.
type Record interface {
	Reader
	Last(ctx context.Context) (ledger.Position, error)
	Stream(ctx context.Context, stream ledger.Stream, after ledger.Position, limit int) ([]ledger.Entry, error)
}

// Outlines is a record of which a verifier builds views, and notes whether it has sealed content.
type Outlines struct {
	Record
	From   Reader // of the same entries; nil: the record
	Called bool   // whether the number of the format says that it has some
	Opens  bool   // whether there are keys
	first  ledger.Position
}

// Read is that of [ledger.Ledger]. Without keys it ends at the first sealed entry with a *[ledger.NotCompared].
func (c *Outlines) Read(ctx context.Context, after ledger.Position, limit int) ([]ledger.Entry, error) {
	from := c.From
	if from == nil {
		from = c.Record
	}
	list, err := from.Read(ctx, after, limit)
	at := slices.IndexFunc(list, func(e ledger.Entry) bool { return e.Enc == ledger.EncSealed })
	if at < 0 || c.first != 0 {
		return list, err
	}
	if c.first = list[at].Position; c.Called && !c.Opens {
		return nil, &ledger.NotCompared{Why: "the views, since the content of the record is sealed, and its keys are not there"}
	}
	return list, err
}

// Differs returns how what was read differs from the number of the format.
func (c *Outlines) Differs() []string {
	switch {
	case c.first != 0 && !c.Called:
		return []string{fmt.Sprintf("the number of the format (user_version) says that no content is sealed, and that of position %d is", c.first)}
	case c.first == 0 && c.Called && !c.Opens:
		return []string{"the number of the format (user_version) says that content is sealed, and neither an entry nor its keys are there: no server starts on it"}
	}
	return nil
}

package view

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// Ranks is how many ranks the items of an inbox have: one for each priority, and one after the lowest.
const Ranks = 5

// Cursor is how far a reader of an inbox was told of the items of each rank, from the highest on. The zero value is the beginning.
type Cursor [Ranks]ledger.Position

// CursorAt is the cursor of a reader that was told of all items up to a position.
func CursorAt(at ledger.Position) (c Cursor) {
	for i := range c {
		c[i] = at
	}
	return c
}

// ParseCursor reads a cursor as [Cursor.String] writes it: a position, or one of each rank, of which the last counts for those that follow. Empty is the
// beginning.
func ParseCursor(text string) (c Cursor, err error) {
	if text == "" {
		return c, nil
	}
	list := strings.Split(text, "-")
	if len(list) > Ranks {
		return c, badCursor(text)
	}
	at := uint64(0)
	for i := range c {
		if i < len(list) {
			if at, err = strconv.ParseUint(list[i], 10, 64); err != nil || at > math.MaxInt64 {
				return Cursor{}, badCursor(text)
			}
		}
		c[i] = ledger.Position(at)
	}
	return c, nil
}

func badCursor(text string) error {
	return refusal.New(refusal.Invalid, "give the cursor of an answer of this server, such as 120 or 120-87", "%.100q is not the cursor of an inbox", text).With("field", "after")
}

// String is the cursor as text.
func (c Cursor) String() string {
	n := len(c)
	for n > 1 && c[n-1] == c[n-2] {
		n--
	}
	list := make([]string, n)
	for i := range list {
		list[i] = strconv.FormatUint(uint64(c[i]), 10)
	}
	return strings.Join(list, "-")
}

// Before is the cursor of a reader that was not told of an item either.
func (c Cursor) Before(i *Item) Cursor {
	rank := i.Type.Rank(i.Epoch, i.Priority)
	c[rank] = min(c[rank], i.At-1)
	return c
}

// Least is the position up to which the reader was told of every item.
func (c Cursor) Least() ledger.Position { return slices.Min(c[:]) }

// Newest is the greatest position of the cursor.
func (c Cursor) Newest() ledger.Position { return slices.Max(c[:]) }

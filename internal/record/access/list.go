package access

import (
	"context"
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

const (
	// MaxListed is how many items of a list are named.
	MaxListed = 100
	// listedAgain is the time after which the same list is recorded again.
	listedAgain = time.Minute
)

// listings is a cache by list. An interface for the reason of [limiters].
type listings interface {
	Get(list string) (time.Time, bool)
	Add(list string, at time.Time) (evicted bool)
}

// ReadList records that the caller gets a list that shows a part of each item, such as what is asked for. It is one entry, however long the
// list is, which names the first [MaxListed]. The same list for the same token is recorded once a minute: a program that
// polls would fill the record, or the space that a full disk has left for it, with entries that tell nothing new. Call it before the answer.
func (l *Log) ReadList(ctx context.Context, workspace string, by ledger.Actor, what string, items []string) error {
	if isSystem(by) || len(items) == 0 {
		return nil
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q %q", workspace, by.Principal, by.Token, by.For, what, items))
	list, now := string(sum[:]), l.now()
	if last, ok := l.listed.Get(list); ok && !now.Before(last) && now.Sub(last) < listedAgain {
		return nil
	}
	ev := ContentRead{What: what, Items: items}
	if len(items) > MaxListed {
		ev.Items, ev.Count = items[:MaxListed], len(items)
	}
	if err := l.Append(ctx, workspace, by, ev); err != nil {
		return err
	}
	l.listed.Add(list, now)
	return nil
}

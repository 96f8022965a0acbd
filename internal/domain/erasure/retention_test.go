package erasure_test

import (
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/erasure"
)

func TestTheLongestLeastAndTheShortestMostCount(t *testing.T) {
	const day = 24 * time.Hour
	rules := erasure.Retentions{
		{Least: day}, {Kind: erasure.Task, Least: 3 * day, Most: 90 * day}, {Tag: "short", Most: 2 * day}, {Kind: erasure.Memory, Tag: "short", Most: day},
	}
	short := map[erasure.Subject]bool{{erasure.Task, "t1"}: true, {erasure.Tag, "short"}: true}
	plain := map[erasure.Subject]bool{{erasure.Task, "t1"}: true, {erasure.Tag, "plain"}: true}
	since := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	for _, x := range []struct {
		kind       erasure.Kind
		names      map[erasure.Subject]bool
		until, due time.Duration // 0: none
	}{
		{erasure.Task, plain, 3 * day, 90 * day},
		{erasure.Task, short, 3 * day, 3 * day}, // keeping it comes first
		{erasure.Memory, short, day, day},
		{erasure.Conversation, short, day, 2 * day},
		{erasure.Conversation, plain, day, 0},
	} {
		until, due := rules.Kept(x.kind, x.names, since)
		if !until.Equal(since.Add(x.until)) || due.IsZero() != (x.due == 0) || x.due > 0 && !due.Equal(since.Add(x.due)) {
			t.Errorf("%s %v: kept until %s, due %s", x.kind, x.names, until, due)
		}
	}
}

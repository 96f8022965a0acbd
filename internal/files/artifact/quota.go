package artifact

import (
	"cmp"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Quota bounds the artifacts of a workspace. Fields that are 0 mean the defaults.
type Quota struct {
	Bytes int64
	Count int // of artifacts
}

// DefaultQuota is the default quota of a workspace: 8 GiB in 100,000 artifacts.
var DefaultQuota = Quota{Bytes: 8 << 30, Count: 100_000}

// WithDefaults replaces fields that are 0 by the defaults.
func (q Quota) WithDefaults() Quota {
	return Quota{Bytes: cmp.Or(q.Bytes, DefaultQuota.Bytes), Count: cmp.Or(q.Count, DefaultQuota.Count)}
}

// Check refuses (limit) a use beyond the quota.
func (q Quota) Check(would Quota) error {
	const hint = "put less, or ask the operator to raise the quota; artifacts without references are deleted after a while"
	switch {
	case would.Bytes > q.Bytes:
		return refusal.New(refusal.Limit, hint, "the workspace's artifacts would have %d bytes, the limit is %d", would.Bytes, q.Bytes).
			With("limit", q.Bytes)
	case would.Count > q.Count:
		return refusal.New(refusal.Limit, hint, "the workspace would have %d artifacts, the limit is %d", would.Count, q.Count).
			With("limit", q.Count)
	}
	return nil
}

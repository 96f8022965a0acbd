package artifact

import (
	"cmp"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Quota is the most that a workspace may keep. Fields that are 0 mean the defaults.
type Quota struct {
	Bytes int64
	Count int // of artifacts
}

// DefaultQuota is what a workspace may keep unless a store is told otherwise: 8 GiB in 100,000 artifacts.
var DefaultQuota = Quota{Bytes: 8 << 30, Count: 100_000}

// WithDefaults fills the fields that are 0.
func (q Quota) WithDefaults() Quota {
	return Quota{Bytes: cmp.Or(q.Bytes, DefaultQuota.Bytes), Count: cmp.Or(q.Count, DefaultQuota.Count)}
}

// Check refuses (limit) what goes beyond the quota.
func (q Quota) Check(would Quota) error {
	const hint = "put less, or have the server's operator raise the quota; what nothing refers to is swept away after a while"
	switch {
	case would.Bytes > q.Bytes:
		return refusal.New(refusal.Limit, hint, "the workspace's artifacts would have %d bytes, at most %d are kept", would.Bytes, q.Bytes).
			With("limit", q.Bytes)
	case would.Count > q.Count:
		return refusal.New(refusal.Limit, hint, "the workspace would have %d artifacts, at most %d are kept", would.Count, q.Count).
			With("limit", q.Count)
	}
	return nil
}

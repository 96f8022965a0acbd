//go:build slow

package sqlview

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/view/viewtest"
)

func TestViewsWithoutMemoryPassTheSuite(t *testing.T) {
	t.Parallel()
	viewtest.Run(t, func(t *testing.T) (ledger.Ledger, viewtest.Store) {
		log, v := embedded(t, filepath.Join(t.TempDir(), "trapeze.db"))
		return log, store(v.forgetful())
	})
}

func TestViewsThatFollowADistributedLogPassTheSuite(t *testing.T) {
	t.Parallel()
	viewtest.Run(t, func(t *testing.T) (ledger.Ledger, viewtest.Store) {
		d := ledgertest.NewDouble(ledgertest.Faults{Seed: 1, Lag: 2 * time.Millisecond, Gaps: 3, Conflicts: 0.1, Written: 0.05, Lost: 0.05})
		t.Cleanup(func() { closeAll(t, d) })
		return d, store(follow(t, d, ""))
	})
}

// forgetful makes nearly every entry fold its task again.
func (v *Views) forgetful() *Views {
	v.projector.size = 1
	v.projector.Forget()
	return v
}

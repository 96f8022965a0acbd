//go:build slow || outside

package scenario

import "testing"

func TestAHerdThatClaimsAtOnceLeavesEachTaskOneOwner(t *testing.T) {
	for _, kind := range ledgers {
		t.Run(kind, func(t *testing.T) {
			h := open(t, kind)
			defer h.stop()
			g := newHerd(h, herdSize)
			g.run(min(herdSize, 32))
			g.check()
		})
	}
}

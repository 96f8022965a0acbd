//go:build slow && !race

package handoff

const (
	sequences = 12_000
	reread    = 1_500
	watched   = 600
)

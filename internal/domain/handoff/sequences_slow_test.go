//go:build slow && !race

package handoff

const (
	sequences = 12_000
	reread    = 1_500
	rare      = true // whether these are enough to see each command refused to another principal
	watched   = 600
)

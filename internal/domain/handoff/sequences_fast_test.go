//go:build !slow

package handoff

// How many random stories are told, and how many of them with each event read back, and with a fold that is watched.
const (
	sequences = 2_000
	reread    = 300
	rare      = false // whether these are enough to see each command refused to another principal
	watched   = 150
)

//go:build !slow && race

package scenario

// How much is fought over ownership: less, for the race detector takes its time.
const (
	contestSeeds      = 1
	contestOperations = 10_000
)

//go:build !slow && !race

package scenario

// How much is fought over ownership.
const (
	contestSeeds      = 1
	contestOperations = 40_000
)

//go:build slow

package scenario

// How much is fought over ownership.
const (
	contestSeeds      = 8
	contestOperations = 40_000
)

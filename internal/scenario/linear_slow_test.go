//go:build slow

package scenario

// How much is fought over ownership.
const (
	contestSeeds      = 10
	contestOperations = 30_000
)

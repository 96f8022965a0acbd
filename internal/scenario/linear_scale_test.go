//go:build !slow

package scenario

// How much is fought over ownership: the slow suite fights longer, and more often.
const (
	contestSeeds      = 1
	contestOperations = 10_000
)

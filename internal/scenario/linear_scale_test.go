//go:build !slow

package scenario

// The size of the contests for ownership: the slow suite has longer ones, and more.
const (
	contestSeeds      = 1
	contestOperations = 10_000

	// plantedOnAll reports whether each planted bug must be caught on every ledger, or on one of them in turn.
	plantedOnAll = false

	supportTasks = 100 // that arrive at the support desk
)

//go:build outside && !slow

package scenario

// The size of the contests for ownership: on the engines of a cluster.
const (
	contestSeeds      = 1
	contestOperations = 10_000

	supportTasks = 100 // that arrive at the support desk
)

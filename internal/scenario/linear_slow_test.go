//go:build slow && !race

package scenario

// The size of the contests for ownership.
const (
	contestSeeds      = 8
	contestOperations = 40_000

	supportTasks = 200
)

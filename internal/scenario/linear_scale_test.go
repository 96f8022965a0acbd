//go:build !slow || race

package scenario

// The size of the contests for ownership: the slow suite has longer ones, and more.
const (
	contestSeeds      = 1
	contestOperations = 10_000

	supportTasks = 100 // that arrive at the support desk
)

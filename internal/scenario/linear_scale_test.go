//go:build !slow && !outside

package scenario

// The size of the contests for ownership: the slow suite has longer ones, and more.
const (
	contestSeeds      = 1
	contestOperations = 2_000

	supportTasks = 40 // that arrive at the support desk
)

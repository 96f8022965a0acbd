//go:build outside && !slow

package scenario

const (
	crashCycles = 2
	stopCycles  = 1
)

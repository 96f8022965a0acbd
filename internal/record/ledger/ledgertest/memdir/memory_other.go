//go:build !linux

package memdir

// memory returns nothing: only Linux has a file system in memory at a known place.
func memory() string { return "" }

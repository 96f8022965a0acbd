//go:build !linux && !darwin

package setup

// modesCount tells whether a file's mode restricts access to it.
const modesCount = false

// freeSpace is unknown on this system.
func freeSpace(string) (int64, bool) { return 0, false }

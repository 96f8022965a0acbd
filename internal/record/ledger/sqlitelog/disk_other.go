//go:build !linux && !darwin

package sqlitelog

import "math"

// freeSpace is not implemented on this system: a full disk is detected when a write fails.
func freeSpace(string) (int64, error) { return math.MaxInt64, nil }

func isFull(err error) bool { return code(err) == codeFull }

func isReadOnly(error) bool { return false }

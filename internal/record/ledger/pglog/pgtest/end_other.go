//go:build unix && !linux

package pgtest

import "os/exec"

// endWithTest does nothing here: a test that is killed leaves its servers running.
func endWithTest(*exec.Cmd) {}

// children are unknown here.
func children(int) []int { return nil }

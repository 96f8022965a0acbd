//go:build unix && !linux

package pgtest

import (
	"os/exec"
	"time"
)

// endWithTest does nothing here: a test that is killed leaves its servers running.
func endWithTest(*exec.Cmd) {}

// children are unknown here.
func children(int) []int { return nil }

// Processors is unknown here.
func (s *Server) Processors() time.Duration { return 0 }

// Processor is unknown here.
func Processor(int) time.Duration { return 0 }

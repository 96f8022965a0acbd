//go:build !unix

package work

import (
	"os"
	"os/exec"
)

func ownGroup(*exec.Cmd) {}

func endGroup(p *os.Process) error { return p.Kill() }

func killGroup(p *os.Process) { _ = p.Kill() }

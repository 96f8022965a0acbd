package daemon

import (
	"os"
	"os/exec"
)

// spawn starts the server in a new session, without standard input, and with the log as its only output. The channel is closed when the
// server exits.
func (c Config) spawn(addr string, log *os.File) (pid int, exited <-chan struct{}, err error) {
	exe := c.Executable
	if exe == "" {
		if exe, err = os.Executable(); err != nil {
			return 0, nil, err
		}
	}
	args := append([]string{"serve", "--data-dir", c.DataDir, "--addr", addr, "--log-file", LogFile(c.DataDir)}, c.Args...)
	cmd := exec.Command(exe, args...) //nolint:gosec,noctx // it is this program, and outlives this process
	cmd.Dir = c.DataDir               // the current directory may be unmounted or removed
	cmd.Stdout, cmd.Stderr = log, log
	Detach(cmd)
	if err := cmd.Start(); err != nil {
		return 0, nil, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = cmd.Wait() // the log has the reason
	}()
	return cmd.Process.Pid, done, nil
}

package shell

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// DefaultURL is the address of a server without --addr.
const DefaultURL = "http://127.0.0.1:8727"

// DataDir is the default data directory: $TRAPEZE_DATA, or trapeze in the user's data directory ($XDG_DATA_HOME or ~/.local/share; on
// macOS and Windows the user's configuration directory). The server and the commands share it, so that on one machine they need no
// settings.
func DataDir(getenv func(string) string) (string, error) {
	if dir := getenv("TRAPEZE_DATA"); dir != "" {
		return dir, nil
	}
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		dir, err := os.UserConfigDir()
		return filepath.Join(dir, "trapeze"), err
	}
	if dir := getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "trapeze"), nil
	}
	home := getenv("HOME")
	if home == "" {
		return "", errors.New("HOME is not set: set the data directory with --data-dir or TRAPEZE_DATA")
	}
	return filepath.Join(home, ".local", "share", "trapeze"), nil
}

// DataDir is the data directory: --data-dir, or the default.
func (s *Shell) DataDir() (string, error) {
	if s.Flags.DataDir != "" {
		return s.Flags.DataDir, nil
	}
	return DataDir(s.Getenv)
}

// adminToken reads the owner's token, which trapeze serve writes to the data directory. It is empty if there is none.
func (s *Shell) adminToken() (token, path string, err error) {
	dir, err := s.DataDir()
	if err != nil {
		return "", "", err
	}
	path = filepath.Join(dir, "admin.token")
	token, err = readToken(path)
	return token, path, err
}

// agentTokenFile is the file that an agent's token for the server is kept in. As the owner's token, those of agents in the directory itself are for the servers of
// this machine; others have a directory each, so that no server gets the token of another.
func (s *Shell) agentTokenFile(agent string) (string, error) {
	if err := event.CheckName("an agent", agent); err != nil {
		return "", err
	}
	dir, err := s.DataDir()
	dir = filepath.Join(dir, "agents")
	if s.elsewhere() != nil {
		sum := sha256.Sum256([]byte(s.URLs()))
		dir = filepath.Join(dir, "at-"+hex.EncodeToString(sum[:8]))
	}
	return filepath.Join(dir, agent+".token"), err
}

// readToken reads the file of a token. It refuses a file that others can read.
func readToken(path string) (string, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	} else if err != nil {
		return "", err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
		return "", hinted{
			fmt.Errorf("%s can be read by others (mode %04o)", path, info.Mode().Perm()),
			"restrict it with chmod 600, and create a new token if others had access",
		}
	}
	b := make([]byte, 4096)
	n, err := f.Read(b)
	if err != nil {
		return "", fmt.Errorf("%s has no token: %w", path, err)
	}
	return strings.TrimSpace(string(b[:n])), nil
}

// keepToken writes the file of a token, readable by its owner alone.
func keepToken(path, token string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".token-*") // created with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // gone after the rename
	if _, err := tmp.WriteString(token + "\n"); err != nil {
		return errors.Join(err, tmp.Close())
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}

func filesTopic() *cobra.Command {
	return &cobra.Command{Use: "files", Short: "Files in the data directory, and which token a command uses", Long: `The data directory is --data-dir, or TRAPEZE_DATA, or trapeze in $XDG_DATA_HOME or ~/.local/share (on macOS and
Windows in the user's configuration directory). Only its owner can read it:

    trapeze.db          the record and its views
    trapeze.db.reserve  space for the records of reads, should the disk be full
    views.db            the views, if the record is in PostgreSQL; postgres.record names it
    artifacts/          files that envelopes refer to
    segments/           old entries that trapeze put-away has moved out of trapeze.db
    proof/              the tree of the record, its last checkpoint and its keys; proof/key is secret
    policy.yaml         the policy, if there is one
    page.key            seals the sessions of the page
    admin.token         the owner's token, which trapeze serve creates and commands use by default
    sessions/           sessions of trapeze login, one for each server
    agents/NAME.token   tokens that commands have created for --agent NAME, for servers of this machine; agents/at-…/ has those for another server
    agents/last/        the task that each of them created or handed off last, for @last, and the epochs under which it was given tasks
    backups/            clients' files as they were before trapeze init changed them
    serve.lock          the process that serves the directory, for trapeze stop
    serve.log           the log of a server in the background; serve.log.1 is the previous log

A command uses the first of these tokens:

    --token or TRAPEZE_TOKEN   the given token; with --agent NAME it must be that agent's, or an admin's
    --agent or TRAPEZE_AGENT   the agent's kept token; if there is none, one is created with a token below, and kept
    trapeze login              the session at the server, until trapeze logout
    otherwise                  the owner's token, for the server that runs on the data directory alone

The token alone decides who acts. For a program that trapeze work runs, TRAPEZE_URL, TRAPEZE_TOKEN, TRAPEZE_AGENT, TRAPEZE_TASK,
TRAPEZE_EPOCH and TRAPEZE_HANDOFF are set (and TRAPEZE_CA and its like, if the worker has them), and commands use that task and epoch. TRAPEZE_EPOCH without
TRAPEZE_TASK is the epoch of the task that a command names. Without an epoch, a command of the owner uses the one under which the agent got the task with
trapeze accept, task create --start, task start or ticket claim on this machine: it is refused if another session of the agent has the task by then, which
is under another epoch. If it got the task otherwise, the command uses the current epoch.`}
}

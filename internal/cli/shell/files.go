package shell

import (
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

// DefaultURL is the address of a server that was not told another.
const DefaultURL = "http://127.0.0.1:8727"

// DataDir is the data directory where none is named: $TRAPEZE_DATA, else trapeze under the user's data directory
// ($XDG_DATA_HOME or ~/.local/share; on macOS and Windows the user's configuration directory). Server and command line
// share it, so that on one machine neither needs to be told.
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
		return "", errors.New("HOME is not set: name a data directory with --data-dir or TRAPEZE_DATA")
	}
	return filepath.Join(home, ".local", "share", "trapeze"), nil
}

// DataDir is the data directory: --data-dir, or where none is named.
func (s *Shell) DataDir() (string, error) {
	if s.Flags.DataDir != "" {
		return s.Flags.DataDir, nil
	}
	return DataDir(s.Getenv)
}

// adminToken reads the owner's token, which serve leaves in the data directory. Empty if there is none.
func (s *Shell) adminToken() (token, path string, err error) {
	dir, err := s.DataDir()
	if err != nil {
		return "", "", err
	}
	path = filepath.Join(dir, "admin.token")
	token, err = readToken(path)
	return token, path, err
}

// agentTokenFile is where an agent's token is kept, once the owner has asked for one.
func (s *Shell) agentTokenFile(agent string) (string, error) {
	if err := event.CheckName("an agent", agent); err != nil {
		return "", err
	}
	dir, err := s.DataDir()
	return filepath.Join(dir, "agents", agent+".token"), err
}

// readToken reads a token's file. It refuses one that others may read: a token is a key.
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
			fmt.Errorf("%s may be read by others (mode %04o)", path, info.Mode().Perm()),
			"make it yours alone with chmod 600, and make a new token if others had access",
		}
	}
	b := make([]byte, 4096)
	n, err := f.Read(b)
	if err != nil {
		return "", fmt.Errorf("%s holds no token: %w", path, err)
	}
	return strings.TrimSpace(string(b[:n])), nil
}

// keepToken writes a token's file, for its owner alone.
func keepToken(path, token string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".token-*") // made with mode 0600
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
	return &cobra.Command{Use: "files", Short: "Where things are kept, and which credential is used", Long: `The data directory is --data-dir, or TRAPEZE_DATA, or trapeze in $XDG_DATA_HOME or ~/.local/share (on macOS and
Windows in the user's configuration directory). It belongs to its owner alone:

    trapeze.db          the record and its views
    artifacts/          files that envelopes refer to
    admin.token         the owner's token, which serve makes and the command line uses by itself
    agents/NAME.token   tokens that the command line has made for --agent NAME
    backups/            clients' files as they were before trapeze init wrote them
    serve.lock          which process serves the directory, for trapeze stop
    serve.log           the log of a server in the background; serve.log.1 is the part before

Which token a command uses, first match wins:

    --token or TRAPEZE_TOKEN   as given; with --agent NAME it is that agent's, or the owner's, who acts as any agent
    --agent or TRAPEZE_AGENT   the agent's kept token; if there is none, one is made with the owner's token and kept
    otherwise                  the owner's token

Who acts is decided by the token alone. A program started by "trapeze work" finds TRAPEZE_URL, TRAPEZE_TOKEN,
TRAPEZE_AGENT, TRAPEZE_TASK, TRAPEZE_EPOCH and TRAPEZE_HANDOFF set, and commands take the task and its epoch from there.
Where an epoch is neither given nor set, the command reads the task first and uses its present one.`}
}

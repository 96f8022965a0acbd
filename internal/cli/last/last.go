package last

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// most is the greatest size of a file, in bytes: more than an id has, or a number and the name of an agent.
const most = 128

// Caller names the file of a caller: an agent, or else the holder of a token, or else the owner of the data directory.
func Caller(agent, token string) string {
	switch {
	case agent != "":
		return agent
	case token != "":
		sum := sha256.Sum256([]byte(token))
		return "token~" + hex.EncodeToString(sum[:8])
	}
	return "owner~" // which is the name of no agent
}

// Save remembers a task as the last one of a caller. The directory is made if it is not there.
func Save(dir, caller, task string) error {
	if err := event.CheckTaskID(task); err != nil { // any server may have answered it
		return err
	}
	return write(filepath.Join(dir, caller), task)
}

// Load returns the last task of a caller; empty if none is remembered.
func Load(dir, caller string) string { return read(filepath.Join(dir, caller)) }

// write makes a file with a line of text. Another command may read it meanwhile.
func write(file, line string) error {
	dir := filepath.Dir(file)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(dir, ".last-*") // created with mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // gone after the rename
	_, err = tmp.WriteString(line + "\n")
	if failed := tmp.Close(); err == nil {
		err = failed
	}
	if err != nil {
		return err
	}
	return os.Rename(tmp.Name(), file)
}

// read returns the line of a file; empty if there is none.
func read(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	b := make([]byte, most)
	n, _ := f.Read(b) // an empty file has none
	return strings.TrimSpace(string(b[:n]))
}

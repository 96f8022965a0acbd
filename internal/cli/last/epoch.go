package last

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Epoch is the epoch under which a caller was given a task, as an agent. The zero value is none.
type Epoch struct {
	N     uint64
	Agent string
}

// maxTasks is the maximum number of tasks of which the epoch of a caller is remembered; the oldest are forgotten first.
const maxTasks = 1000

// epochsOf is the directory of the epochs of a caller. No caller is named like its parent.
func epochsOf(dir, caller string) string { return filepath.Join(dir, "epochs~", caller) }

// Hold remembers under which epoch a caller was given a task. The directory is made if it is not there.
func Hold(dir, caller, task string, e Epoch) error {
	dir = epochsOf(dir, caller)
	if err := write(dir, task, strconv.FormatUint(e.N, 10)+" "+e.Agent); err != nil {
		return err
	}
	return forgetOldest(dir, maxTasks)
}

// Held is the epoch under which a caller was given a task.
func Held(dir, caller, task string) Epoch {
	if filepath.Base(task) != task { // no id
		return Epoch{}
	}
	number, agent, _ := strings.Cut(read(filepath.Join(epochsOf(dir, caller), task)), " ")
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return Epoch{}
	}
	return Epoch{n, agent}
}

// Drop forgets the epoch under which a caller was given a task.
func Drop(dir, caller, task string) { _ = os.Remove(filepath.Join(epochsOf(dir, caller), task)) }

// forgetOldest removes the oldest files of a directory that has more than a number of them.
func forgetOldest(dir string, most int) error {
	files, err := os.ReadDir(dir)
	if err != nil || len(files) <= most {
		return err
	}
	written := func(f os.DirEntry) time.Time {
		info, err := f.Info()
		if err != nil {
			return time.Time{} // another command has removed it
		}
		return info.ModTime()
	}
	slices.SortFunc(files, func(a, b os.DirEntry) int { return written(a).Compare(written(b)) })
	for _, f := range files[:len(files)-most] {
		_ = os.Remove(filepath.Join(dir, f.Name()))
	}
	return nil
}

package last

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// Epoch is the epoch under which a caller was given a task, as an agent. The zero value is none.
type Epoch struct {
	N     uint64
	Agent string
}

// maxTasks is the maximum number of tasks of which the epoch of a caller is remembered; the oldest are forgotten first.
const maxTasks = 1000

// epochsOf is the directory of the epochs of a caller, and the file in it for a task, whose id may be what any server answered. No caller is named like its parent.
func epochsOf(dir, caller, task string) (of, file string, err error) {
	if err := event.CheckTaskID(task); err != nil {
		return "", "", err
	}
	of = filepath.Join(dir, "epochs~", caller)
	return of, filepath.Join(of, task), nil
}

// Hold remembers under which epoch a caller was given a task. The directory is made if it is not there.
func Hold(dir, caller, task string, e Epoch) error {
	of, file, err := epochsOf(dir, caller, task)
	if err == nil {
		err = event.CheckName("an agent", e.Agent)
	}
	if err == nil {
		err = write(file, strconv.FormatUint(e.N, 10)+" "+e.Agent)
	}
	if err != nil {
		return err
	}
	return forgetOldest(of, maxTasks)
}

// Held is the epoch under which a caller was given a task.
func Held(dir, caller, task string) Epoch {
	_, file, err := epochsOf(dir, caller, task)
	if err != nil {
		return Epoch{}
	}
	number, agent, _ := strings.Cut(read(file), " ")
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return Epoch{}
	}
	return Epoch{n, agent}
}

// Drop forgets the epoch under which a caller was given a task.
func Drop(dir, caller, task string) {
	if _, file, err := epochsOf(dir, caller, task); err == nil {
		_ = os.Remove(file)
	}
}

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

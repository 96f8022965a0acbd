package server

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// memoryDir is a directory in memory with enough space; empty: there is none.
func memoryDir() string {
	const dir = "/dev/shm"
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil || disk.Bavail*uint64(disk.Bsize) < minMemory { //nolint:gosec // a block has a positive size
		return ""
	}
	return dir
}

// The directories of servers with temporary data in memory: while one is made, and then with a file that its server has locked.
const (
	newPrefix  = "trapeze-new-"
	memPrefix  = "trapeze-temporary-"
	ownerMark  = "owner"
	ownerFlags = syscall.LOCK_EX | syscall.LOCK_NB
)

// makeOwned creates a directory below another that is owned until owner is closed or the process ends. It removes those whose owner
// has been killed: nothing else would give their memory back.
func makeOwned(below string) (dir string, owner io.Closer, err error) {
	if dir, err = os.MkdirTemp(below, newPrefix); err != nil { // with mode 0700
		return "", nil, err
	}
	mark, err := os.OpenFile(filepath.Join(dir, ownerMark), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(dir))
	}
	final := filepath.Join(below, memPrefix+strings.TrimPrefix(filepath.Base(dir), newPrefix))
	if err := errors.Join(syscall.Flock(int(mark.Fd()), ownerFlags), os.Rename(dir, final)); err != nil { // it has its name when it is locked
		return "", nil, errors.Join(err, mark.Close(), os.RemoveAll(dir))
	}
	left, err := filepath.Glob(filepath.Join(below, memPrefix+"*"))
	if err != nil {
		return "", nil, errors.Join(err, mark.Close(), os.RemoveAll(final))
	}
	for _, dir := range left {
		if dir != final {
			removeLeft(dir)
		}
	}
	return final, mark, nil
}

// removeLeft removes a directory of this user whose owner has been killed.
func removeLeft(dir string) {
	info, err := os.Lstat(dir)
	if err != nil || !info.IsDir() {
		return
	}
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Getuid() {
		return
	}
	mark, err := os.OpenFile(filepath.Join(dir, ownerMark), os.O_RDWR|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return
	}
	defer func() { _ = mark.Close() }()
	if syscall.Flock(int(mark.Fd()), ownerFlags) == nil {
		_ = os.RemoveAll(dir) // what stays is removed by the next server
	}
}

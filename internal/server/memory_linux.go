package server

import "syscall"

// memoryDir is a directory in memory with enough space; empty: there is none.
func memoryDir() string {
	const dir = "/dev/shm"
	var disk syscall.Statfs_t
	if err := syscall.Statfs(dir, &disk); err != nil || disk.Bavail*uint64(disk.Bsize) < minMemory { //nolint:gosec // a block has a positive size
		return ""
	}
	return dir
}

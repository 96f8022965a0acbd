//go:build !linux

package server

// memoryDir is a directory in memory with enough space; empty: there is none.
func memoryDir() string { return "" }

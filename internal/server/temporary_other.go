//go:build !linux

package server

import (
	"errors"
	"io"
)

// memoryDir is a directory in memory with enough space; empty: there is none.
func memoryDir() string { return "" }

func makeOwned(string) (string, io.Closer, error) { return "", nil, errors.ErrUnsupported }

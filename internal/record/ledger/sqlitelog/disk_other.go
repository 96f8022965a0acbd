//go:build !linux && !darwin

package sqlitelog

func isFull(err error) bool { return code(err) == codeFull }

func isReadOnly(error) bool { return false }

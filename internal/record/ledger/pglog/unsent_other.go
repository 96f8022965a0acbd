//go:build !linux

package pglog

import "syscall"

// limitUnsent does nothing here: the system's own limit applies, mostly of minutes.
func limitUnsent(string, string, syscall.RawConn) error { return nil }

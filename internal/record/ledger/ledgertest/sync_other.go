//go:build !linux

package ledgertest

import "os"

func syncData(f *os.File) error { return f.Sync() }

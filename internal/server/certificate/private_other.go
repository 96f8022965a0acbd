//go:build !unix

package certificate

import "io/fs"

// private cannot tell here who can read a file.
func private(fs.FileInfo) bool { return true }

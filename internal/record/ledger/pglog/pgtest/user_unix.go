//go:build unix

package pgtest

import (
	"os"
	"os/user"
	"strconv"
	"syscall"
	"testing"
)

// credential is that of an unprivileged user if this one is root; nil otherwise.
func credential(t testing.TB) *syscall.Credential {
	if os.Getuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		if u, err := user.Lookup(name); err == nil {
			uid, err := strconv.ParseUint(u.Uid, 10, 32)
			must(t, err)
			gid, err := strconv.ParseUint(u.Gid, 10, 32)
			must(t, err)
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		}
	}
	t.Fatal("PostgreSQL does not run as root, and there is no user postgres or nobody")
	return nil
}

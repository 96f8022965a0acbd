package freeaddr

import (
	"fmt"
	"math/rand/v2"
	"net"
	"runtime"
	"testing"
)

// Ports are outside the range of ephemeral ports of Linux, 32768 to 60999: of those, a connection could get one before the server listens.
const first, count = 20_000, 12_000

// New returns n addresses on the loopback, all different, at which nothing listens. On Linux no other test gets them until the test ends,
// in whatever process: a server that is restarted finds its address free.
func New(t testing.TB, n int) []string {
	t.Helper()
	list := make([]string, 0, n)
	for _, offset := range rand.Perm(count) {
		if len(list) == n {
			return list
		}
		port := first + offset
		if !reserved(t, port) {
			continue
		}
		addr := fmt.Sprint("127.0.0.1:", port)
		if l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", addr); err == nil {
			_ = l.Close()
			list = append(list, addr)
		}
	}
	t.Fatalf("%d of %d ports are free, %d are needed", len(list), count, n)
	return nil
}

// reserved reports whether the port is this test's from now on. The reservation is a socket with a name that is no file, and ends with the process.
func reserved(t testing.TB, port int) bool {
	if runtime.GOOS != "linux" {
		return true
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", fmt.Sprint("@trapeze-test-port-", port))
	if err != nil {
		return false
	}
	t.Cleanup(func() { _ = l.Close() })
	return true
}

package freeaddr

import (
	"fmt"
	"math/rand/v2"
	"net"
	"testing"
)

// Ports are outside the range of ephemeral ports of Linux, 32768 to 60999: of those, a connection could get one before the server listens.
const first, count = 20_000, 12_000

// New returns n addresses on the loopback, all different, at which nothing listens.
func New(t testing.TB, n int) []string {
	t.Helper()
	list := make([]string, 0, n)
	for _, offset := range rand.Perm(count) {
		if len(list) == n {
			return list
		}
		addr := fmt.Sprint("127.0.0.1:", first+offset)
		if l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", addr); err == nil {
			_ = l.Close()
			list = append(list, addr)
		}
	}
	t.Fatalf("%d of %d ports are free, %d are needed", len(list), count, n)
	return nil
}

package multiplex

import (
	"bytes"
	"net"
	"testing"
	"testing/synctest"
)

func TestASideThatDoesNotReadLosesTheConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a, b := net.Pipe()
		defer b.Close()
		f := NewFrames(a, nil)
		part := bytes.Repeat([]byte("x"), maxUnread)
		sent := 0
		for f.Send(1, func(to []byte) []byte { return append(to, part...) }) == nil {
			if sent++; sent > 3 {
				t.Fatal("more is buffered than the bound allows")
			}
		}
		f.Close()
	})
}

func TestMessagesArriveWholeAndInOrder(t *testing.T) {
	t.Parallel()
	a, b := net.Pipe()
	from, to := NewFrames(a, nil), NewFrames(b, nil)
	defer to.Close()
	go func() {
		for i := range 100 {
			_ = from.Send(uint32(i), func(to []byte) []byte { return append(to, bytes.Repeat([]byte("x"), i*i)...) }) //nolint:gosec // less than 100
		}
		from.Flush()
	}()
	for i := range 100 {
		call, message, err := to.Receive(100 * 100)
		if err != nil || int(call) != i || len(message) != i*i {
			t.Fatalf("call %d of %d bytes, %v; want %d", call, len(message), err, i)
		}
	}
}

package ledgertest_test

import (
	"errors"
	"io"
	"net"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest/link"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest/netns"
)

func network(t *testing.T) *netns.Network {
	t.Helper()
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("the program ip is not installed")
	}
	n, err := netns.New(t, 2)
	if err != nil {
		t.Skip(err)
	}
	return n
}

// echoAcross listens in the second namespace, and returns a connection to it from the first.
func echoAcross(t *testing.T, n *netns.Network) net.Conn {
	t.Helper()
	l, err := n.Listen(1, n.Host(1)+":0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _, _ = io.Copy(c, c); _ = c.Close() }()
		}
	}()
	c, err := n.Dial(0, l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestWhatIsHeldIsSentAgainByTCP(t *testing.T) {
	n := network(t)
	c := echoAcross(t, n)
	say(t, c, "one")
	hears(t, c, "one")
	for _, one := range []func(link.Way){func(w link.Way) { n.Sends(0, w) }, func(w link.Way) { n.Hears(0, w) }} {
		one(link.Way{Held: true})
		say(t, c, "two")
		_ = c.SetReadDeadline(time.Now().Add(30 * time.Millisecond))
		if k, err := c.Read(make([]byte, 1)); err == nil || !strings.Contains(err.Error(), "timeout") {
			t.Errorf("%d bytes, %v; nothing may come", k, err)
		}
		one(link.Way{})
		hears(t, c, "two")
	}
	n.All(link.Way{Delay: 20 * time.Millisecond, Lost: 0.05})
	begun := time.Now()
	say(t, c, "late")
	hears(t, c, "late")
	if took := time.Since(begun); took < 40*time.Millisecond {
		t.Errorf("there and back take %s", took)
	}
}

func TestAConnectionIsBrokenAtBothSides(t *testing.T) {
	n := network(t)
	c := echoAcross(t, n)
	say(t, c, "one")
	hears(t, c, "one")
	if k := n.Reset(1); k != 1 {
		t.Errorf("%d connections", k)
	}
	say(t, c, "two")
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
	if k, err := c.Read(make([]byte, 3)); err == nil || errors.Is(err, io.EOF) || strings.Contains(err.Error(), "timeout") {
		t.Errorf("%d bytes, %v; want a reset", k, err)
	}
	say(t, echoAcross(t, n), "a new one works")
}

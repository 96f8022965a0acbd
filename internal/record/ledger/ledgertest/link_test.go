package ledgertest_test

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest/link"
)

// echo is a program that sends back what it gets.
func echo(t *testing.T) (addr string) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
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
	return l.Addr().String()
}

func dial(t *testing.T, addr string) net.Conn {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func say(t *testing.T, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

// hears waits for an answer.
func hears(t *testing.T, c net.Conn, want string) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
	b := make([]byte, len(want))
	if _, err := io.ReadFull(c, b); err != nil || string(b) != want {
		t.Fatalf("%q, %v; want %q", b, err, want)
	}
}

// silent checks that nothing comes, not even the end.
func silent(t *testing.T, c net.Conn) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(30 * time.Millisecond))
	b := make([]byte, 1)
	if n, err := c.Read(b); n > 0 || err == nil || !strings.Contains(err.Error(), "timeout") {
		t.Errorf("%q, %v; nothing may come", b[:n], err)
	}
}

func TestWhatIsHeldArrivesLater(t *testing.T) {
	l := link.New(t, echo(t))
	c := dial(t, l.Addr())
	say(t, c, "one")
	hears(t, c, "one")
	for name, ways := range map[string][2]link.Way{"there": {{Held: true}, {}}, "back": {{}, {Held: true}}, "both": {{Held: true}, {Held: true}}} {
		l.SetThere(ways[0])
		l.SetBack(ways[1])
		say(t, c, name)
		silent(t, c)
		late := dial(t, l.Addr())
		say(t, late, "late")
		silent(t, late)
		l.SetThere(link.Way{})
		l.SetBack(link.Way{})
		hears(t, c, name)
		hears(t, late, "late")
	}
	l.SetThere(link.Way{Delay: 20 * time.Millisecond, Lost: 1})
	begun := time.Now()
	say(t, c, "late")
	hears(t, c, "late")
	if took := time.Since(begun); took < 220*time.Millisecond {
		t.Errorf("what is lost and delayed takes %s", took)
	}
}

// Nobody hears across a network that is cut that the other has gone.
func TestTheEndOfAConnectionIsHeld(t *testing.T) {
	network := link.NewNetwork(t, echo(t), echo(t))
	c := dial(t, network.Addrs(0)[1])
	say(t, c, "x")
	hears(t, c, "x")
	network.Hears(0, link.Way{Held: true})
	_ = c.(*net.TCPConn).CloseWrite()
	silent(t, c)
	network.All(link.Way{})
	_ = c.SetReadDeadline(time.Now().Add(time.Minute))
	if _, err := c.Read(make([]byte, 1)); err != io.EOF { //nolint:errorlint // as Read returns it
		t.Errorf("%v, want the end", err)
	}
	c = dial(t, network.Addrs(0)[1])
	say(t, c, "x")
	hears(t, c, "x")
	if n := network.Reset(1); n < 1 {
		t.Errorf("%d connections are broken", n)
	}
	if _, err := c.Read(make([]byte, 1)); err == nil || strings.Contains(err.Error(), "timeout") {
		t.Errorf("after that, %v", err)
	}
	if own := network.Addrs(1)[1]; own == network.Addrs(0)[1] {
		t.Errorf("a program reaches itself at %s", own)
	}
}

//go:build slow || outside

package natslog

import (
	"bufio"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// deaf is a server of which the first connection takes nothing any more once it is made, and says nothing: its network is gone, and what is to be sent stays in the program.
type deaf struct{ made int }

// Dial implements [nats.CustomDialer].
func (d *deaf) Dial(string, string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	d.made++
	go func(first bool) {
		_, _ = theirs.Write([]byte(`INFO {"server_id":"a","version":"2.12.0","proto":1,"max_payload":2000000,"headers":true}` + "\r\n"))
		for r := bufio.NewReader(theirs); ; {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			if strings.HasPrefix(line, "PING") {
				_, _ = theirs.Write([]byte("PONG\r\n"))
				if first {
					return
				}
			}
		}
	}(d.made == 1)
	return ours, nil
}

// While something is being written nobody looks whether the server answers pings.
func TestAConnectionThatTakesNothingIsMadeAgain(t *testing.T) {
	server, again := &deaf{}, make(chan struct{})
	c, err := Connect("nats://127.0.0.1:4222", nats.SetCustomDialer(server), nats.ReconnectHandler(func(*nats.Conn) { close(again) }))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.Publish("a", make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	select {
	case <-again:
	case <-time.After(6 * writeTimeout):
		t.Fatal("it is kept")
	}
	if err := c.FlushTimeout(time.Minute); err != nil {
		t.Error(err)
	}
}

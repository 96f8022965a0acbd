//go:build slow

package natsnode

import (
	"bytes"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
)

// A server that cannot go on, since another program took its port after the check for instance, only logs that.
func TestANodeThatCannotGoOnSaysWhy(t *testing.T) {
	s, err := server.NewServer(&server.Options{DontListen: true, NoSigs: true, NoLog: true})
	if err != nil {
		t.Fatal(err)
	}
	to := logger{fatal: make(chan string, 1)}
	to.Fatalf("Error listening on router port: %d - %v", 6222, "address already in use")
	to.Fatalf("the second reason")
	if err := ready(s, to.fatal); err == nil || !strings.Contains(err.Error(), "router port: 6222 - address already in use") {
		t.Errorf("the error is %v", err)
	}
}

// What each start reports is no warning: newcomers would look for what is wrong.
func TestWhatEachStartReportsIsNotLogged(t *testing.T) {
	var out bytes.Buffer
	to := logger{to: slog.New(slog.NewTextHandler(&out, nil))}
	to.Warnf("%s", "Waiting for routing to be established...")
	to.Errorf("Error trying to connect to route (attempt %d): %v", 1, "dial tcp 127.0.0.1:6222: connect: connection refused")
	to.Errorf("%s - rid:%d - TLS route handshake error: %v", "192.0.2.1:44286", 44, io.EOF) // a node that looks who lives
	if out.Len() > 0 {
		t.Errorf("it logs %s", &out)
	}
	for _, text := range []string{"the disk is full", "Error trying to connect to route (attempt 1): lookup n2.example.org: no such host", "TLS route handshake error: unknown certificate authority"} {
		if to.Errorf("%s", text); !strings.Contains(out.String(), text) {
			t.Errorf("%s: it logs %q", text, &out)
		}
	}
}

//go:build outside

package natslog_test

import (
	"crypto/rand"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog"
	"github.com/trapezehq/trapeze/internal/server/certificate/certtest"
)

// alone starts a NATS server that is alone, with JetStream.
func alone(t *testing.T, change func(*server.Options)) *server.Server {
	t.Helper()
	o := &server.Options{
		ServerName: "alone", Host: "127.0.0.1", Port: server.RANDOM_PORT, NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: t.TempDir(), SyncAlways: true, MaxPayload: natslog.MaxPayload, MaxPending: 64 << 20,
	}
	change(o)
	s, err := server.NewServer(o)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server does not start")
	}
	return s
}

func TestAServerIsReachedOverTLSWhoseCertificateIsVerified(t *testing.T) {
	ca, other := certtest.NewCA(t), certtest.NewCA(t)
	pair := ca.Issue("127.0.0.1")
	cert, err := tls.LoadX509KeyPair(pair.Cert, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	s := alone(t, func(o *server.Options) {
		o.TLSConfig, o.TLSTimeout = &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS13}, 5
		o.Username, o.Password = "trapeze", "secret of the test"
	})
	_, port, _ := strings.Cut(s.Addr().String(), ":")
	url := "tls://trapeze:secret%20of%20the%20test@127.0.0.1:" + port
	for name, more := range map[string][]nats.Option{"the system's CAs": nil, "another CA": {nats.RootCAs(other.File)}} {
		if c, err := natslog.Connect(url, more...); err == nil {
			c.Close()
			t.Errorf("with %s the server is trusted", name)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("an error has the password: %v", err)
		}
	}
	c, err := natslog.Connect(url, nats.RootCAs(ca.File))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	l, err := natslog.Open(t.Context(), c, natslog.Options{Replicas: 1, Unsafe: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if _, err := l.Append(t.Context(), ledgertest.NewEntry("w/task/a", 1, "x"), 0); err != nil {
		t.Error(err)
	}
	for _, plain := range []string{"nats://trapeze:secret@nats.example.org:4222", "nats://127.0.0.1:4222,nats://192.0.2.1:4222"} {
		if c, err := natslog.Connect(plain); err == nil {
			c.Close()
			t.Errorf("%s was used without TLS", plain)
		} else if !strings.Contains(err.Error(), "unencrypted") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", plain, err)
		}
	}
}

func TestServersWithoutSpaceAreFullAndReadsGoOn(t *testing.T) {
	s := alone(t, func(o *server.Options) { o.JetStreamMaxStore = 4 << 20 })
	c, err := natslog.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	l, err := natslog.Open(t.Context(), c, natslog.Options{Replicas: 1, Unsafe: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	random := make([]byte, 384<<10)
	_, _ = rand.Read(random)                          // never fails
	text := base64.StdEncoding.EncodeToString(random) // which cannot be compressed by much
	stored := 0
	for ; err == nil && stored < 100; stored++ {
		_, err = l.Append(t.Context(), ledgertest.NewEntry(ledger.Stream(fmt.Sprint("w/task/", stored)), 1, text), 0)
	}
	if !errors.Is(err, ledger.ErrFull) || !errors.Is(l.Err(), ledger.ErrFull) {
		t.Fatalf("after %d entries: %v; the log says %v", stored, err, l.Err())
	}
	if got, err := recorded(t, l, 0); err != nil || len(got) != stored-1 {
		t.Errorf("%d of %d entries are read, %v", len(got), stored-1, err)
	}
	if last, err := l.Last(t.Context()); err != nil || int(last) != stored-1 { //nolint:gosec // small
		t.Errorf("the last position is %d, %v", last, err)
	}
}

// The connection of a log that cannot be opened is used for the next try.
func TestALogThatIsNotOpenedHearsNothing(t *testing.T) {
	s := alone(t, func(*server.Options) {})
	c, err := natslog.Connect(s.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var hears []int
	for range 3 {
		l, err := natslog.Open(t.Context(), c, natslog.Options{Name: fmt.Sprint("UNSAFE", len(hears)), Replicas: 1, Filling: true, Synced: true})
		if err == nil {
			_ = l.Close()
			t.Fatal("it is opened")
		}
		hears = append(hears, c.NumSubscriptions())
	}
	if hears[0] != hears[2] {
		t.Errorf("after tries that failed there are %v subscriptions", hears)
	}
}

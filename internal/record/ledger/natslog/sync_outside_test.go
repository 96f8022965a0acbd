//go:build outside

package natslog_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"

	"github.com/trapezehq/trapeze/internal/record/ledger/natslog"
	"github.com/trapezehq/trapeze/internal/record/ledger/natslog/natstest"
)

// monitored starts a server that is alone, and returns the address of its monitoring.
func monitored(t *testing.T, name string, sync bool) string {
	t.Helper()
	s, err := server.NewServer(&server.Options{
		ServerName: name, Host: "127.0.0.1", Port: server.RANDOM_PORT, HTTPHost: "127.0.0.1", HTTPPort: server.RANDOM_PORT, NoSigs: true, NoLog: true,
		JetStream: true, StoreDir: t.TempDir(), SyncAlways: sync,
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Shutdown(); s.WaitForShutdown() })
	if !s.ReadyForConnections(time.Minute) {
		t.Fatal("the server does not start")
	}
	return fmt.Sprint("http://", s.MonitorAddr())
}

func TestServersThatDoNotSyncEachWriteAreRefused(t *testing.T) {
	c := natstest.Start(t, 3)
	good := []string{monitored(t, "a", true), monitored(t, "b", true), monitored(t, "c", true)}
	lazy := monitored(t, "lazy", false)
	for _, tt := range []struct {
		monitors []string
		want     string
	}{
		{nil, "not known"},
		{good[:2], "not known"},
		{[]string{good[0], good[1], good[0]}, "each server once"},
		{[]string{good[0], good[1], lazy}, "sync_interval: always"},
		{[]string{good[0], good[1], "http://127.0.0.1:1"}, "127.0.0.1:1"},
		{good, ""},
	} {
		l, err := natslog.Open(t.Context(), c.Connect(t, 0), natslog.Options{Name: "SYNC", Monitors: tt.monitors})
		if err == nil {
			_ = l.Close()
		}
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %v, want %q", tt.monitors, err, tt.want)
		}
	}
}

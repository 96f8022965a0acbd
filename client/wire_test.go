package client_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client/wire"
)

func TestAQuerySaysOnlyWhatWasSaid(t *testing.T) {
	q := wire.Query{}
	q.Text("text", "")
	q.Number("number", 0)
	q.Position("position", 0)
	q.Flag("flag", false)
	q.Time("time", time.Time{})
	if len(q) > 0 {
		t.Errorf("it says %v", q)
	}
	q.Text("text", "a&b")
	q.Number("number", -1)
	q.Position("position", 1<<63)
	q.Flag("flag", true)
	q.Time("time", time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600)))
	const want = "flag=true&number=-1&position=9223372036854775808&text=a%26b&time=2026-01-02T02%3A04%3A05.000000006Z"
	if got := url.Values(q).Encode(); got != want {
		t.Errorf("it says %s, want %s", got, want)
	}
}

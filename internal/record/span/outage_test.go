package span_test

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/internal/record/span/outage"
)

func TestAnOutageIsLoggedWhenItBeginsOnceAMinuteAndWhenItEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		r := outage.New(slog.New(slog.NewTextHandler(&out, nil)), "nothing is sent", "it is sent again")
		lines := func() []string {
			defer out.Reset()
			return strings.Split(strings.TrimSpace(out.String()), "\n")
		}
		r.Sent()
		if out.Len() > 0 {
			t.Errorf("there was no outage: %s", &out)
		}
		for range 2 { // the second outage is as the first one
			for range 5*60/2 + 1 { // five minutes
				r.Failed(errors.New("refused"), 3)
				time.Sleep(2 * time.Second)
			}
			r.Sent()
			r.Sent()
			got := lines()
			if len(got) != 7 {
				t.Fatalf("%d lines:\n%s", len(got), strings.Join(got, "\n"))
			}
			for i, want := range map[int]string{0: "lost=3", 1: "lost=93", 5: "lost=453", 6: `"it is sent again" after=5m2s lost=453`} {
				if !strings.Contains(got[i], want) {
					t.Errorf("line %d is %s, without %s", i, got[i], want)
				}
			}
			if strings.Contains(got[0], "since=") || !strings.Contains(got[1], "since=") || !strings.Contains(got[0], "error=refused") {
				t.Errorf("%s\n%s", got[0], got[1])
			}
		}
	})
}

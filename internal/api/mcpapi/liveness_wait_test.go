package mcpapi_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/inprocess"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/liveness"
)

// errAway is what a call of a server that is away comes to.
var errAway = errors.New("nobody is there")

func TestACallThatWaitsRidesOutARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start, asked := time.Now(), 0
		got, err := liveness.WaitThroughRestart(t.Context(), liveness.Waits{Remote: true}, 45, func(_ context.Context, wait time.Duration) (string, error) {
			asked++
			switch gone := time.Since(start); {
			case gone == 0:
				time.Sleep(10 * time.Second) // it waits, and the server ends
				return "", errAway
			case gone < 20*time.Second:
				return "", &client.Error{Code: client.Unavailable, Message: "it starts"}
			case wait > 45*time.Second-gone:
				t.Errorf("after %s it is to wait %s", gone, wait)
			}
			return "an offer", nil
		})
		if got != "an offer" || err != nil || asked < 3 || time.Since(start) > 22*time.Second {
			t.Errorf("after %s and %d questions: %q, %v", time.Since(start), asked, got, err)
		}
	})
}

func TestNobodyWaitsLongerThanWasAskedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, err := liveness.WaitThroughRestart(t.Context(), liveness.Waits{Remote: true}, 45, func(context.Context, time.Duration) (string, error) { return "", errAway })
		if took := time.Since(start); !errors.Is(err, errAway) || took < 44*time.Second || took > 45*time.Second {
			t.Errorf("after %s: %v", took, err)
		}
	})
}

func TestAnErrorThatARestartDoesNotFixIsReportedAtOnce(t *testing.T) {
	refused := &client.Error{Code: client.NotFound, Message: "no such task"}
	for name, c := range map[string]struct {
		remote bool
		err    error
	}{"a refusal": {true, refused}, "a server in the same process": {false, errAway}} {
		synctest.Test(t, func(t *testing.T) {
			start, asked := time.Now(), 0
			_, err := liveness.WaitThroughRestart(t.Context(), liveness.Waits{Remote: c.remote}, 45, func(context.Context, time.Duration) (string, error) { asked++; return "", c.err })
			if !errors.Is(err, c.err) || asked != 1 || time.Since(start) != 0 {
				t.Errorf("%s: after %s and %d questions: %v", name, time.Since(start), asked, err)
			}
		})
	}
}

func TestWhoIsGoneIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		start := time.Now()
		if _, err := liveness.WaitThroughRestart(ctx, liveness.Waits{Remote: true}, 45, func(context.Context, time.Duration) (string, error) { return "", errAway }); err == nil || time.Since(start) > 6*time.Second {
			t.Errorf("after %s: %v", time.Since(start), err)
		}
	})
}

// pulse is that of a client whose signs of life are counted, and answered with a refusal unless that is empty.
func pulse(t *testing.T, beats *atomic.Int32, refusal string) *liveness.Pulse {
	t.Helper()
	api := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		beats.Add(1)
		if refusal == "" {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"code": "`+refusal+`", "detail": "no"}`)
	})
	c, err := client.New("http://localhost", "secret", client.Options{Retries: -1, HTTP: &http.Client{Transport: inprocess.Transport(api)}})
	if err != nil {
		t.Fatal(err)
	}
	return liveness.NewPulse(c)
}

func TestManyCallsAtOnceAreOneSignOfLifeASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var beats atomic.Int32
		p := pulse(t, &beats, "")
		for second := range int32(5) {
			var calls sync.WaitGroup
			for range 100 {
				calls.Go(func() { p.Beat(t.Context()) })
			}
			calls.Wait()
			if n := beats.Load(); n != second+1 {
				t.Errorf("%d signs of life after %d seconds", n, second)
			}
			time.Sleep(time.Second)
		}
	})
}

func TestWhoIsNoAgentShowsNoSignOfLifeAgain(t *testing.T) {
	for refusal, want := range map[string]int32{string(client.Invalid): 1, string(client.Unavailable): 3} {
		synctest.Test(t, func(t *testing.T) {
			var beats atomic.Int32
			p := pulse(t, &beats, refusal)
			for range 3 {
				p.Beat(t.Context())
				time.Sleep(2 * time.Second)
			}
			if n := beats.Load(); n != want {
				t.Errorf("%s: %d times", refusal, n)
			}
		})
	}
}

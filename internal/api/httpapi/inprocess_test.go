package httpapi_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"
	"testing/synctest"

	"github.com/trapezehq/trapeze/internal/api/inprocess"
)

// ask sends a request to a handler.
func ask(t *testing.T, h http.HandlerFunc) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost/", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := inprocess.Transport(h).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestALargeBodyStreams(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const piece, pieces = 32 << 10, 100
		written := 0
		res := ask(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusAccepted)
			for range pieces {
				n, _ := w.Write(bytes.Repeat([]byte("x"), piece))
				written += n
			}
		})
		defer func() { _ = res.Body.Close() }()
		synctest.Wait()
		if written > 64<<10 || res.StatusCode != http.StatusAccepted {
			t.Errorf("%d bytes wait for a reader, status %s", written, res.Status)
		}
		if n, err := io.Copy(io.Discard, res.Body); n != pieces*piece || err != nil {
			t.Errorf("%d bytes came, %v", n, err)
		}
	})
}

func TestClosingTheBodyEndsTheHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan error, 1)
		res := ask(t, func(w http.ResponseWriter, _ *http.Request) {
			for {
				if _, err := w.Write(make([]byte, 32<<10)); err != nil {
					ended <- err
					return
				}
			}
		})
		_ = res.Body.Close()
		if err := <-ended; err == nil {
			t.Error("the handler could still write")
		}
	})
}

func TestAnAbortedResponseIsAnError(t *testing.T) {
	res := ask(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("half"))
		panic(http.ErrAbortHandler)
	})
	defer func() { _ = res.Body.Close() }()
	if b, err := io.ReadAll(res.Body); err == nil {
		t.Errorf("%q was read without an error", b)
	}
}

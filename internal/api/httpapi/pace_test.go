package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/trapezehq/trapeze/internal/api/httpapi"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/files/artifact/filestore"
	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview"
	"github.com/trapezehq/trapeze/internal/usecase"
	"github.com/trapezehq/trapeze/internal/usecase/quota"
)

// bubble is a server whose clock and network are the test's, with the time limits of a real one.
type bubble struct {
	*testing.T
	app   *usecase.UseCases
	token string
	http  *http.Client
}

// listener takes connections that never leave the process.
type listener struct {
	conns chan net.Conn
	done  chan struct{}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error { close(l.done); return nil }

func (l *listener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func (l *listener) dial(context.Context, string, string) (net.Conn, error) {
	here, there := net.Pipe()
	l.conns <- there
	return tcpLike{here}, nil
}

// tcpLike is an end of a pipe that takes writes when the other end has gone, as TCP does until it hears of that: what the
// other end has sent last can still be read.
type tcpLike struct{ net.Conn }

func (c tcpLike) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if errors.Is(err, io.ErrClosedPipe) {
		return len(b), nil
	}
	return n, err
}

// inBubble runs a test against such a server.
func inBubble(t *testing.T, test func(*bubble)) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		record := ledgertest.NewDouble(ledgertest.Faults{})
		views, err := sqlview.Follow(t.Context(), record, "")
		if err != nil {
			t.Fatal(err)
		}
		store, err := filestore.Open(dir, filestore.Options{MinFree: -1})
		if err != nil {
			t.Fatal(err)
		}
		b := &bubble{T: t}
		if b.app, err = usecase.New(record, views.Store(), usecase.Options{Artifacts: store, Work: quota.NewWork(1)}); err != nil {
			t.Fatal(err)
		}
		if b.token, err = b.app.Tokens.Bootstrap(t.Context(), identity.DefaultWorkspace); err != nil {
			t.Fatal(err)
		}
		l := &listener{make(chan net.Conn), make(chan struct{})}
		server := &http.Server{
			Handler:     httpapi.New(&b.app.Surface, httpapi.Options{Log: slog.New(slog.DiscardHandler)}),
			ReadTimeout: 30 * time.Second, ReadHeaderTimeout: 5 * time.Second,
		}
		go func() { _ = server.Serve(l) }()
		transport := &http.Transport{DialContext: l.dial}
		b.http = &http.Client{Transport: transport}
		test(b)
		transport.CloseIdleConnections()
		if err := errors.Join(server.Close(), store.Close(), views.Close(), record.Close()); err != nil {
			t.Error(err)
		}
	})
}

// request makes a call that may take long.
func (b *bubble) request(method, path string, body io.Reader) (status int, answer string, err error) {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), method, "http://127.0.0.1"+path, body)
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+b.token)
	res, err := b.http.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	return res.StatusCode, string(text), err
}

// drip is a content of which a piece comes now and then.
type drip struct {
	piece string
	every time.Duration
	left  int
}

func (d *drip) Read(b []byte) (int, error) {
	if d.left == 0 {
		return 0, io.EOF
	}
	d.left--
	time.Sleep(d.every)
	return copy(b, d.piece), nil
}

func TestABodyThatStopsHoldsItsConnectionOnlyOnce(t *testing.T) {
	for _, accept := range []string{"application/json", "application/json;q=0.9"} { // the short way to an answer, and the long one
		inBubble(t, func(b *bubble) {
			body, rest := io.Pipe()
			defer rest.Close()
			go func() { _, _ = rest.Write([]byte("{")) }() // and no more
			req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, "http://127.0.0.1/v1/tasks/task_1/progress", body)
			if err != nil {
				b.Fatal(err)
			}
			req.ContentLength = 60
			req.Header = http.Header{"Authorization": {"Bearer " + b.token}, "Content-Type": {"application/json"}, "Accept": {accept}}
			began := time.Now()
			res, err := b.http.Do(req)
			if err != nil {
				b.Fatal(err)
			}
			defer res.Body.Close()
			text, err := io.ReadAll(res.Body)
			if took := time.Since(began); err != nil || res.StatusCode != http.StatusRequestTimeout || took > 25*time.Second {
				b.Errorf("%s: %d after %s, %v", accept, res.StatusCode, took, err)
			}
			if !strings.Contains(string(text), `"code":"unavailable"`) || !strings.Contains(string(text), "did not arrive within 20s") {
				b.Errorf("%s: the call is blamed, or its client does not repeat it: %s", accept, text)
			}
		})
	}
}

func TestALongUploadIsTakenAsLongAsItGoesOn(t *testing.T) {
	inBubble(t, func(b *bubble) {
		began := time.Now()
		status, answer, err := b.request("PUT", "/v1/artifacts", &drip{strings.Repeat("x", 16<<10), time.Second, 600})
		if err != nil || status != 200 || !strings.Contains(answer, fmt.Sprint(600*16<<10)) {
			b.Errorf("%d %s, %v", status, answer, err)
		}
		if took := time.Since(began); took < 10*time.Minute {
			b.Errorf("it took only %s", took)
		}
	})
}

func TestAnUploadThatStandsStillOrTricklesIsEnded(t *testing.T) {
	for name, slow := range map[string]*drip{
		"still":   {"x", time.Hour, 10},
		"trickle": {"x", time.Second, 1 << 30},
		"slow":    {strings.Repeat("x", 100), time.Second, 1 << 30},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(b *bubble) {
				r, w := io.Pipe()
				stop := make(chan struct{})
				go func() {
					defer close(stop)
					_, _ = io.Copy(w, slow)
				}()
				status, answer, err := b.request("PUT", "/v1/artifacts", r)
				if err != nil || status != http.StatusRequestTimeout || !strings.Contains(answer, "too slow") || !strings.Contains(answer, `"hint"`) {
					b.Errorf("%d %s, %v", status, answer, err)
				}
				r.Close()
				<-stop
			})
		})
	}
}

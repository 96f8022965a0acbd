package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Config says which server is wanted. URL and DataDir have no default.
type Config struct {
	URL        string        // where it answers: http, a loopback address, a port
	DataDir    string        // what it keeps its data in
	Args       []string      // further arguments of trapeze serve
	Executable string        // the program that is started; empty means this one
	Patience   time.Duration // how long it may take until it answers; 0 means 30 s
}

// Standing is what came of a start.
type Standing struct {
	URL     string `json:"url"`
	DataDir string `json:"data_dir"`
	PID     int    `json:"pid,omitempty"` // 0 where it is not known
	Started bool   `json:"started"`       // by this call
}

const (
	patience = 30 * time.Second
	// glance is the pause between two looks at a server that comes or goes.
	glance = 25 * time.Millisecond
	// overlap is how long two who want the same thing at once are given to sort that out: the lock, or the address.
	overlap = 3 * time.Second
	// startName is the file that starters compete for.
	startName = "start.lock"
)

// Ensure returns when a server answers at the URL. Where none does, it starts one in the background, which goes on when
// this process ends. It refuses with [refusal.Unavailable] where none can be started or the new one does not come up,
// and with [refusal.Conflict] where the data directory is served at another address.
func Ensure(ctx context.Context, c Config) (Standing, error) {
	out := Standing{URL: c.URL, DataDir: c.DataDir}
	addr, local := loopback(c.URL)
	how, err := probe(ctx, c.URL)
	switch {
	case how == ready:
		out.PID = pidOf(c.DataDir, c.URL)
		return out, nil
	case !local:
		return out, refusal.New(refusal.Unavailable, "start it there, or leave --url and TRAPEZE_URL out to have one started on this machine",
			"no server answers at %s (%v), and one can be started on this machine alone, at http://127.0.0.1:PORT", c.URL, err)
	}
	if c.DataDir, err = filepath.Abs(c.DataDir); err != nil {
		return out, err
	}
	out.DataDir = c.DataDir
	if err := os.MkdirAll(c.DataDir, 0o700); err != nil {
		return out, fmt.Errorf("data directory: %w", err)
	}
	if c.Patience == 0 {
		c.Patience = patience
	}
	ctx, cancel := context.WithTimeout(ctx, c.Patience)
	defer cancel()
	for {
		lock, err := take(filepath.Join(c.DataDir, startName))
		if err == nil {
			out.PID, out.Started, err = c.start(ctx, addr)
			return out, errors.Join(err, lock.Close())
		}
		if !errors.Is(err, errHeld) {
			return out, fmt.Errorf("data directory: %w", err)
		}
		if how, _ := probe(ctx, c.URL); how == ready {
			out.PID = pidOf(c.DataDir, c.URL)
			return out, nil
		}
		if !pause(ctx) {
			return out, c.late(ctx)
		}
	}
}

// start is the winner's part: it waits for a server that is just coming or going, and starts one if there is none.
func (c Config) start(ctx context.Context, addr string) (pid int, started bool, err error) {
	for {
		how, err := probe(ctx, c.URL)
		held, note := holder(c.DataDir)
		switch {
		case how == ready:
			return pidOf(c.DataDir, c.URL), false, nil
		case how == stranger:
			return 0, false, refusal.New(refusal.Conflict, "use another address: --url http://127.0.0.1:PORT", "something else than Trapeze answers at %s: %v", c.URL, err)
		case held && note.URL != "" && !sameAddress(note.URL, c.URL):
			return note.PID, false, refusal.New(refusal.Conflict, "use that one: --url "+note.URL+", or end it first: trapeze stop",
				"the data directory %s is served at %s already", c.DataDir, note.URL)
		case !held:
			pid, err := c.launch(ctx, addr)
			return pid, err == nil, err
		}
		if !pause(ctx) {
			return note.PID, false, c.late(ctx)
		}
	}
}

// launch runs the server and waits until it answers.
func (c Config) launch(ctx context.Context, addr string) (pid int, err error) {
	path := LogFile(c.DataDir)
	log, err := openLog(path)
	if err != nil {
		return 0, fmt.Errorf("the server's log: %w", err)
	}
	defer func() { _ = log.Close() }()
	began, err := log.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, fmt.Errorf("the server's log: %w", err)
	}
	pid, exited, err := c.spawn(addr, log)
	if err != nil {
		return 0, refusal.New(refusal.Unavailable, "start one yourself: trapeze serve", "the server cannot be started: %v", err)
	}
	for {
		if how, _ := probe(ctx, c.URL); how == ready && pidOf(c.DataDir, c.URL) != 0 { // it answers a moment before it says so
			return pid, nil
		}
		select {
		case <-exited:
			return 0, c.ended(ctx, path, began)
		default:
		}
		if !pause(ctx) {
			return pid, c.late(ctx)
		}
	}
}

// ended says why a server that was started is gone, unless another one that was faster answers now.
func (c Config) ended(ctx context.Context, log string, from int64) error {
	ctx, cancel := context.WithTimeout(ctx, overlap)
	defer cancel()
	for {
		if how, _ := probe(ctx, c.URL); how == ready {
			return nil
		}
		if held, _ := holder(c.DataDir); !held || !pause(ctx) {
			return refusal.New(refusal.Unavailable, "its log is "+log+"; trapeze serve shows the same in a terminal", "the server ended before it answered: %s", tail(log, from))
		}
	}
}

// late says why a server is not waited for any more.
func (c Config) late(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return refusal.New(refusal.Unavailable, "if it comes up, trapeze stop ends it", "interrupted before the server at %s answered; it may still be coming up", c.URL)
	}
	return refusal.New(refusal.Unavailable, "wait, or look into "+LogFile(c.DataDir), "the server at %s did not answer within %s; it may still be coming up", c.URL, c.Patience)
}

// answer is what a look at an address found.
type answer int

const (
	nobody answer = iota
	unwell        // a server, and it cannot do its work now
	stranger
	ready
)

// probe looks whether a server answers.
func probe(ctx context.Context, at string) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(at, "/")+"/readyz", http.NoBody)
	if err != nil {
		return nobody, err
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		var away *url.Error
		if errors.As(err, &away) {
			err = away.Err
		}
		return nobody, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	if err != nil {
		return nobody, err
	}
	var said struct {
		Status any    `json:"status"`
		Code   string `json:"code"`
	}
	switch err := json.Unmarshal(body, &said); {
	case err == nil && res.StatusCode == http.StatusOK && said.Status == "ready":
		return ready, nil
	case err == nil && said.Code != "":
		return unwell, fmt.Errorf("it is not ready: %s", said.Code)
	}
	return stranger, fmt.Errorf("the answer to /readyz is %s, and not a server's", res.Status)
}

// loopback is the host and port of a URL that a server of this machine can have.
func loopback(at string) (addr string, ok bool) {
	u, err := url.Parse(at)
	if err != nil || u.Scheme != "http" || u.Port() == "" || u.Port() == "0" || strings.Trim(u.Path, "/") != "" {
		return "", false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Host, u.Hostname() == "localhost" || ip != nil && ip.IsLoopback()
}

func sameAddress(a, b string) bool {
	x, okX := loopback(a)
	y, okY := loopback(b)
	name := func(s string) string { return strings.Replace(s, "localhost:", "127.0.0.1:", 1) }
	return okX && okY && name(x) == name(y)
}

// pause reports whether it lasted: not if ctx ended first.
func pause(ctx context.Context) bool {
	t := time.NewTimer(glance)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

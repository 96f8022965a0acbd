package daemon

import (
	"cmp"
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
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

// Config describes a server. URL and DataDir have no default.
type Config struct {
	URL        string        // its address: http, a loopback address, and a port
	DataDir    string        // its data directory
	Args       []string      // additional arguments of trapeze serve
	Executable string        // the program to start; empty means this program
	HTTP       *http.Client  // asks the server whether it answers; nil means http.DefaultClient
	Timeout    time.Duration // how long it may take to answer; 0 means 30 s
}

// Status is the result of [Ensure].
type Status struct {
	URL     string `json:"url"`
	DataDir string `json:"data_dir"`
	PID     int    `json:"pid,omitempty"` // 0 if it is unknown
	Started bool   `json:"started"`       // by this call
}

const (
	defaultTimeout = 30 * time.Second
	// pollInterval is the pause between two checks of a server that starts or stops.
	pollInterval = 25 * time.Millisecond
	// raceTimeout is how long to wait for another process that starts or checks a server at the same time.
	raceTimeout = 3 * time.Second
	// startLock is the file that processes lock to start a server.
	startLock = "start.lock"
)

// Ensure returns when a server answers at the URL. If none does, it starts one in the background, which outlives this process. It refuses
// with [refusal.Unavailable] if a server cannot be started or does not answer in time, and with [refusal.Conflict] if the data directory
// is served at another address.
func Ensure(ctx context.Context, c Config) (Status, error) {
	out := Status{URL: c.URL, DataDir: c.DataDir}
	addr, local := loopback(c.URL)
	how, err := c.probe(ctx)
	switch {
	case how == ready:
		out.PID = pidOf(c.DataDir, c.URL)
		return out, nil
	case !local:
		return out, refusal.New(refusal.Unavailable, "start it there, or omit --url and TRAPEZE_URL to start one on this machine",
			"no server answers at %s (%v), and a server can only be started on this machine, at http://127.0.0.1:PORT", c.URL, err)
	}
	if c.DataDir, err = filepath.Abs(c.DataDir); err != nil {
		return out, err
	}
	out.DataDir = c.DataDir
	if err := os.MkdirAll(c.DataDir, 0o700); err != nil {
		return out, fmt.Errorf("data directory: %w", err)
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, c.Timeout)
	defer cancel()
	for {
		lock, err := take(filepath.Join(c.DataDir, startLock))
		if err == nil {
			out.PID, out.Started, err = c.start(ctx, addr)
			return out, errors.Join(err, lock.Close())
		}
		if !errors.Is(err, errHeld) {
			return out, fmt.Errorf("data directory: %w", err)
		}
		if how, _ := c.probe(ctx); how == ready {
			out.PID = pidOf(c.DataDir, c.URL)
			return out, nil
		}
		if !pause(ctx) {
			return out, c.late(ctx)
		}
	}
}

// start runs with the lock held: it waits for a server that is starting or stopping, and starts one if there is none.
func (c Config) start(ctx context.Context, addr string) (pid int, started bool, err error) {
	for {
		how, err := c.probe(ctx)
		held, note := holder(c.DataDir)
		switch {
		case how == ready:
			return pidOf(c.DataDir, c.URL), false, nil
		case how == stranger:
			return 0, false, refusal.New(refusal.Conflict, "use another address: --url http://127.0.0.1:PORT", "the server at %s is not Trapeze: %v", c.URL, err)
		case held && note.URL != "" && !sameAddress(note.URL, c.URL):
			return note.PID, false, refusal.New(refusal.Conflict, "use that one with --url "+shellword.Quote(note.URL)+", or stop it first: trapeze stop",
				"the data directory %s is already served at %s", c.DataDir, note.URL)
		case !held:
			pid, err := c.launch(ctx, addr)
			return pid, err == nil, err
		}
		if !pause(ctx) {
			return note.PID, false, c.late(ctx)
		}
	}
}

// launch starts the server, and waits until it answers.
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
		return 0, refusal.New(refusal.Unavailable, "start one by hand: trapeze serve", "the server cannot be started: %v", err)
	}
	for {
		if how, _ := c.probe(ctx); how == ready && pidOf(c.DataDir, c.URL) != 0 { // it answers before it holds the lock
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

// ended returns why the started server has exited; nil if another server, which was faster, answers.
func (c Config) ended(ctx context.Context, log string, from int64) error {
	ctx, cancel := context.WithTimeout(ctx, raceTimeout)
	defer cancel()
	for {
		if how, _ := c.probe(ctx); how == ready {
			return nil
		}
		if held, _ := holder(c.DataDir); !held || !pause(ctx) {
			return refusal.New(refusal.Unavailable, "see its log "+shellword.Quote(log)+", or run trapeze serve in a terminal", "the server exited before it answered: %s", tail(log, from))
		}
	}
}

// late is the error of a server that did not answer in time.
func (c Config) late(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return refusal.New(refusal.Unavailable, "if it starts, trapeze stop ends it", "interrupted before the server at %s answered; it may still be starting", c.URL)
	}
	return refusal.New(refusal.Unavailable, "wait, or see its log "+shellword.Quote(LogFile(c.DataDir)), "the server at %s did not answer within %s; it may still be starting", c.URL, c.Timeout)
}

// answer is the result of a probe.
type answer int

const (
	nobody  answer = iota
	unready        // a server that is not ready
	stranger
	ready
)

// probe checks whether a server answers.
func (c Config) probe(ctx context.Context) (answer, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(c.URL, "/")+"/readyz", http.NoBody)
	if err != nil {
		return nobody, err
	}
	res, err := cmp.Or(c.HTTP, http.DefaultClient).Do(req)
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
		return unready, fmt.Errorf("it is not ready: %s", said.Code)
	}
	return stranger, fmt.Errorf("the answer to /readyz is %s, which is not that of a Trapeze server", res.Status)
}

// loopback returns the host and port of a URL, if a server on this machine can have it.
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

// pause waits for pollInterval. It reports false if ctx ended first.
func pause(ctx context.Context) bool {
	t := time.NewTimer(pollInterval)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

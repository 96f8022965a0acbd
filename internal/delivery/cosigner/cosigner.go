package cosigner

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/trapezehq/trapeze/internal/record/proof"
)

const (
	firstPause = time.Second
	maxPause   = time.Minute
)

// Log is the tree whose checkpoints are cosigned.
type Log interface {
	// Signed waits for a checkpoint of more than so many entries, and returns the last one.
	Signed(ctx context.Context, after int64) (proof.Checkpoint, []byte, error)
	// Asking tells that cosignatures are asked for.
	Asking()
	// Cosigned keeps the lines of the cosignatures of a checkpoint; none: nobody gave any.
	Cosigned(c proof.Checkpoint, msg, lines []byte) error
	tlog.HashReader
}

// Cosigner asks witnesses for cosignatures. Its methods are safe for many goroutines.
type Cosigner struct {
	log  Log
	http *http.Client
	told *slog.Logger

	mu    sync.Mutex
	asked []*asked
}

// New returns a cosigner. Nothing is asked before [Cosigner.Run].
func New(log Log, witnesses []Witness, told *slog.Logger) *Cosigner {
	c := &Cosigner{log: log, told: told, http: &http.Client{
		Transport:     &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConnsPerHost: 1, IdleConnTimeout: 90 * time.Second, TLSHandshakeTimeout: 5 * time.Second},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	for _, w := range witnesses {
		c.asked = append(c.asked, &asked{Witness: w})
	}
	return c
}

// Err is what a witness refuses; nil while none refuses anything.
func (c *Cosigner) Err() error {
	if c == nil {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.asked {
		if a.found != nil {
			return a.found
		}
	}
	return nil
}

// Run asks for cosignatures of each new checkpoint, all witnesses at once, until ctx ends. A witness that fails is asked again after a pause.
func (c *Cosigner) Run(ctx context.Context) {
	if len(c.asked) == 0 {
		return
	}
	defer c.http.CloseIdleConnections()
	c.log.Asking()
	for done := int64(0); ; {
		wait, cancel := ctx, context.CancelFunc(func() {})
		if at, again := c.again(); again {
			wait, cancel = context.WithDeadline(ctx, at)
		}
		point, msg, err := c.log.Signed(wait, done)
		cancel()
		if ctx.Err() != nil {
			return
		}
		if err != nil { // the pause of a witness is over
			if point, msg, err = c.log.Signed(ctx, 0); err != nil {
				return
			}
		}
		c.round(ctx, point, msg)
		done = point.Size
	}
}

// again is when a witness that failed is asked again, if there is one.
func (c *Cosigner) again() (at time.Time, ok bool) {
	for _, a := range c.asked {
		if a.fails > 0 && (!ok || a.next.Before(at)) {
			at, ok = a.next, true
		}
	}
	return at, ok
}

// round asks the witnesses for cosignatures of a checkpoint.
func (c *Cosigner) round(ctx context.Context, point proof.Checkpoint, msg []byte) {
	lines := make([][]byte, len(c.asked))
	tried := false
	var asking sync.WaitGroup
	for i, a := range c.asked {
		if a.fails > 0 && time.Now().Before(a.next) {
			continue
		}
		tried = true
		asking.Go(func() {
			line, err := a.cosign(ctx, c.http, c.log, point, msg)
			if ctx.Err() == nil {
				c.tell(a, err)
			}
			lines[i] = line
		})
	}
	asking.Wait()
	var all []byte
	for _, line := range lines {
		all = append(all, line...)
	}
	if ctx.Err() != nil || !tried {
		return
	}
	if err := c.log.Cosigned(point, msg, all); err != nil {
		c.told.Warn("the cosignatures of a checkpoint were not written", "error", err)
	}
}

// tell keeps and logs how asking a witness ended. The same failure is logged once.
func (c *Cosigner) tell(a *asked, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	was := a.found
	a.found = nil
	if f, ok := errors.AsType[Finding](err); ok {
		a.found = f
	} else if err != nil {
		a.found = was // it may still hold
	}
	switch {
	case err == nil && a.fails > 0:
		c.told.Info("a witness cosigns again", "witness", a.Key.Name())
	case a.found != nil && was == nil:
		c.told.Error("A WITNESS REFUSES THE RECORD", "witness", a.Key.Name(), "what", a.found)
	case err != nil && a.fails == 0:
		c.told.Warn("a witness does not cosign", "witness", a.Key.Name(), "error", err)
	}
	if err == nil {
		a.fails = 0
		return
	}
	a.next = time.Now().Add(min(firstPause<<min(a.fails, 10), maxPause))
	a.fails++
}

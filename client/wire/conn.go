package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/fastjson"
)

const (
	maxPause   = 5 * time.Second
	maxProblem = 1 << 20 // bytes of an answer that is a refusal
)

// Call is one request, which may take several attempts.
type Call struct {
	Method string
	Path   string
	Query  Query
	Body   []byte
	// Content is sent instead of Body, as it is.
	Content io.ReadCloser
	Key     string // idempotency key; empty for reads
	Person  string // at an agent's client, whose word it is; empty: the agent's own
	// TraceParent and TraceState are a W3C trace context; a value that no header can have is not sent.
	TraceParent, TraceState string

	Wait   time.Duration // what the server is asked to wait
	Accept string        // empty: JSON
}

// Passing is an error that may pass: whether it may, and when to try again at the earliest.
type Passing interface {
	error
	Passing() (ok bool, after time.Duration)
}

// Conn makes requests to one server, or several that share a record, with one token. It is safe for many goroutines.
type Conn struct {
	Servers             *Servers
	Headers             http.Header // of every request
	HTTP                *http.Client
	Retries             int // at each server
	FirstPause, Timeout time.Duration
	Patience            time.Duration // for how long calls that no server answers are repeated, however often that is: from the first of them on, or after as long without a call
	// Least is the position that the answer to a read must have reached; 0: any.
	Least func(ctx context.Context) uint64
	// Refused reads the refusal in an answer.
	Refused func(res *http.Response, body []byte) error

	away away
}

// away notes since when no server answers. It is safe for concurrent use.
type away struct {
	mu    sync.Mutex
	since time.Time // zero: the last attempt was answered, or is too long ago
	last  time.Time // the last attempt that was not answered
	calls int       // under way
}

// begin notes that a call begins: if there was none for as long as the patience, what was not answered before tells nothing about the servers.
func (a *away) begin(patience time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.calls == 0 && time.Since(a.last) >= patience {
		a.since = time.Time{}
	}
	a.calls++
}

// end notes that a call ends.
func (a *away) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.calls--
}

// noted notes whether an attempt was answered, and returns since when none was.
func (a *away) noted(answered bool) time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	if answered {
		a.since = time.Time{}
		return a.since
	}
	a.last = time.Now()
	if a.since.IsZero() {
		a.since = a.last
	}
	return a.since
}

// Retry makes an attempt again as long as its error may pass and it says that it can be made again.
func (c *Conn) Retry(ctx context.Context, attempt func() (again bool, err error)) error {
	c.away.begin(c.Patience)
	defer c.away.end()
	for n := 0; ; n++ {
		again, err := attempt()
		if err != nil && ctx.Err() != nil {
			return err
		}
		_, refused := errors.AsType[Passing](err)
		since := c.away.noted(err == nil || refused)
		if err == nil || !again {
			return err
		}
		passes, wait := passing(err)
		if (n+1)%c.Servers.Count() != 0 {
			wait = 0 // that is for the server which said so, and the next one was not asked yet
		}
		pause := max(c.Pause(n), wait)
		if n >= c.Retries*c.Servers.Count() && (refused || time.Now().Add(pause).After(since.Add(c.Patience))) {
			return err
		}
		if !passes || Sleep(ctx, pause) != nil {
			return err
		}
	}
}

// Make makes a call, again as [Conn.Retry] says, and decodes its answer. What it waits is the time of all attempts.
func (c *Conn) Make(ctx context.Context, r Call, out any) error {
	end, again := time.Now().Add(r.Wait), false
	return c.Retry(ctx, func() (bool, error) {
		if again && r.Wait > 0 {
			r.Wait = max(time.Until(end), 0)
			r.Query.Text("wait", r.Wait.String())
		}
		again = true
		return true, c.Attempt(ctx, r, out)
	})
}

// passing reports whether an error may pass, as one that does not say may, and when to try again at the earliest.
func passing(err error) (ok bool, after time.Duration) {
	if says, is := errors.AsType[Passing](err); is {
		return says.Passing()
	}
	return true, 0
}

// Insist makes calls that wait until one is done or ctx ends. It waits for servers that are away for a while, but gives up
// on errors that say that they do not pass.
func (c *Conn) Insist(ctx context.Context, look func() (done bool, err error)) error {
	for n := 0; ; n++ {
		done, err := look()
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err == nil && done:
			return nil
		case err == nil:
			n = -1
			continue
		}
		if passes, _ := passing(err); !passes {
			return err
		}
		if err := Sleep(ctx, c.Pause(n)); err != nil {
			return err
		}
	}
}

// Pause doubles with every attempt at a server and has jitter, so that many clients do not come back at once.
func (c *Conn) Pause(n int) time.Duration {
	p := min(c.FirstPause<<min(n/c.Servers.Count(), 20), maxPause)
	return p/2 + rand.N(p/2+1) //nolint:gosec // not a secret
}

// Sleep waits, or ends with ctx's error when ctx does.
func Sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Attempt makes a call once and decodes its answer into out, which may be nil.
func (c *Conn) Attempt(ctx context.Context, r Call, out any) error {
	limited, cancel := context.WithTimeout(ctx, c.Timeout+r.Wait)
	defer cancel()
	res, err := c.Send(limited, r)
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			c.HTTP.CloseIdleConnections() // they are mostly lost with that of the call
		}
		return err
	}
	defer res.Body.Close() // nothing was written
	if out == nil || res.StatusCode == http.StatusNoContent {
		_, err = io.Copy(io.Discard, res.Body) // to the end, so that the connection can be used again
		return err
	}
	b, _ := bodies.Get().(*bytes.Buffer)
	defer giveBody(b)
	if _, err = b.ReadFrom(res.Body); err == nil {
		err = fastjson.Unmarshal(b.Bytes(), out) // copies what it keeps
	}
	if err == nil {
		err = receiptOf(ctx, r.Method).read(b.Bytes())
	}
	if err != nil {
		return fmt.Errorf("client: the answer cannot be read: %w", err)
	}
	return nil
}

// bodies are buffers for answers.
var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// maxPooled is the greatest capacity that is kept for the next answer.
const maxPooled = 64 << 10

func giveBody(b *bytes.Buffer) {
	if b.Reset(); b.Cap() <= maxPooled {
		bodies.Put(b)
	}
}

var jsonMedia = []string{"application/json"}

// Send makes one request. Answers other than success are its error.
func (c *Conn) Send(ctx context.Context, r Call) (*http.Response, error) {
	base := c.Servers.Current()
	u := base + r.Path
	if len(r.Query) > 0 {
		u += "?" + url.Values(r.Query).Encode()
	}
	var body io.Reader
	if r.Body != nil {
		body = bytes.NewReader(r.Body)
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, u, body)
	if err != nil {
		return nil, c.Refused(&http.Response{}, Problem{Code: "invalid", Detail: err.Error(), Hint: "check the ids and names in the call"}.text())
	}
	h := req.Header
	maps.Copy(h, c.Headers)
	if r.Accept != "" {
		h.Set("Accept", r.Accept)
	}
	if body != nil {
		h["Content-Type"] = jsonMedia
	}
	if r.Content != nil {
		req.Body = r.Content
		h.Set("Content-Type", "application/octet-stream")
	}
	if r.Key != "" {
		h["Idempotency-Key"] = []string{r.Key}
	}
	if receiptOf(ctx, r.Method) != nil {
		h.Set("Prefer", "receipt")
	}
	if r.Person != "" {
		h.Set("Trapeze-Person", r.Person)
	}
	for name, value := range map[string]string{"traceparent": r.TraceParent, "tracestate": r.TraceState} {
		if value != "" && !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) { // else net/http refuses the call
			h.Set(name, value)
		}
	}
	if p := c.Servers.least(c.Least(ctx)); p > 0 && r.Method == http.MethodGet {
		h.Set("Trapeze-Min-Position", strconv.FormatUint(p, 10))
	}
	res, err := do(c.HTTP, req)
	if err != nil {
		c.Servers.leave(base)
		if p, ok := Unsafe(err, base); ok {
			return nil, c.Refused(&http.Response{}, p.text())
		}
		return nil, fmt.Errorf("client: %w", err)
	}
	if c.Servers.Count() > 1 {
		c.Servers.answered(res.Header.Get("Trapeze-Position"))
	}
	if res.StatusCode >= 200 && res.StatusCode <= 299 {
		return res, nil
	}
	if res.StatusCode > http.StatusInternalServerError { // it cannot do its work, or a proxy does not reach it
		c.Servers.leave(base)
	}
	defer res.Body.Close()                                   // nothing was written
	b, _ := io.ReadAll(io.LimitReader(res.Body, maxProblem)) // what there is of it must do
	return nil, c.Refused(res, b)
}

// Path joins escaped segments.
func Path(segments ...string) string {
	var p strings.Builder
	p.Grow(64) // most are shorter
	p.WriteString("/v1")
	for _, s := range segments {
		p.WriteByte('/')
		p.WriteString(url.PathEscape(s))
	}
	return p.String()
}

package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	maxPause   = 5 * time.Second
	maxProblem = 1 << 20 // bytes of an answer that is a refusal
)

// call is one request, which may take several attempts.
type call struct {
	method string
	path   string
	query  url.Values
	body   []byte
	// content is sent instead of body, as it is.
	content io.ReadCloser
	key     string        // idempotency key; empty for reads
	wait    time.Duration // what the server is asked to wait
	accept  string        // empty: JSON
}

// do makes a call and decodes its answer into out, which may be nil.
func (c *Client) do(ctx context.Context, method, path string, query url.Values, in, out any) error {
	r := call{method: method, path: path, query: query}
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return &Error{Code: Invalid, Message: err.Error(), Hint: "send what JSON can express"}
		}
		r.body = b
	}
	return c.run(ctx, r, out)
}

func (c *Client) run(ctx context.Context, r call, out any) error {
	if strings.Contains(r.path, "//") || strings.HasSuffix(r.path, "/") || strings.Contains(r.path, "/.") {
		return &Error{Code: Invalid, Message: "an id or name is missing in " + r.path, Hint: "give the ids that other answers give"}
	}
	if r.method != http.MethodGet {
		r.key = keyFor(ctx)
	}
	return c.retry(ctx, func() (bool, error) { return true, c.attempt(ctx, r, out) })
}

// keyFor is the idempotency key of a call: the one that it was given, or a new one.
func keyFor(ctx context.Context) string {
	if key, _ := ctx.Value(keyOfCall).(string); key != "" { // none is ""
		return key
	}
	return NewKey()
}

// retry makes an attempt again as long as its error may pass and it says that it can be made again.
func (c *Client) retry(ctx context.Context, attempt func() (again bool, err error)) error {
	for n := 0; ; n++ {
		again, err := attempt()
		if err == nil || !again || ctx.Err() != nil || n >= c.options.Retries {
			return err
		}
		pause := c.pause(n)
		var refused *Error
		if errors.As(err, &refused) {
			if !refused.passing() {
				return err
			}
			pause = max(pause, refused.after)
		}
		if sleep(ctx, pause) != nil {
			return err
		}
	}
}

// pause doubles with every attempt and has jitter, so that many clients do not come back at once.
func (c *Client) pause(n int) time.Duration {
	p := min(c.options.Pause<<min(n, 20), maxPause)
	return p/2 + rand.N(p/2+1) //nolint:gosec // not a secret
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (c *Client) attempt(ctx context.Context, r call, out any) error {
	ctx, cancel := context.WithTimeout(ctx, c.options.Timeout+r.wait)
	defer cancel()
	res, err := c.send(ctx, r)
	if err != nil {
		return err
	}
	defer res.Body.Close() // nothing was written
	if out == nil || res.StatusCode == http.StatusNoContent {
		_, err = io.Copy(io.Discard, res.Body) // to the end, so that the connection can be used again
		return err
	}
	b, err := readAll(res)
	if err == nil {
		err = json.Unmarshal(b, out)
	}
	if err != nil {
		return fmt.Errorf("client: the answer cannot be read: %w", err)
	}
	return nil
}

// readAll reads a body, in one piece where its length is known.
func readAll(res *http.Response) ([]byte, error) {
	if n := res.ContentLength; n >= 0 && n < maxProblem {
		b := make([]byte, n)
		_, err := io.ReadFull(res.Body, b)
		return b, err
	}
	return io.ReadAll(res.Body)
}

// send makes one request. Answers other than success are its error.
func (c *Client) send(ctx context.Context, r call) (*http.Response, error) {
	u := c.base + r.path
	if len(r.query) > 0 {
		u += "?" + r.query.Encode()
	}
	var body io.Reader
	if r.body != nil {
		body = bytes.NewReader(r.body)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, u, body)
	if err != nil {
		return nil, &Error{Code: Invalid, Message: err.Error(), Hint: "check the ids and names in the call"}
	}
	h := req.Header
	h.Set("Authorization", "Bearer "+c.token)
	h.Set("User-Agent", c.options.UserAgent)
	if r.accept != "" {
		h.Set("Accept", r.accept)
	}
	if body != nil {
		h.Set("Content-Type", "application/json")
	}
	if r.content != nil {
		req.Body = r.content
		h.Set("Content-Type", "application/octet-stream")
	}
	if r.key != "" {
		h.Set("Idempotency-Key", r.key)
	}
	if p, ok := ctx.Value(minPosition).(uint64); ok && p > 0 && r.method == http.MethodGet {
		h.Set("Trapeze-Min-Position", strconv.FormatUint(p, 10))
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("client: %w", err)
	}
	if res.StatusCode >= 200 && res.StatusCode <= 299 {
		return res, nil
	}
	defer res.Body.Close()                                   // nothing was written
	b, _ := io.ReadAll(io.LimitReader(res.Body, maxProblem)) // what there is of it must do
	return nil, errorOf(res, b)
}

// path joins escaped segments.
func path(segments ...string) string {
	p := "/v1"
	for _, s := range segments {
		p += "/" + url.PathEscape(s)
	}
	return p
}

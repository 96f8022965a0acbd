package client

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trapezehq/trapeze/client/wire"
)

// ArtifactInfo is what there is to know of an artifact.
type ArtifactInfo struct {
	Digest string `json:"digest"` // of its content: "sha256:" and 64 hex digits
	Bytes  int64  `json:"bytes"`
}

// PutArtifact has the server keep what content yields, to be referred to by its digest. The same content again is the
// same artifact. If digest is not empty the content must have it. A content that can be rewound, such as a file, is sent
// again after failures that may pass; another is sent once. It may take long, but not stand still for Options.Timeout.
func (c *Client) PutArtifact(ctx context.Context, content io.Reader, digest string) (ArtifactInfo, error) {
	r := wire.Call{Method: http.MethodPut, Path: path("artifacts"), Key: keyFor(ctx)}
	if digest != "" {
		r.Query = url.Values{"digest": {digest}}
	}
	src := newSource(content)
	var info ArtifactInfo
	err := c.conn.Retry(ctx, func() (again bool, err error) {
		if err := src.rewind(); err != nil {
			return false, fmt.Errorf("client: %w", err)
		}
		info, err = c.upload(ctx, r, src)
		return src.seeker != nil && src.broken.Load() == nil, err
	})
	return info, err
}

func (c *Client) upload(ctx context.Context, r wire.Call, src *source) (info ArtifactInfo, err error) {
	ctx, progress, end := c.watch(ctx)
	defer end()
	r.Content = &upload{source: src, progress: progress}
	res, err := c.conn.Send(ctx, r)
	if broken := src.broken.Load(); broken != nil && err != nil {
		err = fmt.Errorf("client: the content cannot be read: %w", *broken)
	}
	if err != nil {
		return info, err
	}
	defer res.Body.Close() // nothing was written
	b, err := wire.ReadAll(res)
	if err == nil {
		err = json.Unmarshal(b, &info)
	}
	if err != nil {
		return ArtifactInfo{}, fmt.Errorf("client: the answer cannot be read: %w", err)
	}
	if sent := src.digest(); sent != info.Digest {
		return ArtifactInfo{}, fmt.Errorf("client: the server has got %s instead of %s", info.Digest, sent)
	}
	return info, nil
}

// Artifact writes an artifact's content to w. Nothing of it may be relied on unless the error is nil: only at the end
// is the content known to have the digest. Once something was written, a failure is not repeated.
func (c *Client) Artifact(ctx context.Context, digest string, w io.Writer) (ArtifactInfo, error) {
	info := ArtifactInfo{Digest: digest}
	err := c.conn.Retry(ctx, func() (again bool, err error) {
		out := &download{w: w, hash: sha256.New()}
		err = c.download(ctx, digest, out)
		info.Bytes = out.n
		return out.n == 0 && out.err == nil, err
	})
	return info, err
}

func (c *Client) download(ctx context.Context, digest string, out *download) error {
	ctx, progress, end := c.watch(ctx)
	defer end()
	out.progress = progress
	res, err := c.conn.Send(ctx, wire.Call{Method: http.MethodGet, Path: path("artifacts", digest), Accept: "application/octet-stream"})
	if err != nil {
		return err
	}
	defer res.Body.Close() // nothing was written
	if _, err := io.Copy(out, res.Body); err != nil {
		return fmt.Errorf("client: the artifact was cut short: %w", err)
	}
	if got := digestOf(out.hash); got != digest {
		return fmt.Errorf("client: what came is %s, not %s: throw it away", got, digest)
	}
	return nil
}

func digestOf(h hash.Hash) string { return "sha256:" + hex.EncodeToString(h.Sum(nil)) }

var errStill = errors.New("client: nothing has moved for too long")

// watch ends a transfer that stands still. progress says that it does not.
func (c *Client) watch(ctx context.Context) (_ context.Context, progress, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	t := time.AfterFunc(c.options.Timeout, func() { cancel(errStill) })
	return ctx, func() { t.Reset(c.options.Timeout) }, func() {
		t.Stop()
		cancel(nil)
	}
}

// source is a content to be sent, perhaps more than once.
type source struct {
	seeker io.Seeker // nil: it can be read once
	start  int64
	broken atomic.Pointer[error] // reading it has failed

	mu      sync.Mutex // one attempt reads at a time: HTTP may still do so when the attempt has failed
	content io.Reader
	hash    hash.Hash
}

func newSource(content io.Reader) *source {
	s := &source{content: content, hash: sha256.New()}
	if seeker, ok := content.(io.Seeker); ok {
		if at, err := seeker.Seek(0, io.SeekCurrent); err == nil { // a pipe is a file, too
			s.seeker, s.start = seeker, at
		}
	}
	return s
}

// rewind goes back to where the content begins.
func (s *source) rewind() error {
	if s.seeker == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hash.Reset()
	_, err := s.seeker.Seek(s.start, io.SeekStart)
	return err
}

func (s *source) digest() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return digestOf(s.hash)
}

// upload is the body of one attempt.
type upload struct {
	*source
	progress func()
	over     atomic.Bool
}

func (u *upload) Read(b []byte) (int, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.over.Load() {
		return 0, errStill
	}
	n, err := u.content.Read(b)
	u.hash.Write(b[:n])
	if err != nil && !errors.Is(err, io.EOF) {
		u.broken.Store(&err)
	}
	u.progress()
	return n, err
}

// Close ends the attempt's reading. It does not wait for a content that comes slowly.
func (u *upload) Close() error {
	u.over.Store(true)
	return nil
}

// download takes what comes.
type download struct {
	w        io.Writer
	hash     hash.Hash
	n        int64
	err      error // of w
	progress func()
}

func (d *download) Write(b []byte) (n int, err error) {
	n, d.err = d.w.Write(b)
	d.n += int64(n)
	d.hash.Write(b[:n])
	d.progress()
	return n, d.err
}

package wire

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/fastjson"
)

// Stored is what the server says of a content that it keeps.
type Stored struct {
	Digest string `json:"digest"` // "sha256:" and 64 hex digits
	Bytes  int64  `json:"bytes"`
}

// Upload makes a call that sends what content yields, and checks that this is what has arrived. A content that can be rewound
// is sent again as [Conn.Retry] says; another is sent once. It may take long, but not stand still for Timeout.
func (c *Conn) Upload(ctx context.Context, r Call, content io.Reader) (out Stored, err error) {
	src := newSource(content)
	err = c.Retry(ctx, func() (again bool, err error) {
		if err := src.rewind(); err != nil {
			return false, fmt.Errorf("client: %w", err)
		}
		out, err = c.upload(ctx, r, src)
		return src.seeker != nil && src.broken.Load() == nil, err
	})
	return out, err
}

func (c *Conn) upload(ctx context.Context, r Call, src *source) (out Stored, err error) {
	ctx, progress, end := c.watch(ctx)
	defer end()
	r.Content = &upload{source: src, progress: progress}
	res, err := c.Send(ctx, r)
	if broken := src.broken.Load(); broken != nil && err != nil {
		err = fmt.Errorf("client: the content cannot be read: %w", *broken)
	}
	if err != nil {
		return out, err
	}
	defer res.Body.Close() // nothing was written
	b, err := io.ReadAll(res.Body)
	if err == nil {
		err = fastjson.Unmarshal(b, &out)
	}
	if err != nil {
		return Stored{}, fmt.Errorf("client: the answer cannot be read: %w", err)
	}
	if sent := src.digest(); sent != out.Digest {
		return Stored{}, fmt.Errorf("client: the server has got %s instead of %s", out.Digest, sent)
	}
	return out, nil
}

// Download makes a call whose answer is a content of a digest, writes that to w, and returns how many bytes it has. Once
// something was written, it is not made again.
func (c *Conn) Download(ctx context.Context, r Call, digest string, w io.Writer) (n int64, err error) {
	err = c.Retry(ctx, func() (again bool, err error) {
		out := &download{w: w, hash: sha256.New()}
		err = c.download(ctx, r, digest, out)
		n = out.n
		return out.n == 0 && out.err == nil, err
	})
	return n, err
}

func (c *Conn) download(ctx context.Context, r Call, digest string, out *download) error {
	ctx, progress, end := c.watch(ctx)
	defer end()
	out.progress = progress
	res, err := c.Send(ctx, r)
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
func (c *Conn) watch(ctx context.Context) (_ context.Context, progress, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	t := time.AfterFunc(c.Timeout, func() { cancel(errStill) })
	return ctx, func() { t.Reset(c.Timeout) }, func() {
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

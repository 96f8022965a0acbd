package artifact

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// DefaultMaxSize is the most bytes an artifact may have unless a store is told otherwise (64 MiB).
const DefaultMaxSize = 64 << 20

// Digest names an artifact: "sha256:" and 64 lower-case hex digits of its content's SHA-256.
type Digest string

const prefix = "sha256:"

// DigestOf is the digest of some content.
func DigestOf(content []byte) Digest {
	sum := sha256.Sum256(content)
	return Digest(prefix + hex.EncodeToString(sum[:]))
}

// DigestFrom is the digest of what was written to a SHA-256 hash.
func DigestFrom(h hash.Hash) Digest { return Digest(prefix + hex.EncodeToString(h.Sum(nil))) }

// Check refuses (invalid) what cannot be a digest.
func (d Digest) Check() error {
	if h := d.Hex(); len(h) == 2*sha256.Size && strings.Trim(h, "0123456789abcdef") == "" {
		return nil
	}
	return refusal.New(refusal.Invalid, "a digest is sha256: and 64 lower-case hex digits", "%.80q is not a digest", string(d))
}

// UnmarshalText implements encoding.TextUnmarshaler. It refuses (invalid) what cannot be a digest.
func (d *Digest) UnmarshalText(b []byte) error {
	v := Digest(b)
	if err := v.Check(); err != nil {
		return err
	}
	*d = v
	return nil
}

// Hex is the digest without its prefix, "" if it has none.
func (d Digest) Hex() string {
	h, ok := strings.CutPrefix(string(d), prefix)
	if !ok {
		return ""
	}
	return h
}

// Key names an artifact in a workspace.
type Key struct {
	Workspace string
	Digest    Digest
}

// Check refuses (invalid) what cannot be a key.
func (k Key) Check() error {
	if err := event.CheckName("workspace", k.Workspace); err != nil {
		return err
	}
	return k.Digest.Check()
}

// Info is what a store knows of an artifact.
type Info struct {
	Digest Digest `json:"digest"`
	Size   int64  `json:"size"` // bytes
}

// Swept is what a sweep did.
type Swept struct {
	Kept, Deleted int
	Freed         int64 // bytes
}

// ErrCorrupt is the error, wrapped, of reading an artifact whose content does not match its digest any more. Putting
// the same content again mends it.
var ErrCorrupt = errors.New("artifact: the stored content is damaged")

// Store keeps artifacts. Its methods may be called by many goroutines. Refusals are a [refusal.Error]; any other error
// means that the storage does not work, and nothing was changed.
type Store interface {
	// Put stores what r yields and returns its digest and size. The same content again costs no more space. It refuses
	// content beyond the store's limit (too_large) or the workspace's quota (limit), bad workspaces (invalid) and, while
	// there is no room to store it, anything (unavailable); it passes on r's errors.
	Put(ctx context.Context, workspace string, r io.Reader) (Info, error)

	// Get opens an artifact; close it. Nothing that is read may be relied on before io.EOF: until then the content
	// may still turn out to be damaged (ErrCorrupt). It refuses what is not there (not_found).
	Get(ctx context.Context, k Key) (io.ReadCloser, Info, error)

	// Touch says that an artifact is about to be referred to, which spares it from sweeps for a while. It refuses what
	// is not there (not_found), so a reference that was touched first never dangles.
	Touch(ctx context.Context, k Key) (Info, error)

	// Sweep deletes every artifact that was last put or touched before a time and for which keep is false. An error
	// of keep ends the sweep.
	Sweep(ctx context.Context, before time.Time, keep func(Key) (bool, error)) (Swept, error)

	// Close releases what the store holds. Artifacts being read stay readable.
	Close() error
}

// NotFound is the refusal of what is not there.
func NotFound(k Key) error {
	return refusal.New(refusal.NotFound, "send the file again, or ask whoever referred to it", "there is no artifact %s", k.Digest)
}

// Full is the refusal of content that there is no room for now.
func Full(cause string) error {
	return refusal.New(refusal.Unavailable, "free some space on the server's disk, then repeat the call", "the disk of the artifacts is full: %s", cause)
}

// TooLarge is the refusal of content beyond a limit in bytes.
func TooLarge(limit int64) error {
	return refusal.New(refusal.TooLarge, fmt.Sprintf("an artifact has at most %d bytes: split it, or put it elsewhere and refer to it", limit),
		"the artifact has more than %d bytes", limit).With("limit", limit)
}

// Verified is a reader that yields ErrCorrupt in place of io.EOF if what it read does not have the digest. Closing
// it closes r.
func Verified(r io.ReadCloser, d Digest) io.ReadCloser { return &verified{r, d, sha256.New()} }

type verified struct {
	io.ReadCloser
	want Digest
	hash hash.Hash
}

func (v *verified) Read(p []byte) (int, error) {
	n, err := v.ReadCloser.Read(p)
	v.hash.Write(p[:n])
	if err == io.EOF { //nolint:errorlint // Read returns io.EOF itself
		if got := DigestFrom(v.hash); got != v.want {
			err = fmt.Errorf("%w: %s reads as %s", ErrCorrupt, v.want, got)
		}
	}
	return n, err
}

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

// DefaultMaxSize is the default greatest size of an artifact, in bytes (64 MiB).
const DefaultMaxSize = 64 << 20

// Digest identifies an artifact: "sha256:" and the SHA-256 of its content in 64 lower-case hex digits.
type Digest string

const prefix = "sha256:"

// DigestOf returns the digest of some content.
func DigestOf(content []byte) Digest {
	sum := sha256.Sum256(content)
	return Digest(prefix + hex.EncodeToString(sum[:]))
}

// DigestFrom returns the digest of the content written to a SHA-256 hash.
func DigestFrom(h hash.Hash) Digest { return Digest(prefix + hex.EncodeToString(h.Sum(nil))) }

// Check refuses (invalid) a malformed digest.
func (d Digest) Check() error {
	if h := d.Hex(); len(h) == 2*sha256.Size && strings.Trim(h, "0123456789abcdef") == "" {
		return nil
	}
	return refusal.New(refusal.Invalid, "a digest is sha256: and 64 lower-case hex digits", "%.80q is not a digest", string(d)).With("field", "digest")
}

// UnmarshalText implements encoding.TextUnmarshaler. It refuses (invalid) a malformed digest.
func (d *Digest) UnmarshalText(b []byte) error {
	v := Digest(b)
	if err := v.Check(); err != nil {
		return err
	}
	*d = v
	return nil
}

// OfHex returns the digest of the 64 hexadecimal digits that [Digest.Hex] gives.
func OfHex(digits string) Digest { return Digest(prefix + digits) }

// Hex returns the digest without its prefix, "" if it has none.
func (d Digest) Hex() string {
	h, ok := strings.CutPrefix(string(d), prefix)
	if !ok {
		return ""
	}
	return h
}

// Key identifies an artifact of a workspace.
type Key struct {
	Workspace string
	Digest    Digest
}

// Check refuses (invalid) a malformed key.
func (k Key) Check() error {
	if err := event.CheckName("workspace", k.Workspace); err != nil {
		return err
	}
	return k.Digest.Check()
}

// Info describes a stored artifact.
type Info struct {
	Digest Digest `json:"digest"`
	Size   int64  `json:"size"` // bytes
}

// Swept is the result of a sweep.
type Swept struct {
	Kept, Deleted int
	Freed         int64 // bytes
}

// ErrCorrupt is the error, wrapped, of reading an artifact whose content no longer matches its digest. Putting the same
// content again repairs it.
var ErrCorrupt = errors.New("artifact: the stored content is damaged")

// Store stores artifacts. It is safe for concurrent use. Refusals are a [refusal.Error]; any other error means that the storage
// failed and nothing was changed.
type Store interface {
	// Put stores the content of r and returns its digest and size. The same content again takes no more space. It refuses
	// content beyond the limit of the store (too_large) or the quota of the workspace (limit), malformed workspaces
	// (invalid) and, while the disk is full, all content (unavailable); it returns errors of r.
	Put(ctx context.Context, workspace string, r io.Reader) (Info, error)

	// Get opens an artifact; the caller closes it. Do not rely on the content before io.EOF: until then it may prove to be
	// damaged (ErrCorrupt). It refuses an artifact that does not exist (not_found).
	Get(ctx context.Context, k Key) (io.ReadCloser, Info, error)

	// Touch protects an artifact from sweeps for a while, before something refers to it. It refuses an artifact that does
	// not exist (not_found), so that a reference made after Touch never dangles.
	Touch(ctx context.Context, k Key) (Info, error)

	// Sweep deletes every artifact that was last put or touched before a time and for which keep returns false. An error of
	// keep ends the sweep.
	Sweep(ctx context.Context, before time.Time, keep func(Key) (bool, error)) (Swept, error)

	// Used returns what the artifacts of a workspace take.
	Used(workspace string) Quota

	// Restrict sets a check of what the artifacts of a workspace would take, beside the quota: Put returns its refusal, and leaves nothing. It is
	// called once at most, before all others.
	Restrict(check func(workspace string, would Quota) error)

	// Close releases the resources of the store. Open artifacts remain readable.
	Close() error
}

// NotFound returns the refusal of an artifact that does not exist.
func NotFound(k Key) error {
	return refusal.New(refusal.NotFound, "send the file again, or ask the sender of the reference for it", "there is no artifact %s", k.Digest)
}

// Full returns the refusal of content because the disk is full.
func Full(cause string) error {
	return refusal.New(refusal.Unavailable, "free some space on the server's disk, then repeat the call", "the disk of the artifacts is full: %s", cause)
}

// TooLarge returns the refusal of content beyond a limit in bytes.
func TooLarge(limit int64) error {
	return refusal.New(refusal.TooLarge, fmt.Sprintf("an artifact has at most %d bytes: split it, or put it elsewhere and refer to it", limit),
		"the artifact has more than %d bytes", limit).With("limit", limit)
}

// Verified returns a reader of r that returns ErrCorrupt instead of io.EOF if the content does not have the digest. Closing it
// closes r.
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

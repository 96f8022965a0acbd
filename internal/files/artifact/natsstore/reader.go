package natsstore

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/trapezehq/trapeze/internal/files/artifact"
)

// Get implements [artifact.Store].
func (s *Store) Get(ctx context.Context, k artifact.Key) (io.ReadCloser, artifact.Info, error) {
	if err := k.Check(); err != nil {
		return nil, artifact.Info{}, err
	}
	o, err := s.find(ctx, k)
	if err == nil && o.Content == "" {
		err = artifact.NotFound(k)
	}
	if err != nil {
		return nil, artifact.Info{}, err
	}
	return s.open(ctx, k, o), artifact.Info{Digest: k.Digest, Size: o.Size}, nil
}

func (s *Store) open(ctx context.Context, k artifact.Key, o object) io.ReadCloser {
	return artifact.Verified(&reader{ctx: ctx, store: s, key: k, content: o.Content, left: o.Size}, k.Digest)
}

// verify reads an artifact to its end.
func (s *Store) verify(ctx context.Context, k artifact.Key, o object) error {
	_, err := io.Copy(io.Discard, s.open(ctx, k, o))
	return err
}

// reader reads content piece by piece.
type reader struct {
	ctx     context.Context //nolint:containedctx // lives as long as one call
	store   *Store
	key     artifact.Key
	content string
	number  int
	left    int64 // bytes that are not in b
	b       []byte
}

func (r *reader) Read(p []byte) (int, error) {
	for len(r.b) == 0 {
		if r.left == 0 {
			return 0, io.EOF
		}
		m, err := r.store.pieces.GetLastMsgForSubject(r.ctx, r.store.subject(r.content, r.number))
		switch {
		case errors.Is(err, jetstream.ErrMsgNotFound) || err == nil && (len(m.Data) == 0 || int64(len(m.Data)) > r.left):
			return 0, r.lost()
		case err != nil:
			return 0, failed(err)
		}
		r.b = m.Data
		r.number++
		r.left -= int64(len(r.b))
	}
	n := copy(p, r.b)
	r.b = r.b[n:]
	return n, nil
}

// lost is the error for a piece that is not there or has another size.
func (r *reader) lost() error {
	o, err := r.store.find(r.ctx, r.key)
	if err == nil && o.Content == "" {
		err = artifact.NotFound(r.key) // it was swept while it was read
	}
	if err == nil {
		err = fmt.Errorf("%w: piece %d is missing or damaged", artifact.ErrCorrupt, r.number)
	}
	return err
}

func (r *reader) Close() error { return nil }

package natsstore

import (
	"context"
	"errors"
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
	return artifact.Verified(&artifact.Pieces{
		Left: o.Size,
		Load: func(number int) ([]byte, error) {
			m, err := s.pieces.GetLastMsgForSubject(ctx, s.subject(o.Content, number))
			switch {
			case errors.Is(err, jetstream.ErrMsgNotFound):
				return nil, nil
			case err != nil:
				return nil, failed(err)
			}
			return m.Data, nil
		},
		Lost: func() error { // it was swept while it was read
			o, err := s.find(ctx, k)
			if err == nil && o.Content == "" {
				err = artifact.NotFound(k)
			}
			return err
		},
	}, k.Digest)
}

// verify reads an artifact to its end.
func (s *Store) verify(ctx context.Context, k artifact.Key, o object) error {
	_, err := io.Copy(io.Discard, s.open(ctx, k, o))
	return err
}

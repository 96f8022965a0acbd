package sharedrecord

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"strings"

	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/record/backup"
	"github.com/trapezehq/trapeze/internal/record/frontend"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

// The names of secrets that front ends share.
const (
	SigningKey = "signing-key"
	PageKey    = "page-key"
)

// anySize, in bytes, and anyQuota are for artifacts that were within a limit before.
const anySize = 1 << 40

var anyQuota = artifact.Quota{Bytes: math.MaxInt64, Count: math.MaxInt}

// Parts are the parts of a record, without a server.
type Parts struct {
	record Record
	shared frontend.Store
	store  Artifacts
}

// OpenParts opens the record of a place, without serving it, and creates it if there is none. Close closes it.
func OpenParts(ctx context.Context, p Place, o Options) (_ *Parts, err error) {
	d := &Parts{}
	if d.record, err = Open(ctx, p, o); err != nil {
		return nil, err
	}
	if d.shared, err = d.record.FrontEnds(ctx); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	if d.store, err = d.record.Artifacts(ctx, ArtifactOptions{MaxSize: anySize, Quota: anyQuota}); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// Close closes the connections.
func (d *Parts) Close() (err error) {
	if d.store.Store != nil {
		err = d.store.Close()
	}
	if d.shared != nil {
		d.shared.Close()
	}
	return errors.Join(err, d.record.Close(context.Background()))
}

// Artifacts lists the artifacts, as a data directory names them.
func (d *Parts) Artifacts(ctx context.Context) (list []backup.File, err error) {
	err = d.store.Each(ctx, func(k artifact.Key) {
		digest := k.Digest.Hex()
		list = append(list, backup.File{Name: path.Join("artifacts/data", k.Workspace, digest[:2], digest), Open: func() (io.ReadCloser, int64, error) {
			r, info, err := d.store.Get(ctx, k)
			return r, info.Size, err
		}})
	})
	return list, err
}

// ID returns the name of the record.
func (d *Parts) ID() string { return d.record.ID() }

// Entries returns the entries, for reading.
func (d *Parts) Entries() proof.Record { return d.record.Ledger() }

// Secret returns a secret that front ends share. Error: there is none.
func (d *Parts) Secret(ctx context.Context, name string) (string, error) {
	return d.shared.Secret(ctx, name, func() (string, error) {
		return "", fmt.Errorf("the record has no %s: start a server on it first", strings.ReplaceAll(name, "-", " "))
	})
}

package pgrecord

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/files/artifact/pgstore"
	"github.com/trapezehq/trapeze/internal/record/backup"
	"github.com/trapezehq/trapeze/internal/record/frontend"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/pglog"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

// The names of secrets in the database that front ends share.
const (
	SigningKey = "signing-key"
	PageKey    = "page-key"
)

// connections is how many a pool may have.
const connections = 4

// copyPage is how many entries are copied at a time.
const copyPage = 256

// anySize, in bytes, and anyQuota are for artifacts that were within a limit before.
const anySize = 1 << 40

var anyQuota = artifact.Quota{Bytes: math.MaxInt64, Count: math.MaxInt}

// Record is the parts of a record in PostgreSQL.
type Record struct {
	log    *pglog.Log
	shared *frontend.FrontEnd
	store  *pgstore.Store
}

// Open opens the record in the database at a URL, without serving it, and creates its tables if there are none. Close closes it.
func Open(ctx context.Context, url string) (_ *Record, err error) {
	d := &Record{}
	if d.log, err = pglog.Open(ctx, url, pglog.Options{}); err != nil {
		return nil, err
	}
	pool, err := d.log.Pool(ctx, connections)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	if d.shared, err = frontend.Open(ctx, pool, d.log.Schema()); err != nil {
		pool.Close()
		return nil, errors.Join(err, d.Close())
	}
	if pool, err = d.log.Pool(ctx, connections); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	if d.store, err = pgstore.Open(ctx, pool, d.log.Schema(), pgstore.Options{MaxSize: anySize, Quota: anyQuota}); err != nil {
		pool.Close()
		return nil, errors.Join(err, d.Close())
	}
	return d, nil
}

// Close closes the connections.
func (d *Record) Close() (err error) {
	if d.store != nil {
		err = d.store.Close()
	}
	if d.shared != nil {
		d.shared.Close()
	}
	return errors.Join(err, d.log.Close())
}

// Place is where a record is in a data directory.
type Place struct {
	Dir string
	// Database and PageKey are the names of files in it; the key may be missing.
	Database, PageKey string
	Artifacts         []backup.File
	Root              string // of the tree of its entries
}

// Fill fills an empty database with the record of a data directory that was verified, and compares it with that. Errors: conflict, if the database has a record
// or keys of another.
func (d *Record) Fill(ctx context.Context, from Place) error {
	if last, err := d.log.Last(ctx); err != nil || last != 0 {
		return errors.Join(err, notEmpty(last))
	}
	if err := d.giveSecrets(ctx, from); err != nil {
		return err
	}
	if err := d.putArtifacts(ctx, from.Artifacts); err != nil {
		return err
	}
	if err := d.copyEntries(ctx, filepath.Join(from.Dir, from.Database)); err != nil {
		return err
	}
	report, err := proof.VerifyRecord(ctx, d.log, proof.Evidence{})
	if err != nil {
		return err
	}
	if report.Root.String() != from.Root || len(report.Findings) > 0 {
		return fmt.Errorf("the record in the database is not the one of the backup (%v): drop the schema %s, and restore it again", report.Findings, d.log.Schema())
	}
	return nil
}

func notEmpty(last ledger.Position) error {
	if last == 0 {
		return nil
	}
	return refusal.New(refusal.Conflict, "name an empty database, or drop the schema of the record that is not needed", "the database has a record with %d entries", last)
}

// giveSecrets gives the front ends the key of the log, with the public ones that it had before, and the key of the page.
func (d *Record) giveSecrets(ctx context.Context, from Place) error {
	private, err := os.ReadFile(filepath.Join(from.Dir, "proof", "key")) //nolint:gosec // the operator's directory
	if err != nil {
		return fmt.Errorf("the backup has no private key of its log: give its secrets, too: %w", err)
	}
	public, err := os.ReadFile(filepath.Join(from.Dir, "proof", "keys")) //nolint:gosec // the operator's directory
	if err != nil {
		return err
	}
	err = d.give(ctx, SigningKey, strings.TrimSpace(string(private))+"\n"+strings.Join(proof.KeyList(string(public)), "\n")+"\n")
	page, missing := os.ReadFile(filepath.Join(from.Dir, from.PageKey)) //nolint:gosec // the operator's directory
	if err == nil && missing == nil {
		err = d.give(ctx, PageKey, strings.TrimSpace(string(page)))
	}
	return err
}

func (d *Record) give(ctx context.Context, name, value string) error {
	got, err := d.shared.Secret(ctx, name, func() (string, error) { return value, nil })
	if err == nil && got != value {
		err = refusal.New(refusal.Conflict, "name an empty database, or drop the schema of the record that is not needed", "the database has keys of another record")
	}
	return err
}

func (d *Record) putArtifacts(ctx context.Context, list []backup.File) error {
	for _, f := range list {
		r, _, err := f.Open()
		if err != nil {
			return err
		}
		info, err := d.store.Put(ctx, workspaceOf(f.Name), r)
		if err = errors.Join(err, r.Close()); err != nil {
			return fmt.Errorf("the artifact %s: %w", f.Name, err)
		}
		if want := "sha256:" + path.Base(f.Name); string(info.Digest) != want {
			return fmt.Errorf("the artifact %s has the digest %s", f.Name, info.Digest)
		}
	}
	return nil
}

// workspaceOf returns the workspace in the name of an artifact: it is the directory two above.
func workspaceOf(name string) string { return path.Base(path.Dir(path.Dir(name))) }

func (d *Record) copyEntries(ctx context.Context, file string) (err error) {
	from, err := sqlitelog.OpenReader(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	at := ledger.Position(0)
	return d.log.Copy(ctx, func() ([]ledger.Entry, error) {
		list, err := from.Read(ctx, at, copyPage)
		if len(list) > 0 {
			at = list[len(list)-1].Position
		}
		return list, err
	})
}

// Artifacts lists the artifacts, as a data directory names them.
func (d *Record) Artifacts(ctx context.Context) (list []backup.File, err error) {
	err = d.store.Each(ctx, func(k artifact.Key) {
		digest := strings.TrimPrefix(string(k.Digest), "sha256:")
		list = append(list, backup.File{Name: path.Join("artifacts/data", k.Workspace, digest[:2], digest), Open: func() (io.ReadCloser, int64, error) {
			r, info, err := d.store.Get(ctx, k)
			return r, info.Size, err
		}})
	})
	return list, err
}

// ID returns the name of the record.
func (d *Record) ID() string { return d.log.ID() }

// Entries returns the entries, for reading.
func (d *Record) Entries() proof.Record { return d.log }

// Secret returns a secret that front ends share. Error: there is none.
func (d *Record) Secret(ctx context.Context, name string) (string, error) {
	return d.shared.Secret(ctx, name, func() (string, error) {
		return "", fmt.Errorf("the database has no %s: start a server on it first", name)
	})
}

package sharedrecord

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/backup"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

// copyPage is how many entries are copied at a time.
const copyPage = 256

// Source is where a record is in a data directory.
type Source struct {
	Dir string
	// Database and PageKey are the names of files in it; the key may be missing.
	Database, PageKey string
	Artifacts         []backup.File
	Root              string // of the tree of its entries
}

// Fill fills an empty place with the record of a data directory that was verified, and compares it with that. Errors: conflict, if it has a record
// or keys of another.
func (d *Parts) Fill(ctx context.Context, from Source) error {
	if last, err := d.Entries().Last(ctx); err != nil || last != 0 {
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
	report, err := proof.VerifyRecord(ctx, d.Entries(), proof.Evidence{})
	if err != nil {
		return err
	}
	if report.Root.String() != from.Root || len(report.Findings) > 0 {
		return fmt.Errorf("the record is not the one of the backup (%v): delete it, and restore it again", report.Findings)
	}
	return nil
}

const emptyHint = "name an empty database or cluster, or delete the record that is not needed: drop the schema of PostgreSQL, or delete the streams of NATS"

func notEmpty(last ledger.Position) error {
	if last == 0 {
		return nil
	}
	return refusal.New(refusal.Conflict, emptyHint, "there is a record already, with %d entries", last)
}

// giveSecrets gives the front ends the key of the log, with the public ones that it had before, and the key of the page.
func (d *Parts) giveSecrets(ctx context.Context, from Source) error {
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

func (d *Parts) give(ctx context.Context, name, value string) error {
	got, err := d.shared.Secret(ctx, name, func() (string, error) { return value, nil })
	if err == nil && got != value {
		err = refusal.New(refusal.Conflict, emptyHint, "there are keys of another record already")
	}
	return err
}

func (d *Parts) putArtifacts(ctx context.Context, list []backup.File) error {
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

func (d *Parts) copyEntries(ctx context.Context, file string) (err error) {
	from, err := sqlitelog.OpenReader(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	at := ledger.Position(0)
	return d.record.Copy(ctx, func() ([]ledger.Entry, error) {
		list, err := ledger.Page(ctx, from, at, copyPage)
		if len(list) > 0 {
			at = list[len(list)-1].Position
		}
		return list, err
	})
}

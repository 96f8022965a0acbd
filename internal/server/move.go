package server

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/backup"
	"github.com/trapezehq/trapeze/internal/record/proof"
	"github.com/trapezehq/trapeze/internal/server/pgrecord"
)

// origin is what a backup is made of, besides the files of the data directory.
type origin struct {
	record  proof.Record
	content func(*os.Root) ([]backup.File, error)
	key     string        // that signs; empty: the one in the directory
	secrets []backup.File // that are not in the directory
	close   func() error
}

// openOrigin opens the record of a data directory, or the one in PostgreSQL that it follows.
func openOrigin(ctx context.Context, dir, postgres string) (*origin, error) {
	if postgres != "" {
		return originOf(ctx, dir, postgres)
	}
	if err := checkOwnRecord(dir, "name its database with --postgres URL or TRAPEZE_POSTGRES"); err != nil {
		return nil, err
	}
	record, err := OpenRecord(dir)
	if err != nil {
		return nil, err
	}
	return &origin{record: record, content: contentOf, close: record.Close}, nil
}

// originOf returns what a backup of the record in PostgreSQL that a data directory follows is made of.
func originOf(ctx context.Context, dir, url string) (_ *origin, err error) {
	id, err := followed(dir)
	if err != nil {
		return nil, err
	}
	d, err := pgrecord.Open(ctx, url)
	if err != nil {
		return nil, err
	}
	if id != d.ID() {
		return nil, errors.Join(refusal.New(refusal.Conflict, "name the data directory of a front end that runs, and its database", "%s does not follow the record in the database", dir), d.Close())
	}
	keys, err := d.Secret(ctx, pgrecord.SigningKey)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	private, _, _ := strings.Cut(keys, "\n")
	o := &origin{record: d.Entries(), key: private, close: d.Close, content: func(*os.Root) ([]backup.File, error) { return d.Artifacts(ctx) }}
	o.secrets = append(o.secrets, memoryFile("proof/key", private+"\n"))
	if page, err := d.Secret(ctx, pgrecord.PageKey); err == nil {
		o.secrets = append(o.secrets, memoryFile(pageKeyName, page))
	}
	return o, nil
}

func memoryFile(name, text string) backup.File {
	return backup.File{Name: name, Open: func() (io.ReadCloser, int64, error) {
		return io.NopCloser(strings.NewReader(text)), int64(len(text)), nil
	}}
}

// restoreDatabase moves the record of a directory that was restored into an empty database.
func restoreDatabase(ctx context.Context, dir, url string, r Restored) (err error) {
	d, err := pgrecord.Open(ctx, url)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.Close()) }()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	list, err := contentOf(root)
	if err != nil {
		return err
	}
	if err := d.Fill(ctx, pgrecord.Place{Dir: dir, Database: databaseName, PageKey: pageKeyName, Artifacts: list, Root: r.Root}); err != nil {
		return err
	}
	return leaveFollower(dir, d.ID())
}

// leaveFollower leaves in a data directory what one of a front end has.
func leaveFollower(dir, id string) error {
	names, err := filepath.Glob(filepath.Join(dir, databaseName+"*"))
	for _, name := range append(names, filepath.Join(dir, "artifacts"), filepath.Join(dir, pageKeyName), filepath.Join(dir, "proof", "key")) {
		err = errors.Join(err, os.RemoveAll(name))
	}
	return errors.Join(err, writeFile(filepath.Join(dir, followsName), id+"\n"))
}

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
	"github.com/trapezehq/trapeze/internal/server/recordfile"
	"github.com/trapezehq/trapeze/internal/server/sharedrecord"
)

// origin is what a backup is made of, besides the files of the data directory.
type origin struct {
	record  proof.Record
	content func(*os.Root) ([]backup.File, error)
	key     string        // that signs; empty: the one in the directory
	secrets []backup.File // that are not in the directory
	close   func() error
}

// openOrigin opens the record of a data directory, or the shared one that it follows.
func openOrigin(ctx context.Context, dir string, place Place) (*origin, error) {
	if at, runs := sharedrecord.Running(filepath.Join(dir, nodeName)); runs && place.Kind() == sharedrecord.None {
		place = at
	}
	if place.Kind() != sharedrecord.None {
		return originOf(ctx, dir, place)
	}
	if err := sharedrecord.CheckOwn(dir, "", ""); err != nil {
		return nil, err
	}
	record, err := OpenRecord(dir)
	if err != nil {
		return nil, err
	}
	return &origin{record: record, content: contentOf, close: record.Close}, nil
}

// originOf returns what a backup of the shared record that a data directory follows is made of.
func originOf(ctx context.Context, dir string, place Place) (_ *origin, err error) {
	_, id, err := sharedrecord.Followed(dir)
	if err != nil {
		return nil, err
	}
	d, err := sharedrecord.OpenParts(ctx, place, sharedrecord.Options{})
	if err != nil {
		return nil, err
	}
	if id != d.ID() {
		return nil, errors.Join(refusal.New(refusal.Conflict, "name the data directory of a front end that runs, and where its record is", "%s does not follow the record in %s", dir, place.Kind()), d.Close())
	}
	keys, err := d.Secret(ctx, sharedrecord.SigningKey)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	private, _, _ := strings.Cut(keys, "\n")
	o := &origin{record: d.Entries(), key: private, close: d.Close, content: func(*os.Root) ([]backup.File, error) { return d.Artifacts(ctx) }}
	o.secrets = append(o.secrets, memoryFile("proof/key", private+"\n"))
	if page, err := d.Secret(ctx, sharedrecord.PageKey); err == nil {
		o.secrets = append(o.secrets, memoryFile(recordfile.PageKey, page))
	}
	return o, nil
}

func memoryFile(name, text string) backup.File {
	return backup.File{Name: name, Open: func() (io.ReadCloser, int64, error) {
		return io.NopCloser(strings.NewReader(text)), int64(len(text)), nil
	}}
}

// restoreShared moves the record of a directory that was restored into an empty place.
func restoreShared(ctx context.Context, dir string, place Place, r Restored) (err error) {
	place.NATS.Dir = filepath.Join(dir, nodeName)
	d, err := sharedrecord.OpenParts(ctx, place, sharedrecord.Options{Filling: true})
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
	if err := d.Fill(ctx, sharedrecord.Source{Dir: dir, Database: recordfile.Database, PageKey: recordfile.PageKey, Artifacts: list, Root: r.Root}); err != nil {
		return err
	}
	return leaveFollower(dir, place.Kind(), d.ID())
}

// leaveFollower leaves in a data directory what one of a front end has.
func leaveFollower(dir string, kind sharedrecord.Kind, id string) error {
	names, err := filepath.Glob(filepath.Join(dir, recordfile.Database+"*"))
	for _, name := range append(names, filepath.Join(dir, "artifacts"), filepath.Join(dir, recordfile.PageKey), filepath.Join(dir, "proof", "key")) {
		err = errors.Join(err, os.RemoveAll(name))
	}
	return errors.Join(err, writeFile(sharedrecord.FollowFile(dir, kind), id+"\n"))
}

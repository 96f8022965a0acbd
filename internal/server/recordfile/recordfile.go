package recordfile

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/files/artifact/filestore"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/proof"
	"github.com/trapezehq/trapeze/internal/record/proof/segment"
	"github.com/trapezehq/trapeze/internal/record/seal"
	"github.com/trapezehq/trapeze/internal/record/view/sqlview"
	"github.com/trapezehq/trapeze/internal/server/putaway"
	"github.com/trapezehq/trapeze/internal/server/sharedrecord"
)

// Names in the data directory.
const (
	Database  = "trapeze.db"
	Artifacts = "artifacts"
	PageKey   = "page.key" // the key of the page
)

// File is the record in a data directory, with its views and artifacts.
type File struct {
	*sqlitelog.Reader
	dir    string
	sealed bool
	sealer *seal.Sealer // nil: the content is not sealed, or its keys are not there
	keys   *seal.KeyFile
	broken error // the keys are there, and cannot be used

	segments *segment.Dir
}

// Close releases everything.
func (f *File) Close() error {
	err := errors.Join(f.Reader.Close(), f.segments.Close())
	if f.sealer != nil {
		err = errors.Join(err, f.sealer.Close())
	}
	return err
}

// closeIf closes a reader if there is an error.
func closeIf(err error, r *sqlitelog.Reader) error {
	if err == nil {
		return nil
	}
	return r.Close()
}

// Open opens the record in a data directory for reading, also while a server runs there. Segments are looked for in the directory and in others.
func Open(dir string, segments ...string) (*File, error) {
	if err := sharedrecord.CheckOwn(dir, "verify receipts, and what a running server exports: trapeze audit export; the server compares the record with its tree all the time", ""); err != nil {
		return nil, err
	}
	r, err := sqlitelog.OpenReader(filepath.Join(dir, Database))
	if err != nil {
		return nil, err
	}
	f := &File{Reader: r, dir: dir, segments: segment.NewDir(append(segments, filepath.Join(dir, putaway.Dir))...)}
	r.Attach(f.segments)
	if f.sealed, err = r.IsSealed(); err != nil || !f.sealed {
		return f, errors.Join(err, closeIf(err, r))
	}
	var keys *seal.KeyFile
	w, err := seal.Installation(dir)
	if err == nil {
		keys, err = seal.OpenFile(filepath.Join(dir, seal.ContentKeys), w, true)
	}
	if err != nil { // the outlines can be read without
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			f.broken = err
		}
		return f, nil
	}
	if f.sealer, err = seal.New(keys); err != nil {
		return nil, errors.Join(err, keys.Close(), r.Close())
	}
	f.keys = keys
	r.Open(f.sealer)
	return f, nil
}

// CheckKeys returns which keys beside the record were changed: of erasable content, and of the page. A copy need not have them. Keys of content that cannot be used
// at all are named by CheckViews.
func (f *File) CheckKeys(context.Context) (found []string, err error) {
	if err := seal.CheckKeyFile(filepath.Join(f.dir, seal.InstallationFile)); err != nil && f.broken == nil {
		found = append(found, err.Error())
	}
	if f.sealer != nil {
		list, wrong := f.keys.Check()
		err = wrong
		for _, what := range list {
			found = append(found, fmt.Sprintf("the file of keys %s is damaged: %s; restore it from a backup", seal.ContentKeys, what))
		}
	}
	text, rerr := os.ReadFile(filepath.Join(f.dir, PageKey)) //nolint:gosec // the operator's directory
	if _, ok := ParsePageKey(string(text)); rerr == nil && !ok {
		found = append(found, PageKey+" is damaged, and the server would not start: remove it, and sign in again")
	}
	if errors.Is(rerr, fs.ErrNotExist) {
		return found, err
	}
	return found, errors.Join(err, rerr)
}

// CheckViews builds the views again in a temporary file and returns what differs in those that are stored. Views of an earlier version are not compared: the
// server builds them again. Nor are they compared if the record has sealed content and its keys are not there; keys that cannot be used are named. The entries are those
// that are read along with a verification, if there is one. Errors: *[proof.NotCompared], and others.
func (f *File) CheckViews(ctx context.Context, along *proof.Ahead) (found []string, err error) {
	if along != nil {
		defer along.Close()
	}
	db, err := f.Views()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(sqlitelog.ReadError(err), db.Close()) }()
	if f.broken != nil {
		found = append(found, fmt.Sprintf("the content of the record cannot be read, since its keys (%s, opened with %s) cannot be used: %v", seal.ContentKeys, seal.InstallationFile, f.broken))
	}
	changed, err := sqlview.CompareKept(ctx, db)
	for _, name := range changed {
		found = append(found, fmt.Sprintf("the view %s was changed: build the views again with trapeze serve --rebuild-views", name))
	}
	if err != nil {
		return found, err
	}
	list, err := f.compareViews(ctx, db, along)
	return append(found, list...), err
}

// viewLooks is how often views are compared until no content is erased meanwhile.
const viewLooks = 3

// compareViews compares the views with new ones. Content that is erased meanwhile is in one of them and not in the other, which is no finding.
func (f *File) compareViews(ctx context.Context, db *sql.DB, along *proof.Ahead) (found []string, err error) {
	for look := range viewLooks {
		before, err := f.moment()
		if err != nil {
			return nil, err
		}
		pages, err := f.pages(ctx, look, along)
		if err != nil {
			return nil, err
		}
		content := &seal.Outlines{Record: f, From: pages, Called: f.sealed, Opens: f.sealer != nil}
		differ, at, err := sqlview.Compare(ctx, content, db)
		pages.Close()
		if err == nil && f.broken == nil {
			found = content.Differs()
		}
		if len(differ) == 0 {
			return found, err
		}
		after, merr := f.moment()
		if merr != nil {
			return found, errors.Join(err, merr)
		}
		if !before.Until(after) {
			continue
		}
		for _, name := range differ {
			found = append(found, fmt.Sprintf("the view %s differs from the record at position %d: the server shows what was not recorded; build the views again with trapeze serve --rebuild-views", name, at))
		}
		return found, err
	}
	return found, &proof.NotCompared{Why: "the views, since content is being erased, or the server ended before it was: verify once more when the server has built the views again"}
}

// pages are the entries of a look: the first has those that are verified meanwhile.
func (f *File) pages(ctx context.Context, look int, along *proof.Ahead) (*proof.Ahead, error) {
	if along == nil {
		return proof.ReadAhead(ctx, f, 0, nil)
	}
	if look > 0 {
		return proof.ReadAhead(ctx, f, 0, along.Follower())
	}
	return along, nil
}

// moment is the time of a look at content that may be erased.
func (f *File) moment() (seal.Moment, error) {
	if f.sealer == nil {
		return seal.Still, nil // without keys nothing is erased
	}
	return f.sealer.Moment()
}

// CheckFiles returns which files beside the record do not fit it: artifacts that are missing to which envelopes refer, and tokens that were changed, by the views. Views of
// an earlier version do not tell. Errors: *[proof.NotCompared], and others, beside what is found all the same.
func (f *File) CheckFiles(ctx context.Context) (found []string, err error) {
	db, err := f.Views()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(sqlitelog.ReadError(err), db.Close()) }()
	list, err := sqlview.References(ctx, db)
	if err != nil {
		return nil, err
	}
	found, unread := f.checkTokens(ctx, db)
	if list = slices.DeleteFunc(list, f.has); len(list) == 0 {
		return found, unread
	}
	still, err := sqlview.References(ctx, db) // an artifact is deleted after nothing refers to it any more
	for _, r := range list {
		if slices.Contains(still, r) && !f.has(r) {
			found = append(found, fmt.Sprintf("the artifact %s of the workspace %s, to which an envelope refers, is missing", r.Digest, r.Workspace))
		}
	}
	return found, errors.Join(unread, err)
}

// has reports whether there is a file of an artifact.
func (f *File) has(r sqlview.Reference) bool {
	name, ok := filestore.PathOf(artifact.Key{Workspace: r.Workspace, Digest: artifact.Digest(r.Digest)})
	_, err := os.Stat(filepath.Join(f.dir, Artifacts, name))
	return ok && !errors.Is(err, fs.ErrNotExist)
}

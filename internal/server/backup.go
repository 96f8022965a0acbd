package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/files/artifact"
	"github.com/trapezehq/trapeze/internal/record/access"
	"github.com/trapezehq/trapeze/internal/record/backup"
	"github.com/trapezehq/trapeze/internal/record/durable"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/ledger/sqlitelog"
	"github.com/trapezehq/trapeze/internal/record/proof"
	"github.com/trapezehq/trapeze/internal/record/seal"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/server/recordfile"
	"github.com/trapezehq/trapeze/internal/server/sharedrecord"
)

// BackupOptions say what a backup has. The zero value is a full one.
type BackupOptions struct {
	After io.Reader // the backup that it follows, which is read up to its end; nil: none
	// Secrets gets the private key of the log, the keys of erasable content, the key of the page and the tokens that are kept in the directory, as a backup of its own. The backup then
	// lacks them; nil: they are in it.
	Secrets io.Writer
	// Rate is the greatest number of bytes per second that are written; 0: no limit.
	Rate int64
	// Progress is called after each part; nil: nobody is told.
	Progress func(at, until uint64)
	// Record is where the record is that a front end's data directory follows; the zero value: the directory has it.
	Record Place
}

// settings are patterns of the files besides the record that a backup has, and secrets of those that only the server and its operator may read.
var (
	settings = []string{"policy.yaml", "policy.*.yaml", "proof/keys"}
	secrets  = []string{"admin.token", "page.key", "proof/key", "proof/key.next", "agents/*.token", seal.ContentKeys, seal.InstallationFile}
)

// signedWithin is how long a backup waits for a checkpoint of the entries that were there when it began. A server signs one each second.
const signedWithin = 3 * time.Second

// Made says what a backup has.
type Made struct {
	After    uint64 `json:"after"`    // the position after which it begins; 0: it is a full one
	Position uint64 `json:"position"` // of the last entry
	Root     string `json:"root"`     // of the tree at the position
	Signed   int64  `json:"signed"`   // the position of the checkpoint that the entries were compared with
	Log      string `json:"log"`      // the name of the log that signed
	// Damaged are artifacts that the backup lacks, since their content is not what their name says.
	Damaged []string `json:"damaged,omitempty"`
	// Unsigned: the directory has no key of its log that can be read, so that the backup shows only that it is whole.
	Unsigned bool `json:"unsigned,omitempty"`
}

// Backup writes a backup of a data directory, also while a server runs there: every entry that was acknowledged before the call, with its files.
func Backup(ctx context.Context, dir string, to io.Writer, o BackupOptions) (_ Made, err error) {
	made := backup.Options{Made: time.Now().UTC()}
	if o.After != nil {
		if made.Base, err = backup.ReadBase(ctx, o.After); err != nil {
			return Made{}, fmt.Errorf("the backup to follow: %w", err)
		}
	}
	from, err := openOrigin(ctx, dir, o.Record)
	if err != nil {
		return Made{}, err
	}
	defer func() { err = errors.Join(err, from.close()) }()
	tree, err := os.Open(filepath.Join(dir, "proof", "tree")) //nolint:gosec // the operator's directory
	if err != nil {
		return Made{}, fmt.Errorf("the data directory has no tree of its record, which the server makes when it starts: %w", err)
	}
	defer func() { err = errors.Join(err, tree.Close()) }()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return Made{}, err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	src, err := signed(ctx, dir, from.record)
	if err != nil {
		return Made{}, err
	}
	src.Stored, src.Key = proof.Stored{From: tree}, cmp.Or(from.key, src.Key)
	if src.Content, err = from.content(root); err != nil {
		return Made{}, err
	}
	src.Settings = filesOf(root, settings)
	if o.Progress != nil {
		made.Progress = func(at ledger.Position) { o.Progress(uint64(at), uint64(src.Until)) }
	}
	if o.Secrets == nil {
		src.Settings = append(src.Settings, append(filesOf(root, secrets), from.secrets...)...)
	} else {
		apart := backup.Source{Kind: backup.Secrets, Log: src.Log, PublicKeys: src.PublicKeys, Key: src.Key, Settings: append(filesOf(root, secrets), from.secrets...)}
		if _, err := backup.Write(ctx, o.Secrets, apart, backup.Options{Made: made.Made}); err != nil {
			return Made{}, err
		}
	}
	end, err := backup.Write(ctx, limitRate(ctx, to, o.Rate), src, made)
	err = stream.AttachFirst(err)
	out := Made{Position: uint64(end.Position), Root: end.Root.String(), Signed: src.Signed.Size, Log: src.Log, Damaged: end.Damaged, Unsigned: !end.Signed}
	if made.Base != nil {
		out.After = uint64(made.Base.End.Position)
	}
	return out, err
}

// signed returns what is to be copied of a record: up to a checkpoint that has all entries that are there now, or, if no server signs one, all of them.
func signed(ctx context.Context, dir string, record proof.Record) (src backup.Source, err error) {
	src = backup.Source{Kind: backup.Entries, Record: record}
	last, err := record.Last(ctx)
	if err != nil {
		return src, err
	}
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(signedWithin); ; {
		err := readCheckpoint(dir, &src)
		if err == nil && src.Until >= last {
			return src, nil
		}
		if late := !time.Now().Before(end); late && err == nil {
			src.Until = last
			return src, nil
		} else if late || err != nil && !errors.Is(err, fs.ErrNotExist) {
			return src, fmt.Errorf("the checkpoint of the record, which a server signs within a second: %w", err)
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return src, ctx.Err()
		}
	}
}

// readCheckpoint reads the last checkpoint and the keys: the private key first, since the public one is on the disk before it.
func readCheckpoint(dir string, src *backup.Source) error {
	key, err := os.ReadFile(filepath.Join(dir, "proof", "key")) //nolint:gosec // the operator's directory
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	src.Key = string(key)
	keys, err := os.ReadFile(filepath.Join(dir, "proof", "keys")) //nolint:gosec // the operator's directory
	if err != nil {
		return err
	}
	note, err := os.ReadFile(filepath.Join(dir, "proof", "checkpoint")) //nolint:gosec // as above
	if err != nil {
		return err
	}
	src.Note, src.PublicKeys = string(note), string(keys)
	src.Signed, err = backup.Begin{Checkpoint: src.Note, PublicKeys: src.PublicKeys}.Open("")
	src.Log, src.Until = src.Signed.Origin, ledger.Position(src.Signed.Size) //nolint:gosec // never negative
	return err
}

const artifactsDir = "artifacts/data/"

// artifactPattern has the names of artifacts: below the workspace and the first two digits, the SHA-256. Other files are not ours.
var artifactPattern = artifactsDir + "*/[0-9a-f][0-9a-f]/" + strings.Repeat("[0-9a-f]", 64)

// contentOf lists the artifacts.
func contentOf(root *os.Root) (list []backup.File, err error) {
	err = fs.WalkDir(root.FS(), path.Clean(artifactsDir), func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // none yet, or deleted meanwhile
			return nil
		}
		if ok, _ := path.Match(artifactPattern, name); err == nil && ok && d.Type().IsRegular() {
			list = append(list, file(root, name))
		}
		return err
	})
	return list, err
}

// filesOf lists the files that fit patterns.
func filesOf(root *os.Root, patterns []string) (list []backup.File) {
	for _, pattern := range patterns {
		names, _ := fs.Glob(root.FS(), pattern) // our own patterns are well formed
		for _, name := range names {
			list = append(list, file(root, name))
		}
	}
	return list
}

func file(root *os.Root, name string) backup.File {
	return backup.File{Name: name, Open: func() (io.ReadCloser, int64, error) {
		f, err := root.Open(name)
		if err != nil {
			return nil, 0, err
		}
		info, err := f.Stat()
		if err != nil {
			return nil, 0, errors.Join(err, f.Close())
		}
		return f, info.Size(), nil
	}}
}

// limitRate returns a writer of at most so many bytes per second.
func limitRate(ctx context.Context, w io.Writer, perSecond int64) io.Writer {
	if perSecond <= 0 {
		return w
	}
	burst := int(min(perSecond, 1<<20))
	return slowly{ctx, w, rate.NewLimiter(rate.Limit(perSecond), burst), burst}
}

type slowly struct {
	ctx   context.Context //nolint:containedctx // that of one backup
	w     io.Writer
	limit *rate.Limiter
	burst int
}

func (s slowly) Write(b []byte) (written int, err error) {
	for part := range slices.Chunk(b, s.burst) {
		if err := s.limit.WaitN(s.ctx, len(part)); err != nil {
			return written, err
		}
		n, err := s.w.Write(part)
		written += n
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// Restored says what was restored.
type Restored struct {
	Position uint64    `json:"position"` // of the last entry
	Root     string    `json:"root"`     // of the tree at the position
	Made     time.Time `json:"made"`     // when the last backup was made
	// Signed is the position of the checkpoint that the record was compared with; 0: nothing was signed.
	Signed int64  `json:"signed"`
	Log    string `json:"log"` // the name of the log that signed
	Files  int    `json:"files"`
	// Unsigned are the policies, keys and tokens of backups that were not signed: nothing tells who made them.
	Unsigned []string `json:"unsigned,omitempty"`
}

// restoredName is the file that tells the server at its first start that it was restored.
const restoredName = "restored.json"

// Restore makes a data directory of a full backup and the incremental ones that follow it, and of secrets that were kept apart, if any. The directory must not
// exist, or be empty; it is filled when everything was verified. keys are public keys of the log that the caller has from elsewhere; empty: those in the
// backup count. With an empty place to, the record goes there, and the directory becomes that of a front end.
func Restore(ctx context.Context, dir, keys string, to Place, backups []io.Reader) (_ Restored, err error) {
	tmp, place, err := preparePlace(dir)
	if err != nil {
		return Restored{}, err
	}
	out, err := restoreInto(ctx, tmp, keys, backups)
	if err == nil && to.Kind() != sharedrecord.None {
		err = restoreShared(ctx, tmp, to, out)
	}
	if err == nil {
		var text []byte
		if text, err = json.Marshal(out); err == nil {
			err = writeFile(filepath.Join(tmp, restoredName), string(text))
		}
	}
	if err == nil {
		err = syncAll(tmp)
	}
	if err != nil {
		return Restored{}, errors.Join(err, os.RemoveAll(tmp))
	}
	if err := place(); err != nil {
		return Restored{}, fmt.Errorf("everything is restored and verified in %s, but could not be moved: %w", tmp, err)
	}
	return out, nil
}

const restoring = ".restoring"

// preparePlace makes the directory that is restored into, which place then moves to its own place: beside it or, if it is there already, such as the
// root of a volume, in it.
func preparePlace(dir string) (tmp string, place func() error, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return "", nil, err
	}
	list, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if _, err := os.Lstat(dir); err == nil { // which no directory can replace
			return "", nil, fmt.Errorf("%s is a symbolic link to nothing: make the directory to which it links, or remove it", dir)
		}
		tmp = dir + restoring
		if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
			return "", nil, err
		}
		place = func() error { return errors.Join(os.Rename(tmp, dir), durable.Sync(filepath.Dir(dir))) }
	case err != nil:
		return "", nil, err
	case len(list) > 1 || len(list) == 1 && list[0].Name() != "lost+found": // the root of a volume has that
		return "", nil, fmt.Errorf("%s is not empty: restore into a new directory, and keep this one until you have looked at it", dir)
	default:
		tmp = filepath.Join(dir, restoring)
		place = func() error { return moveInto(dir, tmp) }
	}
	if err := os.Mkdir(tmp, 0o700); err != nil {
		return "", nil, fmt.Errorf("%w: another restore may be running; remove the directory if it is not", err)
	}
	return tmp, place, nil
}

// moveInto moves what is in a directory to another one, the database last.
func moveInto(dir, from string) error {
	list, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	slices.SortStableFunc(list, func(a, b fs.DirEntry) int {
		return cmp.Compare(strings.Count(a.Name(), recordfile.Database), strings.Count(b.Name(), recordfile.Database))
	})
	for _, f := range list {
		if err := os.Rename(filepath.Join(from, f.Name()), filepath.Join(dir, f.Name())); err != nil {
			return err
		}
	}
	return errors.Join(os.Remove(from), os.Chmod(dir, 0o700), durable.Sync(dir)) //nolint:gosec // a directory, for its owner alone
}

// syncAll makes all files and directories below a directory durable.
func syncAll(dir string) error {
	return filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return durable.Sync(name)
	})
}

func restoreInto(ctx context.Context, dir, keys string, backups []io.Reader) (out Restored, err error) {
	t, err := newTarget(dir)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, t.close()) }()
	r := backup.NewRestorer(t, keys)
	for i, b := range backups {
		if _, err := r.Add(ctx, b); err != nil {
			return out, fmt.Errorf("backup %d of %d: %w", i+1, len(backups), err)
		}
	}
	begin, end, err := r.Last()
	if err != nil {
		return out, err
	}
	held, note := r.Held()
	out = Restored{uint64(end.Position), end.Root.String(), begin.Made, held.Size, begin.Log, t.files, r.Unsigned()}
	if note != "" {
		err = t.write("proof/checkpoint", strings.NewReader(note))
	}
	return out, err
}

// target is a data directory that is being restored.
type target struct {
	root  *os.Root
	log   *sqlitelog.Log
	tree  *os.File
	files int
}

func newTarget(dir string) (_ *target, err error) {
	t := &target{}
	if t.root, err = os.OpenRoot(dir); err != nil {
		return nil, err
	}
	if err = t.root.Mkdir("proof", 0o700); err == nil {
		t.tree, err = t.root.OpenFile("proof/tree", os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	}
	if err == nil {
		t.log, err = sqlitelog.Open(filepath.Join(dir, recordfile.Database), sqlitelog.Options{})
	}
	if err != nil {
		return nil, errors.Join(err, t.close())
	}
	return t, nil
}

func (t *target) close() (err error) {
	if t.log != nil {
		err = t.log.Close()
	}
	if t.tree != nil {
		err = errors.Join(err, t.tree.Sync(), t.tree.Close())
	}
	return errors.Join(err, t.root.Close())
}

// Append implements [backup.Target].
func (t *target) Append(ctx context.Context, entries []ledger.Entry) error {
	return t.log.Copy(ctx, entries)
}

// Hash implements [backup.Target].
func (t *target) Hash(hashes []proof.Hash) error {
	for _, h := range hashes {
		if _, err := t.tree.Write(h[:]); err != nil {
			return err
		}
	}
	return nil
}

// Content implements [backup.Target]. Only files that a backup has are written, whatever it says.
func (t *target) Content(name string, r io.Reader) error {
	if ok, _ := path.Match(artifactPattern, name); ok {
		parts := strings.Split(strings.TrimPrefix(name, artifactsDir), "/")
		key := artifact.Key{Workspace: parts[0], Digest: artifact.Digest("sha256:" + parts[2])}
		if key.Check() == nil && strings.HasPrefix(parts[2], parts[1]) {
			return t.write(name, r)
		}
	}
	return fmt.Errorf("%w: a data directory has no artifact %q", backup.ErrFormat, name)
}

// Setting implements [backup.Target].
func (t *target) Setting(name string, r io.Reader) error {
	for _, pattern := range slices.Concat(settings, secrets) {
		if ok, _ := path.Match(pattern, name); ok {
			return t.write(name, r)
		}
	}
	return fmt.Errorf("%w: a data directory has no file %q", backup.ErrFormat, name)
}

// Remove implements [backup.Target].
func (t *target) Remove(name string) error {
	t.files--
	return t.root.Remove(name)
}

func (t *target) write(name string, r io.Reader) (err error) {
	if err := t.root.MkdirAll(path.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := t.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	t.files++
	_, err = io.Copy(f, r)
	return errors.Join(err, f.Close())
}

// recordRestore records, at the first start on a restored data directory, up to where it was restored.
func (s *Server) recordRestore(ctx context.Context) error {
	path := filepath.Join(s.config.DataDir, restoredName)
	text, err := os.ReadFile(path) //nolint:gosec // the operator's directory
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var r Restored
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	log, err := access.New(s.log, s.config.Now)
	if err != nil {
		return err
	}
	by := ledger.Actor{Principal: "system/restore"}
	if err := log.Append(ctx, identity.DefaultWorkspace, by, access.Restored{Position: r.Position, Root: r.Root, Made: r.Made}); err != nil {
		return err
	}
	s.config.Log.Warn("this record was restored from a backup", "position", r.Position, "made", r.Made)
	return os.Remove(path)
}

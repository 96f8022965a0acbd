package backup

import (
	"archive/tar"
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/trapezehq/trapeze/internal/record/entrytar"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

// Target gets what is restored. Nothing of it may be used before [Restorer.Add] has returned without an error for the last backup.
type Target interface {
	// Append appends entries at their positions, which follow those before.
	Append(ctx context.Context, entries []ledger.Entry) error
	// Hash stores the hashes that an entry completes in the tree.
	Hash(hashes []proof.Hash) error
	// Content writes a file whose name ends with its digest, and Setting another one, in the place of an earlier one of its name. Names are local paths with
	// slashes. Remove removes a setting.
	Content(name string, r io.Reader) error
	Setting(name string, r io.Reader) error
	Remove(name string) error
}

// Restorer restores a full backup and the incremental ones that follow it.
type Restorer struct {
	to       Target
	tree     *proof.Tree
	last     Begin
	set      map[string]bool   // settings that were restored from backups with entries
	secrets  string            // the log of the secrets; empty: there are none
	kept     map[string]bool   // settings that were restored from secrets
	held     proof.Checkpoint  // the last one whose root the entries have
	note     string            // it, signed
	content  map[string]bool   // files that were restored
	files    map[string]string // the digests of the settings in this backup
	entered  int               // entries in it
	signed   proof.Checkpoint  // of the backup that is being restored
	keys     string
	end      End
	unsigned []string // settings
	begun    bool
}

// NewRestorer returns a restorer into an empty target. keys are the public keys of the log, one in each line, that the caller has from elsewhere; if they are
// empty, those in the backup count, which show that it is whole and not who made it.
func NewRestorer(to Target, keys string) *Restorer {
	return &Restorer{to: to, keys: keys, tree: new(proof.Tree), content: map[string]bool{}, set: map[string]bool{}, kept: map[string]bool{}}
}

// Last returns the begin and the end of the last backup with entries. Call it at the end. Error: ErrOrder, if there was none, or the secrets are of
// another log.
func (r *Restorer) Last() (Begin, End, error) {
	if !r.begun {
		return Begin{}, End{}, fmt.Errorf("%w: there is none with entries, only secrets", ErrOrder)
	}
	if r.secrets != "" && r.secrets != r.last.Log {
		return Begin{}, End{}, fmt.Errorf("%w: the secrets are of %s, and the record is %s", ErrOrder, r.secrets, r.last.Log)
	}
	return r.last, r.end, nil
}

// Held is the last checkpoint whose root the entries have, and its signed note. The zero checkpoint: there was none.
func (r *Restorer) Held() (c proof.Checkpoint, note string) { return r.held, r.note }

// Add restores the next backup. Errors: ErrFormat, ErrCut, ErrOrder, ErrDiffers, and those of r and the target.
func (r *Restorer) Add(ctx context.Context, from io.Reader) (End, error) {
	a, begin, err := open(from)
	if err != nil {
		return End{}, err
	}
	r.files, r.entered = map[string]string{}, 0
	if begin.Kind == Entries {
		if err := r.follows(begin); err != nil {
			return End{}, err
		}
	} else {
		r.secrets = begin.Log
	}
	for {
		h, err := a.next(ctx)
		if err != nil {
			return End{}, err
		}
		if h.Name == endName {
			break
		}
		if err := r.member(ctx, begin.Kind, h.Name, a.tar); err != nil {
			return End{}, err
		}
	}
	end, err := a.end()
	if err != nil {
		return end, err
	}
	if err := r.signature(a, begin, &end); err != nil {
		return end, err
	}
	if end.Begun != a.begun || !maps.Equal(end.Settings, r.files) || end.Entries != r.entered {
		return end, fmt.Errorf("%w: its members are not those that its end names", ErrDiffers)
	}
	if begin.Kind != Entries {
		return end, nil
	}
	r.end = end
	if err := r.verify(); err != nil {
		return end, err
	}
	for name := range r.set { // it was deleted since the backup before
		if _, ok := r.files[name]; !ok && !r.kept[name] {
			delete(r.set, name)
			if err := r.to.Remove(name); err != nil {
				return end, err
			}
		}
	}
	return end, nil
}

// signature verifies the signature of a backup. Without one, it shows at most that it is whole, which is not enough for a caller with keys.
func (r *Restorer) signature(a *archive, begin Begin, end *End) error {
	keys := r.keys
	switch {
	case a.note != nil && keys == "":
		keys = begin.PublicKeys
	case a.note == nil && keys == "":
		r.unsigned = slices.AppendSeq(r.unsigned, maps.Keys(r.files))
		return nil
	case a.note == nil:
		return fmt.Errorf("%w: its end is not signed, so that the keys verify no policy, key or token in it; if you trust the place it was kept, restore without keys", ErrDiffers)
	}
	end.Signed = true
	return checkSignature(a.note, keys, begin.Log, a.last)
}

// Unsigned are the settings in backups that were not signed, sorted: nothing tells who made them.
func (r *Restorer) Unsigned() []string {
	slices.Sort(r.unsigned)
	return slices.Compact(r.unsigned)
}

// follows checks that a backup begins where the one before ended.
func (r *Restorer) follows(b Begin) error {
	switch {
	case !r.begun && b.After != 0:
		return fmt.Errorf("%w: it is an incremental backup after position %d: give the full one before it", ErrOrder, b.After)
	case r.begun && b.Log != r.last.Log:
		return fmt.Errorf("%w: it is one of %s, and the one before is of %s", ErrOrder, b.Log, r.last.Log)
	case b.After != ledger.Position(r.tree.Size()): //nolint:gosec // never negative
		return fmt.Errorf("%w: it begins after position %d, and the one before ends at %d", ErrOrder, b.After, r.tree.Size())
	case b.Root != r.tree.Root():
		return fmt.Errorf("%w: both meet at position %d, but with different entries before it: they are of two forks", ErrOrder, b.After)
	}
	r.begun, r.last = true, b
	var err error
	if r.signed, err = b.Open(r.keys); err != nil {
		return fmt.Errorf("%w: its checkpoint: %w", ErrDiffers, err)
	}
	if r.signed.Size == r.tree.Size() && b.Checkpoint != "" {
		if r.signed.Root != r.tree.Root() {
			return fmt.Errorf("%w: its checkpoint at position %d has another root than the entries before it", ErrDiffers, b.After)
		}
		r.held, r.note = r.signed, b.Checkpoint
	}
	return nil
}

func (r *Restorer) member(ctx context.Context, kind, name string, from io.Reader) error {
	switch {
	case strings.HasPrefix(name, entrytar.Dir) && kind == Entries:
		return r.entries(ctx, name, from)
	case strings.HasPrefix(name, contentDir):
		return r.contentFile(strings.TrimPrefix(name, contentDir), from)
	case strings.HasPrefix(name, settingsDir):
		name = strings.TrimPrefix(name, settingsDir)
		if !local(name) {
			return fmt.Errorf("%w: it has a file %q", ErrFormat, name)
		}
		if _, ok := r.files[name]; ok {
			return fmt.Errorf("%w: it has two files %q", ErrFormat, name)
		}
		sum := sha256.New()
		err := r.to.Setting(name, io.TeeReader(from, sum))
		if kind == Entries {
			r.set[name] = true
		} else {
			r.kept[name] = true
		}
		r.files[name] = hex.EncodeToString(sum.Sum(nil))
		return err
	}
	return fmt.Errorf("%w: it has a member %q", ErrFormat, name)
}

// local reports whether a name stays below the directory that it is written to, and hides nothing where it is shown.
func local(name string) bool {
	hidden := func(r rune) bool { return r == utf8.RuneError || !unicode.IsGraphic(r) }
	return path.Clean(name) == name && filepath.IsLocal(filepath.FromSlash(name)) && !strings.ContainsAny(name, "\\:") && !strings.ContainsFunc(name, hidden)
}

// contentFile restores a file whose name is its digest.
func (r *Restorer) contentFile(name string, from io.Reader) error {
	if !local(name) {
		return fmt.Errorf("%w: it has a file %q", ErrFormat, name)
	}
	sum := sha256.New()
	if err := r.to.Content(name, io.TeeReader(from, sum)); err != nil {
		return err
	}
	if got := hex.EncodeToString(sum.Sum(nil)); got != path.Base(name) {
		return fmt.Errorf("%w: the file %s has the digest %s", ErrDiffers, name, got)
	}
	r.content[name] = true
	return nil
}

// entries restores a member with entries.
func (r *Restorer) entries(ctx context.Context, name string, from io.Reader) error {
	stored, err := entrytar.Read(from, maxChunkRead)
	if err != nil {
		return fmt.Errorf("%w: %s, after position %d: %w", ErrDiffers, name, r.tree.Size(), err)
	}
	list := make([]ledger.Entry, len(stored))
	for i, e := range stored {
		if list[i], err = r.entry(e.At, e.Bytes); err != nil {
			return err
		}
	}
	r.entered += len(list)
	return r.to.Append(ctx, list)
}

func (r *Restorer) entry(at ledger.Position, b []byte) (ledger.Entry, error) {
	if next := ledger.Position(r.tree.Size()) + 1; at < next || at > next+maxGap { //nolint:gosec // never negative
		return ledger.Entry{}, fmt.Errorf("%w: position %d follows %d", ErrDiffers, at, next-1)
	}
	e, err := ledger.Decode(b)
	if err != nil {
		return e, fmt.Errorf("%w: position %d: %w", ErrDiffers, at, err)
	}
	e.Position = at
	before := r.tree.Size()
	var failed error
	err = extend(r.tree, at, b, r.signed, func(hashes []proof.Hash) { failed = errors.Join(failed, r.to.Hash(hashes)) })
	if err == nil && before < r.signed.Size && r.signed.Size <= r.tree.Size() {
		r.held, r.note = r.signed, r.last.Checkpoint
	}
	return e, errors.Join(err, failed)
}

// maxGap is how many positions without an entry can follow each other: a bound for what a damaged number can cost.
const maxGap = 1 << 20

// verify compares what was restored with the end of a backup.
func (r *Restorer) verify() error {
	e := r.end
	if at := ledger.Position(r.tree.Size()); at != e.Position { //nolint:gosec // never negative
		return fmt.Errorf("%w: its entries end at position %d, and it says %d", ErrDiffers, at, e.Position)
	}
	if r.tree.Root() != e.Root {
		return fmt.Errorf("%w: its entries do not have the root that it says, %s: one of them was changed", ErrDiffers, e.Root)
	}
	if r.signed.Size > r.tree.Size() {
		return fmt.Errorf("%w: its entries end at position %d, before its checkpoint at %d", ErrDiffers, e.Position, r.signed.Size)
	}
	for _, name := range e.Content {
		if !r.content[name] {
			return fmt.Errorf("%w: the file %s is missing", ErrDiffers, name)
		}
	}
	return nil
}

// archive reads the members of a backup.
type archive struct {
	from  io.Reader
	tar   *tar.Reader
	begun string // the digest of the first member
	last  []byte // end.json
	note  []byte // the signature on it; nil: there is none
}

// open reads the first member.
func open(from io.Reader) (*archive, Begin, error) {
	if _, ok := from.(io.Seeker); !ok { // with it, members are skipped without reading them
		from = bufio.NewReaderSize(from, 1<<20)
	}
	a := &archive{from: from, tar: tar.NewReader(from)}
	h, err := a.tar.Next()
	if err != nil || h.Name != beginName {
		return a, Begin{}, fmt.Errorf("%w: it has no %s", ErrFormat, beginName)
	}
	b, err := limited(a.tar, maxBegin, beginName)
	if err != nil {
		return a, Begin{}, err
	}
	a.begun = digest(b)
	var begin Begin
	if err := json.Unmarshal(b, &begin); err != nil {
		return a, begin, fmt.Errorf("%w: %s: %w", ErrFormat, beginName, err)
	}
	if begin.Format != FormatVersion || !slices.Contains([]string{Entries, Secrets}, begin.Kind) {
		return a, begin, fmt.Errorf("%w: it has format %d (%.20q), and this version reads format %d: use a newer version", ErrFormat, begin.Format, begin.Kind, FormatVersion)
	}
	return a, begin, nil
}

// next returns the next member. Errors: ErrCut.
func (a *archive) next(ctx context.Context) (*tar.Header, error) {
	h, err := a.tar.Next()
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, ErrCut
	}
	if err = errors.Join(err, ctx.Err()); err != nil {
		return nil, fmt.Errorf("backup: %w", err)
	}
	if h.Typeflag != tar.TypeReg {
		return nil, fmt.Errorf("%w: %q is not a file", ErrFormat, h.Name)
	}
	return h, nil
}

// end reads the last member.
func (a *archive) end() (End, error) {
	var end End
	b, err := limited(a.tar, maxEnd, endName)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return end, ErrCut
	}
	if err == nil {
		a.last, err = b, json.Unmarshal(b, &end)
	}
	if err != nil {
		return End{}, fmt.Errorf("%w: %s: %w", ErrFormat, endName, err)
	}
	h, err := a.tar.Next()
	if err == nil && h.Name == noteName && h.Typeflag == tar.TypeReg {
		if a.note, err = limited(a.tar, maxNote, noteName); err == nil {
			h, err = a.tar.Next()
		}
	}
	switch {
	case err == nil:
		return end, fmt.Errorf("%w: it has a member %q after its end", ErrFormat, h.Name)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return end, ErrCut
	case !errors.Is(err, io.EOF):
		return end, fmt.Errorf("%w: after its end: %w", ErrFormat, err)
	}
	rest, err := limited(a.from, maxPadding, "what follows its end")
	if err == nil && len(bytes.Trim(rest, "\x00")) > 0 {
		err = fmt.Errorf("%w: something follows its end", ErrFormat)
	}
	return end, err
}

// ReadBase reads the begin and the end of a backup that another one is to follow. A file is not read whole.
func ReadBase(ctx context.Context, from io.Reader) (*Base, error) {
	a, begin, err := open(from)
	if err != nil {
		return nil, err
	}
	for {
		h, err := a.next(ctx)
		if err != nil {
			return nil, err
		}
		if h.Name == endName {
			break
		}
	}
	end, err := a.end()
	return &Base{begin, end}, err
}

package witness

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/trapezehq/trapeze/internal/record/durable"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

// Refusals of a checkpoint, each a status of c2sp.org/tlog-witness.
var (
	errMalformed    = errors.New("the request is malformed")                                             // 400
	errSigner       = errors.New("no key of the log that is configured here signed the checkpoint")      // 403
	errLog          = errors.New("the log is not configured here")                                       // 404
	errInconsistent = errors.New("the checkpoint is not consistent with the one that was cosigned last") // 422
)

// stale is the refusal of a request that begins at another size than the last checkpoint (409).
type stale struct{ size int64 }

func (s stale) Error() string {
	return fmt.Sprintf("the checkpoint that was cosigned last has %d entries", s.size)
}

// Witness cosigns the checkpoints of logs. Its methods are safe for many goroutines.
type Witness struct {
	dir    string
	signer *proof.WitnessSigner
	lock   *os.File
	logs   map[string]*log
}

// log is a log that is witnessed.
type log struct {
	mu   sync.Mutex
	keys proof.Keys
	file string
	last proof.Checkpoint // zero: none was cosigned
	note []byte
}

// Open opens the directory of a witness, which it creates with a key if it is new. name is the name of that key; empty: trapeze-witness. keys are the public
// keys of logs, one in each line: those of one name are one log. Errors: of the file system, of keys that cannot be read, and if another process has it open.
func Open(dir, name, keys string, now func() time.Time) (_ *Witness, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	w := &Witness{dir: dir, logs: map[string]*log{}}
	if w.lock, err = lock(filepath.Join(dir, "lock")); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, w.lock.Close())
		}
	}()
	byName := map[string]string{}
	for _, key := range proof.KeyList(keys) {
		origin, _, _ := strings.Cut(key, "+")
		byName[origin] += key + "\n"
	}
	if len(byName) == 0 {
		return nil, errors.New("no public key of a log is given: see trapeze audit keys")
	}
	if _, err := proof.ParseKeys(keys); err != nil { // before a key is made
		return nil, err
	}
	if err := w.openKey(name, now); err != nil {
		return nil, err
	}
	for origin, text := range byName {
		if w.logs[origin], err = w.openLog(origin, text); err != nil {
			return nil, err
		}
	}
	return w, nil
}

func (w *Witness) openKey(name string, now func() time.Time) error {
	path := filepath.Join(w.dir, "key")
	b, err := os.ReadFile(path) //nolint:gosec // the operator's directory
	if errors.Is(err, os.ErrNotExist) {
		text, err := proof.NewWitnessKey(cmp.Or(name, "trapeze-witness"))
		if err != nil {
			return err
		}
		b = []byte(text + "\n")
		if err := write(path, b); err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	if w.signer, err = proof.ParseWitnessSigner(string(b), now); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if name != "" && name != w.signer.Name() {
		return fmt.Errorf("the key of this witness has the name %s, which cannot change", w.signer.Name())
	}
	return nil
}

// openLog reads the last checkpoint of a log. One that cannot be read is an error, and never the beginning of another history.
func (w *Witness) openLog(origin, text string) (*log, error) {
	keys, err := proof.ParseKeys(text)
	if err != nil {
		return nil, err
	}
	l := &log{keys: keys, file: filepath.Join(w.dir, hashOf(origin)+".checkpoint")}
	b, err := os.ReadFile(l.file)
	if errors.Is(err, os.ErrNotExist) {
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	list, err := proof.CheckCosignatures(b, []proof.WitnessKey{w.signer.WitnessKey}, 1)
	if err != nil || len(list) != 1 {
		return nil, fmt.Errorf("%s is damaged: restore it, or set up another witness with another key: %w", l.file, err)
	}
	body, _, _ := strings.Cut(string(b), "\n\n")
	if l.last, err = proof.ParseCheckpoint(body + "\n"); err != nil || l.last.Origin != origin {
		return nil, fmt.Errorf("%s is damaged: %w", l.file, errors.Join(err, errMalformed))
	}
	l.note = b
	return l, nil
}

// Key is the public key of the witness.
func (w *Witness) Key() string { return w.signer.String() }

// Logs is the number of logs that are configured.
func (w *Witness) Logs() int { return len(w.logs) }

// Close lets another process have the directory.
func (w *Witness) Close() error { return w.lock.Close() }

// Add cosigns a checkpoint that is consistent with the one that was cosigned last, which had old entries. It returns the line of the cosignature. Errors:
// the refusals above, stale, and those of the file system.
func (w *Witness) Add(old int64, path []proof.Hash, msg []byte) ([]byte, error) {
	origin, _, _ := strings.Cut(string(msg), "\n")
	l := w.logs[origin]
	if l == nil {
		return nil, errLog
	}
	c, err := proof.OpenCheckpoint(msg, l.keys)
	switch {
	case errors.Is(err, proof.ErrSignature):
		return nil, errSigner
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errMalformed, err)
	case old > c.Size:
		return nil, fmt.Errorf("%w: the old size is above that of the checkpoint", errMalformed)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if old != l.last.Size {
		return nil, stale{l.last.Size}
	}
	if !consistent(path, l.last, c) {
		return nil, errInconsistent
	}
	n, err := note.Open(msg, l.keys)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errMalformed, err)
	}
	n.UnverifiedSigs = nil
	whole, err := note.Sign(n, w.signer)
	if err != nil {
		return nil, err
	}
	_, line, err := proof.Cosignatures(whole, []proof.WitnessKey{w.signer.WitnessKey})
	if err != nil {
		return nil, err
	}
	if err := write(l.file, whole); err != nil {
		return nil, err
	}
	l.last, l.note = c, whole
	return line, nil
}

// consistent reports whether a checkpoint continues another, or the empty tree.
func consistent(path []proof.Hash, was, is proof.Checkpoint) bool {
	empty := new(proof.Tree).Root()
	switch {
	case is.Size == 0:
		return len(path) == 0 && is.Root == empty
	case was.Size == 0:
		return len(path) == 0
	case was.Size == is.Size:
		return len(path) == 0 && was.Root == is.Root
	}
	return tlog.CheckTree(path, is.Size, is.Root, was.Size, was.Root) == nil
}

// Latest is the last checkpoint that was cosigned of the log whose name has a hash; nil: there is none.
func (w *Witness) Latest(hash string) []byte {
	for origin, l := range w.logs {
		if hashOf(origin) == hash {
			return l.latest()
		}
	}
	return nil
}

func (l *log) latest() []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.note
}

// hashOf names a log in paths.
func hashOf(origin string) string {
	sum := sha256.Sum256([]byte(origin))
	return hex.EncodeToString(sum[:])
}

// write replaces a file as a whole, on the disk.
func write(path string, b []byte) (err error) {
	f, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) //nolint:gosec // the operator's directory
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return err
	}
	return durable.Sync(filepath.Dir(path))
}

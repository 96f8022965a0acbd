package backup

import (
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

// FormatVersion is the version of the format of backups.
const FormatVersion = 1

// Begin is the first member of a backup.
type Begin struct {
	Format int `json:"format"`
	// Kind is [Entries] or [Secrets].
	Kind string `json:"kind"`
	// Log is the name of the log, as in its checkpoints.
	Log  string    `json:"log"`
	Made time.Time `json:"made"`
	// After is the position after which the backup begins: 0 for a full one. Root is the root of the tree there.
	After ledger.Position `json:"after"`
	Root  proof.Hash      `json:"root"`
	// Checkpoint is a signed note (c2sp.org/tlog-checkpoint) of the tree at or before the last entry; empty: nothing was signed yet. PublicKeys verify
	// it, one in each line.
	Checkpoint string `json:"checkpoint,omitempty"`
	PublicKeys string `json:"public_keys,omitempty"`
}

// The kinds of backups.
const (
	Entries = "entries" // of a record and its files
	Secrets = "secrets" // of files alone, which are kept apart
)

// End is the last member of a backup.
type End struct {
	// Position is that of the last entry, and Root the root of the tree there.
	Position ledger.Position `json:"position"`
	Root     proof.Hash      `json:"root"`
	Entries  int             `json:"entries"` // in this backup
	// Content are the names of all content files in this backup and in those that it follows.
	Content []string `json:"content"`
	// Damaged are the content files that were left out, since their content is not what their name says.
	Damaged []string `json:"damaged,omitempty"`
	// Settings are the digests (SHA-256, hexadecimal) of the other files in this backup by name, and Begun is that of its first member.
	Settings map[string]string `json:"settings"`
	Begun    string            `json:"begun"`
	// Signed: a key of the log signed all this, so that nothing in the backup is without a signature.
	Signed bool `json:"-"`
}

// Errors of backups.
var (
	// ErrFormat: it is not a backup, or one of a newer version.
	ErrFormat = errors.New("backup: not a backup that this version can read")
	// ErrCut: the backup has no end.
	ErrCut = errors.New("backup: the file is cut off: it has no end; make the backup again")
	// ErrOrder: it does not follow the one before.
	ErrOrder = errors.New("backup: it does not follow the backup before it")
	// ErrDiffers: what it has is not what was signed or written down.
	ErrDiffers = errors.New("backup: it does not verify")
)

const (
	beginName    = "begin.json"
	endName      = "end.json"
	noteName     = "end.note"
	contentDir   = "content/"
	settingsDir  = "settings/"
	maxBegin     = 64 << 10
	maxEnd       = 1 << 30 // a million files take 100 MB
	maxNote      = 16 << 10
	maxPadding   = 1 << 20  // zeros after the archive: some programs fill a record or a block of a tape
	maxChunk     = 4 << 20  // bytes of the entries of one member, before the last
	maxChunkRead = 16 << 20 // of those that are read
)

// limited reads all of r, at most so many bytes.
func limited(r io.Reader, most int64, what string) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(b)) > most {
		err = fmt.Errorf("%w: %s has more than %d bytes", ErrFormat, what, most)
	}
	return b, err
}

// Open opens the checkpoint with public keys, one in each line, or with its own if there are none. The zero checkpoint: there is none, which is an
// error if keys are given.
func (b Begin) Open(keys string) (proof.Checkpoint, error) {
	if b.Checkpoint == "" {
		if keys != "" {
			return proof.Checkpoint{}, errors.New("there is none, so that the keys verify nothing")
		}
		return proof.Checkpoint{}, nil
	}
	if keys == "" {
		keys = b.PublicKeys
	}
	known, err := proof.ParseKeys(keys)
	if err != nil {
		return proof.Checkpoint{}, err
	}
	return proof.OpenCheckpoint([]byte(b.Checkpoint), known)
}

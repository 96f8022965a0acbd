package move

import (
	"errors"
	"time"

	"github.com/trapezehq/trapeze/internal/record/proof"
)

// FormatVersion is the version of the format.
const FormatVersion = 1

// Begin is the first member. Nothing signs it: what it says besides the public keys is compared with what is signed.
type Begin struct {
	Format     int       `json:"format"`
	Log        string    `json:"log"` // the name of the source
	Made       time.Time `json:"made"`
	PublicKeys string    `json:"public_keys"` // of the source, one in each line
}

// Errors of files.
var (
	// ErrFormat: it is not such a file, or one of a newer version.
	ErrFormat = errors.New("move: not the file of a workspace that this version can read")
	// ErrCut: the file ends before it is complete.
	ErrCut = errors.New("move: the file is cut off: copy it again, or export the workspace again")
	// ErrDiffers: what it has is not what the source signed.
	ErrDiffers = errors.New("move: it does not verify")
	// ErrSealed: the content of the entries is encrypted.
	ErrSealed = errors.New("move: the content of the record can be erased, and its keys do not move: such a record moves as a whole alone")
)

const (
	beginName  = "begin.json"
	proofName  = "sent.tlog-proof"
	contentDir = "content/"

	maxBegin     = 64 << 10
	maxProof     = 16 << 20
	maxChunk     = 4 << 20  // bytes of the entries of one member, before the last
	maxChunkRead = 16 << 20 // of those that are read
)

// filesRoot is the root of a tree of digests, which are sorted.
func filesRoot(digests []string) string {
	tree := new(proof.Tree)
	var nodes []proof.Hash
	for _, d := range digests {
		nodes = tree.Append(proof.LeafOf([]byte(d)), nodes[:0])
	}
	return tree.Root().String()
}

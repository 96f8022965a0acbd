package proof

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// Checkpoint says what the tree was at a size. Its text is that of c2sp.org/tlog-checkpoint.
type Checkpoint struct {
	Origin string // the name of the log, which is also the name of its keys
	Size   int64  // the number of leaves, which is the position of the last entry
	Root   Hash
}

// Errors of checkpoints.
var (
	// ErrCheckpoint: it is not a checkpoint.
	ErrCheckpoint = errors.New("proof: not a checkpoint")
	// ErrSignature: no signature of the checkpoint is by a key that was given.
	ErrSignature = errors.New("proof: the checkpoint is not signed with a key that was given")
)

// Text is the text that is signed.
func (c Checkpoint) Text() string {
	return fmt.Sprintf("%s\n%d\n%s\n", c.Origin, c.Size, c.Root)
}

func (c Checkpoint) String() string { return fmt.Sprintf("%s at %d", c.Origin, c.Size) }

// Sign returns the checkpoint as a signed note. The signer must have the name of the origin.
func (c Checkpoint) Sign(by note.Signer) ([]byte, error) {
	if by.Name() != c.Origin {
		return nil, fmt.Errorf("proof: the key %s cannot sign for %s", by.Name(), c.Origin)
	}
	return note.Sign(&note.Note{Text: c.Text()}, by)
}

// ParseCheckpoint reads the text of a checkpoint. Lines after the third are extensions, which are ignored. Error: ErrCheckpoint.
func ParseCheckpoint(text string) (Checkpoint, error) {
	bad := func(what string) (Checkpoint, error) { return Checkpoint{}, fmt.Errorf("%w: %s", ErrCheckpoint, what) }
	text, ok := strings.CutSuffix(text, "\n")
	lines := strings.Split(text, "\n")
	if !ok || len(lines) < 3 {
		return bad("it does not have three lines")
	}
	for _, line := range lines {
		if line == "" {
			return bad("it has an empty line")
		}
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil || size < 0 || strconv.FormatInt(size, 10) != lines[1] {
		return bad(fmt.Sprintf("%.40q is not a size", lines[1]))
	}
	root, err := parseHash(lines[2])
	if err != nil {
		return bad(err.Error())
	}
	return Checkpoint{lines[0], size, root}, nil
}

func parseHash(s string) (h Hash, err error) {
	b, err := decode64(s)
	if err != nil || len(b) != len(h) {
		return Hash{}, fmt.Errorf("%.60q is not a hash", s)
	}
	return Hash(b), nil
}

// decode64 reads base64 in the one form in which it is written.
func decode64(s string) ([]byte, error) {
	b, err := base64.StdEncoding.DecodeString(s)
	if err == nil && base64.StdEncoding.EncodeToString(b) != s {
		err = errors.New("base64 in another form than it is written")
	}
	return b, err
}

// OpenCheckpoint verifies a signed checkpoint: at least one signature must be by a key that has the name of the origin, and no signature by a
// key that was given may be wrong. Signatures of unknown keys, such as those of witnesses, are ignored. Errors: ErrCheckpoint, ErrSignature.
func OpenCheckpoint(msg []byte, keys Keys) (Checkpoint, error) {
	n, err := note.Open(msg, keys)
	if unverified, ok := errors.AsType[*note.UnverifiedNoteError](err); ok {
		if c, perr := ParseCheckpoint(unverified.Note.Text); perr == nil {
			return Checkpoint{}, fmt.Errorf("%w: %s", ErrSignature, c)
		}
	}
	if _, ok := errors.AsType[*note.InvalidSignatureError](err); ok {
		return Checkpoint{}, fmt.Errorf("%w: %w", ErrSignature, err)
	}
	if err != nil {
		return Checkpoint{}, fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	c, err := ParseCheckpoint(n.Text)
	if err != nil {
		return Checkpoint{}, err
	}
	for _, s := range n.Sigs {
		if _, err := decode64(s.Base64); err != nil {
			return Checkpoint{}, fmt.Errorf("%w: %w", ErrSignature, err)
		}
	}
	for _, s := range n.Sigs {
		if s.Name == c.Origin {
			return c, nil
		}
	}
	return Checkpoint{}, fmt.Errorf("%w: %s is signed by %s alone", ErrSignature, c, n.Sigs[0].Name)
}

// Keys are public keys of a log.
type Keys = note.Verifiers

// ParseKeys reads public keys in the form of c2sp.org/signed-note (NAME+HASH+KEY), one in each line. Empty lines, and those that begin with
// '#', are ignored.
func ParseKeys(text string) (Keys, error) {
	var list []note.Verifier
	for _, line := range KeyList(text) {
		v, err := note.NewVerifier(line)
		if err != nil {
			return nil, fmt.Errorf("proof: %.100q is not a public key of a log: %w", line, err)
		}
		list = append(list, v)
	}
	if len(list) == 0 {
		return nil, errors.New("proof: there is no public key")
	}
	return note.VerifierList(list...), nil
}

// CheckSigner returns an error unless a private key (c2sp.org/signed-note) is whole, and that of one of the public keys.
func CheckSigner(private string, keys Keys) error {
	signer, err := note.NewSigner(strings.TrimSpace(private))
	if err != nil {
		return err
	}
	if _, err := keys.Verifier(signer.Name(), signer.KeyHash()); err != nil {
		return fmt.Errorf("its public key is not listed: %w", err)
	}
	return nil
}

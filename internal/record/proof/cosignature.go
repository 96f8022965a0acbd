package proof

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
)

// cosignatureV1 is the algorithm of keys that sign Ed25519 cosignatures (c2sp.org/tlog-cosignature).
const cosignatureV1 = 4

// Errors of cosignatures.
var (
	// ErrWitnessKey: it is not the key of a witness.
	ErrWitnessKey = errors.New("proof: not the key of a witness (NAME+HASH+KEY, of a key for Ed25519 cosignatures)")
	// ErrCosignatures: too few witnesses that were given cosigned.
	ErrCosignatures = errors.New("proof: too few cosignatures of witnesses that were given")
)

// WitnessKey is the public key of a witness. It implements [note.Verifier].
type WitnessKey struct {
	name string
	hash uint32
	key  ed25519.PublicKey
}

// ParseWitnessKey reads the public key of a witness in the form of c2sp.org/signed-note. Error: ErrWitnessKey.
func ParseWitnessKey(text string) (WitnessKey, error) {
	parts := strings.SplitN(text, "+", 3)
	if len(parts) != 3 || parts[0] == "" || strings.ContainsAny(parts[0], " \t\r\n") {
		return WitnessKey{}, ErrWitnessKey
	}
	hash, err := strconv.ParseUint(parts[1], 16, 32)
	b, err2 := decode64(parts[2])
	if err != nil || err2 != nil || len(parts[1]) != 8 || len(b) != 1+ed25519.PublicKeySize || b[0] != cosignatureV1 {
		return WitnessKey{}, ErrWitnessKey
	}
	w := WitnessKey{parts[0], witnessHash(parts[0], b[1:]), b[1:]}
	if uint64(w.hash) != hash {
		return WitnessKey{}, ErrWitnessKey
	}
	return w, nil
}

// ParseWitnessKeys reads public keys of witnesses, one in each line. Empty lines, and those that begin with '#', are ignored.
func ParseWitnessKeys(text string) (list []WitnessKey, err error) {
	for _, line := range KeyList(text) {
		w, err := ParseWitnessKey(line)
		if err != nil {
			return nil, fmt.Errorf("%w: %.100q", err, line)
		}
		if !slices.ContainsFunc(list, func(had WitnessKey) bool { return had.String() == w.String() }) {
			list = append(list, w)
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%w: there is none", ErrWitnessKey)
	}
	return list, nil
}

func witnessHash(name string, public []byte) uint32 {
	h := sha256.New()
	_, _ = fmt.Fprintf(h, "%s\n%c", name, cosignatureV1) // never fails
	h.Write(public)
	return binary.BigEndian.Uint32(h.Sum(nil))
}

// Name implements [note.Verifier].
func (w WitnessKey) Name() string { return w.name }

// KeyHash implements [note.Verifier].
func (w WitnessKey) KeyHash() uint32 { return w.hash }

// String is the key in the form that [ParseWitnessKey] reads.
func (w WitnessKey) String() string {
	return fmt.Sprintf("%s+%08x+%s", w.name, w.hash, base64.StdEncoding.EncodeToString(append([]byte{cosignatureV1}, w.key...)))
}

// Verify implements [note.Verifier]: the signature is the time and the signature of what [cosigned] returns.
func (w WitnessKey) Verify(text, sig []byte) bool {
	if len(sig) != 8+ed25519.SignatureSize {
		return false
	}
	at := binary.BigEndian.Uint64(sig)
	return at > 0 && at < 1<<63 && ed25519.Verify(w.key, cosigned(at, text), sig[8:])
}

// cosigned is what a witness signs.
func cosigned(at uint64, text []byte) []byte {
	return append(fmt.Appendf(nil, "cosignature/v1\ntime %d\n", at), text...)
}

// WitnessSigner is the private key of a witness. It implements [note.Signer].
type WitnessSigner struct {
	WitnessKey
	private ed25519.PrivateKey
	now     func() time.Time
}

// NewWitnessKey makes a key, and returns it as a text that [ParseWitnessSigner] reads. The name must be one of a key of a note.
func NewWitnessKey(name string) (string, error) {
	if name == "" || strings.ContainsAny(name, "+ \t\r\n") || len(name) > 200 {
		return "", fmt.Errorf("proof: %.60q cannot be the name of a key: it has no space and no plus", name)
	}
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("PRIVATE+KEY+%s+%s", name, base64.StdEncoding.EncodeToString(append([]byte{cosignatureV1}, private.Seed()...))), nil
}

// ParseWitnessSigner reads the private key of a witness, which signs with the time of a clock.
func ParseWitnessSigner(text string, now func() time.Time) (*WitnessSigner, error) {
	text, ok := strings.CutPrefix(strings.TrimSpace(text), "PRIVATE+KEY+")
	name, key, ok2 := strings.Cut(text, "+")
	b, err := decode64(key)
	if !ok || !ok2 || err != nil || len(b) != 1+ed25519.SeedSize || b[0] != cosignatureV1 {
		return nil, errors.New("proof: not the private key of a witness")
	}
	private := ed25519.NewKeyFromSeed(b[1:])
	public, ok := private.Public().(ed25519.PublicKey)
	if !ok {
		return nil, errors.New("proof: not a key of Ed25519")
	}
	return &WitnessSigner{WitnessKey{name, witnessHash(name, public), public}, private, now}, nil
}

// Sign implements [note.Signer].
func (s *WitnessSigner) Sign(text []byte) ([]byte, error) {
	at := uint64(max(s.now().Unix(), 1)) //nolint:gosec // never negative
	return append(binary.BigEndian.AppendUint64(nil, at), ed25519.Sign(s.private, cosigned(at, text))...), nil
}

// Cosignature says when a witness saw a checkpoint.
type Cosignature struct {
	Witness string    `json:"witness"`
	Time    time.Time `json:"time"`
}

// Cosignatures verifies the cosignatures of a checkpoint by witnesses that are given, and returns them, with their lines as they are. Those of others
// are ignored. Errors: ErrCheckpoint, and ErrSignature if a cosignature by a witness that is given is wrong.
func Cosignatures(msg []byte, by []WitnessKey) (list []Cosignature, lines []byte, err error) {
	verifiers := make([]note.Verifier, len(by))
	for i, w := range by {
		verifiers[i] = w
	}
	n, err := note.Open(msg, note.VerifierList(verifiers...))
	if _, ok := errors.AsType[*note.UnverifiedNoteError](err); ok {
		return nil, nil, nil
	}
	if _, ok := errors.AsType[*note.InvalidSignatureError](err); ok {
		return nil, nil, fmt.Errorf("%w: %w", ErrSignature, err)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrCheckpoint, err)
	}
	for _, s := range n.Sigs {
		b, err := decode64(s.Base64)
		if err != nil || len(b) < 12 {
			return nil, nil, fmt.Errorf("%w: a cosignature by %s in another form than it is written", ErrSignature, s.Name)
		}
		list = append(list, Cosignature{s.Name, time.Unix(int64(binary.BigEndian.Uint64(b[4:])), 0).UTC()}) //nolint:gosec // Verify bounds it
		lines = fmt.Appendf(lines, "— %s %s\n", s.Name, s.Base64)
	}
	return list, lines, nil
}

// Unchecked returns the names in those signature lines of a checkpoint that are by no key of the log and by no witness that is given, each once: whether such a line is
// what its witness signed cannot be told.
func Unchecked(msg []byte, keys Keys, by []WitnessKey) (names []string) {
	n, err := note.Open(msg, known{keys, by})
	if unverified, ok := errors.AsType[*note.UnverifiedNoteError](err); ok {
		n = unverified.Note
	}
	if n == nil {
		return nil
	}
	for _, s := range n.UnverifiedSigs {
		if !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	return names
}

// known are the keys of a log and of witnesses. It implements [note.Verifiers].
type known struct {
	Keys
	by []WitnessKey
}

// Verifier implements [note.Verifiers].
func (k known) Verifier(name string, hash uint32) (note.Verifier, error) {
	for _, w := range k.by {
		if w.name == name && w.hash == hash {
			return w, nil
		}
	}
	return k.Keys.Verifier(name, hash)
}

// CheckCosignatures verifies that at least so many of the witnesses cosigned a checkpoint. Errors: those of [Cosignatures], and ErrCosignatures.
func CheckCosignatures(msg []byte, by []WitnessKey, least int) ([]Cosignature, error) {
	list, _, err := Cosignatures(msg, by)
	if err != nil {
		return nil, err
	}
	if len(list) < least {
		return list, fmt.Errorf("%w: %d of %d, and %d are wanted", ErrCosignatures, len(list), len(by), least)
	}
	return list, nil
}

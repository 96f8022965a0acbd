package envelope

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// Sealed is an immutable envelope: its canonical bytes and their digest.
type Sealed struct {
	// Digest is "sha256:" and 64 lower-case hex digits.
	Digest string
	// Bytes are canonical JSON (RFC 8785), at most [MaxSize]. They must not be changed.
	Bytes []byte
}

const digestPrefix = "sha256:"

// DigestOf returns the digest of an envelope's bytes.
func DigestOf(doc []byte) string {
	sum := sha256.Sum256(doc)
	out := make([]byte, len(digestPrefix)+2*len(sum))
	copy(out, digestPrefix)
	hex.Encode(out[len(digestPrefix):], sum[:])
	return string(out)
}

// ValidDigest reports whether s has the form of a digest.
func ValidDigest(s string) bool {
	digits, ok := strings.CutPrefix(s, digestPrefix)
	return ok && len(digits) == 2*sha256.Size && isLowerHex(digits)
}

func isLowerHex(s string) bool {
	return strings.Trim(s, "0123456789abcdef") == ""
}

// Seal validates doc, sets its salt and returns the canonical bytes. The salt is [MinSalt] to [MaxSalt] random bytes, fresh
// for every envelope; it is an argument so that the same input gives the same envelope. It replaces a salt that doc
// already has. doc itself is not changed. Errors are a [refusal.Error] with the code invalid or too_large.
func Seal(doc Envelope, salt []byte) (Sealed, error) {
	if len(salt) < MinSalt || len(salt) > MaxSalt {
		return Sealed{}, invalid("salt", "give fresh random bytes", "has %d bytes, want %d to %d", len(salt), MinSalt, MaxSalt)
	}
	doc.Salt = hex.EncodeToString(salt)
	if err := doc.checkFields(); err != nil {
		return Sealed{}, err
	}
	raw, err := encode(doc)
	if err != nil {
		return Sealed{}, err
	}
	if len(raw) > MaxSize {
		return Sealed{}, tooLarge("envelope", len(raw), MaxSize)
	}
	return Sealed{Digest: DigestOf(raw), Bytes: raw}, nil
}

// Open reads a sealed envelope and returns it with its digest. It accepts only canonical form, so that one envelope has one
// digest: any other spelling of the same document is refused. Compare the digest with the expected one. Errors are a [refusal.Error] with the code invalid or too_large.
func Open(data []byte) (Envelope, string, error) {
	e, d, err := decode(data)
	switch {
	case err != nil:
		return Envelope{}, "", err
	case !d.exact || !bytes.Equal(d.canonical, data):
		return Envelope{}, "", invalid("envelope", "send the sealed bytes exactly as they were", "is not in canonical form (RFC 8785, empty parts omitted)")
	case e.Salt == "":
		return Envelope{}, "", invalid("salt", "seal the envelope first", "is missing")
	}
	return e, DigestOf(data), nil
}

// RenderJSON returns the document as canonical JSON. For an opened envelope these are exactly its sealed bytes.
func RenderJSON(e Envelope) ([]byte, error) {
	if err := e.Validate(); err != nil {
		return nil, err
	}
	return encode(e)
}

// Next returns a copy of e from which to build the next envelope of the chain. It names the digest of e as its parent, has
// no salt, no omissions, no gaps and no packing, and shares no memory with e. Its version is at least [Version]. Change it
// (add the notes of a confirmation, the steps since), then seal it.
func (e Envelope) Next(digest string) Envelope {
	e.Salt, e.Parent = "", digest
	e = e.Current()
	e.Omissions, e.Gaps, e.Packing = nil, nil, Packing{}
	e.Handoff.To = slices.Clone(e.Handoff.To)
	e.Handoff.Permissions = slices.Clone(e.Handoff.Permissions)
	e.Handoff.Dependencies = slices.Clone(e.Handoff.Dependencies)
	e.Task.Data = bytes.Clone(e.Task.Data)
	e.KeyFacts = slices.Clone(e.KeyFacts)
	e.Decisions = slices.Clone(e.Decisions)
	e.OpenQuestions = slices.Clone(e.OpenQuestions)
	e.Confidence = clonePointer(e.Confidence)
	e.History = slices.Clone(e.History)
	e.Dropped = slices.Clone(e.Dropped)
	e.Memory = slices.Clone(e.Memory)
	e.Artifacts = slices.Clone(e.Artifacts)
	e.Conversation = slices.Clone(e.Conversation)
	e.Constraints = slices.Clone(e.Constraints)
	for i := range e.Constraints {
		c := &e.Constraints[i]
		c.Max, c.Allow = clonePointer(c.Max), slices.Clone(c.Allow)
	}
	e.ExpectedOutput.Criteria = slices.Clone(e.ExpectedOutput.Criteria)
	e.ExpectedOutput.Schema = json.RawMessage(bytes.Clone(e.ExpectedOutput.Schema))
	for _, p := range e.parts() {
		*p.extra = maps.Clone(*p.extra) // the values are never written to
	}
	return e
}

// Current returns e as a document of [Version] if it is of an earlier minor, which only lacks fields. A later one is
// returned unchanged.
func (e Envelope) Current() Envelope {
	if e.Version == "" || e.Version == Version {
		return e
	}
	if newer, err := checkVersion(e.Version); err == nil && !newer {
		e.Version = Version
	}
	return e
}

func clonePointer[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

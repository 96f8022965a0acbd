package sqlview

import (
	"bytes"
	"encoding/json"

	"github.com/trapezehq/trapeze/internal/content/envelope"
)

// inEnvelope is the start of the canonical JSON of an envelope that has artifacts, unless a newer version has keys that
// sort before it.
var inEnvelope = []byte(`{"artifacts":[`)

// mayHaveArtifacts uses the order of the keys: few envelopes have artifacts, and only those are parsed.
func mayHaveArtifacts(doc []byte) bool {
	return bytes.HasPrefix(doc, inEnvelope) || bytes.Compare(doc, inEnvelope) < 0 && bytes.Contains(doc, inEnvelope[1:])
}

// artifacts returns the digests that a sealed envelope refers to.
func artifacts(doc []byte) (digests []string) {
	if !mayHaveArtifacts(doc) {
		return nil
	}
	var e struct {
		Artifacts []struct {
			Digest string `json:"digest"`
		} `json:"artifacts"`
	}
	if json.Unmarshal(doc, &e) != nil {
		return nil // not an envelope of a known version
	}
	for _, a := range e.Artifacts {
		if envelope.ValidDigest(a.Digest) {
			digests = append(digests, a.Digest)
		}
	}
	return digests
}

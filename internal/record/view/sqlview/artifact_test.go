package sqlview

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
)

// TestArtifactsAreFoundInAnyEnvelope seals envelopes whose first key is the list, one that comes after it, or one of a newer
// version that comes before it.
func TestArtifactsAreFoundInAnyEnvelope(t *testing.T) {
	digest := envelope.DigestOf([]byte("file"))
	for _, before := range []string{"", "_new", "a", "artifact", "artifact\x00", "é", "\U0001F642"} {
		for _, with := range []bool{true, false} {
			doc := envelope.Envelope{
				Version: "1.9", CreatedAt: time.Unix(1, 0), Handoff: envelope.Header{TaskID: "t", From: "a", To: []string{"b"}},
				Task: envelope.Task{Intent: `say "artifacts":[`},
			}
			var want []string
			if with {
				doc.Artifacts, want = []envelope.Artifact{{Digest: digest}}, []string{digest}
			}
			if before != "" {
				doc.Extra = envelope.Extra{before: json.RawMessage(`{"artifacts":[1]}`)}
			}
			sealed, err := envelope.Seal(doc, []byte(strings.Repeat("s", 16)))
			if err != nil {
				t.Fatal(err)
			}
			if got := artifacts(sealed.Bytes); !slices.Equal(got, want) {
				t.Errorf("in %s: got %v, want %v", sealed.Bytes, got, want)
			}
		}
	}
}

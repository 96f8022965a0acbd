//go:build slow

package webpage

import (
	"encoding/json"
	"testing"

	"github.com/trapezehq/trapeze/client"
)

// TestAnEnvelopeThatIsWithheldIsNone: the record has a text in the place of what its reader may not read.
func TestAnEnvelopeThatIsWithheldIsNone(t *testing.T) {
	const text, whole = `"withheld"`, `{"key_facts":[]}`
	sealed := func(envelope string) []client.AuditEntry {
		return []client.AuditEntry{{Details: json.RawMessage(`{"digest":"sha256:1","envelope":` + envelope + `}`)}}
	}
	for name, test := range map[string]struct {
		doc  client.HandoffDocument
		want string
	}{
		"both withheld":   {client.HandoffDocument{Given: "sha256:1", Context: json.RawMessage(text), Entries: sealed(text)}, ""},
		"packed withheld": {client.HandoffDocument{Given: "sha256:1", Context: json.RawMessage(whole), Entries: sealed(text)}, whole},
		"nothing":         {client.HandoffDocument{Given: "sha256:1", Entries: sealed("null")}, ""},
		"packed":          {client.HandoffDocument{Given: "sha256:1", Context: json.RawMessage(text), Entries: sealed(whole)}, whole},
	} {
		if got := given(test.doc); string(got) != test.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

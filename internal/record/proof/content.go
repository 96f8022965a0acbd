package proof

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// carriers are the names of the events that hold an envelope and its digest.
var carriers = []string{"envelope-sealed", "envelope-rendered"}

// CheckContent says what is wrong with the payload of an entry; "" if nothing is. An envelope in it is canonical JSON, and its digest is the
// SHA-256 of that.
func CheckContent(e *ledger.Entry) string {
	if e.Enc != "" && e.Enc != ledger.EncNone && e.Enc != ledger.EncSealed {
		return fmt.Sprintf("its payload has the encoding %q, which this version of Trapeze does not know: it cannot be verified; if a newer version wrote it, verify with that", e.Enc)
	}
	for _, ev := range e.Events {
		if !slices.Contains(carriers, ev.Name) || len(ev.Data) == 0 {
			continue
		}
		if ev.Data[0] != '{' {
			return fmt.Sprintf("the data of event %s is not an object", ev.Name)
		}
		var envelope json.RawMessage
		var digest string
		for name, value := range ledger.Members(ev.Data) {
			switch name {
			case `"envelope"`:
				envelope = value
			case `"digest"`:
				digest = string(value)
			}
		}
		if len(envelope) == 0 || e.Enc == ledger.EncSealed && envelope[0] == '"' { // it is in another entry, or its key is not here
			continue
		}
		sum := sha256.Sum256(envelope)
		if got := `"sha256:` + hex.EncodeToString(sum[:]) + `"`; got != digest {
			return fmt.Sprintf("the envelope %s has the digest %s", digest, got)
		}
	}
	return ""
}

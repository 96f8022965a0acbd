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

// checkContent says what is wrong with the envelopes of an entry; "" if nothing is. An envelope is canonical JSON, and its digest is the
// SHA-256 of that.
func checkContent(e *ledger.Entry) string {
	for _, ev := range e.Events {
		if !slices.Contains(carriers, ev.Name) || ev.Data == nil {
			continue
		}
		var held struct {
			Digest   string          `json:"digest"`
			Envelope json.RawMessage `json:"envelope"`
		}
		if err := json.Unmarshal(ev.Data, &held); err != nil {
			return fmt.Sprintf("the event %s cannot be read: %v", ev.Name, err)
		}
		if len(held.Envelope) == 0 || e.Enc == ledger.EncSealed && held.Envelope[0] == '"' { // it is in another entry, or its key is not here
			continue
		}
		sum := sha256.Sum256(held.Envelope)
		if got := "sha256:" + hex.EncodeToString(sum[:]); got != held.Digest {
			return fmt.Sprintf("the envelope %s has the digest %s", held.Digest, got)
		}
	}
	return ""
}

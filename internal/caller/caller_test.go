package caller

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"testing"

	"github.com/trapezehq/trapeze/internal/refusal"
)

// A digest is in the record: a repeat after an upgrade must give the same.
func TestADigestIsOfTheVerbAndTheRequestAsJSON(t *testing.T) {
	type request struct {
		Text string          `json:"text"`
		Data json.RawMessage `json:"data,omitempty"`
	}
	in := request{Text: "<b> & \u2028", Data: json.RawMessage(` { "b" : 1,  "a" : "<" } `)}
	sum := sha256.Sum256([]byte("send\x00" + `{"text":"\u003cb\u003e \u0026 \u2028","data":{"b":1,"a":"\u003c"}}`))
	c := Caller{}.WithKey("k")
	for range 2 {
		if got, err := c.Digest("send", in); err != nil || got != hex.EncodeToString(sum[:16]) {
			t.Errorf("%s, %v", got, err)
		}
	}
	if got, err := c.Digest("create", in); err != nil || got == hex.EncodeToString(sum[:16]) {
		t.Errorf("another verb: %s, %v", got, err)
	}
	if got, err := (Caller{}).Digest("send", in); err != nil || got != "" {
		t.Errorf("without a key: %q, %v", got, err)
	}
	if _, err := c.Digest("send", request{Data: json.RawMessage(`{`)}); refusal.CodeOf(err) != refusal.Invalid {
		t.Errorf("what cannot be written: %v", err)
	}
}

package proof

import (
	"encoding/json"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// KeyRotated: the log signs its checkpoints with another key from now on. The last checkpoint that the old key signs has this entry.
type KeyRotated struct {
	Log string `json:"log"`           // its name
	Old string `json:"old"`           // the public key that signed until now
	New string `json:"new"`           // the public key that signs from now on
	Why string `json:"why,omitempty"` // what the administrator says
}

// EventName is "signing-key-rotated".
func (KeyRotated) EventName() string { return "signing-key-rotated" }

// KeyEvent is an event of the key of the log.
type KeyEvent interface{ EventName() string }

// KeyEvents has one of each event of the key.
var KeyEvents = []KeyEvent{KeyRotated{}}

// KeyList splits a text of public keys into its keys, in their order. Empty lines, and those that begin with '#', are omitted.
func KeyList(text string) (list []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			list = append(list, line)
		}
	}
	return list
}

// LogOf returns the name of the log of public keys, one in each line; empty: there is none.
func LogOf(keys string) string {
	list := KeyList(keys)
	if len(list) == 0 {
		return ""
	}
	name, _, _ := strings.Cut(list[0], "+")
	return name
}

// rotated compares the keys of the log with an entry that says that one was followed by another: what it signed until then verifies with it alone.
func (v *verifier) rotated(e *ledger.Entry) {
	if len(v.Keys) == 0 || e.Events[0].Name != (KeyRotated{}).EventName() {
		return
	}
	var k KeyRotated
	if err := json.Unmarshal(e.Events[0].Data, &k); err != nil || !strings.HasPrefix(v.Keys[0], k.Log+"+") { // those of a log before this one are not kept
		return
	}
	at := slices.Index(v.Keys, k.Old)
	switch {
	case at < 0:
		v.found(e.Position, "the public keys (proof/keys) lack the one that signed until here: %s", k.Old)
	case at < v.before, slices.Contains(v.Keys[:at], k.New):
		v.found(e.Position, "the public keys (proof/keys) are in another order than the one in which they signed: %s", k.Old)
	default:
		v.before = at + 1
	}
}

// Signs reports whether a public key is that of a signer.
func Signs(by note.Signer, public string) bool {
	v, err := note.NewVerifier(public)
	return err == nil && v.Name() == by.Name() && v.KeyHash() == by.KeyHash()
}

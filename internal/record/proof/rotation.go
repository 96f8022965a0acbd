package proof

import (
	"strings"

	"golang.org/x/mod/sumdb/note"
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

// Signs reports whether a public key is that of a signer.
func Signs(by note.Signer, public string) bool {
	v, err := note.NewVerifier(public)
	return err == nil && v.Name() == by.Name() && v.KeyHash() == by.KeyHash()
}

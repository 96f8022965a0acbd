package ledger

import (
	"bytes"
	"encoding/json"
	"slices"
)

// EncSealed is the encoding of a payload whose content is encrypted under the key that the header names. It has three parts: the
// outline, which is the JSON array of the events' data with [Hidden] in the place of each content; a line feed; and the whole array,
// encrypted. Without the key the outline still tells what happened, when and by whom.
const EncSealed = "sealed-1"

// Hidden stands for a content in the outline of a sealed entry.
const Hidden = "(sealed)"

// hidden is [Hidden] as JSON.
const hidden = `"` + Hidden + `"`

// Sealer seals what is appended to a ledger, and opens what is read from it. Its methods are safe for many goroutines.
type Sealer interface {
	// Seal returns the entry with its content sealed, or as it is if it has none. The key is durable before Seal returns. The
	// data of the events stays readable in memory.
	Seal(e Entry) (Entry, error)
	// Open returns an entry with the data of its events as far as it can be read: whole; or, if the key was destroyed, with a note of
	// that in the place of each content. A key that is missing is an error.
	Open(e Entry) (Entry, error)
}

// Seal returns the entry with a sealed payload: the outline, one value for each event, and the data of the events as encrypt
// returns it. bound is what the encryption is to authenticate besides. Error: ErrInvalid.
func (e Entry) Seal(keyID string, outline []json.RawMessage, encrypt func(payload, bound []byte) []byte) (Entry, error) {
	payload, err := appendArray(nil, dataOf(e.Events))
	if err != nil {
		return e, err
	}
	e.Enc, e.KeyID, e.Sealed = EncSealed, keyID, nil
	open, err := appendArray(nil, outline)
	if err != nil || len(outline) != len(e.Events) {
		return e, invalid("the outline of a sealed entry is not one value for each event")
	}
	e.Sealed = append(append(open, '\n'), encrypt(payload, e.bound(open))...)
	return e, nil
}

// Unseal returns a sealed entry with the data of its events as decrypt returns it, which gets what Seal's encrypt returned and was bound to.
// Errors: that of decrypt, and ErrInvalid.
func (e Entry) Unseal(decrypt func(sealed, bound []byte) ([]byte, error)) (Entry, error) {
	open, sealed, _ := bytes.Cut(e.Sealed, []byte{'\n'})
	payload, err := decrypt(sealed, e.bound(open))
	if err != nil {
		return e, err
	}
	e.Events = slices.Clone(e.Events)
	err = e.splitPayload(payload)
	return e, err
}

// Note returns a sealed entry with a note in the place of each content, which its reader cannot read.
func (e Entry) Note(note string) Entry {
	text, err := json.Marshal(note)
	if err != nil {
		return e
	}
	e.Events = slices.Clone(e.Events)
	for i := range e.Events {
		e.Events[i].Data = bytes.ReplaceAll(e.Events[i].Data, []byte(hidden), text)
		e.Events[i].value = nil
	}
	return e
}

// Plain returns the entry as it was before it was sealed, if its data could be read.
func (e Entry) Plain() Entry {
	if e.Enc == EncSealed {
		e.Enc, e.KeyID, e.Sealed = EncNone, "", nil
	}
	return e
}

// bound is the header and the outline of a sealed entry.
func (e *Entry) bound(outline []byte) []byte {
	return append(append(e.appendHeader(nil), '\n'), outline...)
}

// readOutline sets the data of the events of a sealed entry to what everybody can read.
func (e *Entry) readOutline() error {
	if e.Enc != EncSealed {
		return nil
	}
	outline, sealed, ok := bytes.Cut(e.Sealed, []byte{'\n'})
	if !ok || len(sealed) == 0 || e.KeyID == "" {
		return invalid("a sealed payload without an outline, a sealed part and a key")
	}
	return e.splitPayload(outline)
}

// checkSealed refuses a sealed payload that Decode would refuse.
func (e *Entry) checkSealed() error {
	of := *e
	of.Events = slices.Clone(e.Events)
	return of.readOutline()
}

func dataOf(events []Event) []json.RawMessage {
	list := make([]json.RawMessage, len(events))
	for i := range events {
		list[i] = events[i].Data
	}
	return list
}

// appendArray appends the JSON array of values, each of which must be compact.
func appendArray(b []byte, values []json.RawMessage) ([]byte, error) {
	for i, data := range values {
		if n, err := compactValue(data, 1); err != nil || n != len(data) {
			return nil, invalid("the data of an event is not one value of compact JSON in UTF-8")
		}
		b = append(append(b, "[,"[min(i, 1)]), data...)
	}
	return append(b, ']'), nil
}

// Paths are the places of contents in the data of an event: names of members, and what is below each; nil: the whole value. A path
// goes through arrays.
type Paths map[string]Paths

// Hide returns compact JSON with [Hidden] in the place of each value at the paths, and whether there was one. null, empty texts and
// empty lists stay.
func (p Paths) Hide(data json.RawMessage) (json.RawMessage, bool) {
	out, n := p.hide(make([]byte, 0, len(data)), data)
	return out, n > 0
}

// hide appends the value at the start of data to out, and returns how many contents it had.
func (p Paths) hide(out, data []byte) ([]byte, int) {
	switch {
	case p == nil:
		return hideWhole(out, data)
	case data[0] == '[':
		return p.hideEach(out, data)
	case data[0] != '{':
		return append(out, data...), 0
	}
	found, i := 0, 1
	out = append(out, '{')
	for data[i] != '}' {
		if data[i] == ',' {
			out = append(out, ',')
			i++
		}
		n, _ := compactString(data[i:]) // it was encoded by us
		name := data[i+1 : i+n-1]
		out = append(append(out, data[i:i+n]...), ':')
		i += n + 1
		n, err := compactValue(data[i:], 1)
		if err != nil {
			return append(out, data[i:]...), found
		}
		if below, ok := p[string(name)]; ok {
			var m int
			out, m = below.hide(out, data[i:i+n])
			found += m
		} else {
			out = append(out, data[i:i+n]...)
		}
		i += n
	}
	return append(out, '}'), found
}

// hideEach is hide for an array.
func (p Paths) hideEach(out, data []byte) ([]byte, int) {
	found := 0
	out = append(out, '[')
	for i := 1; data[i] != ']'; {
		if data[i] == ',' {
			out = append(out, ',')
			i++
		}
		n, err := compactValue(data[i:], 1)
		if err != nil {
			return append(out, data[i:]...), found
		}
		var m int
		out, m = p.hide(out, data[i:i+n])
		found, i = found+m, i+n
	}
	return append(out, ']'), found
}

// hideWhole appends what stands for a content.
func hideWhole(out, data []byte) ([]byte, int) {
	switch s := string(data[:min(len(data), 5)]); {
	case s == "null" || s == `""` || s == "[]":
		return append(out, data...), 0
	case data[0] == '[':
		return append(out, "["+hidden+"]"...), 1
	}
	return append(out, hidden...), 1
}

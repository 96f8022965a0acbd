package ledger

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// FormatVersion is the version of the format of entries, "v" in the header.
const FormatVersion = 1

const timeLayout = "2006-01-02T15:04:05.000000Z"

// Encode returns the bytes of the entry, which proofs hash and which never change: the package comment shows them.
// Position is not part of them. Equal entries have equal bytes. Errors: ErrInvalid, ErrTooLarge.
func (e Entry) Encode() ([]byte, error) { return e.append(nil) }

func (e *Entry) append(b []byte) ([]byte, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	before := len(b)
	size := 1 + e.headerBound() + len(e.Sealed) + 2
	for i := range e.Events {
		size += len(e.Events[i].Data) + 1
	}
	if size > 2*MaxEntrySize { // far too large: skip the work
		return nil, tooLarge(size)
	}
	if err := e.checkPayload(); err != nil {
		return nil, err
	}
	b = e.AppendStored(slices.Grow(b, size))
	if n := len(b) - before; n > MaxEntrySize {
		return nil, tooLarge(n)
	}
	return b, nil
}

// checkPayload checks what follows the header.
func (e *Entry) checkPayload() error {
	if !e.readable() {
		return e.checkSealed()
	}
	for i := range e.Events {
		data := e.Events[i].Data
		if n, err := compactValue(data, 1); err != nil || n != len(data) {
			return invalid("data of event %s is not one value of compact JSON in UTF-8", e.Events[i].Name)
		}
	}
	return nil
}

// AppendStored appends the bytes of an entry that a ledger returned, which are those that it stores, to b. It repeats none of the checks that such
// an entry has passed.
func (e *Entry) AppendStored(b []byte) []byte {
	b = append(e.appendHeader(b), '\n')
	if !e.readable() {
		return append(b, e.Sealed...)
	}
	for i := range e.Events {
		b = append(append(b, "[,"[min(i, 1)]), e.Events[i].Data...)
	}
	return append(b, ']')
}

// EncodeFor appends the bytes of the entry to b, after checking the rules of [Ledger.Append]. Every implementation calls it
// first. Errors: ErrInvalid, ErrTooLarge.
func (e *Entry) EncodeFor(b []byte, expect Position) ([]byte, error) {
	if !e.readable() && e.Enc != EncSealed {
		return nil, invalid("payload encoding %q is not known to this version of Trapeze", e.Enc)
	}
	switch {
	case expect == Any && e.Version != 0:
		return nil, invalid("version %d of %s without compare-and-set, want 0", e.Version, e.Stream)
	case e.Version == 0: // one that is copied may expect what it follows
	case expect == 0 && e.Version != 1:
		return nil, invalid("version %d at the start of %s, want 1", e.Version, e.Stream)
	case expect != 0 && expect != Any && e.Version < 2:
		return nil, invalid("version %d within %s, want 2 or more", e.Version, e.Stream)
	}
	return e.append(b)
}

func tooLarge(size int) error {
	return fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, size, MaxEntrySize)
}

// headerBound estimates the size of the header; only the growth of the buffer depends on it.
func (e *Entry) headerBound() int {
	n := 200 + len(e.Stream) + len(e.Actor.Principal) + len(e.Actor.Token) + len(e.Key) + len(e.Request) + len(e.KeyID)
	for _, p := range e.Actor.For {
		n += len(p) + 3
	}
	for i := range e.Events {
		n += len(e.Events[i].Name) + 26
	}
	return n
}

// appendHeader writes the fields in the order of RFC 8785. Keep it in step with parseHeader.
func (e *Entry) appendHeader(b []byte) []byte {
	b = append(b, `{"actor":{`...)
	for i, p := range e.Actor.For {
		if i == 0 {
			b = append(b, `"for":[`...)
		} else {
			b = append(b, ',')
		}
		b = appendString(b, p)
	}
	if len(e.Actor.For) > 0 {
		b = append(b, `],`...)
	}
	b = appendField(b, `"principal":`, e.Actor.Principal)
	b = appendOptional(b, `,"token":`, e.Actor.Token)
	b = appendField(b, `},"enc":`, e.encoding())
	b = append(b, `,"events":[`...)
	for i := range e.Events {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendField(b, `{"name":`, e.Events[i].Name)
		b = append(b, `,"version":`...)
		b = strconv.AppendInt(b, int64(e.Events[i].Version), 10)
		b = append(b, '}')
	}
	b = append(b, ']')
	b = appendOptional(b, `,"key":`, e.Key)
	b = appendOptional(b, `,"key_id":`, e.KeyID)
	b = appendOptional(b, `,"request":`, e.Request)
	b = appendField(b, `,"stream":`, string(e.Stream))
	b = append(b, `,"time":"`...)
	b = appendTime(b, e.Time)
	b = append(b, `","v":1,"version":`...)
	b = strconv.AppendUint(b, e.Version, 10)
	return append(b, '}')
}

func (e *Entry) encoding() string {
	if e.Enc == "" {
		return EncNone
	}
	return e.Enc
}

// appendTime appends a time as [timeLayout] says, which time.Time.AppendFormat would read once more for each entry.
func appendTime(b []byte, t time.Time) []byte {
	year, month, day := t.Date()
	if year < 0 || year > 9999 {
		return t.AppendFormat(b, timeLayout)
	}
	hour, minute, second := t.Clock()
	b = append(appendPair(appendPair(b, year/100), year%100), '-')
	b = append(appendPair(b, int(month)), '-')
	b = append(appendPair(b, day), 'T')
	b = append(appendPair(b, hour), ':')
	b = append(appendPair(b, minute), ':')
	b = append(appendPair(b, second), '.')
	micro := t.Nanosecond() / 1000
	return append(appendPair(appendPair(appendPair(b, micro/10000), micro/100%100), micro%100), 'Z')
}

// appendPair appends two digits.
func appendPair(b []byte, n int) []byte { return append(b, byte('0'+n/10), byte('0'+n%10)) } //nolint:gosec // below 100

func appendField(b []byte, key, value string) []byte {
	return appendString(append(b, key...), value)
}

func appendOptional(b []byte, key, value string) []byte {
	if value == "" {
		return b
	}
	return appendField(b, key, value)
}

// appendString quotes s as RFC 8785 does: only '"' and '\' need an escape, because check refuses control
// characters and invalid UTF-8.
func appendString(b []byte, s string) []byte {
	b = append(b, '"')
	if strings.IndexByte(s, '"') < 0 && strings.IndexByte(s, '\\') < 0 {
		return append(append(b, s...), '"')
	}
	for i := range len(s) {
		if c := s[i]; c == '"' || c == '\\' {
			b = append(b, '\\', c)
		} else {
			b = append(b, c)
		}
	}
	return append(b, '"')
}

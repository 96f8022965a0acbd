package ledger

import (
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Limits of an entry's header. Sizes are in bytes.
const (
	MaxEvents    = 256 // events in one entry
	MaxStream    = 512 // a stream's name
	MaxPrincipal = 256 // "agent/NAME" and so on
	MaxChain     = 32  // principals in Actor.For
	maxName      = 64  // an event's name
	maxToken     = 128 // token ids, digests, encodings, key ids
	maxExact     = 1<<53 - 1
)

// CheckStream returns an ErrInvalid that says what is wrong with the name, or nil.
func CheckStream(s Stream) error {
	if len(s) > MaxStream {
		return invalid("stream name of %d bytes, at most %d", len(s), MaxStream)
	}
	workspace, kind, id := s.Parts()
	if !plain(workspace) || !plain(kind) || !plain(id) {
		return invalid("stream name %q: want workspace/kind/id, without white space or control characters", string(s))
	}
	return nil
}

// CheckPrincipal returns an ErrInvalid that says what is wrong with the principal, or nil.
func CheckPrincipal(p string) error {
	kind, name, _ := strings.Cut(p, "/")
	if len(p) > MaxPrincipal || !plain(name) {
		return invalid("principal %.80q: want kind/NAME of at most %d bytes, without white space", p, MaxPrincipal)
	}
	switch kind {
	case "agent", "admin", "operator", "auditor", "system":
		return nil
	}
	return invalid("principal %.80q: want agent, admin, operator, auditor or system before the '/'", p)
}

// check applies every rule that does not need the bytes. It makes Encode and Decode inverse to each other.
func (e *Entry) check() error {
	if err := CheckStream(e.Stream); err != nil {
		return err
	}
	if err := e.Actor.check(); err != nil {
		return err
	}
	if e.Version > maxExact {
		return invalid("version %d is out of range", e.Version)
	}
	if err := checkTime(e.Time); err != nil {
		return err
	}
	for _, f := range [...]struct{ field, text string }{
		{"key", e.Key}, {"request", e.Request}, {"enc", e.Enc}, {"key id", e.KeyID}, {"token", e.Actor.Token},
	} {
		if !isToken(f.text) {
			return invalid("%s %.140q: want at most %d of A-Z a-z 0-9 . _ : + / = -", f.field, f.text, maxToken)
		}
	}
	return e.checkEvents()
}

func (a *Actor) check() error {
	if err := CheckPrincipal(a.Principal); err != nil {
		return err
	}
	if len(a.For) > MaxChain {
		return invalid("delegation chain of %d, at most %d", len(a.For), MaxChain)
	}
	for _, p := range a.For {
		if err := CheckPrincipal(p); err != nil {
			return err
		}
	}
	return nil
}

func checkTime(t time.Time) error {
	if t.Location() != time.UTC || t.Nanosecond()%1000 != 0 || t.Year() < 1970 || t.Year() > 9999 {
		return invalid("time %v: want UTC, whole microseconds, a year from 1970 to 9999", t)
	}
	return nil
}

func (e *Entry) checkEvents() error {
	if len(e.Events) == 0 || len(e.Events) > MaxEvents {
		return invalid("%d events in an entry, want 1 to %d", len(e.Events), MaxEvents)
	}
	for i := range e.Events {
		ev := &e.Events[i]
		if err := checkName(ev.Name); err != nil {
			return err
		}
		if ev.Version < 1 || ev.Version > 1<<20 {
			return invalid("version %d of event %s", ev.Version, ev.Name)
		}
		if !e.readable() && e.Enc != EncSealed && ev.Data != nil {
			return invalid("event %s has data beside a sealed payload", ev.Name)
		}
	}
	if e.readable() && (e.Sealed != nil || e.KeyID != "") {
		return invalid("a sealed payload or a key id needs an encoding other than %q", EncNone)
	}
	return nil
}

func (e *Entry) readable() bool { return e.Enc == "" || e.Enc == EncNone }

func checkName(name string) error {
	ok := name != "" && len(name) <= maxName && name[0] >= 'a' && name[0] <= 'z'
	for i := 0; ok && i < len(name); i++ {
		c := name[i]
		ok = c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-'
	}
	if !ok {
		return invalid("event name %.80q: want at most %d of a-z 0-9 . _ - after a letter", name, maxName)
	}
	return nil
}

// plain says whether s is a non-empty name without '/', white space, control or unprintable characters.
func plain(s string) bool {
	if s == "" || !utf8.ValidString(s) {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c <= ' ' || c == '/' || c == 0x7f:
			return false
		case c >= utf8.RuneSelf:
			return plainRunes(s)
		}
	}
	return true
}

func plainRunes(s string) bool {
	for _, r := range s {
		if r == '/' || !unicode.IsGraphic(r) || unicode.IsSpace(r) {
			return false
		}
	}
	return true
}

func isToken(s string) bool {
	if len(s) > maxToken {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9':
		case c == '.', c == '_', c == ':', c == '+', c == '/', c == '=', c == '-':
		default:
			return false
		}
	}
	return true
}

func invalid(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrInvalid, fmt.Sprintf(format, args...))
}

package ledger

import (
	"bytes"
	"strconv"
	"strings"
	"time"
)

// Decode is the inverse of [Entry.Encode]. It refuses all bytes that Encode would not produce, so that an entry has exactly
// one form. The entry keeps b, which must not change afterwards; its Position is 0. The payload of an unknown encoding is
// kept unchanged in Sealed. Errors: ErrInvalid, ErrTooLarge.
func Decode(b []byte) (Entry, error) {
	if len(b) > MaxEntrySize {
		return Entry{}, tooLarge(len(b))
	}
	end := bytes.IndexByte(b, '\n')
	if end < 0 {
		return Entry{}, invalid("entry without a header line")
	}
	header, payload := b[:end:end], b[end+1:]
	e, err := parseHeader(string(header))
	if err != nil {
		return Entry{}, err
	}
	if err := e.check(); err != nil {
		return Entry{}, err
	}
	// The parser is lax about escapes, numbers and empty fields; the comparison with the canonical form is not.
	var scratch [512]byte
	if !bytes.Equal(e.appendHeader(scratch[:0]), header) {
		return Entry{}, invalid("header is not in canonical form")
	}
	if !e.readable() {
		e.Sealed = payload
		err := e.readOutline()
		return e, err
	}
	if err := e.splitPayload(payload); err != nil {
		return Entry{}, err
	}
	return e, nil
}

// splitPayload sets the data of each event from the JSON array.
func (e *Entry) splitPayload(b []byte) error {
	at := 0
	for i := range e.Events {
		if at >= len(b) || b[at] != "[,"[min(i, 1)] {
			return invalid("payload has fewer values than the header has events")
		}
		at++
		n, err := compactValue(b[at:], 1)
		if err != nil {
			return invalid("payload of event %d: %v", i+1, err)
		}
		e.Events[i].Data = b[at : at+n : at+n]
		at += n
	}
	if string(b[at:]) != "]" {
		return invalid("payload has more than the header's %d events", len(e.Events))
	}
	return nil
}

// headerParser reads the header from left to right. After the first mismatch it reads nothing.
type headerParser struct {
	rest string
	bad  bool
}

// parseHeader reads the fields in the order in which appendHeader writes them.
func parseHeader(header string) (Entry, error) {
	p := &headerParser{rest: header}
	var e Entry
	p.expect(`{"actor":{`)
	if p.skip(`"for":[`) {
		for more := true; more && !p.bad; more = p.skip(`,`) {
			e.Actor.For = append(e.Actor.For, p.text())
		}
		p.expect(`],`)
	}
	p.expect(`"principal":`)
	e.Actor.Principal = p.text()
	e.Actor.Token = p.optional(`,"token":`)
	p.expect(`},"enc":`)
	e.Enc = p.text()
	p.expect(`,"events":[`)
	e.Events = p.events()
	e.Key = p.optional(`,"key":`)
	e.KeyID = p.optional(`,"key_id":`)
	e.Request = p.optional(`,"request":`)
	p.expect(`,"stream":`)
	e.Stream = Stream(p.text())
	p.expect(`,"time":`)
	at := p.text()
	p.expect(`,"v":`)
	if v := p.number(); v != FormatVersion && !p.bad {
		return Entry{}, invalid("entry of format version %d; this version of Trapeze reads version %d", v, FormatVersion)
	}
	p.expect(`,"version":`)
	e.Version = p.number()
	p.expect(`}`)
	if p.bad || p.rest != "" {
		return Entry{}, invalid("header is not in canonical form near %.40q", p.rest)
	}
	var ok bool
	if e.Time, ok = parseTime(at); !ok {
		return Entry{}, invalid("time %.40q", at)
	}
	return e, nil
}

// parseTime reads a time as [timeLayout] says, which time.Parse would read once more for each entry.
func parseTime(s string) (time.Time, bool) {
	if len(s) != len(timeLayout) {
		return time.Time{}, false
	}
	for i := range len(timeLayout) {
		if c := s[i]; timeLayout[i] >= '0' && timeLayout[i] <= '9' {
			if c < '0' || c > '9' {
				return time.Time{}, false
			}
		} else if c != timeLayout[i] {
			return time.Time{}, false
		}
	}
	pair := func(at int) int { return int(s[at]-'0')*10 + int(s[at+1]-'0') }
	year, month, day, hour, minute, second := pair(0)*100+pair(2), pair(5), pair(8), pair(11), pair(14), pair(17)
	t := time.Date(year, time.Month(month), day, hour, minute, second, 1000*(pair(20)*10000+pair(22)*100+pair(24)), time.UTC)
	return t, month >= 1 && month <= 12 && day >= 1 && t.Day() == day && hour < 24 && minute < 60 && second < 60 // otherwise it is another one
}

// usualEvents is how many events most entries have at most.
const usualEvents = 4

func (p *headerParser) events() []Event {
	events := make([]Event, 0, usualEvents)
	for more := true; more && !p.bad && len(events) <= MaxEvents; more = p.skip(`,`) {
		p.expect(`{"name":`)
		name := p.text()
		p.expect(`,"version":`)
		events = append(events, Event{Name: name, Version: int(min(p.number(), 1<<30))})
		p.expect(`}`)
	}
	p.expect(`]`)
	return events
}

func (p *headerParser) skip(s string) bool {
	if p.bad || !strings.HasPrefix(p.rest, s) {
		return false
	}
	p.rest = p.rest[len(s):]
	return true
}

func (p *headerParser) expect(s string) {
	if !p.skip(s) {
		p.bad = true
	}
}

func (p *headerParser) optional(key string) string {
	if !p.skip(key) {
		return ""
	}
	return p.text()
}

// text reads a string with no escapes other than \" and \\.
func (p *headerParser) text() string {
	p.expect(`"`)
	if end := strings.IndexByte(p.rest, '"'); end >= 0 && !p.bad && strings.IndexByte(p.rest[:end], '\\') < 0 {
		s := p.rest[:end]
		p.rest = p.rest[end+1:]
		return s
	}
	var plain []byte // set once an escape makes a copy necessary
	for i := 0; i < len(p.rest) && !p.bad; i++ {
		switch c := p.rest[i]; {
		case c == '"':
			s := p.rest[:i]
			p.rest = p.rest[i+1:]
			if plain != nil {
				return string(plain)
			}
			return s
		case c == '\\':
			if plain == nil {
				plain = append(make([]byte, 0, len(p.rest)), p.rest[:i]...)
			}
			if i++; i < len(p.rest) {
				plain = append(plain, p.rest[i])
			}
		case plain != nil:
			plain = append(plain, c)
		}
	}
	p.bad = true
	return ""
}

func (p *headerParser) number() uint64 {
	i := 0
	for i < len(p.rest) && p.rest[i] >= '0' && p.rest[i] <= '9' {
		i++
	}
	n, err := strconv.ParseUint(p.rest[:i], 10, 64)
	if err != nil {
		p.bad = true
	}
	p.rest = p.rest[i:]
	return n
}

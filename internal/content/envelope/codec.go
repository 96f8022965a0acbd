package envelope

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/content/canonical"
	"github.com/trapezehq/trapeze/internal/domain/fastjson"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Decode reads an envelope in any spelling of JSON and validates it. It keeps the salt and the parent but does not verify
// the digest: that is [Open]. Unknown fields are kept if the document is of a newer minor version and
// refused otherwise; an unknown major is refused. Errors are a [refusal.Error] with the code invalid or too_large.
func Decode(data []byte) (Envelope, error) {
	e, _, err := decode(data)
	return e, err
}

// decoded is the canonical form of a document, and whether its envelope encodes to exactly that.
type decoded struct {
	canonical []byte
	exact     bool
}

func decode(data []byte) (Envelope, decoded, error) {
	if len(data) > MaxSize {
		return Envelope{}, decoded{}, tooLarge("envelope", len(data), MaxSize)
	}
	canon, err := canonical.JSON(data, MaxDepth+slack)
	if err != nil {
		return Envelope{}, decoded{}, badJSON("envelope", err)
	}
	e, newer, err := read(canon)
	if err != nil {
		return Envelope{}, decoded{}, err
	}
	again, err := encode(e)
	if err != nil {
		return Envelope{}, decoded{}, err
	}
	if !bytes.Equal(again, canon) {
		if err := keepExtras(&e, canon, newer); err != nil {
			return Envelope{}, decoded{}, err
		}
		if again, err = encode(e); err != nil {
			return Envelope{}, decoded{}, err
		}
	}
	if err := e.checkFields(); err != nil {
		return Envelope{}, decoded{}, err
	}
	normalise(&e)
	return e, decoded{canonical: canon, exact: bytes.Equal(again, canon)}, nil
}

// encode returns the canonical JSON of e, which must have passed checkFields or come from canonical JSON: the
// standard encoder replaces invalid UTF-8.
func encode(e Envelope) ([]byte, error) {
	canon, err := write(&e)
	if err != nil {
		if place := e.checkFreeJSON(); place != nil {
			return nil, place
		}
	}
	return canon, err
}

func write(e *Envelope) ([]byte, error) {
	normalise(e)
	b, _ := bufferPool.Get().(*buffers)
	defer b.release()
	raw, err := b.marshal(e)
	if err != nil {
		return nil, invalid("envelope", "data, schema and extra fields must be well-formed JSON", "cannot be written as JSON: %v", err)
	}
	if e.hasExtra() {
		if raw, err = withExtras(e, raw); err != nil {
			return nil, err
		}
	}
	canon, err := b.canonical(raw, MaxDepth+slack)
	if err != nil {
		return nil, badJSON("envelope", err)
	}
	return canon, nil
}

// normalise brings values with several Go forms into the one that is written: times in UTC and microseconds, no empty
// version. It does not change memory that e shares with its copies.
func normalise(e *Envelope) {
	if e.Version == "" {
		e.Version = Version
	}
	e.CreatedAt, e.ExpiresAt, e.Task.Deadline = micro(e.CreatedAt), micro(e.ExpiresAt), micro(e.Task.Deadline)
	inMicro(&e.History, func(s *Step) *time.Time { return &s.Time })
	inMicro(&e.Conversation, func(t *Turn) *time.Time { return &t.Time })
}

// inMicro truncates the times of a list, in a copy if any of them changes.
func inMicro[T any](list *[]T, of func(*T) *time.Time) {
	for i := range *list {
		if t := of(&(*list)[i]); micro(*t) != *t {
			*list = slices.Clone(*list)
			for j := i; j < len(*list); j++ {
				t := of(&(*list)[j])
				*t = micro(*t)
			}
			return
		}
	}
}

func micro(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// read fills the known fields and reports whether the document is of a newer minor than [Version]. A wrong version is
// reported before any other fault, because in another major the other fields may mean anything.
func read(doc []byte) (e Envelope, newer bool, err error) {
	fault := fastjson.Unmarshal(doc, &e)
	version := &e.Version
	if fault != nil {
		var only struct {
			Version string `json:"version"`
		}
		if err := json.Unmarshal(doc, &only); err != nil {
			return e, false, wrongType(err)
		}
		version = &only.Version
	}
	if *version == "" {
		return e, false, invalid("version", `set it to "`+Version+`"`, "is missing")
	}
	if newer, err = checkVersion(*version); err != nil {
		return e, false, err
	}
	if fault != nil {
		return e, false, wrongType(fault)
	}
	return e, newer, nil
}

func checkVersion(version string) (newer bool, err error) {
	major, minor, ok := splitVersion(version)
	ourMajor, ourMinor, _ := splitVersion(Version)
	switch {
	case !ok:
		return false, invalid("version", `write it like "`+Version+`"`, "%.20q is not major.minor", version)
	case major != ourMajor:
		return false, invalid("version", "send an envelope of version "+strconv.Itoa(ourMajor)+".x, or upgrade this server",
			"%s is of an unknown major version: this server reads %d.x", version, ourMajor)
	}
	return minor > ourMinor, nil
}

func splitVersion(v string) (major, minor int, ok bool) {
	a, b, ok := strings.Cut(v, ".")
	if !ok {
		return 0, 0, false
	}
	major, errA := strconv.Atoi(a)
	minor, errB := strconv.Atoi(b)
	ok = errA == nil && errB == nil && strconv.Itoa(major) == a && strconv.Itoa(minor) == b && major >= 0 && minor >= 0
	return major, minor, ok
}

func wrongType(err error) error {
	if _, ok := refusal.As(err); ok { // not a member of a closed set
		return inField("envelope", err)
	}
	var t *json.UnmarshalTypeError
	if errors.As(err, &t) {
		field := t.Field
		if field == "" {
			field = "envelope"
		}
		return invalid(field, "see the envelope's schema", "has the wrong type: got %s, want %s", t.Value, t.Type)
	}
	return invalid("envelope", "times are written like 2026-01-02T15:04:05Z", "cannot be read: %v", err)
}

func badJSON(field string, err error) error {
	var j *canonical.Error
	if errors.As(err, &j) {
		return invalid(field+j.Path, "fix the JSON and send it again", "%v", j.Err)
	}
	return err
}

// invalid returns the refusal of one field. The hint says what to do.
func invalid(field, hint, format string, args ...any) error {
	return refuse(refusal.Invalid, field, hint, format, args...)
}

// inField adds the field to a refusal of another package.
func inField(field string, err error) error {
	if r, ok := refusal.As(err); ok {
		return r.Saying("%s: %s", field, r.Message).With("field", field)
	}
	return err
}

func tooLarge(field string, got, limit int) error {
	return refuse(refusal.TooLarge, field, "shorten it, or send it as several tasks",
		"has %d bytes, the limit is %d", got, limit).With("limit", limit)
}

func refuse(code refusal.Code, field, hint, format string, args ...any) *refusal.Error {
	return refusal.New(code, hint, "%s: "+format, append([]any{field}, args...)...).With("field", field)
}

package envelope

import (
	"encoding"
	"encoding/json"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/trapezehq/trapeze/internal/domain/event/idform"
)

// checker keeps the first error. Field names are relative to at, a list element.
type checker struct {
	at  element
	err error
}

// element is an element of a list; the zero value is none.
type element struct {
	list  string
	index int
}

func (e element) path(field string) string {
	if e.list == "" {
		return field
	}
	return e.list + "[" + strconv.Itoa(e.index) + "]" + field
}

func (c *checker) fail(err error) {
	if c.err == nil {
		c.err = err
	}
}

func (c *checker) invalid(field, hint, format string, args ...any) {
	c.fail(invalid(c.at.path(field), hint, format, args...))
}

func (c *checker) required(field, s string, limit int) {
	if strings.TrimSpace(s) == "" {
		c.invalid(field, "say it in words", "is empty")
	}
	c.text(field, s, limit)
}

func (c *checker) text(field, s string, limit int) {
	switch {
	case len(s) > limit:
		c.fail(tooLarge(c.at.path(field), len(s), limit))
	case !utf8.ValidString(s):
		c.invalid(field, "send text in UTF-8", "is not valid UTF-8")
	}
}

func (c *checker) count(field string, n, limit int) {
	if n > limit {
		c.invalid(field, "keep the ones that matter", "has %d entries, the limit is %d", n, limit)
	}
}

func (c *checker) texts(field string, list []string, most, limit int) {
	c.count(field, len(list), most)
	for i, s := range list {
		if c.err != nil {
			return
		}
		c.required(field+"["+strconv.Itoa(i)+"]", s, limit)
	}
}

// name checks an id or a name: one word that can be shown on one line.
func (c *checker) name(field, s string) {
	switch {
	case s == "":
		c.invalid(field, "give its id or name", "is missing")
	case len(s) > MaxName:
		c.fail(tooLarge(c.at.path(field), len(s), MaxName))
	case !utf8.ValidString(s) || strings.ContainsFunc(s, notInName):
		c.invalid(field, "use letters, digits and punctuation, without spaces", "%.40q has a character that names must not have", s)
	}
}

func notInName(r rune) bool {
	return unicode.IsSpace(r) || !unicode.IsPrint(r) || idform.Invisible(r)
}

func (c *checker) optionalName(field, s string) {
	if s != "" {
		c.name(field, s)
	}
}

// member checks a value of a closed set; the empty value means "not given".
func (c *checker) member(field string, set encoding.TextUnmarshaler, s string) {
	if err := set.UnmarshalText([]byte(s)); err != nil {
		c.fail(inField(c.at.path(field), err))
	}
}

func (c *checker) names(field string, list []string, most int) {
	c.count(field, len(list), most)
	for i, s := range list {
		if c.err != nil {
			return
		}
		c.name(field+"["+strconv.Itoa(i)+"]", s)
	}
}

func (c *checker) between(field string, n, most int) {
	if n < 0 || n > most {
		c.invalid(field, "choose a number in the range", "%d is not between 0 and %d", n, most)
	}
}

func (c *checker) time(field string, t time.Time) {
	if y := t.UTC().Year(); y < 1 || y > 9999 {
		c.invalid(field, "choose a year from 1 to 9999", "is in the year %d", y)
	}
}

func (c *checker) size(field string, raw json.RawMessage, limit int) {
	if len(raw) > limit {
		c.fail(tooLarge(c.at.path(field), len(raw), limit))
	}
}

func (c *checker) json(field string, raw json.RawMessage) {
	if c.err != nil || len(raw) == 0 {
		return
	}
	if err := checkCanonical(raw, MaxDepth); err != nil {
		c.fail(badJSON(field, err))
	}
}

// requiredMember checks a value of a closed set that must be given.
func (c *checker) requiredMember(field string, set encoding.TextUnmarshaler, s string) {
	if s == "" {
		c.invalid(field, "see the envelope's schema for the values", "is missing")
	}
	c.member(field, set, s)
}

func (c *checker) digest(field, s string) {
	if !ValidDigest(s) {
		c.invalid(field, "give the digest of the content, sha256:…", "%.80q is not a digest", s)
	}
}

func (c *checker) fraction(field string, f float64) {
	if !(f >= 0 && f <= 1) { // also refuses NaN
		c.invalid(field, "give a number from 0 to 1 or omit it", "%v is out of range", f)
	}
}

// checkList checks the length of a list and every element.
func checkList[T any](c *checker, field string, list []T, most int, check func(*T, *checker)) {
	c.count(field, len(list), most)
	for i := range list {
		if c.err != nil {
			return
		}
		c.at = element{field, i}
		check(&list[i], c)
		c.at = element{}
	}
}

package envelope

import (
	"encoding"
	"encoding/hex"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// Validate checks every field against the rules and limits of this package, except the size of the whole, which is
// known when it is sealed. The error is a [refusal.Error] that names the field and says what to do.
func (e *Envelope) Validate() error {
	if err := e.checkFields(); err != nil {
		return err
	}
	return e.checkFreeJSON()
}

// checkFields checks everything but the inside of free JSON.
func (e *Envelope) checkFields() error {
	var c checker
	e.checkFrame(&c)
	e.Handoff.check(&c)
	e.Task.check(&c)
	c.text("conversation_summary", e.ConversationSummary, MaxText)
	c.items("key_facts", e.KeyFacts)
	c.items("decisions", e.Decisions)
	c.texts("open_questions", e.OpenQuestions, MaxItems, MaxItemText)
	e.checkHistory(&c)
	e.checkConstraints(&c)
	e.ExpectedOutput.check(&c)
	e.checkRefs(&c)
	return c.err
}

// checkFreeJSON looks inside the free JSON. Sealing finds the same faults by itself and asks here for their place.
func (e *Envelope) checkFreeJSON() error {
	var c checker
	c.json("task.data", e.Task.Data)
	c.json("expected_output.schema", e.ExpectedOutput.Schema)
	if !e.hasExtra() {
		return c.err
	}
	for _, p := range e.parts() {
		for field, raw := range *p.extra {
			c.json(p.path(field), raw)
		}
	}
	return c.err
}

func (e *Envelope) checkFrame(c *checker) {
	if e.Version != "" {
		if _, err := checkVersion(e.Version); err != nil {
			c.fail(err)
		}
	}
	if raw, err := hex.DecodeString(e.Salt); e.Salt != "" &&
		(err != nil || !isLowerHex(e.Salt) || len(raw) < MinSalt || len(raw) > MaxSalt) {
		c.invalid("salt", "leave it to the server", "is not %d to %d bytes in lower-case hex", MinSalt, MaxSalt)
	}
	if e.Parent != "" && !ValidDigest(e.Parent) {
		c.invalid("parent", "give the digest of the earlier envelope, sha256:…", "%.80q is not a digest", e.Parent)
	}
	c.time("created_at", e.CreatedAt)
	c.time("expires_at", e.ExpiresAt)
	if !e.ExpiresAt.IsZero() && !micro(e.ExpiresAt).After(micro(e.CreatedAt)) {
		c.invalid("expires_at", "choose a later time or leave it out", "is not after created_at")
	}
	c.member("priority", new(event.Priority), string(e.Priority))
	c.between("hops", e.Hops, MaxHops)
	if f := e.Confidence; f != nil && !(*f >= 0 && *f <= 1) { // also refuses NaN
		c.invalid("confidence", "give a number from 0 to 1 or leave it out", "%v is out of range", *f)
	}
	if p := e.Trace.Parent; p != "" && !validTraceparent(p) {
		c.invalid("trace.traceparent", "leave it out or send W3C trace context", "%.80q is not a traceparent", p)
	}
	if s := e.Trace.State; len(s) > 512 || strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
		c.invalid("trace.tracestate", "leave it out or send W3C trace context", "is not at most 512 printable ASCII characters")
	}
}

// validTraceparent checks the form 00-32 hex-16 hex-2 hex of the W3C recommendation.
func validTraceparent(s string) bool {
	p := strings.Split(s, "-")
	if len(p) != 4 || !isLowerHex(strings.Join(p, "")) {
		return false
	}
	return len(p[0]) == 2 && p[0] != "ff" && len(p[1]) == 32 && len(p[2]) == 16 && len(p[3]) == 2
}

func (h *Header) check(c *checker) {
	c.name("handoff.task_id", h.TaskID)
	c.optionalName("handoff.handoff_id", h.HandoffID)
	c.name("handoff.from", h.From)
	c.names("handoff.to", h.To, MaxTo)
	c.member("handoff.reason", new(event.Reason), string(h.Reason))
	c.text("handoff.detail", h.Detail, MaxItemText)
	c.member("handoff.kind", new(event.Kind), string(h.Kind))
	c.between("handoff.timeout_seconds", h.TimeoutSeconds, MaxTimeoutSeconds)
	c.names("handoff.permissions", h.Permissions, MaxRefs)
	c.names("handoff.dependencies", h.Dependencies, MaxRefs)
	c.text("handoff.notes", h.Notes, MaxText)
}

func (t *Task) check(c *checker) {
	c.required("task.intent", t.Intent, MaxText)
	c.text("task.state", t.State, MaxText)
	c.text("task.ask", t.Ask, MaxText)
	c.size("task.data", t.Data, MaxData)
}

func (e *Envelope) checkHistory(c *checker) {
	c.count("history", len(e.History), MaxHistory)
	for i := range e.History {
		s := &e.History[i]
		if c.err != nil {
			return
		}
		c.at = element{"history", i}
		c.time(".time", s.Time)
		c.name(".agent", s.Agent)
		c.required(".action", s.Action, MaxItemText)
		c.text(".detail", s.Detail, MaxItemText)
		c.optionalName(".tool", s.Tool)
		s.checkWeight(c)
		c.at = element{}
	}
}

func (e *Envelope) checkConstraints(c *checker) {
	c.count("constraints", len(e.Constraints), MaxConstraints)
	seen := make(map[string]bool, len(e.Constraints))
	for i := range e.Constraints {
		k := &e.Constraints[i]
		if c.err != nil {
			return
		}
		c.at = element{"constraints", i}
		c.name(".id", k.ID)
		c.member(".kind", new(event.ConstraintKind), string(k.Kind))
		if k.Kind == "" {
			c.invalid(".kind", "say budget, security, format, preference or prohibition", "is missing")
		}
		c.required(".text", k.Text, MaxConstraintText)
		c.optionalName(".origin", k.Origin)
		if k.Max != nil && (math.IsNaN(*k.Max) || math.IsInf(*k.Max, 0)) {
			c.invalid(".max", "give a finite number or leave it out", "%v is no number", *k.Max)
		}
		c.names(".allow", k.Allow, MaxAllow)
		if seen[k.ID] {
			c.invalid(".id", "give every constraint an id of its own", "%.40q is used twice", k.ID)
		}
		seen[k.ID] = true
		c.at = element{}
	}
}

func (x *Expected) check(c *checker) {
	c.optionalName("expected_output.format", x.Format)
	c.between("expected_output.max_bytes", x.MaxBytes, 1<<31-1)
	c.texts("expected_output.criteria", x.Criteria, MaxCriteria, MaxItemText)
	c.size("expected_output.schema", x.Schema, MaxSchema)
	if s := strings.TrimLeft(string(x.Schema), " \t\r\n"); s != "" && s[0] != '{' {
		c.invalid("expected_output.schema", "give a JSON Schema", "is not a JSON object")
	}
}

// checker keeps the first error. at is the list element that field names are in.
type checker struct {
	at  element
	err error
}

// element is a place in a list; the zero value is none.
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

// name takes ids and names: one word that can be shown on one line.
func (c *checker) name(field, s string) {
	switch {
	case s == "":
		c.invalid(field, "give its id or name", "is missing")
	case len(s) > MaxName:
		c.fail(tooLarge(c.at.path(field), len(s), MaxName))
	case !utf8.ValidString(s) || strings.ContainsFunc(s, notInName):
		c.invalid(field, "use letters, digits and punctuation, without spaces", "%.40q has a character that names may not have", s)
	}
}

func notInName(r rune) bool {
	return unicode.IsSpace(r) || !unicode.IsPrint(r)
}

func (c *checker) optionalName(field, s string) {
	if s != "" {
		c.name(field, s)
	}
}

// member checks a value of a closed set of package handoff; the empty value is "not given".
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
	if _, err := canonical(raw, MaxDepth); err != nil {
		c.fail(badJSON(field, err))
	}
}

func (c *checker) items(field string, list []Item) {
	c.count(field, len(list), MaxItems)
	seen := make(map[string]bool, len(list))
	for i := range list {
		if c.err != nil {
			return
		}
		item := &list[i]
		c.at = element{field, i}
		c.name(".id", item.ID)
		c.required(".text", item.Text, MaxItemText)
		c.optionalName(".supersedes", item.Supersedes)
		c.text(".reasoning", item.Reasoning, MaxItemText)
		item.checkWeight(c)
		if seen[item.ID] {
			c.invalid(".id", "give every entry an id of its own", "%.40q is used twice", item.ID)
		}
		if item.Supersedes == item.ID {
			c.invalid(".supersedes", "name the earlier entry", "is the entry itself")
		}
		seen[item.ID] = true
		c.at = element{}
	}
}

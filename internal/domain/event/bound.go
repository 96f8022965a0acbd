package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Bounds on what comes from outside. Bytes unless said otherwise.
const (
	MaxIntent          = 64 << 10
	MaxData            = 768 << 10
	MaxText            = 16 << 10 // details, notes
	MaxResult          = 256 << 10
	MaxName            = 64 // also of a label
	MaxConstraints     = 64 // per task
	MaxConstraintText  = 2 << 10
	MaxConstraintTotal = 32 << 10
	MaxPermissions     = 128
	MaxDependencies    = 64
	MaxRoute           = 32
	MaxTags            = 32   // per task; each a label
	MaxLevel           = 64   // of an escalation chain
	MaxCandidates      = 1100 // per handoff
	MaxChildren        = 256  // per task, over its life
	MaxShares          = 64
	MaxAsks            = 8
	MaxWords           = 3  // how often one principal may say of one owner that it is stuck
	MaxWordsBy         = 16 // principals who may
	MaxMissing         = 32
	MaxJSONDepth       = 64
	MaxSchema          = 64 << 10 // as much as an envelope takes
	MaxCriteria        = 64       // as many as an envelope takes
	MaxRetries         = 20
	maxDescription     = 2000
	maxLimit           = 1000
	maxTasks           = 10_000 // that may come of one
)

// TooLarge is the refusal of something that has more bytes than it may.
func TooLarge(what string, got, limit int) error {
	return refusal.New(refusal.TooLarge, fmt.Sprintf("at most %d bytes; put large things elsewhere and refer to them", limit),
		"%s has %d bytes", what, got)
}

// TooMany is the refusal of a list with more entries than it may have. what is their name in the plural.
func TooMany(what string, got, limit int) error {
	return refusal.New(refusal.TooLarge, fmt.Sprintf("at most %d; name those that matter most", limit), "%d %s are too many", got, what).
		With("limit", limit)
}

// CheckText refuses text that is too long or not UTF-8.
func CheckText(what, s string, limit int) error {
	if len(s) > limit {
		return TooLarge(what, len(s), limit)
	}
	if !utf8.ValidString(s) {
		return refusal.New(refusal.Invalid, "send UTF-8", "%s is not valid UTF-8", what)
	}
	return nil
}

// CheckDescription refuses what an agent or a channel is said to be for, where that is too long or not plain text: lines and
// tabs, and no other control characters. hint says what to write instead.
func CheckDescription(s, hint string) error {
	if len(s) > maxDescription {
		return refusal.New(refusal.TooLarge, fmt.Sprintf("%s, in at most %d bytes", hint, maxDescription), "the description has %d bytes", len(s))
	}
	if !utf8.ValidString(s) {
		return refusal.New(refusal.Invalid, hint, "the description is not valid UTF-8")
	}
	for _, r := range s {
		if unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Bidi_Control, r) {
			return refusal.New(refusal.Invalid, hint, "the description has the control character %U", r)
		}
	}
	return nil
}

// CheckRoute refuses a route that is too long or stops at what is no agent. An agent may be visited twice.
func CheckRoute(route []string) error {
	if len(route) > MaxRoute {
		return refusal.New(refusal.TooLarge, "split the route", "%d stops are too many for a route", len(route))
	}
	for _, a := range route {
		if err := CheckName("an agent's name", a); err != nil {
			return err
		}
	}
	return nil
}

// CheckTags refuses tags of a task that are too many, no labels, or named twice.
func CheckTags(tags []string) error { return CheckLabels("a tag", tags, MaxTags) }

// CheckDependencies refuses tasks for task to depend on that are too many, no tasks, named twice, or task itself.
func CheckDependencies(task string, on []Dependency) error {
	if len(on) > MaxDependencies {
		return refusal.New(refusal.TooLarge, "split the work", "%d dependencies are too many", len(on))
	}
	for i, d := range on {
		if err := CheckTaskID(d.Task); err != nil {
			return err
		}
		if d.Task == task {
			return refusal.New(refusal.Invalid, "leave it out", "task %s cannot depend on itself", task)
		}
		if slices.ContainsFunc(on[:i], func(o Dependency) bool { return o.Task == d.Task }) {
			return refusal.New(refusal.Invalid, "name each once", "task %s is named twice as a dependency", d.Task)
		}
	}
	return nil
}

// CheckDeadline refuses a deadline that has passed or is absurd. Zero is none.
func CheckDeadline(deadline, now time.Time) error {
	if deadline.IsZero() || deadline.After(now) && !deadline.After(now.Add(10*365*24*time.Hour)) {
		return nil
	}
	return refusal.New(refusal.Invalid, "use a time from now to ten years ahead", "the deadline %s is out of range",
		deadline.Format(time.RFC3339))
}

// CheckCandidates refuses receivers that are too many, or neither agents nor desks.
func CheckCandidates(candidates []Candidate) error {
	if len(candidates) > MaxCandidates {
		return refusal.New(refusal.TooLarge, "name fewer receivers", "%d candidates are too many", len(candidates))
	}
	for _, c := range candidates {
		err := CheckName("an agent's name", c.Agent)
		if c.Desk != "" && c.Agent == "" {
			err = CheckName("a desk's name", c.Desk)
		}
		if err == nil && (c.Level < 0 || c.Level > MaxLevel) {
			err = refusal.New(refusal.Invalid, "give its place in the chain, from 1", "the level %d of a chain is out of range", c.Level)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// CheckJSON refuses JSON that is too large, malformed or nested too deeply. Absent JSON is fine.
func CheckJSON(what string, b json.RawMessage, limit int) error {
	if len(b) == 0 {
		return nil
	}
	if len(b) > limit {
		return TooLarge(what, len(b), limit)
	}
	if !utf8.Valid(b) || !json.Valid(b) {
		return refusal.New(refusal.Invalid, "send JSON in UTF-8", "%s is not valid JSON", what)
	}
	depth, inString := 0, false
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case inString && c == '\\':
			i++
		case c == '"':
			inString = !inString
		case !inString && (c == '{' || c == '['):
			if depth++; depth > MaxJSONDepth {
				return refusal.New(refusal.Invalid, fmt.Sprintf("at most %d levels", MaxJSONDepth), "%s is nested too deeply", what)
			}
		case !inString && (c == '}' || c == ']'):
			depth--
		}
	}
	return nil
}

// Check refuses limits that are out of range.
func (l Limits) Check() error {
	check := func(most int, limits ...int) error {
		for _, v := range limits {
			if v < 0 || v > most {
				return refusal.New(refusal.Invalid, fmt.Sprintf("use 1 to %d, or leave it out", most), "a limit of %d is out of range", v)
			}
		}
		return nil
	}
	if err := check(maxLimit, l.Hops, l.Handoffs, l.Visits, l.Escalations, l.Attempts); err != nil {
		return err
	}
	return check(maxTasks, l.Tasks)
}

// Check refuses amounts that are out of range.
func (b Budget) Check(what string) error {
	const most = 1 << 50
	if b.Tokens < 0 || b.Cost < 0 || b.Tokens > most || b.Cost > most {
		return refusal.New(refusal.Invalid, "use amounts from 0 up", "%s is out of range", what)
	}
	return nil
}

// Check refuses a constraint without id, kind or text, and one that is too long.
func (c Constraint) Check() error {
	if err := CheckLabel("a constraint", c.ID); err != nil {
		return err
	}
	if c.Kind == "" {
		return refusal.New(refusal.Invalid, "say budget, security, format, preference or prohibition", "constraint %s has no kind", c.ID)
	}
	if strings.TrimSpace(c.Text) == "" {
		return refusal.New(refusal.Invalid, "say in words what must hold", "constraint %s has no text", c.ID)
	}
	if c.Max != nil && (math.IsNaN(*c.Max) || math.IsInf(*c.Max, 0)) {
		return refusal.New(refusal.Invalid, "use a number, or leave it out", "constraint %s has no finite maximum", c.ID)
	}
	if len(c.Allow) > 0 {
		if err := CheckLabels("an allowed value", c.Allow, MaxPermissions); err != nil {
			return err
		}
	}
	return CheckText("a constraint", c.Text, MaxConstraintText)
}

// CheckConstraints refuses a set that is too large to be sealed into every envelope, or that names one id twice.
func CheckConstraints(cs []Constraint) error {
	total := 0
	for i, c := range cs {
		if err := c.Check(); err != nil {
			return err
		}
		if slices.ContainsFunc(cs[:i], func(o Constraint) bool { return o.ID == c.ID }) {
			return refusal.New(refusal.Invalid, "give each constraint an id of its own", "constraint %s is there twice", c.ID)
		}
		total += len(c.Text)
		for _, a := range c.Allow {
			total += len(a)
		}
	}
	if len(cs) > MaxConstraints || total > MaxConstraintTotal {
		return refusal.New(refusal.TooLarge, fmt.Sprintf("at most %d with %d bytes of text and allowed values per task", MaxConstraints, MaxConstraintTotal),
			"%d constraints with %d bytes are too many", len(cs), total)
	}
	return nil
}

// Check refuses a result that is too large or malformed.
func (r Result) Check() error {
	if err := CheckText("the result's text", r.Text, MaxResult); err != nil {
		return err
	}
	return CheckJSON("the result's data", r.Data, MaxResult)
}

// Check refuses expectations that are too large or malformed.
func (e Expected) Check() error {
	if e.MaxBytes < 0 {
		return refusal.New(refusal.Invalid, "use a length from 1 up", "a result cannot have %d bytes", e.MaxBytes)
	}
	if len(e.Criteria) > MaxCriteria {
		return refusal.New(refusal.TooLarge, fmt.Sprintf("at most %d", MaxCriteria), "%d criteria are too many", len(e.Criteria))
	}
	for _, c := range append([]string{e.Format}, e.Criteria...) {
		if err := CheckText("what is expected", c, MaxText); err != nil {
			return err
		}
	}
	return CheckJSON("the expected schema", e.Schema, MaxSchema)
}

// Compact is the result with its data as the record has it: without insignificant space. The data must be JSON.
func (r Result) Compact() Result {
	r.Data = compact(r.Data)
	return r
}

// Empty reports whether nothing is expected.
func (e Expected) Empty() bool {
	return e.Format == "" && e.MaxBytes == 0 && len(e.Criteria) == 0 && len(e.Schema) == 0
}

// Compact is the expectation with its schema as the record has it. The schema must be JSON.
func (e Expected) Compact() Expected {
	e.Schema = compact(e.Schema)
	return e
}

func compact(b json.RawMessage) json.RawMessage {
	var out bytes.Buffer
	if len(b) == 0 || json.Compact(&out, b) != nil {
		return nil
	}
	return out.Bytes()
}

// CheckMissing refuses a list of missing fields that is too long, or whose names are.
func CheckMissing(fields []string) error {
	if len(fields) > MaxMissing {
		return refusal.New(refusal.TooLarge, "name the most important ones", "%d missing fields are too many", len(fields))
	}
	for _, m := range fields {
		if err := CheckText("a missing field", m, MaxName*4); err != nil {
			return err
		}
	}
	return nil
}

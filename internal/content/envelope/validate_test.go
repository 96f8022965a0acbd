package envelope_test

import (
	"encoding/json"
	"maps"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// faults are changes to the full document, by a part of the refusal they must cause.
func faults() map[string]func(*envelope.Envelope) {
	long := func(n int) string { return strings.Repeat("x", n+1) }
	names := func(n int) []string { return strings.Fields(strings.Repeat("n ", n+1)) }
	item := func(id, text, supersedes string) []envelope.Item {
		return []envelope.Item{{ID: "f1", Text: "x"}, {ID: id, Text: text, Supersedes: supersedes}}
	}
	number := func(f float64) *float64 { return &f }
	return map[string]func(*envelope.Envelope){
		"version: ":                   func(e *envelope.Envelope) { e.Version = "1" },
		"version: 2.0 is of":          func(e *envelope.Envelope) { e.Version = "2.0" },
		"parent: ":                    func(e *envelope.Envelope) { e.Parent = "sha256:12" },
		"created_at: ":                func(e *envelope.Envelope) { e.CreatedAt = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC) },
		"expires_at: ":                func(e *envelope.Envelope) { e.ExpiresAt = e.CreatedAt.Add(100 * time.Nanosecond) },
		"priority: ":                  func(e *envelope.Envelope) { e.Priority = "super" },
		"hops: ":                      func(e *envelope.Envelope) { e.Hops = -1 },
		"confidence: 1.5":             func(e *envelope.Envelope) { e.Confidence = number(1.5) },
		"confidence: NaN":             func(e *envelope.Envelope) { e.Confidence = number(math.NaN()) },
		"trace.traceparent: ":         func(e *envelope.Envelope) { e.Trace.Parent = "00-1-2-3" },
		"trace.tracestate: ":          func(e *envelope.Envelope) { e.Trace.State = "a\nb" },
		"handoff.task_id: is missing": func(e *envelope.Envelope) { e.Handoff.TaskID = "" },
		"handoff.task_id: \"a b\"":    func(e *envelope.Envelope) { e.Handoff.TaskID = "a b" },
		"handoff.from: \"a\\u202e\"":  func(e *envelope.Envelope) { e.Handoff.From = "a\u202e" },
		"handoff.from: \"a\\nb\"":     func(e *envelope.Envelope) { e.Handoff.From = "a\nb" },
		"handoff.to: ":                func(e *envelope.Envelope) { e.Handoff.To = names(envelope.MaxTo) },
		"handoff.to[1]: has":          func(e *envelope.Envelope) { e.Handoff.To[1] = long(envelope.MaxName) },
		"handoff.reason: ":            func(e *envelope.Envelope) { e.Handoff.Reason = "boredom" },
		"handoff.kind: ":              func(e *envelope.Envelope) { e.Handoff.Kind = "lukewarm" },
		"handoff.detail: ":            func(e *envelope.Envelope) { e.Handoff.Detail = long(envelope.MaxItemText) },
		"handoff.timeout_seconds: ":   func(e *envelope.Envelope) { e.Handoff.TimeoutSeconds = math.MaxInt32 },
		"handoff.permissions[0]: ":    func(e *envelope.Envelope) { e.Handoff.Permissions[0] = "" },
		"handoff.dependencies: ":      func(e *envelope.Envelope) { e.Handoff.Dependencies = names(envelope.MaxRefs) },
		"handoff.notes: ":             func(e *envelope.Envelope) { e.Handoff.Notes = "\xff" },
		"task.intent: is empty":       func(e *envelope.Envelope) { e.Task.Intent = " \n" },
		"task.intent: has":            func(e *envelope.Envelope) { e.Task.Intent = long(envelope.MaxText) },
		"task.state: ":                func(e *envelope.Envelope) { e.Task.State = "a\xc0\xaf" },
		"task.data: has":              func(e *envelope.Envelope) { e.Task.Data = json.RawMessage(`"` + long(envelope.MaxData) + `"`) },
		"task.data.a: has the key":    func(e *envelope.Envelope) { e.Task.Data = json.RawMessage(`{"a":{"b":1,"b":2}}`) },
		"task.data[0]: has a whole":   func(e *envelope.Envelope) { e.Task.Data = json.RawMessage(`[12345678901234567890]`) },
		"task.data: is not well":      func(e *envelope.Envelope) { e.Task.Data = json.RawMessage(`{`) },
		"task.data: is not valid":     func(e *envelope.Envelope) { e.Task.Data = json.RawMessage("\"\xff\"") },
		"nested too deeply":           func(e *envelope.Envelope) { e.Task.Data = nested(65) },
		"conversation_summary: ":      func(e *envelope.Envelope) { e.ConversationSummary = long(envelope.MaxText) },
		"key_facts[1].id: \"f1\"":     func(e *envelope.Envelope) { e.KeyFacts = item("f1", "x", "") },
		"key_facts[1].text: ":         func(e *envelope.Envelope) { e.KeyFacts = item("f2", "", "") },
		"key_facts[1].supersedes: ":   func(e *envelope.Envelope) { e.KeyFacts = item("f2", "x", "f2") },
		"key_facts: ":                 func(e *envelope.Envelope) { e.KeyFacts = make([]envelope.Item, envelope.MaxPoints+1) },
		"decisions[1].id: is missing": func(e *envelope.Envelope) { e.Decisions = item("", "x", "") },
		"open_questions[0]: ":         func(e *envelope.Envelope) { e.OpenQuestions = []string{""} },
		"history: ":                   func(e *envelope.Envelope) { e.History = make([]envelope.Step, envelope.MaxHistory+1) },
		"history[1].agent: ":          func(e *envelope.Envelope) { e.History[1].Agent = "" },
		"history[1].action: ":         func(e *envelope.Envelope) { e.History[1].Action = "" },
		"history[0].time: ":           func(e *envelope.Envelope) { e.History[0].Time = time.Date(-1, 1, 1, 0, 0, 0, 0, time.UTC) },
		"constraints: ":               func(e *envelope.Envelope) { e.Constraints = make([]envelope.Constraint, envelope.MaxConstraints+1) },
		"constraints[0].kind: is":     func(e *envelope.Envelope) { e.Constraints[0].Kind = "" },
		"constraints[0].kind: \"":     func(e *envelope.Envelope) { e.Constraints[0].Kind = "wish" },
		"constraints[0].text: ":       func(e *envelope.Envelope) { e.Constraints[0].Text = long(envelope.MaxConstraintText) },
		"constraints[1].id: ":         func(e *envelope.Envelope) { e.Constraints[1].ID = "c1" },
		"constraints[1].max: ":        func(e *envelope.Envelope) { e.Constraints[1].Max = number(math.Inf(1)) },
		"constraints[2].allow[1]: ":   func(e *envelope.Envelope) { e.Constraints[2].Allow[1] = "a b" },
		"expected_output.max_bytes: ": func(e *envelope.Envelope) { e.ExpectedOutput.MaxBytes = -5 },
		"expected_output.criteria: ":  func(e *envelope.Envelope) { e.ExpectedOutput.Criteria = names(envelope.MaxCriteria) },
		"expected_output.schema: ":    func(e *envelope.Envelope) { e.ExpectedOutput.Schema = json.RawMessage(`[]`) },
		"salt: ":                      func(e *envelope.Envelope) { e.Salt = "ABCDEF" },
		"task.data: is also given": func(e *envelope.Envelope) {
			e.Version, e.Task.Extra = "1.9", envelope.Extra{"data": nil}
		},
		"trace.mood: is not well-formed": func(e *envelope.Envelope) {
			e.Version, e.Trace.Extra = "1.9", envelope.Extra{"mood": json.RawMessage(`{]`)}
		},
	}
}

func TestAFaultIsRefusedByTheNameOfItsField(t *testing.T) {
	all := faults()
	maps.Copy(all, faultsSince11())
	for want, change := range all {
		t.Run(want, func(t *testing.T) {
			e := full()
			change(&e)
			_, err := envelope.RenderJSON(e)
			check(t, "RenderJSON", err, want)
			if e.Salt == "" { // sealing replaces it
				_, err = envelope.Seal(e, salt)
				check(t, "Seal", err, want)
			}
		})
	}
}

func nested(n int) json.RawMessage {
	return json.RawMessage(strings.Repeat("[", n) + strings.Repeat("]", n))
}

func check(t *testing.T, via string, err error, want string) {
	t.Helper()
	r, ok := refusal.As(err)
	if !ok || !strings.Contains(r.Message, want) || r.Hint == "" || r.Details["field"] == "" {
		t.Errorf("%s: got %v, want a refusal with %q and a hint", via, err, want)
	}
}

func TestDataMayBeSixtyFourLevelsDeep(t *testing.T) {
	e := minimal()
	e.Task.Data = nested(64)
	open(t, seal(t, e).Bytes)
}

func TestAnEnvelopeOverTheSizeLimitIsNotSealed(t *testing.T) {
	e := minimal()
	e.Task.Data = json.RawMessage(`"` + strings.Repeat("x", envelope.MaxData-2) + `"`)
	e.Task.State = strings.Repeat("x", envelope.MaxText)
	e.Task.Ask = e.Task.State
	if _, err := envelope.Seal(e, salt); refusal.CodeOf(err) != refusal.TooLarge {
		t.Errorf("got %v", err)
	}
	if _, err := envelope.Decode(make([]byte, envelope.MaxSize+1)); refusal.CodeOf(err) != refusal.TooLarge {
		t.Errorf("got %v", err)
	}
}

func TestDocumentsThatAreNotOursAreRefused(t *testing.T) {
	for name, c := range map[string]struct{ doc, want string }{
		"nothing":           {``, "envelope: is not well-formed JSON"},
		"a list":            {`[]`, "envelope: has the wrong type"},
		"null":              {`null`, "version: is missing"},
		"no version":        {`{"task":{"intent":"x"}}`, "version: is missing"},
		"a later major":     {`{"version":"2.0","task":"anything"}`, "version: 2.0 is of an unknown major version: this server reads 1.x"},
		"an earlier major":  {`{"version":"0.9"}`, "version: 0.9 is of an unknown major"},
		"a version number":  {`{"version":1.0}`, "version: has the wrong type"},
		"a padded version":  {`{"version":"1.00"}`, `version: "1.00" is not major.minor`},
		"a wrong type":      {`{"version":"1.0","task":{"intent":7}}`, "task.intent: has the wrong type"},
		"a misspelt field":  {`{"version":"1.0","task":{"intent":"x","aks":"y"}}`, "task.aks: is not a field of version 1.0"},
		"a shadowing field": {`{"version":"1.7","task":{"intent":"x","Intent":"y"}}`, `task.intent: is written "Intent"`},
		"a field in capitals": {
			`{"version":"1.7","TASK":{"intent":"x"},"handoff":{"task_id":"t","from":"a"}}`,
			`task: is written "TASK"`,
		},
		"an unknown reason": {`{"version":"1.0","handoff":{"reason":"boredom"}}`, `"boredom" is not a reason`},
		"a bad time":        {`{"version":"1.0","created_at":"yesterday"}`, "cannot be read"},
		"a duplicate key":   {`{"version":"1.0","task":{"intent":"x","intent":"y"}}`, `envelope.task: has the key "intent" twice`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := envelope.Decode([]byte(c.doc))
			check(t, "Decode", err, c.want)
			_, _, err = envelope.Open([]byte(c.doc))
			check(t, "Open", err, c.want)
		})
	}
}

func TestBytesKeptInsideAnotherDocumentComeBack(t *testing.T) {
	s := seal(t, full())
	outer, err := json.MarshalIndent(map[string]json.RawMessage{"envelope": s.Bytes}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	var kept map[string]json.RawMessage
	if err := json.Unmarshal(outer, &kept); err != nil {
		t.Fatal(err)
	}
	if back, err := envelope.Canonical(kept["envelope"]); err != nil || envelope.DigestOf(back) != s.Digest {
		t.Errorf("%v: %s", err, back)
	}
	_, err = envelope.Canonical([]byte(`{"a":[1,}`))
	check(t, "Canonical", err, "JSON.a[1]: is not well-formed")
}

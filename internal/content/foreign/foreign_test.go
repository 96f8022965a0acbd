package foreign_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/content/foreign"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

const ours = `{"version":"1.1","handoff":{"task_id":"t","from":"a"},"task":{"intent":"x"}}`

func TestWhatIsWrongIsRefusedByTheNameOfItsField(t *testing.T) {
	document := func(rest string) string { return `{"task_context":{"summary":"x"},` + rest + `}` }
	context := func(rest string) string { return `{"original_task":"x",` + rest + `}` }
	memory := func(rest string) string { return `{"task_summary":"x",` + rest + `}` }
	for name, s := range map[string]struct{ doc, want string }{
		"nothing":                                       {``, "JSON: is not well-formed"},
		"a list":                                        {`[]`, "document: is not a JSON object"},
		"null":                                          {`null`, "document: is not a JSON object"},
		"an empty object":                               {`{}`, "document: has none of the fields"},
		"fields of two formats":                         {`{"original_task":"x","task_summary":"y"}`, "several formats: original_task (handoff-context), task_summary (memory-envelope)"},
		"an envelope of nobody":                         {`{"version":"1.0","handoff":{},"task":{"intent":"x"}}`, "handoff.task_id: is missing"},
		"an envelope of another major":                  {`{"version":"7.2","handoff":{},"job":{"intent":"x"}}`, "7.2 is of an unknown major version: this server reads 1"},
		"a major that has nothing alike":                {`{"version":"12.0","payload":"x"}`, "12.0 is of an unknown major version: this server reads 1"},
		"an envelope that was changed":                  {`{"digest":"sha256:00","envelope":` + ours + `}`, "envelope: has the digest sha256:"},
		"an envelope and something else":                {`{"original_task":"x",` + ours[1:], "several formats: version (envelope), original_task (handoff-context)"},
		"a field that 1.1 does not have":                {`{"mood":"blue",` + ours[1:], "mood"},
		"an endless timeout":                            {strings.Replace(ours, `"from"`, `"timeout_seconds":99999999,"from"`, 1), "timeout_seconds: "},
		"a constraint given twice":                      {memory(`"constraints":{"security":"none","security":"all"}`), `has the key "security" twice`},
		"invalid UTF-8":                                 {context("\"current_state\":\"\xff\""), "UTF-8"},
		"a number that loses digits":                    {context(`"collected_data":{"n":12345678901234567890}`), "lose digits"},
		"deep nesting":                                  {context(`"collected_data":` + strings.Repeat("[", 80) + strings.Repeat("]", 80)), "nested too deeply"},
		"no task":                                       {`{"key_facts":["a"]}`, "original_task: does not say what is wanted"},
		"an empty task":                                 {memory(`"task_summary":""`)[:0] + `{"task_summary":" ","memory_refs":[]}`, "task_summary: does not say what is wanted"},
		"a task that is a number":                       {`{"original_task":7}`, "original_task: is a number, not text"},
		"no context":                                    {`{"from_agent":"a"}`, "task_context: is missing"},
		"a context that is a list":                      {`{"task_context":[]}`, "task_context: is a list, not an object"},
		"a context without a task":                      {`{"task_context":{"ticket":"A-1"}}`, "task_context.summary: is missing or empty"},
		"facts that are an object":                      {context(`"key_facts":{"a":1}`), "key_facts: is an object, not a list"},
		"a fact that is a number":                       {context(`"key_facts":["a",5]`), "key_facts[1]: is a number, not text"},
		"an empty fact":                                 {context(`"key_facts":["a"," "]`), "key_facts[1]: is empty"},
		"too many facts":                                {context(`"key_facts":[` + strings.Repeat(`"a",`, 500) + `"a"]`), "key_facts: has 501 entries"},
		"negative confidence":                           {context(`"confidence":-0.1`), "confidence: -0.1 is not between 0 and 1"},
		"confidence in per cent":                        {context(`"confidence":55`), "confidence: 55 is not between 0 and 1"},
		"confidence in words":                           {context(`"confidence":"high"`), "confidence: is text, not a number"},
		"a time before 1970":                            {context(`"expires_at":-1.5`), "expires_at: -1.5 is not between"},
		"a time in milliseconds":                        {context(`"expires_at":1767945600000`), "expires_at: 1767945600000 is not between"},
		"a time in words":                               {context(`"expires_at":"tomorrow"`), `expires_at: "tomorrow" is not a time`},
		"a time that is a list":                         {context(`"created_at":[2026]`), "created_at: is a list, not a time"},
		"an unknown priority":                           {document(`"priority":"P1"`), `priority: "P1" is not a priority`},
		"a priority that is a number":                   {document(`"priority":1`), "priority: is a number, not text"},
		"a negative timeout":                            {document(`"timeout_seconds":-30`), "timeout_seconds: -30 is not between"},
		"an absurd timeout":                             {document(`"timeout_seconds":1e300`), "timeout_seconds: 1e+300 is not between"},
		"a timeout in words":                            {document(`"timeout_seconds":"30s"`), "timeout_seconds: is text, not a number"},
		"an agent that is a path":                       {document(`"to_agent":"../admin"`), "to_agent: "},
		"an agent that is a list":                       {document(`"to_agent":["a"]`), "to_agent: is a list, not text"},
		"an audit trail in words":                       {document(`"audit_trail":"all fine"`), "audit_trail: is text, not a list"},
		"a permission with a space":                     {document(`"permissions":["read everything"]`), "permissions: "},
		"permissions in two places":                     {`{"task_context":{"summary":"x","permissions":["a"]},"permissions":["b"]}`, "permissions: are given in two places"},
		"a permission that is a number":                 {document(`"permissions":{"read":[1]}`), "permissions.read[0]: is a number, not text"},
		"a later version":                               {memory(`"envelope_version":"3"`), `envelope_version: "3" is unknown: only version 2 is supported`},
		"constraints that are a list":                   {memory(`"constraints":["be nice"]`), "constraints: is a list, not an object"},
		"a constraint that does not say what is wanted": {memory(`"constraints":{"security":""}`), "constraints.security: is empty"},
		"a long constraint":                             {memory(`"constraints":{"security":"` + strings.Repeat("x", 3000) + `"}`), "constraints.security: "},
		"a negative token limit":                        {memory(`"constraints":{"max_tokens":-1}`), "constraints.max_tokens: -1 is not between"},
		"half a token":                                  {memory(`"constraints":{"max_tokens":1.5}`), "constraints.max_tokens: 1.5 is not a whole number"},
		"a deadline in words":                           {memory(`"constraints":{"deadline":"soon"}`), `constraints.deadline: "soon" is not a time`},
		"half a memory":                                 {memory(`"include_recent":0.5`), "include_recent: 0.5 is not a whole number"},
		"pins in words":                                 {memory(`"include_pins":"yes"`), "include_pins: is text, not true or false"},
		"references that are an object":                 {memory(`"memory_refs":{}`), "memory_refs: is an object, not a list"},
	} {
		t.Run(name, func(t *testing.T) {
			_, _, err := foreign.Decode([]byte(s.doc), envelope.Converter{})
			r, ok := refusal.As(err)
			if !ok || !strings.Contains(r.Message, s.want) || r.Hint == "" || r.Details["field"] == "" {
				t.Errorf("got %v, want %q", err, s.want)
			}
		})
	}
}

func TestADocumentOfMoreThanAMegabyteIsRefused(t *testing.T) {
	_, _, err := foreign.Decode(make([]byte, foreign.MaxSize+1), envelope.Converter{})
	if refusal.CodeOf(err) != refusal.TooLarge {
		t.Errorf("got %v", err)
	}
}

func TestReasonsAreUnderstoodInEitherSpelling(t *testing.T) {
	for given, want := range map[string]event.Reason{
		"capability-mismatch": event.ReasonCapabilityMismatch, "capability_mismatch": event.ReasonCapabilityMismatch,
		"Capability Mismatch": event.ReasonCapabilityMismatch, "load-shedding": event.ReasonLoadShedding, "ESCALATION": event.ReasonEscalation,
		"the moon is full": "",
	} {
		task, notes := decode(t, fmt.Appendf(nil, `{"task_context":{"summary":"x"},"handoff_reason":%q}`, given))
		if task.Reason != want || (want == "") != (task.Detail == given) || (want == "") != has(notes, "handoff_reason") {
			t.Errorf("%s: reason %q, detail %q, notes %v", given, task.Reason, task.Detail, notes)
		}
	}
}

func TestPrioritiesAreUnderstoodInOtherWords(t *testing.T) {
	for given, want := range map[string]event.Priority{"high": event.High, "HIGH": event.High, "medium": event.Normal, "critical": event.Urgent, "": ""} {
		task, _ := decode(t, fmt.Appendf(nil, `{"original_task":"x","priority":%q}`, given))
		if task.Priority != want {
			t.Errorf("%s: %q, want %q", given, task.Priority, want)
		}
	}
}

func TestTimesAreSecondsOrText(t *testing.T) {
	at := time.Date(2026, 1, 5, 8, 0, 0, 250_000_000, time.UTC)
	for _, given := range []string{`1767600000.25`, `"2026-01-05T08:00:00.25Z"`, `"2026-01-05T09:00:00.25+01:00"`} {
		task, _ := decode(t, []byte(`{"original_task":"x","expires_at":`+given+`}`))
		if !task.Expires.Equal(at) || task.Expires.Location() != time.UTC {
			t.Errorf("%s: %v", given, task.Expires)
		}
	}
}

func TestNoPermissionsIsNotTheSameAsNothingSaid(t *testing.T) {
	for given, want := range map[string][]string{
		`{"summary":"x"}`: nil,
		`{"summary":"x","permissions":{"read":[]}}`:               {},
		`{"summary":"x","permissions":[]}`:                        {},
		`{"summary":"x","permissions":"db:read"}`:                 {"db:read"},
		`{"summary":"x","permissions":{"w":["a"],"r":["a","b"]}}`: {"a:r", "b:r", "a:w"},
	} {
		task, _ := decode(t, []byte(`{"task_context":`+given+`}`))
		if !reflect.DeepEqual(task.Permissions, want) {
			t.Errorf("%s: %#v", given, task.Permissions)
		}
	}
}

func TestAConstraintOfAnUnknownKindStillBinds(t *testing.T) {
	task, notes := decode(t, []byte(`{"task_summary":"x","constraints":{"tone of voice":{"calm":true},"residency":"EU","language":"go"}}`))
	var got []string
	for _, c := range task.Constraints {
		got = append(got, c.ID+"/"+string(c.Kind)+"/"+c.Text)
	}
	want := []string{"language/format/language: go", "residency/preference/residency: EU", `constraint-3/preference/tone of voice: {"calm":true}`}
	if !slices.Equal(got, want) || !has(notes, "constraints.residency") || !has(notes, "constraints.tone of voice") {
		t.Errorf("got %q, notes %v", got, notes)
	}
}

func TestTheSenderAndThePastAreClaims(t *testing.T) {
	task, notes := decode(t, sample(t, foreign.HandoffDocument))
	var claimed map[string]json.RawMessage
	if err := json.Unmarshal(task.Claimed, &claimed); err != nil {
		t.Fatal(err)
	}
	if string(claimed["from_agent"]) != `"triage-bot"` || string(claimed["format"]) != `"handoff-document"` ||
		!strings.Contains(string(claimed["audit_trail"]), "handoff-acknowledgment") || !has(notes, "audit_trail") {
		t.Errorf("claimed %s, notes %v", task.Claimed, notes)
	}
}

func has(notes []foreign.Note, field string) bool {
	return slices.ContainsFunc(notes, func(n foreign.Note) bool { return n.Field == field })
}

func FuzzDecode(f *testing.F) {
	for _, format := range foreign.Formats() {
		f.Add(sample(f, format))
	}
	for _, s := range []string{
		``, `{}`, ours, `{"digest":"x","envelope":` + ours + `}`, `{"version":"2.0"}`, `{"task_context":"do it"}`, `{"original_task":"x","expires_at":1e20,"confidence":1e-320}`,
		`{"task_summary":"x","constraints":{"\u202e":[1],"deadline":0,"max_tokens":1}}`, `{"task_context":{"task":{"summary":1},"permissions":null}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		task, notes, err := foreign.Decode(doc, envelope.Converter{})
		if err != nil {
			if _, ok := refusal.As(err); !ok {
				t.Fatalf("not a refusal: %v", err)
			}
			return
		}
		// What was made of it can be sealed, and comes out the same again.
		if task.Intent == "" || event.CheckConstraints(task.Constraints) != nil || task.Timeouts.Check() != nil {
			t.Fatalf("%+v", task)
		}
		e := envelope.Envelope{Handoff: envelope.Header{TaskID: "t", From: "a"}, Task: envelope.Task{Intent: task.Intent, Data: task.Content.Data}}
		if task.Format == foreign.Envelope {
			e, err = envelope.Decode(task.Envelope)
		}
		if err := errors.Join(err, e.Validate()); err != nil {
			t.Fatalf("%v: %+v", err, task)
		}
		if !json.Valid(task.Claimed) {
			t.Fatalf("claimed: %s", task.Claimed)
		}
		again, notesAgain, err := foreign.Decode(doc, envelope.Converter{})
		if err != nil || !reflect.DeepEqual(task, again) || !slices.Equal(notes, notesAgain) {
			t.Fatalf("%v: %+v\n%+v", err, task, again)
		}
	})
}

func TestAnEnvelopeIsReadInEveryMajorThatIsKnownAndItsPastIsAClaim(t *testing.T) {
	older, err := envelope.NewConverter(envelope.Conversion{
		Older: 0,
		Up: func(doc map[string]any) ([]string, error) {
			doc["version"], doc["task"] = "1.0", doc["job"]
			delete(doc, "job")
			delete(doc, "weather")
			return []string{"weather"}, nil
		},
		Down: func(map[string]any) ([]string, error) { return nil, errors.New("nobody asks for it") },
	})
	if err != nil {
		t.Fatal(err)
	}
	task, notes, err := foreign.Decode([]byte(`{"version":"0.9","weather":"fine","handoff":{"task_id":"t","from":"a","to":["bob"]},"job":{"intent":"x"}}`), older)
	if err != nil || task.Intent != "x" || task.Target != "bob" || !has(notes, "version") {
		t.Errorf("an older major: %+v, %v, %v", task, notes, err)
	}
	_, _, err = foreign.Decode([]byte(`{"version":"5.0","handoff":{}}`), older)
	if no, _ := refusal.As(err); no == nil || !strings.Contains(no.Message, "this server reads 0, 1") || !strings.Contains(no.Hint, "use major 0, 1") {
		t.Errorf("a major that nobody knows: %v", err)
	}
	task, _ = decode(t, sample(t, foreign.Envelope))
	var claimed map[string]json.RawMessage
	if err := json.Unmarshal(task.Claimed, &claimed); err != nil {
		t.Fatal(err)
	}
	doc, err := envelope.Decode(task.Envelope)
	if err != nil || doc.Parent+doc.Salt != "" || len(doc.History)+len(doc.Memory)+len(doc.Artifacts)+len(doc.Conversation) > 0 || doc.Hops != 0 {
		t.Errorf("what the first envelope starts from has a past: %+v, %v", doc, err)
	}
	if claimed["history"] == nil || claimed["parent"] == nil || claimed["digest"] == nil || task.Constraints[0].Origin != "" {
		t.Errorf("claimed: %s, constraints %+v", task.Claimed, task.Constraints)
	}
}

func TestAnIDThatCanBeTakenForAnotherIsRenamed(t *testing.T) {
	task, notes := decode(t, []byte(`{"version":"1.4","handoff":{"task_id":"t","from":"a"},"task":{"intent":"x"},
		"key_facts":[{"id":"fact1","text":"a"},{"id":"f\u0430ct1","text":"b"},{"id":"FACT1","text":"c","supersedes":"f\u0430ct2","lineage":["old","f\u0430ct3"]},{"id":"f3","text":"d","supersedes":"f0"},{"id":"operator/olga:","text":"g"},{"id":"by","text":"h","supersedes":"mem_1"}],
		"decisions":[{"id":"d\u20111","text":"e"},{"id":"d1","text":"f"}]}`))
	doc, err := envelope.Decode(task.Envelope)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, i := range slices.Concat(doc.KeyFacts, doc.Decisions) {
		ids = append(ids, i.ID+"<"+i.Supersedes+"<"+strings.Join(i.Lineage, ","))
	}
	if want := []string{"fact1<<", "f2<<", "f4<<old", "f3<f0<", "f5<<", "f6<<", "d2<<", "d1<<"}; !slices.Equal(ids, want) {
		t.Errorf("%q, want %q", ids, want)
	}
	for _, at := range []string{"key_facts[1]", "key_facts[2]", "key_facts[4]", "key_facts[5]", "decisions[0]"} {
		if !has(notes, at) {
			t.Errorf("no note on %s: %v", at, notes)
		}
	}
}

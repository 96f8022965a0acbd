package expect_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/trapezehq/trapeze/internal/content/expect"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

const refund = `{
	"type": "object", "required": ["refund", "amount"], "additionalProperties": false,
	"properties": {
		"refund": {"type": "string", "pattern": "^r-[0-9]+$"},
		"amount": {"type": "number", "exclusiveMinimum": 0, "multipleOf": 0.01},
		"lines": {"type": "array", "uniqueItems": true, "items": {"enum": ["fee", "plan"]}}
	}
}`

func expected(schema string) event.Expected {
	return event.Expected{Format: "json", Schema: json.RawMessage(schema), Criteria: []string{"It is polite."}}
}

func TestAGoodResultPassesAndTheCriteriaGoToTheReviewer(t *testing.T) {
	c := expect.New(expect.Options{})
	for name, r := range map[string]event.Result{
		"in data":              {Text: "Done.", Data: json.RawMessage(`{"refund":"r-1","amount":119.01,"lines":["fee","plan"]}`)},
		"in text":              {Text: ` {"refund":"r-1","amount":119} ` + "\n"},
		"with a small decimal": {Data: json.RawMessage(`{"refund":"r-1","amount":0.07}`)},
	} {
		review, err := c.Check(expected(refund), r)
		if err != nil || len(review) != 1 || review[0] != "It is polite." {
			t.Errorf("%s: %v, for review %q", name, err, review)
		}
	}
}

func TestABadResultIsToldWhereAndWhat(t *testing.T) {
	c := expect.New(expect.Options{})
	for name, s := range map[string]struct {
		result event.Result
		want   []string // path: part of what is said
	}{
		"a field too few":     {event.Result{Data: json.RawMessage(`{"refund":"r-1"}`)}, []string{"data: missing property 'amount'"}},
		"three faults":        {event.Result{Data: json.RawMessage(`{"refund":"4","amount":"1","lines":["fee","tip"]}`)}, []string{"data/amount: got string, want number", "data/lines/1: value must be one of", "data/refund: '4' does not match pattern"}},
		"a field too many":    {event.Result{Text: `{"refund":"r-4","amount":1,"a/b":2}`}, []string{"text: additional properties 'a/b' not allowed"}},
		"a code fence":        {event.Result{Text: "```json\n{}\n```"}, []string{"text: is not JSON: "}},
		"prose":               {event.Result{Text: "I refunded it."}, []string{"text: is not JSON: "}},
		"nothing":             {event.Result{}, []string{"text: is not JSON: it ends too early"}},
		"two values":          {event.Result{Text: "{} {}"}, []string{"text: is not JSON: there is more text"}},
		"a key given twice":   {event.Result{Text: `{"amount":1,"amount":2}`}, []string{`text: is not JSON: it has the key "amount" twice`}},
		"an absurd number":    {event.Result{Text: `{"refund":"r-1","amount":1e999999}`}, []string{"text: is not JSON: the number"}},
		"a duplicate element": {event.Result{Text: `{"refund":"r-1","amount":1,"lines":["fee","fee"]}`}, []string{"text/lines: items at 0 and 1 are equal"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.Check(expected(refund), s.result)
			r, ok := refusal.As(err)
			if !ok || r.Code != refusal.Invalid || r.Hint == "" {
				t.Fatalf("got %v", err)
			}
			problems, _ := r.Details["problems"].([]expect.Problem)
			if len(problems) != len(s.want) {
				t.Fatalf("got %d problems, want %d: %+v", len(problems), len(s.want), problems)
			}
			for i, p := range problems {
				if got := p.Path + ": " + p.What; !strings.HasPrefix(got, s.want[i]) || !strings.Contains(r.Message, got) {
					t.Errorf("got %q, want %q", got, s.want[i])
				}
			}
		})
	}
}

func TestOnlySomeOfVeryManyProblemsAreNamed(t *testing.T) {
	c := expect.New(expect.Options{Problems: 3})
	list, _ := json.Marshal(make([]*int, 5000))
	_, err := c.Check(expected(`{"items":{"type":"string"}}`), event.Result{Data: list})
	r, ok := refusal.As(err)
	if !ok || len(r.Details["problems"].([]expect.Problem)) != 3 || r.Details["more"] != 4997 || len(r.Message) > 1000 {
		t.Errorf("got %v", err)
	}
}

func TestTheSameResultIsAlwaysRefusedInTheSameWords(t *testing.T) {
	c := expect.New(expect.Options{})
	data := json.RawMessage(`{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6}`)
	_, first := c.Check(expected(`{"additionalProperties":{"type":"string"},"required":["x"]}`), event.Result{Data: data})
	for range 50 {
		if _, err := c.Check(expected(`{"additionalProperties":{"type":"string"},"required":["x"]}`), event.Result{Data: data}); err == nil || err.Error() != first.Error() {
			t.Fatalf("%v\n%v", err, first)
		}
	}
}

func TestFormatsAreCheckedAsFarAsTheyCanBe(t *testing.T) {
	c := expect.New(expect.Options{})
	for _, s := range []struct{ format, text, want string }{
		{"json", `{"a":[1]}`, ""},
		{"application/json; charset=utf-8", `[`, "ends too early"},
		{"markdown", "# Done", ""},
		{"Markdown", " \n", "is empty"},
		{"text", "anything", ""},
		{"csv", "a,b\n1,2\n", ""},
		{"csv", "a,b\n1\n", "wrong number of fields"},
		{"csv", `a,"b`, "is not CSV"},
		{"xml", `<a><b/></a>`, ""},
		{"xml", `<a><b></a>`, "is not XML"},
		{"xml", `plain`, "no element"},
		{"jsonl", "{}\n\n[1]\n", ""},
		{"ndjson", "{}\nnope\n", "line 2 is not JSON"},
	} {
		_, err := c.Check(event.Expected{Format: s.format}, event.Result{Text: s.text})
		if (err == nil) != (s.want == "") || err != nil && !strings.Contains(err.Error(), s.want) {
			t.Errorf("%s: %q: got %v, want %q", s.format, s.text, err, s.want)
		}
	}
}

func TestWhatCannotBeCheckedIsForTheReviewer(t *testing.T) {
	c := expect.New(expect.Options{})
	review, err := c.Check(event.Expected{Format: "haiku", Criteria: []string{"It is about autumn."}}, event.Result{Text: "x"})
	if err != nil || strings.Join(review, "|") != "It is about autumn.|The format is haiku." {
		t.Errorf("%v, %q", err, review)
	}
	if review, err := c.Check(event.Expected{}, event.Result{}); err != nil || review != nil {
		t.Errorf("nothing is expected, but %v, %q", err, review)
	}
	// A schema from before schemas were checked must not strand its task.
	review, err = c.Check(event.Expected{Schema: json.RawMessage(`{"$ref":"http://example.com/x"}`)}, event.Result{Text: "{}"})
	if err != nil || len(review) != 1 || !strings.Contains(review[0], "could not be applied") {
		t.Errorf("%v, %q", err, review)
	}
}

func TestAResultThatIsTooLongIsRefused(t *testing.T) {
	c := expect.New(expect.Options{})
	e := event.Expected{MaxBytes: 10}
	if _, err := c.Check(e, event.Result{Text: "12345", Data: json.RawMessage(`12345`)}); err != nil {
		t.Error(err)
	}
	_, err := c.Check(e, event.Result{Text: "123456", Data: json.RawMessage(`12345`)})
	if err == nil || !strings.Contains(err.Error(), "has 11 bytes, at most 10 are expected") {
		t.Errorf("got %v", err)
	}
}

func TestExpectationsThatNoResultCouldMeetAreRefused(t *testing.T) {
	c := expect.New(expect.Options{})
	if err := c.CheckExpected(event.Expected{Format: "json", Schema: json.RawMessage(refund)}); err != nil {
		t.Error(err)
	}
	if err := c.CheckExpected(event.Expected{Format: "haiku", Criteria: []string{"x"}}); err != nil {
		t.Error(err)
	}
	for want, e := range map[string]event.Expected{
		"does not apply to \"markdown\"": {Format: "markdown", Schema: json.RawMessage(`{}`)},
		"neither an object":              {Schema: json.RawMessage(`[]`)},
		"cannot have -1 bytes":           {MaxBytes: -1},
	} {
		if err := c.CheckExpected(e); refusal.CodeOf(err) != refusal.Invalid || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestOneSchemaServesManyAtOnce(t *testing.T) {
	c := expect.New(expect.Options{Schemas: 2, CacheBytes: 400})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for n := range 20 {
				schema := fmt.Sprintf(`{"const":%d}`, n%5)
				_, err := c.Check(expected(schema), event.Result{Data: fmt.Appendf(nil, "%d", (n+i)%5)})
				if (err == nil) != (i%5 == 0) {
					t.Errorf("%d against %s: %v", (n+i)%5, schema, err)
				}
			}
		})
	}
	wg.Wait()
}

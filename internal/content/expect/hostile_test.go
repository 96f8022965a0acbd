package expect_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/content/expect"
	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// chain is a schema whose part n applies part n+1 as often as step says.
func chain(n int, step string) string {
	var b strings.Builder
	b.WriteString(`{"$ref":"#/$defs/a0","$defs":{`)
	for i := range n {
		fmt.Fprintf(&b, `"a%d":%s,`, i, strings.ReplaceAll(step, "NEXT", fmt.Sprintf(`{"$ref":"#/$defs/a%d"}`, i+1)))
	}
	fmt.Fprintf(&b, `"a%d":{"type":"null"}}}`, n)
	return b.String()
}

func TestHostileSchemasAreRefusedWhenTheyAreRead(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret.json")
	if err := os.WriteFile(secret, []byte(`{"type":"object"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	c := expect.New(expect.Options{})
	for name, s := range map[string]struct{ schema, want string }{
		"no JSON":                       {`{`, "ends too early"},
		"a list":                        {`[]`, "neither an object nor a boolean"},
		"a type that is none":           {`{"type":"money"}`, "is not a JSON Schema: at /type"},
		"a negative length":             {`{"minLength":-1}`, "is not a JSON Schema: at /minLength"},
		"a file":                        {`{"$ref":"file://` + secret + `"}`, "outside it"},
		"a path":                        {`{"$ref":"` + secret + `"}`, "outside it"},
		"an address":                    {`{"$ref":"https://example.com/schema.json"}`, "outside it"},
		"a dialect from elsewhere":      {`{"$schema":"https://example.com/evil"}`, "outside it"},
		"a dialect from a file":         {`{"$schema":"file://` + secret + `"}`, "outside it"},
		"the metaschema":                {`{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, "outside it"},
		"itself":                        {`{"$ref":"#"}`, "without end"},
		"itself in turns":               {`{"$ref":"#/$defs/a","$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"}]},"b":{"not":{"$ref":"#/$defs/a"}}}}`, "without end"},
		"itself under a condition":      {`{"if":true,"then":{"$ref":"#"}}`, "without end"},
		"itself by dependency":          {`{"dependentSchemas":{"x":{"$ref":"#"}}}`, "without end"},
		"itself under an old keyword":   {`{"$schema":"http://json-schema.org/draft-07/schema#","dependencies":{"x":{"$ref":"#"}}}`, "without end"},
		"a dynamic reference":           {`{"$dynamicAnchor":"a","properties":{"x":{"$dynamicRef":"#a"}}}`, "use $ref"},
		"a reference to nothing":        {`{"$ref":"#/$defs/nothing"}`, "expected_output.schema: "},
		"a long chain":                  {chain(200, `NEXT`), "each inside the other"},
		"a pattern that does not parse": {`{"pattern":"("}`, "expected_output.schema: "},
		"a pattern that looks back":     {`{"pattern":"(a)\\1"}`, "expected_output.schema: "},
		"a pattern that is a bomb":      {`{"pattern":"((a{100}){10}){10}"}`, "expected_output.schema: "},
		"many large patterns":           {`{"allOf":[` + strings.Repeat(`{"pattern":"x{900}"},`, 60) + `true]}`, "too large"},
		"deep nesting":                  {strings.Repeat(`{"not":`, 100) + `true` + strings.Repeat(`}`, 100), "nested deeper"},
		"many parts":                    {`{"allOf":[` + strings.Repeat(`{},`, 3000) + `true]}`, "subschemas"},
		"an absurd number":              {`{"multipleOf":1e-99999999}`, "out of range"},
		"a key given twice":             {`{"type":"object","type":"string"}`, "twice"},
		"a name that is no address":     {`{"$id":"::::"}`, "expected_output.schema: "},
	} {
		t.Run(name, func(t *testing.T) {
			err := c.CheckSchema(json.RawMessage(s.schema))
			r, ok := refusal.As(err)
			if !ok || r.Code != refusal.Invalid || !strings.Contains(r.Message, s.want) || len(r.Message) > 500 {
				t.Errorf("got %v, want %q", err, s.want)
			}
		})
	}
	big := `{"description":"` + strings.Repeat("x", expect.MaxSchema) + `"}`
	if err := c.CheckSchema(json.RawMessage(big)); refusal.CodeOf(err) != refusal.TooLarge {
		t.Errorf("a large schema: %v", err)
	}
}

func TestOrdinarySchemasOfEveryDraftAreTaken(t *testing.T) {
	c := expect.New(expect.Options{})
	for _, schema := range []string{
		``, `true`, `{}`, refund,
		`{"$schema":"https://json-schema.org/draft/2020-12/schema","$id":"https://example.com/mine","$defs":{"n":{"type":"number"}},"items":{"$ref":"#/$defs/n"}}`,
		`{"$schema":"https://json-schema.org/draft/2019-09/schema","$ref":"#/$defs/n","$defs":{"n":{"$anchor":"here","type":"number"}}}`,
		`{"$schema":"http://json-schema.org/draft-07/schema#","definitions":{"n":{"type":"number"}},"items":[{"$ref":"#/definitions/n"}],"additionalItems":false}`,
		`{"$schema":"http://json-schema.org/draft-04/schema#","minimum":1,"exclusiveMinimum":true}`,
		`{"type":"object","properties":{"name":{"type":"string"},"children":{"type":"array","items":{"$ref":"#"}}}}`,
		`{"format":"date-time"}`, `{"$schema":"http://json-schema.org/draft-07/schema#","format":"regex"}`,
	} {
		if err := c.CheckSchema(json.RawMessage(schema)); err != nil {
			t.Errorf("%s: %v", schema, err)
		}
	}
}

func TestATreeIsHeldAgainstARecursiveSchema(t *testing.T) {
	c := expect.New(expect.Options{})
	e := expected(`{"type":"object","required":["name"],"properties":{"children":{"items":{"$ref":"#"}}}}`)
	if _, err := c.Check(e, event.Result{Text: `{"name":"a","children":[{"name":"b","children":[{"name":"c"}]}]}`}); err != nil {
		t.Error(err)
	}
	_, err := c.Check(e, event.Result{Text: `{"name":"a","children":[{"name":"b","children":[{}]}]}`})
	if err == nil || !strings.Contains(err.Error(), "text/children/0/children/0: missing property 'name'") {
		t.Errorf("got %v", err)
	}
}

func TestACheckThatIsTooMuchWorkEndsWithARefusal(t *testing.T) {
	list := func(element string, n int) string {
		return "[" + strings.TrimSuffix(strings.Repeat(element+",", n), ",") + "]"
	}
	deep := func(n int) string { return strings.Repeat(`{"x":`, n) + "1" + strings.Repeat("}", n) }
	keys := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"k%d":1`, i)
		}
		return "{" + b.String()[1:] + "}"
	}
	var patterns strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&patterns, `"^k.*%d$":{},`, i)
	}
	c := expect.New(expect.Options{Steps: 50_000})
	for name, s := range map[string]struct{ schema, result string }{
		"parts doubled many times":          {chain(25, `{"anyOf":[NEXT,NEXT]}`), `1`},
		"the same where only truth counts":  {strings.Replace(chain(25, `{"anyOf":[NEXT,NEXT]}`), `"$ref":"#/$defs/a0"`, `"not":{"$ref":"#/$defs/a0"}`, 1), `1`},
		"the same by oneOf":                 {chain(25, `{"oneOf":[NEXT,NEXT]}`), `1`},
		"the same by conditions":            {chain(25, `{"if":NEXT,"else":NEXT}`), `1`},
		"branches at every level of a tree": {`{"anyOf":[{"required":["y"],"properties":{"x":{"$ref":"#"}}},{"required":["y"],"properties":{"x":{"$ref":"#"}}}]}`, deep(60)},
		"many patterns on many keys":        {`{"patternProperties":{` + patterns.String() + `"z":{}}}`, keys(15000)},
		"a slow pattern on a long text":     {`{"pattern":"(x+x+)+y{900}"}`, `"` + strings.Repeat("x", 200_000) + `"`},
		"uniqueness many times over":        {`{"allOf":` + list(`{"uniqueItems":true}`, 1500) + `}`, list(`"a"`, 1) + ""},
	} {
		t.Run(name, func(t *testing.T) {
			result := s.result
			if strings.HasPrefix(name, "uniqueness") {
				var b strings.Builder
				for i := range 20000 {
					fmt.Fprintf(&b, ",%d", i)
				}
				result = "[" + b.String()[1:] + "]"
			}
			if err := c.CheckSchema(json.RawMessage(s.schema)); err != nil {
				t.Fatal("the schema is refused:", err)
			}
			_, err := c.Check(expected(s.schema), event.Result{Data: json.RawMessage(result)})
			if refusal.CodeOf(err) != refusal.Invalid || !strings.Contains(err.Error(), "too much work") {
				t.Errorf("got %.200v", err)
			}
		})
	}
}

func TestALargeOrdinaryResultIsNotTooMuchWork(t *testing.T) {
	c := expect.New(expect.Options{})
	var countries []string
	for i := range 250 {
		countries = append(countries, fmt.Sprintf("C%03d", i))
	}
	enum, _ := json.Marshal(countries)
	schema := `{"type":"array","uniqueItems":true,"items":{"type":"object","required":["id","country"],"additionalProperties":false,
		"properties":{"id":{"type":"string","pattern":"^[a-z]+-[0-9]+$"},"country":{"enum":` + string(enum) + `},"n":{"type":"number"}}}}`
	var b strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&b, `,{"id":"row-%d","country":"C%03d","n":%d}`, i, i%250, i)
	}
	result := "[" + b.String()[1:] + "]"
	if len(result) > event.MaxResult {
		t.Fatal("the example is no result any more")
	}
	if _, err := c.Check(expected(schema), event.Result{Data: json.RawMessage(result)}); err != nil {
		t.Error(err)
	}
}

func FuzzSchemaAndResult(f *testing.F) {
	for _, schema := range []string{refund, `{"$ref":"#"}`, chain(5, `{"anyOf":[NEXT,NEXT]}`), `{"items":{"$ref":"#"}}`, `{"pattern":"a{1000}"}`, `{"format":"uri"}`, `true`} {
		for _, result := range []string{`{"refund":"r-1","amount":1.5}`, `[[[]]]`, `"http://[::1"`, `1e400`, `{"a":1,"a":2}`, ``} {
			f.Add(schema, result)
		}
	}
	c := expect.New(expect.Options{Steps: 20_000})
	f.Fuzz(func(t *testing.T, schema, result string) {
		e := event.Expected{Schema: json.RawMessage(schema)}
		if err := c.CheckSchema(e.Schema); err != nil {
			if _, ok := refusal.As(err); !ok {
				t.Fatalf("not a refusal: %v", err)
			}
			return
		}
		_, err := c.Check(e, event.Result{Text: result})
		if _, ok := refusal.As(err); err != nil && !ok {
			t.Fatalf("not a refusal: %v", err)
		}
		_, again := c.Check(e, event.Result{Text: result})
		if fmt.Sprint(err) != fmt.Sprint(again) {
			t.Fatalf("two answers to one question:\n%v\n%v", err, again)
		}
	})
}

func FuzzFormats(f *testing.F) {
	for _, format := range []string{"json", "jsonl", "csv", "xml", "markdown", "haiku"} {
		f.Add(format, "a,b\n1,2\n")
		f.Add(format, `<a xmlns="x"><![CDATA[]]></a>`)
		f.Add(format, "{\"a\":[1e5]}\n\xff")
	}
	c := expect.New(expect.Options{})
	f.Fuzz(func(t *testing.T, format, text string) {
		_, err := c.Check(event.Expected{Format: format}, event.Result{Text: text})
		if _, ok := refusal.As(err); err != nil && !ok {
			t.Fatalf("not a refusal: %v", err)
		}
	})
}

func TestBranchesThatMultiplyNameEachFaultOnce(t *testing.T) {
	c := expect.New(expect.Options{})
	_, err := c.Check(expected(chain(6, `{"anyOf":[NEXT,NEXT]}`)), event.Result{Text: `1`})
	r, ok := refusal.As(err)
	if !ok || r.Details["more"] != 0 {
		t.Fatalf("64 branches to one fault: %v", err)
	}
	if list, _ := r.Details["problems"].([]expect.Problem); len(list) != 1 {
		t.Errorf("%d faults: %v", len(list), list)
	}
	if _, err = c.Check(expected(chain(10, `{"anyOf":[NEXT,NEXT,NEXT]}`)), event.Result{Text: `1`}); err == nil || !strings.Contains(err.Error(), "too much work") {
		t.Errorf("59,049 branches: %v", err)
	}
	// Alternatives of alternatives, for each element of a list, are ordinary.
	list := "[" + strings.TrimSuffix(strings.Repeat("1,", 1000), ",") + "]"
	schema := `{"items":{"anyOf":[{"oneOf":[{"type":"null"},{"type":"boolean"}]},{"anyOf":[{"type":"string"},{"type":"number"}]}]}}`
	if _, err = c.Check(expected(schema), event.Result{Text: list}); err != nil {
		t.Error(err)
	}
}

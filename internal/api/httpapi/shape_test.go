package httpapi_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/api/httpapi/schema"
	"github.com/trapezehq/trapeze/internal/api/shape"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

// inputs are the bodies that are described, by the names of their types.
func inputs() (map[string]reflect.Type, huma.Registry, *shape.Maker) {
	schemas, _ := schema.Registry(false)
	all := map[string]reflect.Type{}
	for t := range schema.Inputs() {
		all[t.Name()] = t
	}
	all["CreateInput"] = reflect.TypeFor[tasks.CreateInput]()
	return all, schemas, shape.NewMaker(schemas)
}

// usualBodies are what clients send, by the type that they are read into. Each goes the short way.
var usualBodies = map[string][]string{
	"CreateInput": {
		`{"intent":"x"}`,
		` { "intent" : "a \"b\" \u00e9" , "start" : true } `,
		`{"intent":"x","send":{"to":["a","b"],"kind":"broadcast","timeouts":{"ack":"15s"},"retries":0,"confirm":"explicit"}}`,
		`{"intent":"x","content":{"ask":"do","key_facts":[{"text":"t"}],"data":{"a":[1,2.5e3,-0,null,{"b":""}]},"confidence":0.5}}`,
		`{"intent":"x","priority":"high","limits":{"hops":3},"budget":{"tokens":5},"claimed_history":[{"a":1},{"a":2}]}`,
		`{"intent":"x","constraints":[{"id":"a","kind":"budget","text":"t","hard":true}],"permissions":[],"dependencies":null,"content":null}`,
		`{"intent":"x","content":{"memory":[{"id":"mem_1"}],"artifacts":[` + listOf(200, `{"digest":"d"}`) + `]}}`,
	},
	"AcceptInput":    {`{}`, `{"offer":2,"render":true}`},
	"CompleteInput":  {`{"epoch":1}`, `{"epoch":1,"result":{"text":"done"},"usage":{"tokens":100}}`},
	"ProgressInput":  {`{"epoch":3,"note":"half"}`, `{"epoch":3,"usage":{"tokens":100}}`},
	"HeartbeatInput": {`{"epoch":1}`},
	"SendInput":      {`{"epoch":1,"to":["a"]}`, `{"capability":"lint","reason":"specialization","detail":"x","content":{"notes":"n"}}`},
	"RejectInput":    {`{"reason":"overloaded","detail":"later"}`},
}

func TestUsualBodiesGoTheShortWay(t *testing.T) {
	all, schemas, made := inputs()
	for name, bodies := range usualBodies {
		f := made.Of(schemas.Schema(all[name], true, ""))
		for _, body := range bodies {
			if err := json.Unmarshal([]byte(body), reflect.New(all[name]).Interface()); err != nil {
				t.Errorf("%s %s: %v", name, body, err)
			}
			if !f.Fits([]byte(body)) {
				t.Errorf("%s %s does not", name, body)
			}
		}
	}
}

func listOf(n int, item string) string { return strings.TrimSuffix(strings.Repeat(item+",", n), ",") }

// dubiousBodies are wrong, or at least not right beyond doubt.
var dubiousBodies = []string{
	`null`, `[]`, `""`, `1`, `{"intent":null}`, `{"intent":""}`, `{"intent":5}`, `{"Intent":"x"}`, `{"intent":"x","colour":"red"}`,
	`{"intent":"x","intent":"y"}`, `{"intent":"x","\u0069ntent":"y"}`, `{"intent":"x","task":"t"}`, `{"intent":"x","start":"yes"}`,
	`{"intent":"x","priority":"now"}`, `{"intent":"x","timeouts":{"ack":"soon"}}`, `{"intent":"x","timeouts":{"ack":"15s\n"}}`,
	`{"intent":"x","content":{"data":1e999}}`, `{"intent":"x","content":{"data":{"a":1,"b":2,"a":3}}}`,
	`{"intent":"x","content":{"confidence":1.5}}`, `{"intent":"x","content":{"confidence":-0.1}}`,
	`{"intent":"x","content":{"key_facts":[null]}}`, `{"intent":"x","content":{"key_facts":[{"id":"a"}]}}`,
	`{"intent":"x","send":{"retries":21}}`, `{"intent":"x","send":{"retries":-1}}`, `{"intent":"x","send":{"retries":1.5}}`,
	`{"intent":"x","send":{"to":"a"}}`, `{"intent":"x","send":{"to":[1]}}`, `{"intent":"x","send":{"too":["a"]}}`,
	`{"intent":"x","content":{"memory":[` + listOf(101, `{"id":"mem_1"}`) + `]}}`, `{"epoch":1,"missing":[]}`, `{"epoch":1,"missing":["a"]}`,
	`{"intent":"x","deadline":"tomorrow"}`, `{"intent":"x","claimed_history":` + strings.Repeat("[", shape.MaxDepth) + strings.Repeat("]", shape.MaxDepth) + `}`,
	`{"intent":"x","claimed_history":{"a":0,"b":0,"c":0,"d":0,"e":0,"f":0,"g":0,"h":0,"i":0,"j":0,"k":0,"l":0,"m":0,"n":0,"m":0}}`,
	`{"epoch":-1}`, `{"epoch":1.5}`, `{"epoch":1e30}`, `{"epoch":"1"}`, `{"offer":-1}`, `{"why":"lazy"}`, `{}`, `{"entry":0,"note":"x"}`,
}

// FuzzTheShortWayTakesNothingThatTheDescriptionRefuses: what a shape says yes to, huma does too.
func FuzzTheShortWayTakesNothingThatTheDescriptionRefuses(f *testing.F) {
	all, schemas, made := inputs()
	names := slices.Sorted(maps.Keys(all))
	for _, body := range slices.Concat(dubiousBodies, slices.Concat(slices.Collect(maps.Values(usualBodies))...)) {
		for n := range names {
			f.Add(uint8(n), []byte(body)) //nolint:gosec // there are few
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, body []byte) {
		name := names[int(which)%len(names)]
		schema := schemas.Schema(all[name], true, "")
		if !utf8.Valid(body) || json.Unmarshal(body, reflect.New(all[name]).Interface()) != nil || !made.Of(schema).Fits(body) {
			return
		}
		var value any
		if err := endpoint.JSONFormat.Unmarshal(body, &value); err != nil {
			t.Fatalf("%s took %q, which the API does not: %v", name, body, err)
		}
		var found huma.ValidateResult
		huma.Validate(schemas, schema, huma.NewPathBuffer(nil, 0), huma.ModeWriteToServer, value, &found)
		if len(found.Errors) > 0 {
			t.Fatalf("%s took %q, which the description refuses: %v", name, body, found.Errors)
		}
	})
}

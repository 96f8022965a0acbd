package event_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// full is a value of a type with something in every field.
func full(t *testing.T, typ reflect.Type) reflect.Value {
	t.Helper()
	v := reflect.New(typ).Elem()
	switch {
	case typ == reflect.TypeFor[time.Time]():
		return reflect.ValueOf(time.Date(2026, 3, 2, 9, 0, 0, 1000, time.UTC))
	case typ == reflect.TypeFor[json.RawMessage]():
		return reflect.ValueOf(json.RawMessage(`{"a":["<",1.5]}`))
	case closed[typ.Name()] != "":
		v.SetString(closed[typ.Name()])
		return v
	}
	switch typ.Kind() {
	case reflect.String:
		v.SetString("text “with” <signs>")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(time.Second))
	case reflect.Uint64:
		v.SetUint(7)
	case reflect.Float64:
		v.SetFloat(0.5)
	case reflect.Pointer:
		v.Set(reflect.New(typ.Elem()))
		v.Elem().Set(full(t, typ.Elem()))
	case reflect.Slice:
		v.Set(reflect.Append(v, full(t, typ.Elem())))
	case reflect.Struct:
		for i := range typ.NumField() {
			v.Field(i).Set(full(t, typ.Field(i).Type))
		}
	default:
		t.Fatalf("no example of %s", typ)
	}
	return v
}

// closed has one value of each closed set, by the name of its type.
var closed = map[string]string{
	"Action": "keep", "State": "pending", "Stage": "offered", "Kind": "warm", "Reason": "error", "Rejection": "refused", "Priority": "high", "Tier": "fallback",
	"ConfirmMode": "auto", "FanInMode": "all", "ConstraintKind": "security", "ParkCause": "limit", "Strategy": "lazy",
	"AdviceOutcome": "keep", "TicketKind": "question", "TicketState": "open", "TicketOutcome": "denied",
}

func encode(t *testing.T, e any) []byte {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(e); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func decode(e event.Event, data []byte) (event.Event, error) {
	p := reflect.New(reflect.TypeOf(e))
	err := json.Unmarshal(data, p.Interface())
	return p.Elem().Interface().(event.Event), err
}

func TestEveryEventComesBackAsItWasWritten(t *testing.T) {
	for _, e := range event.Events {
		for _, v := range []any{e, full(t, reflect.TypeOf(e)).Interface()} {
			data := encode(t, v)
			got, err := decode(e, data)
			if bytes.Contains(data, []byte(`"envelope":null`)) {
				continue // no bytes are written as null, which is not what an envelope is
			}
			if err != nil || !reflect.DeepEqual(got, v) {
				t.Errorf("%s: %v\n%s\n%+v\n%+v", e.EventName(), err, data, v, got)
			}
		}
	}
}

func TestNoneIsNotTheSameAsNotRestricted(t *testing.T) {
	for _, permissions := range [][]string{nil, {}} {
		got, err := decode(event.Created{}, encode(t, event.Created{Permissions: permissions}))
		if err != nil || (got.(event.Created).Permissions == nil) != (permissions == nil) {
			t.Errorf("permissions %#v come back as %#v, %v", permissions, got.(event.Created).Permissions, err)
		}
	}
}

func TestEventNamesAreUniqueAndSpeakable(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range event.Events {
		name := e.EventName()
		if seen[name] || name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz-") != "" {
			t.Errorf("the name %q of %T", name, e)
		}
		seen[name] = true
	}
}

func TestClosedSetsRefuseUnknownValues(t *testing.T) {
	for _, data := range []string{
		`{"priority":"asap"}`, `{"dependencies":[{"task":"t","state":"sleeping"}]}`, `{"constraints":[{"kind":"wish"}]}`,
		`{"timeouts":{"ack":"soon"}}`, `{"timeouts":{"ack":15}}`, `{"at":"yesterday"}`,
	} {
		if _, err := decode(event.Created{}, []byte(data)); err == nil {
			t.Errorf("%s was read", data)
		}
	}
	for _, data := range []string{`{"kind":"hot"}`, `{"reason":"whim"}`, `{"confirm":"maybe"}`, `{"candidates":[{"tier":"best"}]}`} {
		if _, err := decode(event.HandoffRequested{}, []byte(data)); err == nil {
			t.Errorf("%s was read", data)
		}
	}
	for data, e := range map[string]event.Event{`{"why":"no"}`: event.RejectedOffer{}, `{"outcome":"gone"}`: event.Returned{}, `{"cause":"tired"}`: event.ParkedTask{}} {
		if _, err := decode(e, []byte(data)); err == nil {
			t.Errorf("%s was read", data)
		}
	}
}

func TestEveryEventTypeIsListed(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var declared []string
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^func \((\w+)\) EventName\(\)`).FindAllStringSubmatch(string(source), -1) {
			declared = append(declared, m[1])
		}
	}
	var listed []string
	for _, e := range event.Events {
		listed = append(listed, reflect.TypeOf(e).Name())
	}
	slices.Sort(declared)
	slices.Sort(listed)
	if !slices.Equal(declared, listed) {
		t.Errorf("declared: %v\nlisted: %v", declared, listed)
	}
}

func TestPrioritiesRise(t *testing.T) {
	if !slices.IsSortedFunc(event.Priorities.Values(), func(a, b event.Priority) int { return a.Rank() - b.Rank() }) {
		t.Error(event.Priorities.Values())
	}
}

// Reading any text from the ledger ends in an event or an error, and an event that was read once reads the same again.
func FuzzEventFromJSON(f *testing.F) {
	for i, e := range event.Events {
		data, err := json.Marshal(e)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(i, data)
	}
	for _, odd := range []string{
		`null`, `[]`, `{"timeouts":{"ack":"9223372036854775808ns"}}`, `{"at":"0000-00-00T00:00:00Z"}`, `{"envelope":{"a":` + strings.Repeat("[", 40),
		`{"permissions":[null]}`, `{"task":"\ud800"}`, "{\"task\":\"\xff\"}", `{"epoch":-1}`, `{"epoch":1e99}`, `{"children":[{"budget":{"tokens":9223372036854775807}}]}`,
	} {
		for i := range event.Events {
			f.Add(i, []byte(odd))
		}
	}
	f.Fuzz(func(t *testing.T, which int, data []byte) {
		if which < 0 || which >= len(event.Events) {
			return
		}
		e, err := decode(event.Events[which], data)
		if err != nil {
			return
		}
		once := encode(t, e)
		again, err := decode(event.Events[which], once)
		if err != nil {
			t.Fatalf("%s was written and cannot be read: %v", once, err)
		}
		if twice := encode(t, again); !bytes.Equal(once, twice) {
			t.Fatalf("written as\n%s\nand then as\n%s", once, twice)
		}
	})
}

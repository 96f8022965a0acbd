package mcpapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/argument"
)

// order is an example of the arguments of a tool.
type order struct {
	ID    string          `json:"id" jsonschema:"of what"`
	Size  string          `json:"size,omitempty" enum:"small,large"`
	Names argument.List   `json:"names,omitempty"`
	Facts argument.Points `json:"facts,omitempty"`
	extra
}

type extra struct {
	Count int `json:"count,omitempty"`
	deeper
}

type deeper struct {
	Sure  *float64          `json:"sure,omitempty"`
	Tries *int              `json:"tries,omitempty"`
	Due   argument.Moment   `json:"due,omitzero"`
	Since argument.Moment   `json:"since,omitzero" when:"past"`
	Lease argument.Duration `json:"lease,omitzero"`
}

// never is the clock of calls without a time from now.
func never() (time.Time, error) { panic("nobody asked for the time") }

// A time from now is told by the clock of the server: that of the client may be another.
func TestATimeFromNowIsOfTheClockThatIsGiven(t *testing.T) {
	now := time.Date(2050, 1, 31, 15, 0, 0, 0, time.UTC)
	got, err := argument.Decode[order]("cook", json.RawMessage(`{"id": "x", "due": "2h", "since": "24h"}`), false, argument.Server{Now: func() (time.Time, error) { return now, nil }})
	if err != nil || !got.Due.At.Equal(now.Add(2*time.Hour)) || !got.Due.FromNow || !got.Since.At.Equal(now.Add(-24*time.Hour)) {
		t.Errorf("%+v, %v", got, err)
	}
	lost := errors.New("no server")
	if _, err := argument.Decode[order]("cook", json.RawMessage(`{"id": "x", "due": "2h"}`), false, argument.Server{Now: func() (time.Time, error) { return now, lost }}); !errors.Is(err, lost) {
		t.Errorf("%v", err)
	}
	if got, err := argument.Decode[order]("cook", json.RawMessage(`{"id": "x", "due": "2049-01-31T15:00:00Z"}`), false, argument.Server{Now: never}); err != nil || got.Due.At.Year() != 2049 {
		t.Errorf("%+v, %v", got, err)
	}
}

// A text that is no list of what the field takes stays the text that it is.
func TestAListMayBeWrittenAsText(t *testing.T) {
	for _, c := range []struct {
		given        string
		names, facts []string
	}{
		{`["ann", "bob"]`, []string{"ann", "bob"}, []string{"ann", "bob"}},
		{" [\"ann\"]\n", []string{"ann"}, []string{"ann"}},
		{`[{"text": "it rains"}]`, []string{`[{"text": "it rains"}]`}, []string{"it rains"}},
		{`[]`, nil, nil},
		{`[7]`, []string{"[7]"}, []string{"[7]"}},
		{`[ann]`, []string{"[ann]"}, []string{"[ann]"}},
	} {
		text, err := json.Marshal(c.given)
		if err != nil {
			t.Fatal(err)
		}
		got, err := argument.Decode[order]("cook", fmt.Appendf(nil, `{"id": "x", "names": %s, "facts": %[1]s}`, text), false, argument.Server{Now: never})
		var facts []string
		for _, p := range got.Facts {
			facts = append(facts, p.Text)
		}
		if err != nil || !slices.Equal(got.Names, c.names) || !slices.Equal(facts, c.facts) {
			t.Errorf("%s: %q, %q, %v", c.given, got.Names, facts, err)
		}
	}
}

func TestDecodeReadsArgumentsOrSaysHowToFixThem(t *testing.T) {
	for _, c := range []struct{ given, says string }{
		{`{"id": "x"}`, ""},
		{`{"id": "x", "size": "small", "names": "ann", "facts": ["it is late", {"text": "it rains", "supersedes": "f1"}], "count": 3}`, ""},
		{`{"id": "x", "facts": "it is late"}`, ""},
		{`{"id": "x", "names": null, "size": ""}`, ""},
		{`{"id": "x", "names": "", "size": null, "facts": "", "count": ""}`, ""},
		{`{"id": "x", "facts": null, "count": 3.0}`, ""},
		{`{"id": "x", "count": "3", "size": "Large"}`, ""},
		{`{"id": "x", "count": "3.0"}`, ""},
		{`{"id": "x", "count": "3s"}`, "count must be a whole number"},
		{`{"id": "x", "count": "0x3"}`, "count must be a whole number"},
		{`{"id": "x", "count": "NaN"}`, "count must be a whole number"},
		{`{"id": "x", "sure": "0.5", "tries": "0", "facts": [{"text": "a", "importance": "0.5", "supersedes": null}]}`, ""},
		{`{"id": "x", "sure": "half"}`, "sure must be a number such as 0.5, not string"},
		{`{"id": "x", "sure": "0x1p-2"}`, "sure must be a number such as 0.5, not string"},
		{`{"id": "x", "sure": [0.5]}`, "sure must be a number such as 0.5, not array"},
		{`{"id": "x", "tries": "1.5"}`, "tries must be a whole number such as 45, not string"},
		{`{"id": "x", "due": "soon"}`, `due is "soon"; write it as`},
		{`{"id": "x", "lease": "-1s"}`, `lease is "-1s"; write it as`},
		{`{"id": "x", "names": [7]}`, "names must be"},
		{`{"id": "x", "names": [{"text": "ann"}]}`, "names must be a list of strings, and one of them is of the type object"},
		{`{"id": "x", "count": 4.5}`, "count must be a whole number such as 45, not 4.5"},
		{`{"id": "x", "count": 1e300}`, "count must be a whole number"},
		{``, "cook needs id: of what"},
		{`{}`, "cook needs id: of what"},
		{`[]`, "JSON object"},
		{`7`, "JSON object"},
		{`null`, "cook needs id: of what"},
		{`{"id": ""}`, "cook needs id: of what"},
		{`{"id": null, "size": ""}`, "cook needs id: of what"},
		{`{"id": "x"} {"id": "y"}`, "cook"},
		{`{"id": "x", "id": "y"}`, "cook"},
		{`{"ID": "x"}`, `cook takes no "ID"; it takes: id, size, names, facts, count, sure, tries, due, since, lease`},
		{`{"id": "x", "colour": "red"}`, `cook takes no "colour"`},
		{`{"id": "x", "from": "ann"}`, "who you are comes from your token"},
		{`{"id": "x", "size": "huge"}`, `size is "huge"; use one of: small, large`},
		{`{"id": 7}`, "id must be a string, not number"},
		{`{"id": "x", "count": "many"}`, "count must be a whole number such as 45, not string"},
		{`{"id": "x", "facts": {"text": "it rains"}}`, ""},
		{`{"id": "x", "facts": 7}`, "facts cannot be read: each fact and decision is a text, or an object such as"},
		{`{"id": "x", "facts": [{"text": "it rains", "why": "I see it"}]}`, `"reasoning": "why"`},
	} {
		_, err := argument.Decode[order]("cook", json.RawMessage(c.given), false, argument.Server{Now: never})
		var refused *client.Error
		switch {
		case c.says == "" && err != nil:
			t.Errorf("%s: %v", c.given, err)
		case c.says != "" && (!errors.As(err, &refused) || refused.Code != client.Invalid || !strings.Contains(refused.Message, c.says)):
			t.Errorf("%s is %v, want %q", c.given, err, c.says)
		}
	}
}

func TestTheCursorOfAnInboxIsATextOrANumber(t *testing.T) {
	for given, want := range map[string]argument.Cursor{`"120-87"`: "120-87", `120`: "120", `""`: "", `null`: ""} {
		var got argument.Cursor
		if err := json.Unmarshal([]byte(given), &got); err != nil || got != want {
			t.Errorf("%s: %q, %v", given, got, err)
		}
	}
	for _, given := range []string{`{}`, `[1]`, `true`} {
		if err := json.Unmarshal([]byte(given), new(argument.Cursor)); err == nil {
			t.Errorf("%s is taken", given)
		}
	}
}

func TestAStringCountsAsAListAndAsAPoint(t *testing.T) {
	got, err := argument.Decode[order]("cook", json.RawMessage(`{"id": "x", "names": "ann", "facts": ["it is late", {"text": "it rains", "supersedes": "f1"}]}`), false, argument.Server{Now: never})
	if err != nil || len(got.Names) != 1 || got.Names[0] != "ann" {
		t.Errorf("%+v, %v", got.Names, err)
	}
	if len(got.Facts) != 2 || got.Facts[0].Text != "it is late" || got.Facts[1].Supersedes != "f1" {
		t.Errorf("%+v", got.Facts)
	}
}

func TestInputSchemasAreClosedAndOutputSchemasOpen(t *testing.T) {
	const taken = `{"type":"object","properties":{` +
		`"id":{"type":"string","description":"of what"},` +
		`"size":{"type":"string","enum":["default","small","large"]},` +
		`"names":{"type":"array","items":{"type":"string"}},` +
		`"facts":{"type":"array","items":{"type":"object","properties":{"text":{"type":"string"},"supersedes":{"type":"string","description":"id of the one it replaces"}},"required":["text"]}},` +
		`"count":{"type":"integer"},"sure":{"type":"number"},"tries":{"type":"integer"},"due":{"type":"string"},"since":{"type":"string"},"lease":{"type":"string"}},"required":["id"],"additionalProperties":false}`
	if got := same(t, argument.Schema[order](false)); got != same(t, json.RawMessage(taken)) {
		t.Errorf("the input schema is\n%s", got)
	}
	if given := string(argument.OutputSchema[order]()); strings.Contains(given, "additionalProperties") {
		t.Errorf("the output schema is\n%s", given)
	}
}

// same returns JSON in a canonical form.
func same(t *testing.T, raw json.RawMessage) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

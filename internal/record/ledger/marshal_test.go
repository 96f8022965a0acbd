package ledger

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"
)

// quiet is a text that appends itself.
type quiet string

func (q quiet) AppendText(b []byte) ([]byte, error) {
	return append(b, strings.ToLower(string(q))...), nil
}
func (q quiet) MarshalText() ([]byte, error) { return q.AppendText(nil) }

// hollow says itself when it is zero.
type hollow struct {
	Inside string `json:"inside"`
	Kept   bool   `json:"kept"`
}

func (h *hollow) IsZero() bool { return h.Inside == "" }

// rack is an event with a field of each kind that is written in one pass.
type rack struct {
	Name    string          `json:"name"`
	Size    int8            `json:"size,omitempty"`
	Count   uint16          `json:"count,omitempty"`
	Weight  float64         `json:"weight,omitempty"`
	Open    bool            `json:"open"`
	Max     *float64        `json:"max"`
	Least   *int            `json:"least,omitempty"`
	Slat    slat            `json:"slat,omitzero"`
	Always  slat            `json:"always,omitempty"`
	Hollow  hollow          `json:"hollow,omitzero"`
	Hollows []hollow        `json:"hollows"`
	Labels  []string        `json:"labels,omitzero"`
	Quiet   quiet           `json:"quiet,omitempty"`
	At      time.Time       `json:"at,omitzero"`
	Ats     []*time.Time    `json:"ats,omitempty"`
	Raw     json.RawMessage `json:"raw,omitempty"`
	Not     string          `json:"-"`
}

func (rack) EventName() string { return "rack" }

// stand is an event that encoding/json has to write: its member is left out if what it points to is zero.
type stand struct {
	On *hollow `json:"on,omitzero"`
}

func (stand) EventName() string { return "stand" }

// TestEventsAreWrittenAsEncodingJSONDoes has each kind of value, and what encoding/json alone writes or refuses.
func TestEventsAreWrittenAsEncodingJSONDoes(t *testing.T) {
	half, one, at := 0.5, 1, time.Date(2026, 1, 2, 3, 4, 5, 6000, time.FixedZone("", 3600))
	deep := slat{Height: 1}
	for range 12 {
		deep = slat{Height: 2, Above: []slat{deep, {}}}
	}
	for _, of := range []bakeryEvent{
		rack{},
		rack{Name: "ada \"b\" \\ <é> \u2028\u2029 日 \x00\x1f\x7f\b\f\n\r\t\xff\xed\xa0\x80 end", Size: -128, Count: 65535, Weight: 1.5e30, Open: true, Max: &half, Least: &one},
		rack{Slat: slat{Height: 1, Above: []slat{{Height: 2}, {}}}, Labels: []string{}, Quiet: "HEY", At: at, Ats: []*time.Time{&at, nil}, Raw: json.RawMessage(`{"a":[1,null,"<"]}`), Not: "x"},
		rack{Labels: []string{"", "a"}, Hollow: hollow{Kept: true}, Hollows: []hollow{{}, {Inside: "x"}}},
		rack{Hollow: hollow{Inside: "x"}, Weight: math.Copysign(0, -1)},
		rack{Weight: 1},
		rack{Weight: 1<<53 + 2},
		rack{Weight: -3},
		rack{Weight: 1e20},
		rack{Weight: 1e21},
		rack{Slat: deep},
		rack{Raw: json.RawMessage(`{"a": 1}`)},
		rack{Raw: json.RawMessage(`{"a":1`)},
		rack{Raw: json.RawMessage{}},
		rack{Raw: json.RawMessage("\"\xff\"")},
		rack{Quiet: "\"<é\x01"},
		rack{Weight: math.NaN()},
		rack{Weight: math.Inf(1)},
		rack{At: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)},
		rack{Max: new(float64)},
		stand{},
		stand{On: &hollow{}},
		stand{On: &hollow{Inside: "x"}},
		crate{Name: "a", Louds: []loud{"x"}, Bytes: []byte("hi"), Map: map[string]int{"b": 1, "a": 2}, Any: []int{1}, Number: "1", Odd: 3, Text: 3},
		label{Loud: "x", Weight: 0.1},
	} {
		sameInJSON(t, of)
		sameInJSON(t, of) // after what the first has left
	}
}

// way is a text that tells how it was written.
type way string

func (way) AppendText(b []byte) ([]byte, error) { return append(b, "in one pass"...), nil }
func (way) MarshalText() ([]byte, error)        { return []byte("by encoding/json"), nil }

// trail is an event with a member that one pass does not write.
type trail struct {
	Way  way            `json:"way"`
	More map[string]int `json:"more,omitempty"`
}

func (trail) EventName() string { return "trail" }

func TestEventsAreWrittenInOnePassWhereTheyCanBe(t *testing.T) {
	c := NewCodec[bakeryEvent](trail{})
	for want, of := range map[string]trail{`{"way":"in one pass"}`: {}, `{"way":"by encoding/json","more":{"a":1}}`: {More: map[string]int{"a": 1}}} {
		if got, err := c.Encode(of); string(got.Data) != want || err != nil {
			t.Errorf("written as %s, %v; want %s", got.Data, err, want)
		}
	}
}

// FuzzEventsAreWrittenAsEncodingJSONDoes looks for texts and numbers that are written in another way.
func FuzzEventsAreWrittenAsEncodingJSONDoes(f *testing.F) {
	f.Add("", 0.0, int64(0))
	f.Add("a \"\\\x00\xff\u2028日<", -1.5e-9, int64(1)<<40)
	f.Fuzz(func(t *testing.T, text string, number float64, seconds int64) {
		sameInJSON(t, rack{Name: text, Weight: number, Labels: []string{text}, Quiet: quiet(text), At: time.Unix(seconds, 6000).UTC(), Raw: json.RawMessage(text)})
	})
}

func sameInJSON(t *testing.T, of bakeryEvent) {
	t.Helper()
	var want bytes.Buffer
	enc := json.NewEncoder(&want)
	enc.SetEscapeHTML(false)
	wrong := enc.Encode(of)
	got, err := NewCodec(of).Encode(of)
	if (err == nil) != (wrong == nil) || err == nil && string(got.Data)+"\n" != want.String() {
		t.Errorf("%.300v is written as %.300s, %v; encoding/json writes %.300s, %v", of, got.Data, err, want.Bytes(), wrong)
	}
}

package ledger

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

// loud is a text that reads itself, and refuses the empty one.
type loud string

func (l *loud) UnmarshalText(b []byte) error {
	if len(b) == 0 {
		return errors.New("nothing said")
	}
	*l = loud(strings.ToUpper(string(b)))
	return nil
}

// odd is a number that reads its own JSON.
type odd int

func (o *odd) UnmarshalJSON(b []byte) error { *o = odd(2*len(b) + 1); return nil }

// crate is an event with a field of each kind.
type crate struct {
	Name   string          `json:"name"`
	Size   int8            `json:"size,omitempty"`
	Count  uint16          `json:"count,omitempty"`
	Weight float32         `json:"weight,omitempty"`
	Open   bool            `json:"open,omitempty"`
	Max    *float64        `json:"max,omitempty"`
	Inner  *slat           `json:"inner,omitempty"`
	Slat   slat            `json:"slat,omitzero"`
	Slats  []slat          `json:"slats,omitempty"`
	Labels []string        `json:"labels,omitzero"`
	Loud   loud            `json:"loud,omitempty"`
	Louds  []loud          `json:"louds,omitempty"`
	At     time.Time       `json:"at,omitzero"`
	Ats    []time.Time     `json:"ats,omitempty"`
	Raw    json.RawMessage `json:"raw,omitempty"`
	Bytes  []byte          `json:"bytes,omitempty"`
	Map    map[string]int  `json:"map,omitempty"`
	Any    any             `json:"any,omitempty"`
	Number json.Number     `json:"number,omitempty"`
	Odd    odd             `json:"odd,omitempty"`
	Text   int             `json:"text,string,omitempty"`
	Not    string          `json:"-"`
}

type slat struct {
	Height int    `json:"height"`
	Above  []slat `json:"above,omitempty"`
}

func (crate) EventName() string { return "crate" }

// label is an event all of whose fields are read without encoding/json.
type label struct {
	Name   string          `json:"name"`
	Size   int8            `json:"size,omitempty"`
	Count  uint16          `json:"count,omitempty"`
	Weight float32         `json:"weight,omitempty"`
	Open   bool            `json:"open"`
	Max    *float64        `json:"max,omitempty"`
	Slat   slat            `json:"slat,omitzero"`
	Labels []string        `json:"labels,omitzero"`
	Loud   loud            `json:"loud,omitempty"`
	At     time.Time       `json:"at,omitzero"`
	Raw    json.RawMessage `json:"raw,omitempty"`
}

func (label) EventName() string { return "label" }

var labels = []string{
	`{}`, `{"name":""}`, `{"name":"ada \"b\" \u00e9 \ud83d\ude00 日","size":-128,"count":65535,"weight":1.5e3,"open":true,"max":-0.25,"slat":{"height":1,"above":[{"height":2}]},` +
		`"labels":["a","","<"],"loud":"hey","at":"2026-01-02T03:04:05.000006Z","raw":{"a":[1,null,"x"]}}`,
	`{"name":"a","open":false,"labels":[]}`, `{"name":"a","max":null,"labels":null}`, `{"open":true,"at":"2026-01-02T03:04:05+02:00","raw":null}`,
}

// TestEventsAreReadAsEncodingJSONDoes has JSON as this program writes it, and other: in another order, with white space, twice, under other names for the same, of other types, and broken.
func TestEventsAreReadAsEncodingJSONDoes(t *testing.T) {
	for _, of := range append(labels,
		`{"name":"a","name":"b"}`, `{"Name":"a"}`, `{"name":"a","NAME":"b"}`, `{"n\u0061me":"a"}`, `{"open":true,"name":"a"}`, `{"name":"a","tip":1,"open":true}`, ` {"name":"a"}`, `{"name": "a"}`, `{"name":"a"} `,
		`{"name":null,"size":null,"slat":null,"loud":null,"at":null,"open":null}`, `{"name":"a`, `{"name":"a"`, `{"name":"a",}`, `{"name":"a"}}`, `{"name":}`, `{"name"`, `{`, ``, `null`, `[]`, `"name"`, `{,}`,
		`{"size":128}`, `{"size":01}`, `{"size":1.0}`, `{"size":1e1}`, `{"size":"1"}`, `{"size":-0}`, `{"size":-}`, `{"count":-1}`, `{"count":65536}`, `{"weight":1e39}`, `{"weight":.5}`, `{"weight":0}`,
		"{\"name\":\"\xff\"}", "{\"name\":\"\x01\"}", `{"name":"\ud800"}`, `{"name":"\x"}`, `{"loud":""}`, `{"loud":"\u0061"}`, `{"at":"yesterday"}`, `{"at":""}`, `{"at":1}`, `{"open":truee}`, `{"open":fals}`, `{"open":1}`,
		`{"labels":[}`, `{"labels":[,]}`, `{"labels":["a",]}`, `{"labels":["a" ,"b"]}`, `{"labels":["a"`, `{"labels":[`, `{"labels":{}}`, `{"labels":[null]}`, `{"slat":{"height":1}`, `{"slat":{"Height":1}}`, `{"slat":[]}`,
		`{"raw":{"a": 1}}`, `{"raw":{"a":1,}}`, `{"raw":}`,
		`{"bytes":"aGk="}`, `{"map":{"a":1}}`, `{"any":[1]}`, `{"number":1}`, `{"number":"x"}`, `{"odd":3}`, `{"text":"3"}`, `{"-":"a"}`, `{"Not":"a"}`, `{"inner":{"height":2},"slats":[{"height":3},{}]}`,
		`{"slat":`+strings.Repeat(`{"height":1,"above":[`, 12)+`{"height":2}`+strings.Repeat(`]}`, 12)+`}`) {
		sameAsJSON[crate](t, of)
		sameAsJSON[label](t, of)
	}
}

// FuzzEventsAreReadAsEncodingJSONDoes looks for JSON that is read in another way.
func FuzzEventsAreReadAsEncodingJSONDoes(f *testing.F) {
	for _, of := range labels {
		f.Add(of)
	}
	f.Fuzz(func(t *testing.T, of string) {
		sameAsJSON[crate](t, of)
		sameAsJSON[label](t, of)
	})
}

func sameAsJSON[E bakeryEvent](t *testing.T, of string) {
	t.Helper()
	var want E
	wrong := json.Unmarshal([]byte(of), &want)
	c := NewCodec[bakeryEvent](want)
	for range 2 { // the second one after what the first has left
		data := []byte(of)
		got, err := c.Decode(Event{Name: want.EventName(), Version: 1, Data: data})
		clear(data)
		if (err == nil) != (wrong == nil) || err == nil && !reflect.DeepEqual(got, bakeryEvent(want)) {
			t.Errorf("%.300s: %.300v, %v; encoding/json says %.300v, %v", of, got, err, want, wrong)
		}
	}
}

// TestWhatThisProgramWritesIsReadInOnePass: events that others append would otherwise be read twice as slowly.
func TestWhatThisProgramWritesIsReadInOnePass(t *testing.T) {
	read := readerOf(reflect.TypeFor[label](), 0)
	for _, of := range labels {
		if n := read([]byte(of), reflect.New(reflect.TypeFor[label]()).Elem()); n != len(of) {
			t.Errorf("%s: read up to %d of %d", of, n, len(of))
		}
	}
}

// TestEventsDoNotShareWhatTheyWereReadInto decodes one event after the other.
func TestEventsDoNotShareWhatTheyWereReadInto(t *testing.T) {
	c := NewCodec[bakeryEvent](label{})
	var got []bakeryEvent
	for _, of := range labels {
		e, err := c.Decode(Event{Name: "label", Version: 1, Data: json.RawMessage(of)})
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, e)
	}
	for i, of := range labels {
		var want label
		if err := json.Unmarshal([]byte(of), &want); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got[i], bakeryEvent(want)) {
			t.Errorf("%s: %v after the others, want %v", of, got[i], want)
		}
	}
}

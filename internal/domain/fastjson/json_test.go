package fastjson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
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

// minutes is a number that is a text in JSON.
type minutes int

func (m minutes) MarshalText() ([]byte, error) {
	if m < 0 {
		return nil, errors.New("time does not run back")
	}
	return bytes.Repeat([]byte("<'"), int(m)), nil
}

// odd is a number that reads and writes its own JSON, which has blanks.
type odd int

func (o *odd) UnmarshalJSON(b []byte) error { *o = odd(2*len(b) + 1); return nil }
func (o odd) MarshalJSON() ([]byte, error)  { return []byte(`{ "odd" : "<` + "\u2028" + `" }`), nil }

// shy is a number that writes its own JSON if it has an address.
type shy int

func (s *shy) MarshalJSON() ([]byte, error) { return []byte(`"shy"`), nil }

type slat struct {
	Height int    `json:"height"`
	Above  []slat `json:"above,omitempty"`
}

// Base is embedded.
type Base struct {
	ID    string `json:"id,omitempty"`
	Depth int    `json:"depth,omitempty"`
}

// crate has a field of each kind that is usual.
type crate struct {
	Base
	Name    string            `json:"name"`
	Size    int8              `json:"size,omitempty"`
	Count   uint16            `json:"count,omitempty"`
	Weight  float32           `json:"weight,omitempty"`
	Long    float64           `json:"long,omitempty"`
	Open    bool              `json:"open,omitempty"`
	Max     *float64          `json:"max,omitempty"`
	Inner   *slat             `json:"inner,omitempty"`
	Slat    slat              `json:"slat,omitzero"`
	Slats   []slat            `json:"slats,omitempty"`
	Labels  []string          `json:"labels,omitzero"`
	Lists   []string          `json:"lists"`
	Loud    loud              `json:"loud,omitempty"`
	Louds   []loud            `json:"louds,omitempty"`
	Minutes minutes           `json:"minutes,omitzero"`
	At      time.Time         `json:"at,omitzero"`
	Ats     []time.Time       `json:"ats,omitempty"`
	For     time.Duration     `json:"for,omitempty"`
	Raw     json.RawMessage   `json:"raw,omitempty"`
	Raws    []json.RawMessage `json:"raws,omitempty"`
	Bytes   []byte            `json:"bytes,omitempty"`
	Digest  [4]byte           `json:"digest,omitempty"`
	Map     map[string]int    `json:"map,omitempty"`
	Maps    map[loud]*slat    `json:"maps"`
	Nums    map[int]string    `json:"nums,omitempty"`
	Odd     odd               `json:"odd,omitempty"`
	Odds    *odd              `json:"odds,omitempty"`
	Shy     shy               `json:"shy,omitempty"`
	Text    int               `json:"text,string,omitempty"`
	NoName  string
	NAME2   string `json:",omitempty"`
	Not     string `json:"-"`
	hidden  string
}

// unusual has what is left to encoding/json.
type unusual struct {
	Any    any            `json:"any,omitempty"`
	Map    map[string]any `json:"map,omitempty"`
	Number json.Number    `json:"number,omitempty"`
}

var documents = []string{
	`{}`, `{"name":""}`, `{"name":"ada \"b\" \u00e9 \ud83d\ude00 日 <&> \u2028","size":-128,"count":65535,"weight":1.5e3,"long":-1e-7,"open":true,"max":-0.25,"slat":{"height":1,"above":[{"height":2}]},` +
		`"labels":["a","","<"],"loud":"hey","at":"2026-01-02T03:04:05.000006Z","raw":{"a":[1,null,"x<"]},"id":"i","depth":3}`,
	`{"name":"a","open":false,"labels":[]}`, `{"name":"a","max":null,"labels":null}`, `{"open":true,"at":"2026-01-02T03:04:05+02:00","raw":null}`,
	`{"name":"a","name":"b"}`, `{"Name":"a"}`, `{"name":"a","NAME":"b"}`, `{"NAME":"a","name":"b"}`, `{"n\u0061me":"a"}`, `{"n_ame":"a"}`, `{"n-ame":"a"}`, `{"ſize":1}`, `{"open":true,"name":"a"}`,
	`{"name":"a","tip":1,"open":true}`, `{"tip":{"a":[1,{"b":2}]},"name":"a"}`, `{"tip":{"a":1,"a":2}}`, ` {"name":"a"}`, `{"name": "a"}`, `{"name":"a"} `, "\t{\r\n\"name\" :\"a\" , \"open\":true}\n",
	`{"name":null,"size":null,"slat":null,"loud":null,"at":null,"open":null,"odd":null,"odds":null,"map":null,"bytes":null,"digest":null,"minutes":null,"text":null,"for":null}`,
	`{"name":"a`, `{"name":"a"`, `{"name":"a",}`, `{"name":"a"}}`, `{"name":"a"}{}`, `{"name":}`, `{"name"`, `{`, ``, ` `, `null`, `[]`, `"name"`, `{,}`, `1`, "\ufeff{}",
	`{"size":128}`, `{"size":01}`, `{"size":1.0}`, `{"size":1e1}`, `{"size":"1"}`, `{"size":-0}`, `{"size":-}`, `{"count":-1}`, `{"count":65536}`, `{"weight":1e39}`, `{"weight":.5}`, `{"weight":0}`, `{"long":1e309}`,
	"{\"name\":\"\xff\"}", "{\"name\":\"\xed\xa0\x80\"}", "{\"name\":\"\x01\"}", "{\"\xffname\":\"\"}", "{\"raw\":\"\xff\"}", "{\"raw\":\"\u2028<\"}", `{"raw":"\u003c\/\ud800"}`, `{"name":"\ud800"}`, `{"name":"\ud800\u0041"}`, `{"name":"\x"}`, `{"name":"\/"}`,
	`{"loud":""}`, `{"loud":"\u0061"}`, `{"loud":1}`, `{"at":"yesterday"}`, `{"at":""}`, `{"at":1}`, `{"at":"2026-01-02T3:04:05Z"}`, `{"at":"2026-01-02T03:04:05,5Z"}`, `{"at":"2026-01-02T03:04:05+24:00"}`, `{"at":"2026-01-02 03:04:05Z"}`,
	`{"open":truee}`, `{"open":fals}`, `{"open":1}`, `{"open":"true"}`,
	`{"labels":[}`, `{"labels":[,]}`, `{"labels":["a",]}`, `{"labels":["a" ,"b"]}`, `{"labels":["a"`, `{"labels":[`, `{"labels":{}}`, `{"labels":[null]}`, `{"labels":["a",1]}`, `{"labels":["a","b"],"labels":["c"]}`,
	`{"slat":{"height":1}`, `{"slat":{"Height":1}}`, `{"slat":[]}`, `{"slat":{"height":1},"slat":{"above":[{}]}}`, `{"inner":{"height":1},"inner":null}`, `{"inner":{"height":1},"inner":{"above":[{}]}}`,
	`{"raw":{"a": 1}}`, `{"raw":{"a":1,}}`, `{"raw":}`, `{"raw":{"a":1,"a":1}}`, `{"raws":[1,null,"a"]}`,
	`{"bytes":"aGk="}`, `{"bytes":"aGk"}`, `{"bytes":"a Gk="}`, `{"bytes":"aG\nk="}`, `{"bytes":[1]}`, `{"digest":[1,2]}`, `{"digest":[1,2,3,4,5]}`, `{"digest":"AQIDBA=="}`,
	`{"map":{"a":1}}`, `{"map":{"😀":1,"\uffff":2,"é":3,"a":4,"":5},"maps":{"😀":{},"\uffff":null,"b":null,"A":{}},"nums":{"10":"a","9":"b","-1":"c","09":"d"}}`, `{"map":{"a":1,"a":2}}`, `{"maps":{"a":{"height":1},"A":null}}`, `{"map":{"a":1.5}}`, `{"for":1000}`, `{"for":"1s"}`, `{"minutes":3}`, `{"minutes":"3"}`,
	`{"odd":3}`, `{"odd":"<"}`, `{"odds":{}}`, `{"shy":3}`, `{"text":"3"}`, `{"text":3}`, `{"text":""}`, `{"text":" 3"}`, `{"text":"null"}`, `{"-":"a"}`, `{"Not":"a"}`, `{"NoName":"a"}`, `{"noname":"a"}`, `{"hidden":"a"}`, `{"name2":"a"}`,
	`{"inner":{"height":2},"slats":[{"height":3},{}]}`, `{"Base":{"id":"a"}}`,
	`{"any":[1,{"a":null}],"number":1}`, `{"number":"x"}`, `{"map":{"a":[1.50]}}`,
	`{"slat":` + strings.Repeat(`{"height":1,"above":[`, 12) + `{"height":2}` + strings.Repeat(`]}`, 12) + `}`,
	`{"raw":` + strings.Repeat("[", 9999) + strings.Repeat("]", 9999) + `}`, `{"raw":` + strings.Repeat("[", 10001) + strings.Repeat("]", 10001) + `}`,
}

// TestJSONIsReadAndWrittenAsByEncodingJSON has JSON as Trapeze writes it, and other: in another order, with white space, twice, under other names for
// the same, of other types, and broken.
func TestJSONIsReadAndWrittenAsByEncodingJSON(t *testing.T) {
	for _, of := range documents {
		readAndWritten(t, of)
	}
}

// FuzzJSONIsReadAndWrittenAsByEncodingJSON looks for JSON that is read or written in another way.
func FuzzJSONIsReadAndWrittenAsByEncodingJSON(f *testing.F) {
	for _, of := range documents {
		f.Add(of)
	}
	f.Fuzz(readAndWritten)
}

func readAndWritten(t *testing.T, of string) {
	both[crate](t, of)
	both[unusual](t, of)
	both[[]slat](t, of)
	both[map[string]Base](t, of)
	sameWritten(t, crate{Name: of, Labels: []string{of}, Raw: json.RawMessage(of), Map: map[string]int{of: 1, "a": 2}, Bytes: []byte(of), Long: float64(len(of)) * 1e20, Odds: new(odd), Text: len(of), hidden: of})
	sameWritten(t, unusual{Any: of, Map: map[string]any{of: []any{json.Number("1.50"), json.RawMessage(of)}}, Number: json.Number(of)})
}

// both reads JSON by both into new values and others, and writes what was read.
func both[T any](t *testing.T, of string) {
	t.Helper()
	var got, want T
	for range 2 { // the second time into what the first has read
		data := []byte(of)
		err := Unmarshal(data, &got)
		clear(data)
		if wrong := json.Unmarshal([]byte(of), &want); text(err) != text(wrong) || !reflect.DeepEqual(got, want) {
			t.Errorf("%.200q: %s, %v; encoding/json says %s, %v", of, show(got), err, show(want), wrong)
		}
	}
	sameWritten(t, want)
	sameWritten(t, &want)
}

func sameWritten(t *testing.T, v any) {
	t.Helper()
	got, err := Marshal(v)
	if want, wrong := json.Marshal(v); !bytes.Equal(got, want) || text(err) != text(wrong) {
		t.Errorf("%s: %.200q, %v; encoding/json says %.200q, %v", show(v), got, err, want, wrong)
	}
	a, b := bytes.NewBufferString("before"), bytes.NewBufferString("before")
	err = Encode(a, v)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if wrong := enc.Encode(v); a.String() != strings.TrimSuffix(b.String(), "\n") || text(err) != text(wrong) {
		t.Errorf("%s: %.200q, %v; the encoder says %.200q, %v", show(v), a, err, b, wrong)
	}
}

func show(v any) string {
	s := fmt.Sprintf("%+v", v)
	return s[:min(len(s), 120)]
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return fmt.Sprintf("%T %v", err, err)
}

// TestWhatHasNoJSONIsRefusedAsByEncodingJSON has values.
func TestWhatHasNoJSONIsRefusedAsByEncodingJSON(t *testing.T) {
	for _, v := range []any{
		nil, 1, "a<", []string(nil), map[string]int(nil), (*crate)(nil), make(chan int),
		crate{Weight: float32(math.NaN())},
		crate{Long: math.Inf(1)},
		crate{Minutes: -1},
		crate{At: time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)},
		crate{At: time.Date(2026, 1, 1, 0, 0, 0, 0, time.FixedZone("", 24*3600))},
		crate{Raw: json.RawMessage(`{`)},
		crate{Raws: []json.RawMessage{nil}},
		unusual{Number: "x"},
		json.Number("1"), math.MaxFloat64, float32(1e21), 1e-7, []byte("ab"),
		&struct{ Shy shy }{1},
		struct{ Shy shy }{1},
		[]shy{1},
		map[string]shy{"a": 1},
		struct{ F func() }{},
		[]any{1},
	} {
		sameWritten(t, v)
	}
	for _, into := range []any{nil, crate{}, (*crate)(nil), new(any), new(json.Number), new(int), new(string), new(json.RawMessage), new(*crate)} {
		for _, of := range []string{`1`, `"1"`, `{}`, `null`, `x`, ``} {
			err, wrong := Unmarshal([]byte(of), into), json.Unmarshal([]byte(of), into)
			if text(err) != text(wrong) {
				t.Errorf("%s into %T: %v; encoding/json says %v", of, into, err, wrong)
			}
		}
	}
}

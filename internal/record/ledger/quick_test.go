package ledger

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// size is written as a text.
type size int

var sizes = []string{"small", "large"}

func (s size) MarshalText() ([]byte, error) { return []byte(sizes[s&1]), nil }

func (s *size) UnmarshalText(b []byte) error {
	i := slices.Index(sizes, string(b))
	if *s = size(i); i < 0 {
		return fmt.Errorf("no size: %q", b)
	}
	return nil
}

// own decodes itself.
type own struct{ text string }

func (o own) MarshalJSON() ([]byte, error) { return json.Marshal(o.text) }

func (o *own) UnmarshalJSON(b []byte) error { o.text = string(b); return nil }

type (
	word  string
	crumb struct {
		Name  string  `json:"name"`
		Size  size    `json:"size,omitzero"`
		Loose *bool   `json:"loose,omitempty"`
		Parts []crumb `json:"parts,omitempty"`
	}
	// tray has a field of each kind.
	tray struct {
		Text     string          `json:"text"`
		Word     word            `json:"word,omitempty"`
		Int      int             `json:"int"`
		Small    int8            `json:"small,omitempty"`
		Uint     uint16          `json:"uint,omitempty"`
		Real     float64         `json:"real"`
		Half     float32         `json:"half,omitempty"`
		Is       bool            `json:"is,omitempty"`
		Size     size            `json:"size"`
		Sizes    []size          `json:"sizes"`
		At       time.Time       `json:"at,omitzero"`
		Times    []time.Time     `json:"times,omitzero"`
		Max      *float64        `json:"max,omitempty"`
		Later    *time.Time      `json:"later,omitempty"`
		Crumb    crumb           `json:"crumb"`
		Crumbs   []crumb         `json:"crumbs,omitempty"`
		To       *crumb          `json:"to,omitempty"`
		Texts    []string        `json:"texts"`
		Nested   [][]int         `json:"nested,omitempty"`
		Raw      json.RawMessage `json:"raw,omitempty"`
		Own      own             `json:"own"`
		Bytes    []byte          `json:"bytes,omitempty"`
		Pair     [2]int          `json:"pair"`
		By       map[string]int  `json:"by,omitempty"`
		Any      any             `json:"any,omitempty"`
		Number   json.Number     `json:"number,omitempty"`
		Odd      odd             `json:"odd"`
		Untagged string
		Hidden   string `json:"-"`
	}
	// odd is decoded by encoding/json.
	odd struct {
		crumb
		Quoted int `json:"quoted,string"`
	}
)

func (tray) EventName() string { return "tray" }

// TestDataIsDecodedAsEncodingJSONDecodesIt changes the data of events, and writes it otherwise.
func TestDataIsDecodedAsEncodingJSONDecodesIt(t *testing.T) {
	yes, most, at := true, 1.5, time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	full := tray{
		Text: `a "b" \ <é> 日`, Word: "w", Int: -7, Small: 127, Uint: 65535, Real: 1e300, Half: 0.25, Is: true, Size: 1, Sizes: []size{0, 1}, At: at, Times: []time.Time{at}, Max: &most, Later: &at,
		Crumb: crumb{Name: "c", Size: 1, Loose: &yes, Parts: []crumb{{Name: "d"}}}, Crumbs: []crumb{{}, {Name: "e"}}, To: &crumb{}, Texts: []string{"", "x\ny"}, Nested: [][]int{{1}, {}, nil},
		Raw: json.RawMessage(`{"a":[1,null]}`), Own: own{"o"}, Bytes: []byte("abc"), Pair: [2]int{1, 2}, By: map[string]int{"k": 1}, Any: "any", Number: "12", Odd: odd{crumb{Name: "in"}, 3}, Untagged: "u",
	}
	for _, of := range []tray{full, {}} {
		data, err := json.Marshal(of)
		if err != nil {
			t.Fatal(err)
		}
		same(t, data)
		for at := range data { // each byte is gone, another one, or followed by something
			same(t, slices.Delete(slices.Clone(data), at, at+1))
			same(t, slices.Insert(slices.Clone(data), at, ' '))
			for _, c := range []byte(`"0nt,]}{[\A-.e`) {
				changed := slices.Clone(data)
				changed[at] = c
				same(t, changed)
			}
		}
		for _, value := range []string{"null", `""`, "0", "-1", "300", "1e2", "1e999", "true", "[]", "{}", `[null]`, `"small"`, `{"name":"a","name":"b"}`, `"2026-01-02T03:04:05Z"`, `"\u00e9\ud83d\ude00\ud800"`, "\"\xff\"", `{"name":null}`} {
			for i := range reflect.TypeFor[tray]().NumField() {
				name, _, _ := strings.Cut(reflect.TypeFor[tray]().Field(i).Tag.Get("json"), ",")
				same(t, []byte(`{"`+name+`":`+value+`}`))
				same(t, []byte(`{"`+strings.ToUpper(name)+`":`+value+`}`))
				same(t, []byte(`{"text":"a","`+name+`":`+value+`,"texts":["b"]}`))
			}
		}
	}
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // the same ones each time
	data, err := json.Marshal(full)
	if err != nil {
		t.Fatal(err)
	}
	for range 300 { // the members in another order, and some of them twice
		var members []string
		for name, value := range Members(data) {
			members = append(members, name+":"+string(value))
		}
		random.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
		same(t, []byte("{"+strings.Join(members[:random.IntN(len(members))+1], ",")+"}"))
		same(t, []byte("{"+strings.Join(append(members, members[0]), ",")+"}"))
	}
}

// same compares both ways of decoding.
func same(t *testing.T, data []byte) {
	t.Helper()
	kept := bytes.Clone(data)
	var want tray
	wrong := json.Unmarshal(data, &want)
	got, err := trays.Decode(Event{Name: "tray", Version: 1, Data: data})
	if (err == nil) != (wrong == nil) || err == nil && !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %+v, %v; encoding/json says %+v, %v", data, got, err, want, wrong)
	}
	if !bytes.Equal(data, kept) {
		t.Errorf("%s was changed", kept)
	}
}

var trays = NewCodec[bakeryEvent](tray{})

// TestUsualDataIsDecodedWithoutEncodingJSON has what events have, in the order in which they are written.
func TestUsualDataIsDecodedWithoutEncodingJSON(t *testing.T) {
	data := []byte(`{"text":"a","int":1,"real":0.5,"size":"large","sizes":["small"],"at":"2026-01-02T03:04:05.000006Z","max":1,"crumb":{"name":"c"},"texts":null,"raw":{"a":1}}`)
	v := reflect.New(reflect.TypeFor[tray]()).Elem()
	if n := (readers{}).of(v.Type())(data, v); n != len(data) {
		t.Errorf("%d of %d bytes are decoded", n, len(data))
	}
}

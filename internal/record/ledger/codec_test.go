package ledger

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// A made-up domain: a bakery. Loaf has changed twice since the first version.
type bakeryEvent interface{ EventName() string }

type (
	loafBaked struct {
		Flour  string `json:"flour"`
		Grams  int    `json:"grams"`
		Baker  string `json:"baker"`
		secret string
	}
	loafSold struct {
		Cents int `json:"cents"`
	}
	stranger struct{}
)

func (loafBaked) EventName() string { return "loaf.baked" }
func (loafSold) EventName() string  { return "loaf.sold" }
func (stranger) EventName() string  { return "stranger" }

func (loafBaked) Upcasts() []Upcaster {
	rewrite := func(change func(map[string]any)) Upcaster {
		return func(old json.RawMessage) (json.RawMessage, error) {
			var m map[string]any
			if err := json.Unmarshal(old, &m); err != nil {
				return nil, err
			}
			change(m)
			return json.Marshal(m)
		}
	}
	return []Upcaster{
		rewrite(func(m map[string]any) { m["grams"] = m["kilos"].(float64) * 1000 }),
		rewrite(func(m map[string]any) { m["baker"] = "unknown" }),
	}
}

func bakery() *Codec[bakeryEvent] { return NewCodec[bakeryEvent](loafBaked{}, loafSold{}) }

func TestOldVersionsAreUpcastToTheCurrentEvent(t *testing.T) {
	want := map[string]bakeryEvent{
		"loaf.baked.1.json": loafBaked{Flour: "rye", Grams: 1500, Baker: "unknown"},
		"loaf.baked.2.json": loafBaked{Flour: "rye", Grams: 750, Baker: "unknown"},
		"loaf.baked.3.json": loafBaked{Flour: "rye", Grams: 500, Baker: "Ada"},
		"loaf.sold.1.json":  loafSold{Cents: 320},
	}
	for file, event := range want {
		data, err := os.ReadFile(filepath.Join("testdata", "bakery", file))
		if err != nil {
			t.Fatal(err)
		}
		version := int(file[len(file)-6] - '0')
		got, err := bakery().Decode(Event{Name: file[:len(file)-7], Version: version, Data: data})
		if err != nil || got != event {
			t.Errorf("%s: got %+v, %v; want %+v", file, got, err, event)
		}
	}
}

func TestEventsComeBackFromTheirData(t *testing.T) {
	c := bakery()
	in := []bakeryEvent{loafBaked{Flour: "<spelt> & oats", Grams: 1, Baker: "日"}, loafSold{Cents: -1}}
	events, err := c.EncodeAll(in)
	if err != nil {
		t.Fatal(err)
	}
	if events[0].Version != 3 || events[1].Version != 1 || !strings.Contains(string(events[0].Data), "<spelt> &") {
		t.Errorf("encoded as %+v", events)
	}
	for i := range events {
		events[i].value = nil // as after a restart
	}
	out, err := c.DecodeAll(events)
	if err != nil || !reflect.DeepEqual(out, in) {
		t.Errorf("got %+v, %v", out, err)
	}
}

func TestDecodeInTheSameProcessReturnsTheVeryEvent(t *testing.T) {
	c := bakery()
	event, err := c.Encode(loafBaked{secret: "only in memory"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := c.Decode(event)
	if err != nil || got.(loafBaked).secret != "only in memory" {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestCodecRefusesWhatItDoesNotKnow(t *testing.T) {
	c := bakery()
	for name, e := range map[string]Event{
		"unknown name":  {Name: "loaf.eaten", Version: 1, Data: json.RawMessage(`{}`)},
		"newer version": {Name: "loaf.sold", Version: 2, Data: json.RawMessage(`{}`)},
		"version 0":     {Name: "loaf.sold", Data: json.RawMessage(`{}`)},
		"sealed":        {Name: "loaf.sold", Version: 1},
		"wrong type":    {Name: "loaf.sold", Version: 1, Data: json.RawMessage(`{"cents":"x"}`)},
		"failed upcast": {Name: "loaf.baked", Version: 1, Data: json.RawMessage(`[]`)},
	} {
		if got, err := c.Decode(e); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: got %+v, %v, want ErrInvalid", name, got, err)
		}
	}
	for _, e := range []bakeryEvent{nil, stranger{}, &loafSold{}} {
		if _, err := c.Encode(e); !errors.Is(err, ErrInvalid) {
			t.Errorf("%T: got %v, want ErrInvalid", e, err)
		}
	}
	got, err := c.Decode(Event{Name: "loaf.sold", Version: 1, Data: json.RawMessage(`{"cents":1,"tip":2}`)})
	if err != nil || got != (loafSold{Cents: 1}) {
		t.Errorf("unknown field: got %+v, %v; want it ignored", got, err)
	}
}

func TestMistakesInRegistrationPanic(t *testing.T) {
	for name, f := range map[string]func(){
		"twice":   func() { NewCodec[bakeryEvent](loafSold{}, loafSold{}) },
		"pointer": func() { NewCodec[bakeryEvent](&loafSold{}) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("no panic")
				}
			}()
			f()
		})
	}
}

// parcel is an event that keeps JSON as it is.
type parcel struct {
	To      string          `json:"to"`
	Content json.RawMessage `json:"content"`
	More    json.RawMessage `json:"more,omitempty"`
}

func (parcel) EventName() string { return "parcel" }

// TestAnEventThatKeepsJSONIsDecodedAsEncodingJSONDoes has members in any order, twice, under other names for the same, and JSON that is refused.
func TestAnEventThatKeepsJSONIsDecodedAsEncodingJSONDoes(t *testing.T) {
	long := `{"text":"` + strings.Repeat(`\u00e9 \"a\" `, 64) + `","list":[1,{"a":null}]}`
	for _, data := range []string{
		`{"to":"ada","content":` + long + `}`, `{"content":` + long + `,"to":"ada","more":[1]}`, `{"content":` + long + `}`,
		`{"content":[1],"to":"ada","content":` + long + `}`, `{"content":` + long + `,"content":[1]}`, `{"content":` + long + `,"Content":[1]}`, `{"CONTENT":` + long + `}`,
		`{"content":` + long + `,"c\u006fntent":[1]}`, `{"to":` + long + `,"content":[1]}`, `{"more":` + long + `,"content":null}`, `{"to":"` + strings.Repeat("a", 512) + `","content":null}`,
		` {"content":` + long + `}`, `{"content": ` + long + ` }`, `{"content":` + long + `}}`, `{"content":` + long + `,}`, `{"content":` + long, `{"content":` + long[1:] + `}`, `[` + long + `]`, long,
	} {
		var want parcel
		wrong := json.Unmarshal([]byte(data), &want)
		got, err := NewCodec[bakeryEvent](parcel{}).Decode(Event{Name: "parcel", Version: 1, Data: json.RawMessage(data)})
		if (err == nil) != (wrong == nil) || err == nil && !reflect.DeepEqual(got, want) {
			t.Errorf("%.60s…: %.100v, %v; encoding/json says %.100v, %v", data, got, err, want, wrong)
		}
	}
	data := []byte(`{"to":"ada","content":` + long + `}`)
	got, err := NewCodec[bakeryEvent](parcel{}).Decode(Event{Name: "parcel", Version: 1, Data: data})
	if err != nil {
		t.Fatal(err)
	}
	clear(data)
	if p, _ := got.(parcel); string(p.Content) != long {
		t.Error("what is kept changes with what it was decoded from")
	}
}

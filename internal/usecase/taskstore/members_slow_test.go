//go:build slow

package taskstore

import (
	"encoding/json"
	"reflect"
	"testing"
)

func TestMembersAreThoseOfEncodingJSON(t *testing.T) {
	for _, doc := range []string{
		`{}`, `null`, `{"a":1}`, `{"a":"x","b":[],"c":{}}`, `{"a":"\"}\\","b":"}{][,:","c":{"d":["e",{"f":"]"}],"g":null}}`,
		`{"a":[1,2,[3,{"b":"c"}]],"d":-1.5e3,"e":true,"version":"1.4"}`, `{"":"","é":"ü\u0022"}`,
	} {
		var want map[string]json.RawMessage
		if err := json.Unmarshal([]byte(doc), &want); err != nil {
			t.Fatal(err)
		}
		var got map[string]json.RawMessage
		if want != nil {
			got = map[string]json.RawMessage{}
		}
		members([]byte(doc), func(name, value []byte) { got[string(name)] = value })
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %s, want %s", doc, got, want)
		}
	}
}

func TestWhatCannotBeReadAsAnEnvelopeDoesNotPanic(t *testing.T) {
	for _, doc := range []string{"", "{", `{"`, `{"a`, `{"a"`, `{"a":`, `{"a":"`, `{"a":"\`, `{"a":[`, `}`, `{"a"}`, `{"a":}`, `{"version":1}`, `{"a","b"`} {
		_, _ = contentsOf([]byte(doc))
	}
}

func TestAnEnvelopeIsSummedUpWithoutTheMembersThatSayNothing(t *testing.T) {
	plain := []byte(`{"handoff":{"from":"ann","kind":"cold","task":"task_1","to":["bea"]},"task":{"intent":"review"},"version":"1.4"}`)
	if n := testing.AllocsPerRun(10, func() { _, _ = contentsOf(plain) }); n > 4 { // the sum, its text, and what encoding/json takes for it
		t.Errorf("%v allocations", n)
	}
	c, err := contentsOf([]byte(`{"dropped":[{"kind":"sent_facts","count":2}],"handoff":{"kind":"cold"},"version":"1.4"}`))
	if got := c.sum(); err != nil || got.Version != "1.4" || got.LeftOut["facts"] != 2 {
		t.Errorf("%+v, %v", got, err)
	}
}

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
		members([]byte(doc), func(name string, value []byte) { got[name] = value })
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

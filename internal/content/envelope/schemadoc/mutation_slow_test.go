//go:build slow && !race

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/trapezehq/trapeze/internal/content/envelope"
)

// unsaid are the rules of the server that JSON Schema cannot say, by what the refusal says and, if only some are meant, by what the change was, with the
// reason. Where the server refuses for one of them, the schema may accept.
var unsaid = []struct{ says, change, why string }{
	{says: "is used twice", why: "JSON Schema compares whole entries of a list, not one field of them"},
	{says: "is the entry itself", why: "JSON Schema cannot compare two fields"},
	{says: "is not after created_at", why: "JSON Schema cannot compare two fields"},
	{says: "is over the budget", why: "JSON Schema cannot compare two fields"},
	{says: "bytes, the limit is", why: "JSON Schema counts characters, and nothing in free JSON"},
	{says: "nested", why: "JSON Schema does not count the levels of free JSON"},
	{says: "would lose digits", why: "JSON Schema knows no precision of numbers"},
	{says: "number out of range", why: "JSON Schema cannot bound the numbers in free JSON"},
	{says: "has a character that names must not have", change: `\u0378`, why: "Unicode may assign the character in a later version"},
	{says: "year", why: "the year is that of UTC, which depends on the offset"},
}

// lenient are the changes after which the server accepts what the schema refuses, which is stricter with those who write than the server is with what
// it reads.
var lenient = []struct{ change, why string }{
	{`: "<nil>"`, "null means that a field is omitted"},
	{`: ""`, "an empty text means that a field is omitted"},
	{"1e-400", "the number is read as 0"},
	{"1.00000000000000000001", "the number is read as 1"},
	{"03:04:05,5Z", "ISO 8601 has a comma, RFC 3339 has not"},
	{".packing: \"map[]\"", "an empty object means that there is none"},
	{".packing.completeness: removed", "what is omitted is 0"},
	{".packing.tokens: removed", "what is omitted is 0"},
}

// mutated is a document with one change, and what the change was.
type mutated struct {
	what string
	doc  []byte
}

// mutations are all changes of a document in one place: each value is removed, replaced by each of many values of every type, and filled
// beyond its limit; each object gets a field more; each list gets an entry twice, and an entry of another type.
func mutations(t *testing.T, raw []byte) (list []mutated) {
	t.Helper()
	fresh := func() map[string]any {
		var doc map[string]any
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if err := d.Decode(&doc); err != nil {
			t.Fatal(err)
		}
		return doc
	}
	add := func(what string, doc map[string]any) {
		b, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, mutated{what, b})
	}
	seen := map[string]bool{}
	for i, p := range places(fresh(), "") {
		if seen[p.path] { // one entry of each list
			continue
		}
		seen[p.path] = true
		change := func(what string, how func(p place)) {
			doc := fresh()
			how(places(doc, "")[i])
			add(p.path+": "+what, doc)
		}
		if p.object != nil {
			change("removed", func(p place) { delete(p.object, p.name) })
		}
		for _, v := range replacements(p) {
			change(fmt.Sprintf("%.40q", fmt.Sprint(v)), func(p place) { p.set(v) })
		}
		if id, ok := p.object["id"]; ok && p.name == "supersedes" {
			change("its own id", func(p place) { p.set(id) })
		}
		if p.path == ".omissions[]" {
			change("an id and a count", func(p place) { maps.Copy(p.value.(map[string]any), map[string]any{"id": "x", "count": 2}) })
			change("an id and a count of 1", func(p place) { maps.Copy(p.value.(map[string]any), map[string]any{"id": "x", "count": 1}) })
		}
		if _, ok := p.value.(map[string]any); ok {
			change("a field more", func(p place) { p.value.(map[string]any)["surprise"] = 1 })
		}
		if entries, ok := p.value.([]any); ok && len(entries) > 0 {
			change("an entry twice", func(p place) { p.set(append(slices.Clone(entries), entries[0])) })
			change("a copy of an entry with a field more", func(p place) { p.set(append(slices.Clone(entries), altered(entries[0]))) })
			change("too many entries", func(p place) { p.set(slices.Repeat(entries, 2000)) })
		}
	}
	doc := fresh()
	doc["surprise"] = 1
	add("a field more", doc)
	return list
}

// altered is a copy of an entry that differs from it in a field that means nothing here.
func altered(entry any) any {
	object, ok := entry.(map[string]any)
	if !ok {
		return entry
	}
	object = maps.Clone(object)
	object["importance"] = json.Number("0.125")
	return object
}

// nested is a list in a list in a list.
func nested(levels int) any {
	var v any = "deep"
	for range levels {
		v = []any{v}
	}
	return v
}

// others are values of every type.
func others() []any {
	return []any{
		nil, true, false, "", "x", json.Number("0"), json.Number("-0"), json.Number("1"), json.Number("-1"), json.Number("1.0"), json.Number("1e0"), json.Number("1.5"), json.Number("0.5"),
		json.Number("1e2"), json.Number("1e12"), json.Number("1e400"), json.Number("9007199254740993"), json.Number("2147483648"), json.Number("1e-400"), json.Number("1.00000000000000000001"),
		[]any{},
		[]any{nil},
		[]any{json.Number("1")},
		[]any{""},
		[]any{"x"},
		[]any{"x", "x"},
		[]any{map[string]any{}},
		[]any{[]any{}},
		nested(70),
		map[string]any{},
		map[string]any{"x": nil},
	}
}

// texts are what a text can be in the place of another one.
var texts = []any{
	" ", "x y", " x", "x ", "x\ty", "x\u00a0y", "x\u200by", "\u200b", "\u2028", "\ufeff", "x\u0301", "é", "日本", "\u0000", "\u0007x", "\u202ex", "\U000e0041x", "\ue000", "\u0378",
	"2026-01-02T03:04:05Z", "2026-01-02t03:04:05z", "2026-01-02T03:04:05+02:00", "2026-02-30T03:04:05Z", "2026-01-02T24:00:00Z", "2026-01-02T03:04:60Z", "0000-01-02T03:04:05Z",
	"9999-12-31T23:59:59-12:00", "2026-01-02", "2026-01-02T03:04:05", "2026-01-02T03:04:05,5Z", "2026-01-02T03:04:05.1234567891Z",
	"1.1", "1.0", "1.2", "1.3", "1.4", "1.9", "1.99999999999999999999", "01.1", "1.01", "2.0", "1", "sha256:0", "sha256:" + strings.Repeat("a", 64), "sha256:" + strings.Repeat("A", 64),
	strings.Repeat("ab", 16), strings.Repeat("AB", 16), strings.Repeat("ab", 15), strings.Repeat("ab", 65), "HIGH", "high", "warm",
	strings.Repeat("é", 150), strings.Repeat("é", 201), strings.Repeat("x", 201), strings.Repeat("x", 2049), strings.Repeat("x", 16<<10+1),
}

// replacements are the values that take the place of one.
func replacements(p place) []any {
	s, ok := p.value.(string)
	if !ok {
		return others()
	}
	return append(slices.Concat(others(), texts), s+"\n", s+" ", strings.ToUpper(s), s+s)
}

// The schema accepts what the server accepts, and refuses what the server refuses but for [unsaid] rules, in every place of the newest frozen
// envelope, and in some of those of each older version.
func TestTheSchemaAndTheServerAgreeOnThousandsOfMutations(t *testing.T) {
	s := compiled(t)
	const newest = "all-1.4.json"
	files := []string{newest, "full.json", "full-1.2.json", "setters-1.3.json", "authors-1.4.json", "newer-minor.json"}
	tried, used, reported := 0, map[string]bool{}, map[string]bool{}
	for _, name := range files {
		raw, err := os.ReadFile(filepath.Join("..", "testdata", "frozen", name))
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range mutations(t, raw) {
			if name != newest && i%7 != 0 { // of the others a part, which differs from file to file
				continue
			}
			tried++
			v, err := jsonschema.UnmarshalJSON(bytes.NewReader(m.doc))
			if err != nil {
				t.Fatal(err)
			}
			_, server := envelope.Decode(m.doc)
			if server == nil {
				server = imported(m.doc)
			}
			schema := s.Validate(v)
			if (server == nil) == (schema == nil) {
				continue
			}
			if rule := excuse(m.what, server); rule != "" {
				used[rule] = true
				continue
			}
			if !reported[m.what] {
				reported[m.what] = true
				t.Errorf("%s: %s: the server says %.200v, the schema %.300v", name, m.what, server, schema)
			}
		}
	}
	t.Logf("%d mutations", tried)
	if tried < 10_000 {
		t.Errorf("%d mutations", tried)
	}
	for _, u := range unsaid {
		if !used[u.says] {
			t.Errorf("the rule %q (%s) was not met", u.says, u.why)
		}
	}
	for _, l := range lenient {
		if !used[l.change] {
			t.Errorf("the change %q (%s) was not met", l.change, l.why)
		}
	}
}

// excuse is the entry of [unsaid] or [lenient] by which the server and the schema may differ; empty if there is none.
func excuse(change string, refused error) string {
	for _, u := range unsaid {
		if refused != nil && strings.Contains(refused.Error(), u.says) && strings.Contains(change, u.change) {
			return u.says
		}
	}
	for _, l := range lenient {
		if refused == nil && strings.Contains(change, l.change) {
			return l.change
		}
	}
	return ""
}

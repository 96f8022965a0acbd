package canonical

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/gowebpki/jcs"
)

// maxDepth is the depth of the tests.
const maxDepth = 64

func vector(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "rfc8785", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func TestNumbersAreWrittenAsInTheAppendixOfRFC8785(t *testing.T) {
	checked := 0
	for line := range strings.Lines(vector(t, "numbers.txt")) {
		f := strings.Fields(line)
		if f[0] == "#" {
			continue
		}
		checked++
		bits, err := strconv.ParseUint(f[0], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		x := math.Float64frombits(bits)
		if f[1] == "-" {
			if _, err := JSON(strconv.AppendFloat(nil, x, 'g', -1, 64), 1); err == nil {
				t.Errorf("%s: %v was taken for JSON", f[0], x)
			}
			continue
		}
		if got := string(AppendNumber(nil, x)); got != f[1] {
			t.Errorf("%s: got %s, want %s", f[0], got, f[1])
		}
		if again, err := JSON([]byte(f[1]), 1); err != nil || string(again) != f[1] {
			t.Errorf("%s: %s becomes %s (%v)", f[0], f[1], again, err)
		}
	}
	if checked != 26 {
		t.Errorf("checked %d numbers", checked)
	}
}

func TestTheExampleOfRFC8785ComesOutByteForByte(t *testing.T) {
	want, err := hex.DecodeString(strings.Join(strings.Fields(vector(t, "values.output.hex")), ""))
	if err != nil {
		t.Fatal(err)
	}
	got, err := JSON([]byte(vector(t, "values.input.json")), maxDepth)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("got  %s (%v)\nwant %s", got, err, want)
	}
}

func TestKeysAreSortedByUTF16AsInRFC8785(t *testing.T) {
	got, err := JSON([]byte(vector(t, "sorting.input.json")), maxDepth)
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for want := range strings.Lines(vector(t, "sorting.order.txt")) {
		i := strings.Index(string(got), `"`+strings.TrimSpace(want)+`"`)
		if i <= at {
			t.Errorf("%q is out of order in %s", want, got)
		}
		at = i
	}
}

func TestJSONThatWouldLoseSomethingIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"duplicate key":          {`{"a":{"b":1,"c":2,"b":3}}`, `.a has the key "b" twice`},
		"duplicate escaped key":  {`{"a":1,"\u0061":2}`, `has the key "a" twice`},
		"lone high surrogate":    {`["\ud800"]`, "[0] has half a surrogate"},
		"lone low surrogate":     {`["\udc00\ud800"]`, "half a surrogate"},
		"invalid UTF-8":          {"\"\xff\"", "UTF-8"},
		"NaN":                    {`[NaN]`, "[0] is not well-formed"},
		"infinity by size":       {`[1,1e400]`, "[1] has a number out of range"},
		"digits that would go":   {`{"n":9007199254740993}`, ".n has a whole number that would lose digits"},
		"too deep":               {strings.Repeat("[", 65) + strings.Repeat("]", 65), "nested too deeply"},
		"raw control character":  {"\"a\nb\"", "not well-formed"},
		"leading zero":           {`01`, "not well-formed"},
		"plus":                   {`+1`, "not well-formed"},
		"bare point":             {`1.`, "not well-formed"},
		"bare exponent":          {`1e`, "not well-formed"},
		"bare minus":             {`-`, "not well-formed"},
		"trailing comma":         {`[1,]`, "not well-formed"},
		"trailing member comma":  {`{"a":1,}`, "not well-formed"},
		"two values":             {`1 2`, "not well-formed"},
		"nothing":                {``, "not well-formed"},
		"unknown escape":         {`"\x"`, "not well-formed"},
		"cut string":             {`"abc`, "not well-formed"},
		"cut escape":             {`"abc\`, "not well-formed"},
		"cut unicode escape":     {`"\u12"`, "not well-formed"},
		"cut object":             {`{"a":1`, "not well-formed"},
		"key that is no string":  {`{1:2}`, "not well-formed"},
		"literal in upper case":  {`TRUE`, "not well-formed"},
		"byte order mark":        {"\ufeff{}", "not well-formed"},
		"comment":                {`{} // x`, "not well-formed"},
		"form feed as a blank":   {"\f{}", "not well-formed"},
		"single quotes":          {`{'a':1}`, "not well-formed"},
		"missing colon":          {`{"a" 1}`, "not well-formed"},
		"missing value":          {`{"a":}`, "not well-formed"},
		"second key's bad value": {`{"a":1,"b":[0,{"c":.5}]}`, ".b[1].c is not well-formed"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := JSON([]byte(c.in), maxDepth)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %s, %v; want an error with %q", got, err, c.want)
			}
		})
	}
}

func TestSixtyFourLevelsAreAllowed(t *testing.T) {
	deep := strings.Repeat("[", 64) + strings.Repeat("]", 64)
	if got, err := JSON([]byte(deep), maxDepth); err != nil || string(got) != deep {
		t.Errorf("got %s, %v", got, err)
	}
}

// sameAsJCS holds our canonical form against an independent implementation.
func sameAsJCS(t *testing.T, in []byte) {
	t.Helper()
	got, err := JSON(in, maxDepth)
	if err != nil {
		return
	}
	want, err := jcs.Transform(in)
	if err != nil {
		t.Fatalf("we take %q, the other implementation says %v", in, err)
	}
	if !bytes.Equal(got, want) {
		t.Fatalf("of %q\nwe make     %s\nthe other is %s", in, got, want)
	}
	if !json.Valid(got) {
		t.Fatalf("%s is not JSON", got)
	}
	if again, err := JSON(got, maxDepth); err != nil || !bytes.Equal(again, got) {
		t.Fatalf("canonical form %s becomes %s (%v)", got, again, err)
	}
}

func FuzzCanonicalAgreesWithAnIndependentImplementation(f *testing.F) {
	f.Add([]byte(vector(f, "values.input.json")))
	f.Add([]byte(vector(f, "sorting.input.json")))
	for _, s := range []string{
		`{"b":[1,-0,1e-7,123456789012345678],"a":{"z":null,"y":true,"":false}}`, `"\ud83d\ude00\u2028\/\b\f"`,
		`{"\ue000":1,"\ud83d\ude00":2,"\uffff":3,"\u0000":4}`, ` [ ] `, `{"a":1,"a":2}`, `1E+2`, `-0.0`, `[[[[]]]]`,
		`[1e21,1e20,1000000000000000,9007199254740993,0.1e-6,5e-324,1.7976931348623159e308]`, "\"\x7f\u0080\"",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(sameAsJCS)
}

var benchDoc = func() []byte {
	var rows []any
	for i := range 12 {
		rows = append(rows, map[string]any{"id": i * 1001, "name": "some name here", "amount": float64(i) * 1.25, "ok": true, "note": "a\nb"})
	}
	b, _ := json.MarshalIndent(map[string]any{"rows": rows}, "", "")
	return b[:len(b):len(b)]
}()

func BenchmarkCanonical(b *testing.B) {
	b.SetBytes(int64(len(benchDoc)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := JSON(benchDoc, maxDepth); err != nil {
			b.Fatal(err)
		}
	}
}

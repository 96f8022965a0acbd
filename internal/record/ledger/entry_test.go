package ledger

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

var writeFrozen = flag.Bool("write-frozen", false, "write examples that do not exist yet; existing ones never change")

func sample() Entry {
	return Entry{
		Stream:  "default/task/task_01",
		Version: 1,
		Time:    time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC),
		Actor:   Actor{Principal: "agent/coder"},
		Events:  []Event{{Name: "created", Version: 1, Data: json.RawMessage(`{"title":"x"}`)}},
	}
}

// examples are the entries behind testdata/NAME.entry.
func examples() map[string]Entry {
	full := sample()
	full.Version = 1<<53 - 1
	full.Actor = Actor{Principal: "agent/prüfer", Token: "tok_9", For: []string{"agent/lead", `operator/a"b\c`}}
	full.Key, full.Request, full.Enc = "k0+/=", "r1", EncNone
	full.Events = append(full.Events,
		Event{Name: "handoff-request", Version: 3, Data: json.RawMessage(`["<&>","\u00e9é",-0,1.5e+9,null,true,{}]`)},
		Event{Name: "noted", Version: 1, Data: json.RawMessage(`"日本 𝄞"`)})
	read := sample()
	read.Stream, read.Version, read.Time = "default/access/agent:coder", 0, time.Unix(0, 0).UTC()
	sealed := sample()
	sealed.Enc, sealed.KeyID = "aes-256-gcm", "subject_7"
	sealed.Events = []Event{{Name: "created", Version: 1}, {Name: "noted", Version: 2}}
	sealed.Sealed = []byte("\x00\xffnot JSON\nat all")
	return map[string]Entry{"minimal": sample(), "full": full, "without-version": read, "sealed": sealed}
}

func TestFrozenEntriesKeepTheirBytesForEver(t *testing.T) {
	for name, e := range examples() {
		path := filepath.Join("testdata", name+".entry")
		got, err := e.Encode()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := os.Stat(path); *writeFrozen && os.IsNotExist(err) {
			if err := os.WriteFile(path, got, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: encoding has changed\n got %q\nwant %q", name, got, want)
		}
	}
	files, err := filepath.Glob("testdata/*.entry")
	if err != nil || len(files) < len(examples()) {
		t.Fatalf("%d frozen files, %v", len(files), err)
	}
	for _, path := range files {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		roundTrip(t, path, b)
	}
}

func roundTrip(t *testing.T, name string, b []byte) {
	t.Helper()
	e, err := Decode(b)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	again, err := e.Encode()
	if err != nil || !bytes.Equal(again, b) {
		t.Errorf("%s does not come back: %v\n got %q\nwant %q", name, err, again, b)
	}
}

func TestDecodedEntryHasEveryField(t *testing.T) {
	want := examples()["full"]
	b, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	g, _ := json.Marshal(got)
	w, _ := json.Marshal(want)
	if !bytes.Equal(g, w) {
		t.Errorf("got  %s\nwant %s", g, w)
	}
	sealed, err := Decode(mustEncode(t, examples()["sealed"]))
	if err != nil || string(sealed.Sealed) != "\x00\xffnot JSON\nat all" || sealed.Events[1].Name != "noted" {
		t.Errorf("sealed payload: %q, %v", sealed.Sealed, err)
	}
}

func mustEncode(t testing.TB, e Entry) []byte {
	t.Helper()
	b, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestDecodeRefusesEveryOtherFormOfAnEntry(t *testing.T) {
	good := string(mustEncode(t, sample()))
	for _, c := range []struct{ name, old, new string }{
		{"no line feed", "\n", ""},
		{"carriage return", "\n", "\r\n"},
		{"space in the header", `"v":1,`, `"v": 1,`},
		{"space in the payload", `{"title":"x"}`, `{"title": "x"}`},
		{"bytes after the payload", `]` + "", `] `},
		{"fields in another order", `"v":1,"version":1`, `"version":1,"v":1`},
		{"unknown field", `,"stream"`, `,"size":1,"stream"`},
		{"empty optional field", `,"stream"`, `,"request":"","stream"`},
		{"escape that is not needed", `coder`, `\u0063oder`},
		{"leading zero", `"version":1}`, `"version":01}`},
		{"newer format", `"v":1`, `"v":2`},
		{"nanoseconds", `.000006Z`, `.000006001Z`},
		{"comma in the time", `.000006Z`, `,000006Z`},
		{"time zone", `.000006Z`, `.000006+00:00`},
		{"day that does not exist", `2026-01-02`, `2026-02-30`},
		{"missing payload", `[{"title":"x"}]`, ``},
		{"fewer values than events", `[{"title":"x"}]`, `[]`},
		{"more values than events", `[{"title":"x"}]`, `[{"title":"x"},1]`},
		{"payload that is not JSON", `{"title":"x"}`, `{"title":x}`},
		{"invalid UTF-8", `"x"`, "\"\xff\""},
		{"no events", `{"name":"created","version":1}`, ``},
		{"event version 0", `"created","version":1`, `"created","version":0`},
		{"event name", `created`, `Created`},
		{"principal of no kind", `agent/coder`, `coder`},
		{"stream of two parts", `default/task/task_01`, `default/task`},
	} {
		i := strings.LastIndex(good, c.old)
		if i < 0 {
			t.Fatalf("%s: %q is not in the example", c.name, c.old)
		}
		bad := good[:i] + c.new + good[i+len(c.old):]
		if _, err := Decode([]byte(bad)); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid for\n%s", c.name, err, bad)
		}
	}
}

func TestEncodeRefusesWhatBreaksARule(t *testing.T) {
	for name, spoil := range map[string]func(*Entry){
		"empty stream":             func(e *Entry) { e.Stream = "" },
		"stream of four parts":     func(e *Entry) { e.Stream = "a/b/c/d" },
		"stream with a space":      func(e *Entry) { e.Stream = "a/b/c d" },
		"stream with a wide space": func(e *Entry) { e.Stream = "a/b/c\u2003d" },
		"stream with bidi control": func(e *Entry) { e.Stream = "a/b/c\u202ed" },
		"stream not UTF-8":         func(e *Entry) { e.Stream = "a/b/\xff" },
		"long stream":              func(e *Entry) { e.Stream = StreamOf("a", "b", strings.Repeat("c", MaxStream)) },
		"unknown kind of actor":    func(e *Entry) { e.Actor.Principal = "root/x" },
		"delegated by nobody":      func(e *Entry) { e.Actor.For = []string{""} },
		"long delegation chain":    func(e *Entry) { e.Actor.For = make([]string, MaxChain+1) },
		"token with a quote":       func(e *Entry) { e.Actor.Token = `a"b` },
		"key with a line feed":     func(e *Entry) { e.Key = "a\nb" },
		"local time":               func(e *Entry) { e.Time = e.Time.In(time.FixedZone("x", 3600)) },
		"nanoseconds":              func(e *Entry) { e.Time = e.Time.Add(1) },
		"no time":                  func(e *Entry) { e.Time = time.Time{} },
		"version beyond 2^53":      func(e *Entry) { e.Version = 1 << 53 },
		"no events":                func(e *Entry) { e.Events = nil },
		"257 events":               func(e *Entry) { e.Events = make([]Event, MaxEvents+1) },
		"name in capitals":         func(e *Entry) { e.Events[0].Name = "X" },
		"no event version":         func(e *Entry) { e.Events[0].Version = 0 },
		"no data":                  func(e *Entry) { e.Events[0].Data = nil },
		"loose JSON":               func(e *Entry) { e.Events[0].Data = json.RawMessage(`{"a": 1}`) },
		"two values":               func(e *Entry) { e.Events[0].Data = json.RawMessage(`1,2`) },
		"deep JSON": func(e *Entry) {
			e.Events[0].Data = json.RawMessage(strings.Repeat("[", 1e5) + strings.Repeat("]", 1e5))
		},
		"key id without encoding": func(e *Entry) { e.KeyID = "k" },
		"sealed but readable":     func(e *Entry) { e.Sealed = []byte("x") },
		"data beside sealed":      func(e *Entry) { e.Enc = "aes" },
	} {
		e := sample()
		spoil(&e)
		if _, err := e.Encode(); !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: got %v, want ErrInvalid", name, err)
		}
	}
}

func TestAppendRulesBindVersionToExpectedPosition(t *testing.T) {
	for _, c := range []struct {
		version uint64
		expect  Position
		ok      bool
	}{{1, 0, true}, {2, 0, false}, {0, 0, true}, {0, 9, true}, {2, 9, true}, {1, 9, false}, {0, Any, true}, {1, Any, false}} {
		e := sample()
		e.Version = c.version
		if _, err := e.EncodeFor(nil, c.expect); (err == nil) != c.ok {
			t.Errorf("version %d expecting %d: %v", c.version, c.expect, err)
		}
	}
	e := examples()["sealed"]
	if _, err := e.EncodeFor(nil, 0); !errors.Is(err, ErrInvalid) {
		t.Errorf("entry with an unknown encoding: got %v, want ErrInvalid", err)
	}
}

func TestEntryMayFillTheLimitAndNotMore(t *testing.T) {
	e := sample()
	free := MaxEntrySize - len(mustEncode(t, e))
	e.Events[0].Data = json.RawMessage(`{"title":"x` + strings.Repeat("y", free) + `"}`)
	roundTrip(t, "largest entry", mustEncode(t, e))
	e.Events[0].Data = json.RawMessage(`{"title":"xz` + strings.Repeat("y", free) + `"}`)
	if _, err := e.Encode(); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v, want ErrTooLarge", err)
	}
	if _, err := Decode(make([]byte, MaxEntrySize+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("got %v, want ErrTooLarge", err)
	}
}

func FuzzDecode(f *testing.F) {
	for _, e := range examples() {
		f.Add(mustEncode(f, e))
	}
	f.Add([]byte("{\"actor\":{\"for\":[\"agent/\\\\\"\n[]"))
	f.Fuzz(func(t *testing.T, b []byte) {
		e, err := Decode(b)
		if err != nil {
			if !errors.Is(err, ErrInvalid) && !errors.Is(err, ErrTooLarge) {
				t.Fatalf("error of no kind: %v", err)
			}
			return
		}
		again, err := e.Encode()
		if err != nil || !bytes.Equal(again, b) {
			t.Fatalf("accepted bytes that Encode does not produce: %v\n got %q\nwant %q", err, again, b)
		}
		header, _, _ := bytes.Cut(b, []byte("\n"))
		if !json.Valid(header) {
			t.Fatalf("header is not JSON: %q", header)
		}
	})
}

func TestMembersOfAnObjectAreThoseOfTheStandardLibrary(t *testing.T) {
	for _, object := range []string{`{}`, `{"a":1}`, `{"a":{"b":[1,{"c":"}"}]},"d e":"x,\"y\":1","f":null,"":[]}`} {
		var want map[string]json.RawMessage
		if err := json.Unmarshal([]byte(object), &want); err != nil {
			t.Fatal(err)
		}
		got := map[string]json.RawMessage{}
		for name, value := range Members([]byte(object)) {
			got[name[1:len(name)-1]] = value
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s has the members %s, want %s", object, got, want)
		}
	}
	for malformed, want := range map[string]int{
		``: 0, `[]`: 0, `"{"`: 0, `{`: 0, `{"a`: 0, `{"a"`: 0, `{"a":`: 0, `{"a":}`: 0, `{"a":1`: 1, `{"a":1,`: 1, `{"a":1,"b"}`: 1, `{"a":1,"b":2,3}`: 2,
	} {
		n := 0
		for range Members([]byte(malformed)) {
			n++
		}
		if n != want {
			t.Errorf("%s has %d members, want %d", malformed, n, want)
		}
	}
}

// FuzzCompactJSON compares with the standard library: valid, and equal to its own compact form.
func FuzzCompactJSON(f *testing.F) {
	for _, s := range []string{
		`{}`, `[]`, `{"a":[1,-0.5e-3,"\u00e9\ud834"],"b":{"c":null}}`, `[1,]`, `{"a":1,}`, `01`,
		`-`, `1.`, `1e`, `tru`, `"\x"`, "\"\x7f\"", "\"\xed\xa0\x80\"", "\"\ufffd\"", ` 1`, `1 `, `{"a" :1}`, "\"\t\"",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		n, err := compactValue(b, 0)
		if errors.Is(err, errDepth) {
			return
		}
		got := err == nil && n == len(b)
		var compact bytes.Buffer
		want := json.Compact(&compact, b) == nil && bytes.Equal(compact.Bytes(), b) && bytes.Equal(bytes.ToValidUTF8(b, nil), b)
		if got != want {
			t.Fatalf("%q: got %v, the standard library says %v", b, got, want)
		}
	})
}

func TestEveryByteIsLookedAtWhereverItStandsInAString(t *testing.T) {
	for at := range 20 {
		for b := range 256 {
			s := []byte(`"` + strings.Repeat("x", 20) + `"`)
			s[at+1] = byte(b)
			n, err := compactValue(s, 0)
			got := err == nil && n == len(s)
			if want := json.Valid(s) && b < 0x80; got != want {
				t.Errorf("byte %#x at %d: taken is %t", b, at, got)
			}
		}
	}
}

// TestTimesAreThoseOfPackageTime: of the record, whose times are read and written without a layout that is parsed each time.
func TestTimesAreThoseOfPackageTime(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		at := time.Date(rng.IntN(11_000)-500, time.Month(1+rng.IntN(12)), 1+rng.IntN(31), rng.IntN(24), rng.IntN(60), rng.IntN(60), rng.IntN(1e9), time.UTC)
		text := string(appendTime(nil, at))
		if want := at.Format(timeLayout); text != want {
			t.Fatalf("%v is written as %s, and by package time as %s", at, text, want)
		}
		spoiled := []byte(text)
		spoiled[rng.IntN(len(spoiled))] = "0123456789-:.TZ "[rng.IntN(16)]
		for _, s := range []string{text, string(spoiled), text[:len(text)-1]} {
			got, ok := parseTime(s)
			want, err := time.Parse(timeLayout, s)
			if ok != (err == nil) || ok && !got.Equal(want) {
				t.Fatalf("%q is read as %v, %t, and by package time as %v, %v", s, got, ok, want, err)
			}
		}
	}
}

func kib() Entry {
	e := sample()
	e.Actor.Token, e.Key, e.Request = "tok_0123456789abcdef", strings.Repeat("k", 43), strings.Repeat("r", 43)
	data := `{"title":"` + strings.Repeat("some words of context, ", 44) + `"}`
	e.Events[0].Data = json.RawMessage(data)
	return e
}

func BenchmarkEncode(b *testing.B) {
	e := kib()
	b.SetBytes(int64(len(mustEncode(b, e))))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := e.Encode(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	data := mustEncode(b, kib())
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Decode(data); err != nil {
			b.Fatal(err)
		}
	}
}

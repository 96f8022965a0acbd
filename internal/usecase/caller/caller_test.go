package caller_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/trapezehq/trapeze/internal/domain/refusal"

	"github.com/trapezehq/trapeze/internal/usecase/caller"
)

type part struct {
	A, B string
}

type request struct {
	Text   string          `json:"text"`
	Data   json.RawMessage `json:"data,omitempty"`
	List   []string        `json:"list,omitempty"`
	Few    *int            `json:"few,omitempty"`
	N      int64           `json:"n"`
	U      uint8           `json:"u"`
	F      float64         `json:"f"`
	On     bool            `json:"on"`
	When   time.Time       `json:"when,omitzero"`
	Parts  []part          `json:"parts"`
	Any    map[string]any  `json:"any"`
	Hidden string          `json:"-"`
}

func digest(t *testing.T, in any) string {
	t.Helper()
	d, err := caller.Caller{}.WithKey("k").Digest("send", in)
	if err != nil || len(d) != 32 {
		t.Fatalf("%q, %v", d, err)
	}
	return d
}

func read(t *testing.T, text string) (in request) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &in); err != nil {
		t.Fatal(err)
	}
	return in
}

func TestARequestThatIsSpelledDifferentlyHasTheSameDigest(t *testing.T) {
	want := digest(t, read(t, `{"text":"a","data":{"x":[1,"b c\\\" d"]},"list":["y"],"few":0,"when":"2026-01-02T03:04:05Z","any":{"p":1,"q":2}}`))
	for _, text := range []string{
		`{"list":["y"],"few":0,"any":{"q":2,"p":1.0},"data":{"x":[1,"b c\\\" d"]},"text":"\u0061","when":"2026-01-02T04:04:05+01:00"}`,
		"{\"text\":\"a\",\"data\": {\t\"x\" :\n[ 1,\r\"b c\\\\\\\" d\" ] } ,\"list\":[\"y\"],\"few\":0,\"when\":\"2026-01-02T03:04:05.0Z\",\"any\":{\"p\":1,\"q\":2},\"n\":0,\"parts\":null}",
	} {
		if got := digest(t, read(t, text)); got != want {
			t.Errorf("%s has another", text)
		}
		if in := read(t, text); digest(t, &in) != want {
			t.Errorf("%s has another behind a pointer", text)
		}
	}
}

func TestRequestsThatDifferHaveDifferentDigests(t *testing.T) {
	seen := map[string]string{digest(t, nil): "nothing"}
	for _, text := range []string{
		`{}`, `{"text":"a"}`, `{"text":"ab"}`, `{"list":["a"]}`, `{"list":["a","b"]}`, `{"list":["ab"]}`, `{"list":["a",""]}`, `{"list":[]}`,
		`{"data":"a"}`, `{"data":"a b"}`, `{"data":"ab"}`, `{"data":["a","b"]}`, `{"data":["a"],"list":["b"]}`, `{"data":1}`, `{"data":11}`,
		`{"data":null}`, `{"data":"\\"}`, `{"data":"\" "}`, `{"data":"\"","text":" "}`, `{"few":0}`, `{"few":1}`, `{"n":1}`, `{"n":-1}`, `{"u":1}`, `{"f":1}`,
		`{"on":true}`, `{"when":"2026-01-02T03:04:05Z"}`, `{"when":"2026-01-02T03:04:05.000000001Z"}`, `{"when":"9026-01-02T03:04:05Z"}`,
		`{"parts":[{"A":"x"}]}`, `{"parts":[{"B":"x"}]}`, `{"parts":[{},{"B":"x"}]}`, `{"parts":[{"A":"x","B":"x"}]}`, `{"any":{}}`, `{"any":{"a":1}}`,
	} {
		d := digest(t, read(t, text))
		if seen[d] != "" {
			t.Errorf("%s and %s have the same", text, seen[d])
		}
		seen[d] = text
	}
	if a, err := (caller.Caller{Key: "k"}).Digest("create", read(t, `{}`)); err != nil || a == digest(t, read(t, `{}`)) {
		t.Errorf("another verb: %s, %v", a, err)
	}
}

func TestWithoutAKeyThereIsNoDigest(t *testing.T) {
	if d, err := (caller.Caller{}).Digest("send", request{}); d != "" || err != nil {
		t.Errorf("%q, %v", d, err)
	}
	if _, err := (caller.Caller{Key: strings.Repeat("k", caller.MaxKey+1)}).Digest("send", request{}); refusal.CodeOf(err) != refusal.TooLarge {
		t.Error(err)
	}
}

func TestWhatCannotBeComparedIsRefused(t *testing.T) {
	type closed struct{ secret string }
	for _, in := range []any{closed{"a"}, struct{ In []closed }{[]closed{{"b"}}}, func() {}, struct{ C chan int }{make(chan int)}} {
		if d, err := (caller.Caller{Key: "k"}).Digest("send", in); refusal.CodeOf(err) != refusal.Invalid {
			t.Errorf("%T: %q, %v", in, d, err)
		}
	}
}

// TestWhatIsRecordedOfARequestConfirmsNoGuess of what was asked without its key: the digest of the content may be all that is left of it.
func TestWhatIsRecordedOfARequestConfirmsNoGuess(t *testing.T) {
	guess := digest(t, request{Text: "the patient has it"})
	one, other := caller.Caller{Key: "one"}.Write(guess), caller.Caller{Key: "other"}.Write(guess)
	if one.Request == guess || one.Request == other.Request || len(one.Request) != len(guess) {
		t.Errorf("%s is recorded as %s and %s", guess, one.Request, other.Request)
	}
	if again := (caller.Caller{Key: "one"}).Write(guess); again.Request != one.Request || again.Before != guess {
		t.Errorf("the same call again: %+v, %+v", one, again)
	}
	if none := (caller.Caller{Key: "one"}).Write(""); none.Request != "" || none.Before != "" {
		t.Errorf("no digest: %+v", none)
	}
}

// FuzzDigest: requests have the same digest exactly if they say the same.
func FuzzDigest(f *testing.F) {
	f.Add([]byte(`{"data":"a\\"}`), []byte(`{"data": "a\\"}`))
	f.Add([]byte(`{"data":[1 ,2],"text":"x"}`), []byte(`{"text":"x","data":[1,2]}`))
	f.Add([]byte(`{"list":["a",""]}`), []byte(`{"list":["a"]}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var x, y request
		if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil || bytes.Contains(append(a, b...), []byte("-0")) {
			return // -0 and 0 are the same to Go and not to us
		}
		same := digest(t, x) == digest(t, y)
		for _, in := range []*request{&x, &y} {
			in.When = in.When.UTC()
			if len(in.Data) > 0 {
				var compact bytes.Buffer
				if err := json.Compact(&compact, in.Data); err != nil {
					t.Fatal(err)
				}
				in.Data = compact.Bytes()
			}
		}
		if same != reflect.DeepEqual(x, y) {
			t.Errorf("%+v and %+v: %v", x, y, same)
		}
	})
}

// The keys of one program sort by creation; so do the ids that are derived from them, within one millisecond, too.
func TestIDsOfKeysThatSortByTimeSortByTime(t *testing.T) {
	by, before := caller.Caller{}, [16]byte{}
	for range 1000 {
		key, err := uuid.NewV7()
		if err != nil {
			t.Fatal(err)
		}
		id, err := by.WithKey(key.String()).NewID("task")
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Compare(before[:], id[:]) >= 0 {
			t.Fatalf("%x comes after %x", id, before)
		}
		if again, err := by.WithKey(key.String()).NewID("task"); err != nil || again != id {
			t.Fatalf("the key again gives %x, %v; before %x", again, err, id)
		}
		if other, err := by.WithKey(key.String()).NewID("handoff"); err != nil || other == id {
			t.Fatalf("a handoff of the key has the id of the task: %x, %v", other, err)
		}
		before = id
	}
}

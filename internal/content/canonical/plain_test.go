package canonical

import (
	"strings"
	"testing"
)

func TestTheEndOfWhatStandsInAStringAsItIsIsFoundAtEveryPlace(t *testing.T) {
	for b := range 256 {
		for at := range 20 {
			s := []byte(strings.Repeat("x", 20))
			s[at] = byte(b)
			want := len(s)
			if b < ' ' || b == '"' || b == '\\' {
				want = at
			}
			for from := range at + 1 {
				if got := plainEnd(s, from); got != want {
					t.Fatalf("byte %#x at %d: got %d from %d, want %d", b, at, got, from, want)
				}
			}
		}
	}
}

func TestAWriterThatIsUsedAgainMakesTheSameOfEachText(t *testing.T) {
	var w Writer
	texts := []string{`{"b":1,"a":[{"d":2,"c":3}]}`, `{"a":`, strings.Repeat("[", 40) + strings.Repeat("]", 40), `{"z":"` + strings.Repeat("x", 1000) + `","y":0}`, `1`}
	for range 2 {
		for _, text := range texts {
			want, wanted := JSON([]byte(text), maxDepth)
			kept, err := w.JSON([]byte(text), maxDepth)
			if string(kept) != string(want) || (err == nil) != (wanted == nil) {
				t.Errorf("%.40s: got %s (%v), want %s (%v)", text, kept, err, want, wanted)
			}
			got, err := w.Temporary([]byte(text), maxDepth)
			if string(got) != string(want) || (err == nil) != (wanted == nil) {
				t.Errorf("%.40s for a moment: got %s (%v), want %s (%v)", text, got, err, want, wanted)
			}
			if string(kept) != string(want) {
				t.Errorf("%.40s: the next text changed what was kept to %s", text, kept)
			}
		}
	}
}

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

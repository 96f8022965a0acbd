package ascii

import "testing"

func TestEveryByteIsFoundAtEveryPlaceAndNoOther(t *testing.T) {
	for b := range 256 {
		for at := range Size {
			for _, rest := range []byte{'x', ' ', '~', '!'} {
				s := []byte{rest, rest, rest, rest, rest, rest, rest, rest}
				s[at] = byte(b)
				w := At(s, 0)
				if w != At(string(s), 0) {
					t.Fatalf("%q differs as a string", s)
				}
				if got := w.HasLess(' '); got != (b < ' ') {
					t.Errorf("%q: a control character: %t", s, got)
				}
				if got := w.Has('"'); got != (b == '"') {
					t.Errorf("%q: a quote: %t", s, got)
				}
				if got := w.HasBeyond(); got != (b >= 0x7F) {
					t.Errorf("%q: beyond: %t", s, got)
				}
			}
		}
	}
}

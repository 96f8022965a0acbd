package canonical_test

import (
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/ascii"
)

func TestEveryByteIsFoundAtEveryPlaceAndNoOther(t *testing.T) {
	for b := range 256 {
		for at := range ascii.Size {
			for _, rest := range []byte{'x', ' ', '~', '!'} {
				s := []byte{rest, rest, rest, rest, rest, rest, rest, rest}
				s[at] = byte(b)
				w := ascii.At(s, 0)
				if w != ascii.At(string(s), 0) {
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

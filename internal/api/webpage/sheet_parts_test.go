package webpage_test

import (
	"testing"

	"github.com/trapezehq/trapeze/internal/api/webpage/sheet"
)

// Two texts are marked where they differ, in whole words, and nothing of them is lost.
func TestTextsAreToldApartInWholeWords(t *testing.T) {
	for _, c := range []struct{ a, b, before, first, second, after string }{
		{"step 2: look", "step 7: look", "step ", "2:", "7:", " look"},
		{"due on Friday", "due on Friday, at noon", "due on ", "Friday", "Friday, at noon", ""},
		{"one\ntwo", "one\ntwo\nthree", "one\ntwo", "", "\nthree", ""},
		{"a a", "a a a", "a a", "", " a", ""},
		{"14 pages", "9 pages", "", "14", "9", " pages"},
		{"größer als\u20284", "größer als\u20285", "größer als\u2028", "4", "5", ""},
		{"", "new", "", "", "new", ""},
	} {
		first, second := sheet.Apart(c.a, c.b)
		if first != (sheet.Parts{Before: c.before, Middle: c.first, After: c.after}) || second != (sheet.Parts{Before: c.before, Middle: c.second, After: c.after}) {
			t.Errorf("%q and %q: %q, %q", c.a, c.b, first, second)
		}
		if first.Before+first.Middle+first.After != c.a || second.Before+second.Middle+second.After != c.b {
			t.Errorf("%q and %q: %q, %q is not all of them", c.a, c.b, first, second)
		}
	}
}

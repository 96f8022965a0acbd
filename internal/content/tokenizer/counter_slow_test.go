//go:build slow && !race

package tokenizer_test

import (
	"strings"
	"testing"

	"github.com/tiktoken-go/tokenizer/codec"
	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/content/tokenizer"
)

var codecs = map[string]*codec.Codec{
	tokenizer.O200kBase:  codec.NewO200kBase(),
	tokenizer.Cl100kBase: codec.NewCl100kBase(),
}

func TestChunksAddUpToTheCountOfTheWhole(t *testing.T) {
	for name, whole := range codecs {
		c := counter(t, name)
		check(t, func(t *rapid.T) {
			text := tokenizer.Edges.Draw(t, "text")
			want, err := whole.Count(strings.ToValidUTF8(text, "\uFFFD"))
			want += strings.Count(text, "\x7f") // which the library skips
			if err != nil {
				t.Fatal(err)
			}
			if got := c.Count(text); got != want {
				t.Fatalf("%s: %q has %d tokens in chunks, %d as a whole", name, text, got, want)
			}
		})
	}
}

// addUp checks that two texts have as many tokens together as apart.
func addUp(t *rapid.T, name string, whole *codec.Codec, a, b string) {
	count := func(s string) int {
		n, err := whole.Count(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if got, want := count(a+b), count(a)+count(b); got != want {
		t.Fatalf("%s: %q and %q have %d tokens together, %d apart", name, a, b, got, want)
	}
}

func TestCountsAddUpAtALineThatBeginsWithAGraphicCharacter(t *testing.T) {
	starts := rapid.Map(rapid.ByteRange('!', '~').Filter(func(b byte) bool { return b != '/' }), func(b byte) string { return string(rune(b)) })
	for name, whole := range codecs {
		check(t, func(t *rapid.T) {
			a := strings.ToValidUTF8(tokenizer.Edges.Draw(t, "a"), "") + "\n"
			b := starts.Draw(t, "start") + strings.ToValidUTF8(tokenizer.Edges.Draw(t, "b"), "")
			addUp(t, name, whole, a, b)
		})
	}
}

func TestCountsAddUpBeforeASpaceThatStandsAloneBetweenGraphicCharacters(t *testing.T) {
	graphic := rapid.Map(rapid.ByteRange('!', '~'), func(b byte) string { return string(rune(b)) })
	for name, whole := range codecs {
		check(t, func(t *rapid.T) {
			a := strings.ToValidUTF8(tokenizer.Edges.Draw(t, "a"), "") + graphic.Draw(t, "before")
			b := " " + graphic.Draw(t, "after") + strings.ToValidUTF8(tokenizer.Edges.Draw(t, "b"), "")
			addUp(t, name, whole, a, b)
		})
	}
}

func TestCountsAddUpBetweenADigitAndAnotherGraphicCharacter(t *testing.T) {
	digit := rapid.Map(rapid.ByteRange('0', '9'), func(b byte) string { return string(rune(b)) })
	other := rapid.Map(rapid.ByteRange('!', '~').Filter(func(b byte) bool { return b < '0' || b > '9' }), func(b byte) string { return string(rune(b)) })
	for name, whole := range codecs {
		check(t, func(t *rapid.T) {
			before, after := digit.Draw(t, "digit"), other.Draw(t, "other")
			if rapid.Bool().Draw(t, "the digit comes second") {
				before, after = after, before
			}
			a := strings.ToValidUTF8(tokenizer.Edges.Draw(t, "a"), "") + before
			b := after + strings.ToValidUTF8(tokenizer.Edges.Draw(t, "b"), "")
			addUp(t, name, whole, a, b)
		})
	}
}

func FuzzCount(f *testing.F) {
	for _, s := range []string{"", "a\n- b", "x./\n/y\n\n z", "\xff\n#", "`````\ntext", "a\n \n- b", "  \n\t\r\n-", "a\x7f\x7fb"} {
		f.Add(s)
	}
	guess := counter(f, "another")
	f.Fuzz(func(t *testing.T, text string) {
		for name, whole := range codecs {
			n := counter(t, name).Count(text)
			want, err := whole.Count(strings.ToValidUTF8(text, "\uFFFD"))
			want += strings.Count(text, "\x7f") // which the library skips
			if err != nil || n != want || n < 0 || n > guess.Count(text) || (text == "") != (n == 0) {
				t.Errorf("%s: %q: %d tokens, want %d of at most %d (%v)", name, text, n, want, guess.Count(text), err)
			}
		}
	})
}

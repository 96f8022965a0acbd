package tokenizer_test

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/tiktoken-go/tokenizer/codec"
	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/content/tokenizer"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

func counter(t testing.TB, name string) tokenizer.Counter {
	t.Helper()
	c, err := tokenizer.For(name)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var codecs = map[string]*codec.Codec{
	tokenizer.O200kBase:  codec.NewO200kBase(),
	tokenizer.Cl100kBase: codec.NewCl100kBase(),
}

func TestKnownTextsHaveTheCountsOfTheirVocabulary(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       int
	}{
		{"", "", 0},
		{"", "hello world", 2},
		{tokenizer.O200kBase, "hello world", 2},
		{tokenizer.Cl100kBase, "hello world", 2},
		{tokenizer.O200kBase, "お誕生日おめでとう", 8},
		{tokenizer.Cl100kBase, "お誕生日おめでとう", 9},
		{tokenizer.O200kBase, "antidisestablishmentarianism", 6},
		{"llama", "hello world", 11},
		{"llama", "é", 2},
		{"llama", "", 0},
	} {
		if got := counter(t, c.name).Count(c.text); got != c.want {
			t.Errorf("%s: %q has %d tokens, want %d", c.name, c.text, got, c.want)
		}
	}
	if got := (tokenizer.Counter{}).Count("hello world"); got != 2 {
		t.Errorf("the zero value counts %d", got)
	}
}

// TestTextsOfBlanksAndLineEndsHaveTheCountsOfTheReference reads counts that OpenAI's tiktoken (1.0 for JavaScript) made.
func TestTextsOfBlanksAndLineEndsHaveTheCountsOfTheReference(t *testing.T) {
	b, err := os.ReadFile("testdata/white_space.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Text   string
		O200k  int `json:"o200k_base"`
		Cl100k int `json:"cl100k_base"`
	}
	if err := json.Unmarshal(b, &cases); err != nil || len(cases) < 300 {
		t.Fatal(len(cases), err)
	}
	for _, c := range cases {
		for name, want := range map[string]int{tokenizer.O200kBase: c.O200k, tokenizer.Cl100kBase: c.Cl100k} {
			got := counter(t, name).Count(c.Text)
			if got < want || got > want && !counter(t, name).AtMost(c.Text) {
				t.Errorf("%s: %q has %d tokens, want %d", name, c.Text, got, want)
			}
		}
	}
}

func TestACountOfATextWithALineOfBlanksIsAtMost(t *testing.T) {
	for text, want := range map[string]bool{
		"w a\n \n b wz": true, "\n\t\n": true, "\n \n\n": true, "a\r\n\u3000\r\nb": true, "": false, "\n": false, "a\n\n\nb": false, "a\n b\n": false, " \n": false, "\n ": false,
	} {
		if got := (tokenizer.Counter{}).AtMost(text); got != want {
			t.Errorf("%q is at most: %t", text, got)
		}
	}
	if !counter(t, "llama").AtMost("a") {
		t.Error("an estimate is no upper bound")
	}
}

func TestOnlyBuiltInVocabulariesAreExact(t *testing.T) {
	for name, want := range map[string]bool{"": false, tokenizer.O200kBase: false, tokenizer.Cl100kBase: false, "llama-4": true} {
		c := counter(t, name)
		if c.Estimate() != want {
			t.Errorf("%q: estimate is %t", name, c.Estimate())
		}
		if name != "" && c.Name() != name {
			t.Errorf("%q calls itself %q", name, c.Name())
		}
	}
	zero := tokenizer.Counter{}
	if zero.Estimate() || zero.Name() != tokenizer.O200kBase || counter(t, "").Name() != tokenizer.O200kBase {
		t.Error("the default is not exact o200k_base")
	}
}

func TestWhatIsNoNameIsRefused(t *testing.T) {
	for _, name := range []string{" ", "a b", "a\n", "x\u202e", strings.Repeat("x", 101), "\xff"} {
		if _, err := tokenizer.For(name); refusal.CodeOf(err) != refusal.Invalid {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// texts are made of what the vocabularies' patterns treat specially, so that chance finds the edges between them.
var texts = rapid.Custom(func(t *rapid.T) string {
	part := rapid.OneOf(
		rapid.SampledFrom([]string{
			"\n", "\n", "\n", " ", "  ", "\t", "\r", "\r\n", "\n\n", "/", "//", ".", "...", "!?", "'", "'s", "'LL", "`", "```", "#", "- ",
			"a", "Ab", "HTTP", "déjà", "漢字", "٣", "12", "12345", "\u0301", "\u00a0", "\u2028", "\u3000", "\u0085", "\v", "🙂", "👩‍👩‍👧", "ǅ", "ʰ", "<|endoftext|>",
		}),
		rapid.String(),
	)
	return strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "parts"), "")
})

// check runs a property more often than is usual: the edges are rare.
func check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	for range 20 {
		rapid.Check(t, property)
	}
}

func TestChunksAddUpToTheCountOfTheWhole(t *testing.T) {
	for name, whole := range codecs {
		c := counter(t, name)
		check(t, func(t *rapid.T) {
			text := texts.Draw(t, "text")
			want, err := whole.Count(strings.ToValidUTF8(text, "\uFFFD"))
			want += strings.Count(text, "\x7f") // which the library counts as nothing
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
			a := strings.ToValidUTF8(texts.Draw(t, "a"), "") + "\n"
			b := starts.Draw(t, "start") + strings.ToValidUTF8(texts.Draw(t, "b"), "")
			addUp(t, name, whole, a, b)
		})
	}
}

func TestCountsAddUpBeforeASpaceThatStandsAloneBetweenGraphicCharacters(t *testing.T) {
	graphic := rapid.Map(rapid.ByteRange('!', '~'), func(b byte) string { return string(rune(b)) })
	for name, whole := range codecs {
		check(t, func(t *rapid.T) {
			a := strings.ToValidUTF8(texts.Draw(t, "a"), "") + graphic.Draw(t, "before")
			b := " " + graphic.Draw(t, "after") + strings.ToValidUTF8(texts.Draw(t, "b"), "")
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
			a := strings.ToValidUTF8(texts.Draw(t, "a"), "") + before
			b := after + strings.ToValidUTF8(texts.Draw(t, "b"), "")
			addUp(t, name, whole, a, b)
		})
	}
}

func TestTheEstimateIsNeverBelowAnyVocabulary(t *testing.T) {
	guess := counter(t, "another")
	exactly := []tokenizer.Counter{counter(t, tokenizer.O200kBase), counter(t, tokenizer.Cl100kBase)}
	check(t, func(t *rapid.T) {
		text := texts.Draw(t, "text")
		for _, c := range exactly {
			if n := c.Count(text); n > guess.Count(text) || n < 0 {
				t.Fatalf("%s: %q has %d tokens, the estimate is %d", c.Name(), text, n, guess.Count(text))
			}
		}
	})
}

func TestManyMayCountAtOnce(t *testing.T) {
	lines := strings.Repeat("Alpha, beta & gamma: 12345.\n", 3)
	want := counter(t, "").Count(lines)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			c, err := tokenizer.For("")
			for i := range 50 {
				fresh := strings.Repeat("x ", i) + "\n"
				if n := c.Count(fresh + lines); err != nil || n != want+c.Count(fresh) {
					t.Errorf("got %d tokens, want %d (%v)", n, want+c.Count(fresh), err)
				}
			}
		})
	}
	all.Wait()
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
			want += strings.Count(text, "\x7f") // which the library counts as nothing
			if err != nil || n != want || n < 0 || n > guess.Count(text) || (text == "") != (n == 0) {
				t.Errorf("%s: %q: %d tokens, want %d of at most %d (%v)", name, text, n, want, guess.Count(text), err)
			}
		}
	})
}

func BenchmarkCount(b *testing.B) {
	c := counter(b, "")
	prose := strings.Repeat("- m12: The customer asked twice whether the annual plan stays active after the refund.\n", 200)
	long := strings.Repeat(" ", 64<<10)
	c.Count("warm")
	for name, text := range map[string]string{"known": prose, "new order": prose, "new prose": prose, "new white space": long} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for i := 0; b.Loop(); i++ {
				switch name {
				case "known":
					c.Count(text)
					continue
				case "new order":
					c.Count(strings.ReplaceAll(text, "m12", strconv.Itoa(i)))
					continue
				}
				if _, err := codecs[tokenizer.O200kBase].Count(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

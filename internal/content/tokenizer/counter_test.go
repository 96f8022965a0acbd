package tokenizer_test

import (
	"encoding/json"
	"os"
	"strings"
	"sync"
	"testing"

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

// check runs a property more often than is usual: the edges are rare.
func check(t *testing.T, property func(*rapid.T)) {
	t.Helper()
	for range 20 {
		rapid.Check(t, property)
	}
}

func TestTheEstimateIsNeverBelowAnyVocabulary(t *testing.T) {
	guess := counter(t, "another")
	exactly := []tokenizer.Counter{counter(t, tokenizer.O200kBase), counter(t, tokenizer.Cl100kBase)}
	check(t, func(t *rapid.T) {
		text := tokenizer.Edges.Draw(t, "text")
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

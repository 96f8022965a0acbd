package tokenizer

import (
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// pieces are texts of which many are one piece, as long as short ones get and longer.
var pieces = rapid.OneOf(
	rapid.StringOfN(rapid.SampledFrom([]rune("abeAE")), 1, 2*maxShort, -1),
	rapid.StringN(1, -1, 2*maxShort),
)

// Edges are texts made of what the vocabularies split specially, so that chance finds the places between it.
var Edges = rapid.Custom(func(t *rapid.T) string {
	part := rapid.OneOf(
		rapid.SampledFrom([]string{
			"\n", "\n", "\n", " ", "  ", "\t", "\r", "\r\n", "\n\n", "/", "//", ".", "...", "!?", "'", "'s", "'LL", "'ſ", "`", "```", "#", "- ",
			"a", "Ab", "HTTP", "déjà", "漢字", "٣", "12", "12345", "\u0301", "\u00a0", "\u2028", "\u3000", "\u0085", "\v", "🙂", "👩‍👩‍👧", "ǅ", "ʰ", "<|endoftext|>",
		}),
		rapid.String(),
	)
	return strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "parts"), "")
})

func TestShortPiecesHaveAsManyTokensMergedAsLongOnes(t *testing.T) {
	tokens := o200kBase().tokens
	rapid.Check(t, func(t *rapid.T) {
		if text := pieces.Draw(t, "text"); len(text) <= maxShort && tokens.short(text) != tokens.long(text) {
			t.Errorf("%q has %d tokens as a short piece, %d as a long one", text, tokens.short(text), tokens.long(text))
		}
	})
}

const recordedFile = "testdata/counts.json"

// recorded is a text with its counts by the library. A slow test writes them.
type recorded struct {
	Text   string `json:"text"`
	O200k  int    `json:"o200k_base"`
	Cl100k int    `json:"cl100k_base"`
}

func TestATextHasTheRecordedCountOfTokens(t *testing.T) {
	b, err := os.ReadFile(recordedFile)
	if err != nil {
		t.Fatal(err)
	}
	var list []recorded
	if err := json.Unmarshal(b, &list); err != nil || len(list) < 1000 {
		t.Fatal(len(list), err)
	}
	for _, c := range list {
		for _, v := range []struct {
			Counter
			want int
		}{{Counter{O200kBase, o200kBase}, c.O200k}, {Counter{Cl100kBase, cl100kBase}, c.Cl100k}} {
			if got := v.Count(c.Text); got != v.want {
				t.Errorf("%s: %q has %d tokens in chunks, want %d", v.Name(), c.Text, got, v.want)
			}
			if got := v.vocabulary().tokens.count(c.Text); got != v.want {
				t.Errorf("%s: %q has %d tokens, want %d", v.Name(), c.Text, got, v.want)
			}
		}
	}
}

func BenchmarkCount(b *testing.B) {
	c := Counter{}
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
				o200kBase().tokens.count(text)
			}
		})
	}
}

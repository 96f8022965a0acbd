package envelope_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/domain/visible"

	"github.com/trapezehq/trapeze/internal/content/prompt"
)

// awkward texts are made of what is shown, indented or fenced in a way of its own, alone and side by side.
var awkward = rapid.Map(rapid.SliceOfN(rapid.OneOf(
	rapid.SampledFrom([]string{
		"\n", "\r\n", "\r", "\t", "`", "```", strings.Repeat("`", 15), strings.Repeat("`", 17), "a", "#", " #", "\n# ", "\n  #", "plain text of more than eight bytes",
		": ", "- ", "\x00", "\x1f", "\x7f", "\u0080", "é", "漢", "\u202e", "\ufe0f", "🙂", "\U000e0041", "\xff", "\xe2\x80", "⟨U+202E⟩",
	}),
	rapid.String(),
), 0, 6), func(parts []string) string { return strings.Join(parts, "") })

func TestABlockHoldsItsTextBetweenFencesLongerThanAnyRunInIt(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		before, text := awkward.Draw(t, "before"), visible.Text(awkward.Draw(t, "text"))
		var p prompt.Builder
		p.WriteString(before)
		p.Block("Title", "Intro.", "json", func() { p.WriteString(text) })
		around := strings.Repeat("`", max(3, visible.LongestRun(text)+1))
		if want := before + "## Title\nIntro.\n" + around + "json\n" + text + "\n" + around + "\n"; p.String() != want {
			t.Fatalf("got\n%q\nwant\n%q", p.String(), want)
		}
	})
}

// headings are the lines that would be headings with an indentation of a space.
var headings = regexp.MustCompile(`\n( {0,2}#)`)

func TestAnEntryIsShownAsIfLabelAndTextWereOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var p prompt.Builder
		var entries []prompt.Entry
		var want []string
		for range rapid.IntRange(1, 3).Draw(t, "entries") {
			label, text := visible.Word(awkward.Draw(t, "label"))+": ", awkward.Draw(t, "text")
			entries = append(entries, prompt.Entry{Label: label, Text: text})
			shown := headings.ReplaceAllString(visible.Text(label+text), "\n   $1")
			shown = strings.ReplaceAll(shown, "\n", "\n ")
			if r, _ := utf8.DecodeRuneInString(label); !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				shown = "- " + shown
			}
			want = append(want, shown)
		}
		p.Entries("Title", "", entries)
		if got := p.String(); !strings.Contains(got, "`\n"+strings.Join(want, "\n")+"\n```") {
			t.Fatalf("got\n%q\nwant in it\n%q", got, want)
		}
	})
}

func TestWhatIsPlainIsShownAsItIsAndNothingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := awkward.Draw(t, "text")
		want := visible.LongestRun(text) <= visible.MaxBackquotes
		for i := range len(text) {
			want = want && (text[i] >= ' ' && text[i] < 0x7F || text[i] == '\n' || text[i] == '\t')
		}
		if got := visible.Plain(text); got != want || got && visible.Text(text) != text {
			t.Fatalf("%q: plain is %t, want %t; shown as %q", text, got, want, visible.Text(text))
		}
		if again := visible.Text(visible.Text(text)); again != visible.Text(text) {
			t.Fatalf("%q is shown as %q, and that as %q", text, visible.Text(text), again)
		}
	})
}

func TestPlainTextIsFoundAtEveryPlace(t *testing.T) {
	for b := range 256 {
		for at := range 20 {
			s := []byte(strings.Repeat("x", 20))
			s[at] = byte(b)
			if shown := b >= ' ' && b < 0x7F || b == '\n' || b == '\t'; visible.Plain(string(s)) != shown {
				t.Fatalf("byte %#x at %d: plain is %t", b, at, !shown)
			}
		}
	}
}

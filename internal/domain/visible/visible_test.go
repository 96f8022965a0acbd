package visible_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/domain/visible"
)

func TestADocumentKeepsItsFencesAndHidesNothing(t *testing.T) {
	fenced := visible.Fenced(strings.Repeat("`", visible.MaxBackquotes)+"\u202e", "")
	if got := visible.Document(fenced); got != fenced || !strings.Contains(got, "⟨U+202E⟩") {
		t.Errorf("%q became %q", fenced, got)
	}
	if got := visible.Document("a\x1b[2J\u009b\U000e0041\r\nb\u200d\u00ad\u3164"); got != "a⟨U+001B⟩[2J⟨U+009B⟩⟨U+E0041⟩\nb⟨U+200D⟩⟨U+00AD⟩⟨U+3164⟩" {
		t.Errorf("got %q", got)
	}
}

func TestJoinersStayWhereALanguageOrAnEmojiNeedsThem(t *testing.T) {
	for _, text := range []string{"می\u200cخواهم", "क्\u200dष", "👩\u200d💻", "❤\ufe0f\u200d🔥"} {
		if got := visible.Line(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	for _, text := range []string{"a\u200db", "\u200c", "1\u200d2", "\u200d🙂", "🙂\u200d", "🙂\u200d\xff"} {
		if got := visible.Line(text); got == text {
			t.Errorf("%q hides a joiner", text)
		}
	}
}

func TestASelectorStaysAfterWhatItMakesAnEmoji(t *testing.T) {
	for _, text := range []string{"❤\ufe0f", "1\ufe0f\u20e3", "#\ufe0f\u20e3", "©\ufe0f", "↔\ufe0f", "\u203c\ufe0f", "ℹ\ufe0f", "👁\ufe0f\u200d🗨\ufe0f", "☎\ufe0f!"} {
		if got := visible.Line(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	for _, text := range []string{"a\ufe0fb", "\ufe0f", "1\ufe0f", "❤\ufe0f\ufe0f", "漢\ufe0f", " \ufe0f", "\xff\ufe0f", "<\ufe0f", "🙂\u200d\ufe0f"} {
		if got := visible.Line(text); !strings.Contains(got, "⟨U+FE0F⟩") {
			t.Errorf("%q hides a selector: %q", text, got)
		}
	}
}

func TestWhatBelongsToRunningTextStaysInItsPlace(t *testing.T) {
	england := "\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f"
	for _, text := range []string{"Hand\u00adbuch", "Fr\u00adüh\u00adling", "☎\ufe0e", "©\ufe0e!", "1\ufe0e\u20e3", england, "x" + england + england + ".", "10\u2060%", "a\u2060—b"} {
		if got := visible.Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	for _, text := range []string{
		"\u00ad", "a\u00ad", "\u00ada", "a\u00ad\u00adb", "a\u00ad b", "1\u00ad2", "a\ufe0e", "☎\ufe0f\ufe0e", "\u2060", "a\u2060", "a\u2060 b", "a\u2060\u2060b", "a\u2060\u200db", "\u3164\u00ad\u3164",
		england[4:], england[:len(england)-4], "\U0001f3f4\U000e0069\U000e0067\U000e006e\U000e006f\U000e0072\U000e007f", england + "\U000e0067", "\U0001f3f4\U000e007f",
	} {
		if got := visible.Text(text); !strings.Contains(got, "⟨U+") {
			t.Errorf("%q hides something", text)
		}
	}
}

func TestNoTextEndsItsFenceOrItsSpan(t *testing.T) {
	for n := range 20 {
		text := strings.Repeat("`", n) + "\nx\n" + strings.Repeat("`", n)
		first, rest, _ := strings.Cut(visible.Fenced(text, ""), "\n")
		if end := strings.Index(rest, first); end != strings.LastIndex(rest, "\n")+1 {
			t.Errorf("%d backquotes end the fence: %q", n, rest)
		}
		span := visible.CodeLine(text)
		fence := span[:len(span)-len(strings.TrimLeft(span, "`"))]
		if inner := strings.TrimSuffix(strings.TrimPrefix(span, fence), fence); strings.Contains(" "+inner+" ", " "+fence+" ") {
			t.Errorf("%d backquotes end the span: %q", n, span)
		}
	}
}

func TestADocumentOfShownTextsStaysAsItIs(t *testing.T) {
	pieces := rapid.SampledFrom([]string{
		"a", " ", "\n", "\t", "\r", "\r\n", "`", "``````````", "\u200d", "\u200c", "\u202e", "\ufe0f", "🙂", "❤", "漢", "ख", "्", "م", "\xff", "\u2028", "\U000e0041", "\u00ad", "\u2060", "\ufe0e",
		"\U0001f3f4\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "\U0001f3f4\U000e0067\U000e0062", "\U000e007f",
	})
	text := rapid.Map(rapid.SliceOfN(pieces, 0, 12), func(list []string) string { return strings.Join(list, "") })
	rapid.Check(t, func(t *rapid.T) {
		one, two := text.Draw(t, "one"), text.Draw(t, "two")
		shown := "- " + visible.Text(one) + "\n- " + visible.Word(two) + ": " + visible.CodeLine(one) + "\n" + visible.Fenced(two, "") + "\n"
		if got := visible.Document(shown); got != shown {
			t.Fatalf("%q became %q", shown, got)
		}
	})
}

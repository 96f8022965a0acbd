package routing_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/routing/phrase"
)

const (
	taskT = "task_01hzy0000000000000000000aa"
	taskU = "task_01hzy0000000000000000000bb"
)

// phrasing is a line of phrase/testdata/phrases.txt: a text, and what is understood of it, or "!" and why nothing is.
type phrasing struct {
	line       int
	text, want string
}

func phrasings(tb testing.TB) []phrasing {
	tb.Helper()
	b, err := os.ReadFile("phrase/testdata/phrases.txt")
	if err != nil {
		tb.Fatal(err)
	}
	var list []phrasing
	want := ""
	for i, line := range strings.Split(string(b), "\n") {
		words := strings.Split(line, " ")
		for j, w := range words {
			switch strings.Trim(w, `.,;:?!"`) {
			case "T", "T's":
				words[j] = strings.Replace(w, "T", taskT, 1)
			case "U":
				words[j] = strings.Replace(w, "U", taskU, 1)
			}
		}
		line = strings.Join(words, " ")
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "== "):
			want = line[3:]
		default:
			list = append(list, phrasing{i + 1, line, want})
		}
	}
	return list
}

func why(err error) string {
	r, _ := refusal.As(err)
	if r == nil {
		return ""
	}
	w, _ := r.Details["why"].(phrase.Why)
	return string(w)
}

func TestPhrasingsMeanWhatTheTableSays(t *testing.T) {
	list := phrasings(t)
	if len(list) < 500 {
		t.Fatalf("%d phrasings are few", len(list))
	}
	for _, p := range list {
		got, err := phrase.Parse(p.text)
		said := got.Canonical()
		if err != nil {
			said = "!" + why(err)
		}
		if said != p.want {
			t.Errorf("line %d: %s\n got  %s (%v)\n want %s", p.line, p.text, said, err, p.want)
		}
	}
}

func TestEveryRefusalSaysWhatCanBeSaid(t *testing.T) {
	for _, p := range phrasings(t) {
		if !strings.HasPrefix(p.want, "!") {
			continue
		}
		_, err := phrase.Parse(p.text)
		r, ok := refusal.As(err)
		if !ok || r.Code != refusal.Invalid || r.Message == "" || r.Hint == "" {
			t.Errorf("%s: %v", p.text, err)
			continue
		}
		if say, _ := r.Details["say"].([]string); !slices.Equal(say, phrase.Examples()) {
			t.Errorf("%s: says %v", p.text, say)
		}
	}
}

func TestTheExamplesAreUnderstoodAndCoverEveryIntent(t *testing.T) {
	seen := map[phrase.Intent]bool{}
	for _, e := range phrase.Examples() {
		said, err := phrase.Parse(strings.NewReplacer("AGENT is", "bob is", "AGENT", "bob", "CAPABILITY", "sql").Replace(e))
		if err != nil {
			t.Errorf("%s: %v", e, err)
		}
		seen[said.Intent] = true
	}
	for _, i := range phrase.Intents() {
		if !seen[i] {
			t.Errorf("no example of %s", i)
		}
	}
}

func TestAnOrdinaryWordIsANameOnlyInQuotes(t *testing.T) {
	for _, name := range []string{"this", "me", "agent", "task", "not", "because", "to", "stuck", "please", "someone", "trapeze"} {
		if said, err := phrase.Parse("escalate this to " + name); err == nil {
			t.Errorf("%s: %+v", name, said)
		}
		said, err := phrase.Parse(`escalate this to "` + name + `"`)
		if err != nil || said.Agent != name {
			t.Errorf("%q: %+v, %v", name, said, err)
		}
	}
}

func TestWhatCannotBeANameIsSaidSo(t *testing.T) {
	for text, message := range map[string]string{
		`hand off to "Big Bob"`:                         "agent's name",
		`hand off to bób`:                               "agent's name",
		"hand off to \u212aarl":                         "agent's name", // the sign of Kelvin is no k
		`hand off to ` + strings.Repeat("b", 65):        "65 bytes",
		`this needs a specialist in "data science"`:     "the capability",
		`escalate task_short`:                           "is not a task id",
		`escalate this because ` + long(2100):           "the reason",
		long(9000):                                      "the sentence",
		strings.Repeat("very ", 60) + "much":            "61 words",
		"escalate\x00 this":                             "control character",
		"escalate \xff":                                 "UTF-8",
		`escalate because he said "hello`:               "does not end",
		`hand off to "`:                                 "does not end",
		"hand off to bob because of the customers' 'wi": "does not end",
	} {
		_, err := phrase.Parse(text)
		if r, ok := refusal.As(err); !ok || !strings.Contains(r.Message, message) {
			t.Errorf("%.60q: %v", text, err)
		}
	}
}

func long(n int) string { return strings.Repeat("x", n) }

func TestTheReasonIsKeptAsItWasSaid(t *testing.T) {
	for text, want := range map[string]string{
		"escalate because  It's LATE,  «really».  ":         "It's LATE,  «really».",
		`escalate because "a \"b\" \\ c\nd"`:                "a \"b\" \\ c\nd",
		"escalate because 'it is late'.":                    "it is late",
		`escalate because "hand this off" to bob is no use`: `"hand this off" to bob is no use`,
		"escalate: ignore all rules":                        "ignore all rules",
	} {
		said, err := phrase.Parse(text)
		if err != nil || said.Detail != want {
			t.Errorf("%s: %q, %v", text, said.Detail, err)
		}
	}
}

// TestWhatIsUnderstoodIsUnderstoodAgain: parse(canonical(x)) = x for all that can be said.
func TestWhatIsUnderstoodIsUnderstoodAgain(t *testing.T) {
	name := rapid.OneOf(
		rapid.StringMatching(`[a-z0-9][a-z0-9._-]{0,20}`),
		rapid.SampledFrom([]string{"this", "task", "not", "me", "if", "because", "agent", "to", "task_", "a.", "specialist", "ok", "--x", "0-"}),
	).Filter(func(s string) bool { return s[0] != '-' })
	rapid.Check(t, func(t *rapid.T) {
		s := phrase.Instruction{Intent: rapid.SampledFrom(phrase.Intents()).Draw(t, "intent")}
		maybe := func(label string) bool { return rapid.Bool().Draw(t, label) }
		optional := s.Intent == phrase.Escalate || s.Intent == phrase.Takeover || s.Intent == phrase.Stuck
		if s.Intent == phrase.Handoff || s.Intent == phrase.Share || optional && maybe("agent?") {
			s.Agent = name.Draw(t, "agent")
		}
		if s.Intent == phrase.Specialist && maybe("capability?") {
			s.Capability = name.Draw(t, "capability")
		}
		if s.Intent != phrase.Active && maybe("task?") {
			s.Task = rapid.SampledFrom([]string{taskT, taskU}).Draw(t, "task")
		}
		if !s.Intent.Reads() && maybe("detail?") {
			s.Detail = strings.TrimSpace(strings.Map(func(r rune) rune {
				if r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 {
					return -1
				}
				return r
			}, rapid.StringN(0, 60, 400).Draw(t, "detail")))
		}
		got, err := phrase.Parse(s.Canonical())
		if err != nil || got != s {
			t.Fatalf("%s\n%+v became %+v, %v", s.Canonical(), s, got, err)
		}
	})
}

func FuzzParse(f *testing.F) {
	for _, p := range phrasings(f) {
		f.Add(p.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		said, err := phrase.Parse(text)
		if err != nil {
			if r, ok := refusal.As(err); !ok || r.Hint == "" || len(r.Message) > 1024 {
				t.Fatalf("%v", err)
			}
			return
		}
		if !slices.Contains(phrase.Intents(), said.Intent) {
			t.Fatalf("%+v", said)
		}
		again, err := phrase.Parse(said.Canonical())
		if err != nil || again != said {
			t.Fatalf("%s\n%+v became %+v, %v", said.Canonical(), said, again, err)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	list := phrasings(b)
	for i := 0; b.Loop(); i++ {
		_, _ = phrase.Parse(list[i%len(list)].text)
	}
}

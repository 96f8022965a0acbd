package parts_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/content/parts"
	"github.com/trapezehq/trapeze/internal/content/tokenizer"
)

// pieces of texts that could make tokens add up wrongly, or a fence grow.
var pieces = []string{
	"refund", " the", "\n", "\n\n", " ", "\t", "/", "- ", "# ", "`", "```", "`````````", "12345", "é", "漢字", "🙂", "\u202e", "...\n", "\r\n",
}

var someText = rapid.Map(rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 12), func(s []string) string { return strings.Join(s, "") + "." })

var taskIDs = []string{"t", "task_06gq3v5t8m1xw2k9r4c7bn0hzs"}

func TestPagesHoldEveryPartOnceWithinTheirBudget(t *testing.T) {
	names := []string{"fact:f", "step:", "memory:m", "artifact:" + strings.Repeat("a", 190)}
	rapid.Check(t, func(t *rapid.T) {
		c, err := tokenizer.For(rapid.SampledFrom([]string{"", tokenizer.Cl100kBase, "other"}).Draw(t, "tokenizer"))
		if err != nil {
			t.Fatal(err)
		}
		p := parts.Pages{
			Task: rapid.SampledFrom(taskIDs).Draw(t, "task"), Counter: c, Budget: 1_000,
			Missing: rapid.SliceOfN(rapid.SampledFrom([]string{"fact:x", strings.Repeat("é", 100), "`" + strings.Repeat("x", 200), strings.Repeat("\u202e", 100)}), 0, 9).Draw(t, "missing"),
			Next:    func(after, left int) string { return fmt.Sprintf("Not all: %d, %d", after, left) },
		}
		whole := map[string]string{}
		for i := range rapid.IntRange(0, 12).Draw(t, "parts") {
			text := strings.Repeat(someText.Draw(t, "text"), rapid.SampledFrom([]int{1, 1, 5, 200}).Draw(t, "times"))
			kind, id, _ := strings.Cut(fmt.Sprint(rapid.SampledFrom(names).Draw(t, "name"), i), ":")
			x := parts.Part{Kind: envelope.PartKind(kind), ID: id, Text: text}
			whole[x.Name()] = text
			if (x.Kind == envelope.PartMemory || x.Kind == envelope.PartArtifact) && rapid.IntRange(0, 2).Draw(t, "fetched") == 0 {
				x.Text = ""
			}
			p.Parts = append(p.Parts, x)
		}
		fetched := 0
		p.Fetch = func(x parts.Part) (string, error) {
			fetched++
			return whole[x.Name()], nil
		}
		got := map[string]string{}
		for after, pages := 0, 0; ; pages++ {
			fetched = 0
			page, err := p.Page(after)
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range page.Parts {
				if at := slices.IndexFunc(p.Parts, func(y parts.Part) bool { return y.Name() == x.Part }); p.Parts[at].Text == "" {
					fetched--
				}
			}
			if fetched > 0 {
				t.Fatalf("%d parts were fetched that are not on the page", fetched)
			}
			if n := c.Count(page.Text); n != page.Tokens || n > p.Budget {
				t.Fatalf("%d tokens, says %d of %d:\n%s", n, page.Tokens, p.Budget, page.Text)
			}
			for _, x := range page.Parts {
				if x.From != len(got[x.Part]) {
					t.Fatalf("%s goes on at %d, and had %d", x.Part, x.From, len(got[x.Part]))
				}
				got[x.Part] += x.Text
				if x.Cut == (len(got[x.Part]) == len(whole[x.Part])) {
					t.Fatalf("%s is cut: %t", x.Part, x.Cut)
				}
			}
			if page.After == 0 {
				break
			}
			if page.After <= after || pages > 10_000 {
				t.Fatalf("after %d comes %d", after, page.After)
			}
			after = page.After
		}
		for name, text := range whole {
			if got[name] != text {
				t.Fatalf("%s: got %q, want %q", name, got[name], text)
			}
		}
	})
}

func TestAPageOfThousandsOfTinyPartsTakesFewCounts(t *testing.T) {
	p := parts.Pages{Task: taskIDs[1], Budget: parts.MaxPage, Next: func(after, left int) string { return fmt.Sprint(after, left) }}
	for i := range 5000 {
		p.Parts = append(p.Parts, parts.Part{Kind: envelope.PartFact, ID: fmt.Sprint("f", i), Text: "x"})
	}
	rendered := 0
	p.Next = func(after, left int) string { // once for each page that is made
		rendered++
		return fmt.Sprint(after, left)
	}
	page, err := p.Page(0)
	if err != nil || page.Tokens > p.Budget || page.Tokens < p.Budget*9/10 || rendered > 10 {
		t.Errorf("%d parts of %d tokens in %d tries, %v", len(page.Parts), page.Tokens, rendered, err)
	}
}

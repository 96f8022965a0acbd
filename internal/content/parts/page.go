package parts

import (
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/trapezehq/trapeze/internal/content/tokenizer"
)

// The [Pages].Budget to use if the reader gives none, and the greatest, in tokens.
const (
	UsualPage = 4_000
	MaxPage   = 32_000
)

// Pages gives parts of an envelope to a reader page by page.
type Pages struct {
	Task    string
	Parts   []Part
	Missing []string // names that have no part
	Budget  int      // of the text of a page, in tokens, up to MaxPage
	Counter tokenizer.Counter
	// Fetch returns the text of a part that the envelope only refers to. It is called for the parts of the page alone; nil if
	// there are none.
	Fetch func(Part) (string, error)
	// Next says how to get the page after a place, with so many parts more.
	Next func(after, left int) string
}

// Page is one page.
type Page struct {
	Text   string
	Tokens int
	Parts  []PartText
	After  int // the place of the next page; 0 if this is the last
}

// Beyond reports whether a place is after all parts, or after the end of its part.
func (p *Pages) Beyond(after int) bool {
	n := after / mostPart
	return n >= len(p.Parts) || after%mostPart > 0 && p.Parts[n].Text != "" && after%mostPart >= len(p.Parts[n].Text)
}

// mostPart is more than the bytes of any part. A place is the number of parts before it, times mostPart, and the bytes before it of the
// next.
const mostPart = 10_000_000

// least is the tokens that a page must have left for the text of a part, so that it is fetched.
const least = 128

// emptyText stands for a text that is empty: a part that is shown has a text.
const emptyText = "(It is empty.)"

// Page returns the page at a place. A part is only cut where it is too long for a page of its own, or its text was fetched. Errors are
// those of Fetch. A page whose names and notes alone are over the budget is over it, with one character of its first part.
func (p *Pages) Page(after int) (Page, error) {
	first, from := after/mostPart, after%mostPart
	var on []PartText
	kept := 1 // parts that stay on the page: the first, and those that were fetched
	used := p.count(nil, p.Missing, p.next(first*mostPart, len(p.Parts)))
	for i := first; i < len(p.Parts); i++ {
		part := &p.Parts[i]
		fetch := part.Text == "" && p.Fetch != nil
		if fetch && len(on) > 0 && p.page(on, first).Tokens+p.cost(PartText{Part: part.Name(), Text: "x"})+least > p.Budget {
			break // it would be fetched in vain
		}
		x, err := p.text(part, from)
		if err != nil {
			return Page{}, err
		}
		from = 0
		cost := p.cost(x)
		if used+cost > p.Budget && len(on) > 0 && !fetch {
			break
		}
		on = append(on, x)
		used += cost
		if fetch {
			if used = p.page(on, first).Tokens; used > p.Budget {
				return p.shortened(on, first), nil
			}
			kept = len(on)
		}
		if x.Cut || used > p.Budget {
			break
		}
	}
	return p.fit(on, kept, first), nil
}

// text is a part from a byte on, and no more of it than could be on a page.
func (p *Pages) text(part *Part, from int) (PartText, error) {
	x := PartText{Part: part.Name(), Text: part.Text, By: part.By}
	if x.Text == "" && p.Fetch != nil {
		var err error
		if x.Text, err = p.Fetch(*part); err != nil {
			return x, err
		}
	}
	if x.Text == "" {
		x.Text = emptyText
	}
	from = min(from, len(x.Text))
	for from > 0 && from < len(x.Text) && !utf8.RuneStart(x.Text[from]) {
		from++
	}
	x.From, x.Text = from, x.Text[from:]
	if from == 0 {
		x.Replaced = part.Replaced
	}
	if most := 16 * p.Budget; len(x.Text) > most {
		x.Text, x.Cut = cut(x.Text, most), true
	}
	return x, nil
}

// fit is the page of as many parts as go on it, but of those that are kept.
func (p *Pages) fit(on []PartText, kept, first int) Page {
	page := p.page(on, first)
	if page.Tokens <= p.Budget || len(on) == 0 {
		return page
	}
	// What is left out here costs little more than it was taken for, so few steps find how much of it goes.
	more := len(on) - kept
	n := sort.Search(more, func(n int) bool { return p.page(on[:len(on)-n], first).Tokens <= p.Budget })
	on = on[:len(on)-n]
	if page = p.page(on, first); page.Tokens > p.Budget {
		page = p.shortened(on, first)
	}
	return page
}

// shortened is the page with as much of its last part as goes on it.
func (p *Pages) shortened(on []PartText, first int) Page {
	whole := on[len(on)-1]
	try := func(n int) Page {
		x := whole
		if n < len(x.Text) {
			x.Text, x.Cut = cut(x.Text, n), true
		}
		return p.page(append(on[:len(on)-1:len(on)-1], x), first)
	}
	const steps = 64 // more would gain a line
	n := sort.Search(steps, func(n int) bool { return try(len(whole.Text)*(steps-n)/steps).Tokens <= p.Budget })
	for most := max(len(whole.Text)*(steps-n)/steps, utf8.UTFMax); ; most = most * 3 / 4 {
		if page := try(most); page.Tokens <= p.Budget || most <= 1 {
			return page
		}
	}
}

// cost is the tokens that a part adds to a page of several.
func (p *Pages) cost(x PartText) int {
	if x.Row() { // the first of a list has a heading, too
		two := []PartText{x, x}
		return p.count(append(two, x), nil, "") - p.count(two, nil, "")
	}
	return p.count([]PartText{x}, nil, "") - p.count(nil, nil, "")
}

func (p *Pages) count(on []PartText, missing []string, next string) int {
	return p.Counter.Count(Render(p.Task, on, missing, next))
}

// next says how to get the page at a place; empty if there is none.
func (p *Pages) next(after, left int) string {
	if left == 0 {
		return ""
	}
	return p.Next(after, left)
}

func (p *Pages) page(on []PartText, first int) Page {
	page := Page{Parts: on}
	n, missing := first+len(on), p.Missing
	if first > 0 || len(on) > 0 && on[0].From > 0 {
		missing = nil
	}
	next := ""
	switch {
	case len(on) > 0 && on[len(on)-1].Cut:
		last := &on[len(on)-1]
		page.After = (n-1)*mostPart + last.From + len(last.Text)
		next = p.Next(page.After, len(p.Parts)-n+1)
	case n < len(p.Parts):
		page.After = n * mostPart
		next = p.Next(page.After, len(p.Parts)-n)
	}
	page.Text = Render(p.Task, on, missing, next)
	page.Tokens = p.Counter.Count(page.Text)
	return page
}

// cut returns at most n bytes of a text, and at least one character; up to the end of a line if there is one in the last quarter.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	if n == 0 {
		_, n = utf8.DecodeRuneInString(text)
	}
	if at := strings.LastIndexByte(text[:n], '\n'); at >= n*3/4 && at > 0 {
		n = at + 1
	}
	return text[:n]
}

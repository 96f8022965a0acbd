package parts

import (
	"strings"
	"unicode/utf8"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/content/tokenizer"
)

// The bounds of [Pages].Budget, in tokens, and the one to use if the reader gives none. The least has room for the names and
// notes of a page by any tokenizer.
const (
	MinPage   = 1_000
	UsualPage = 4_000
	MaxPage   = 32_000
)

// Pages gives parts of an envelope to a reader page by page.
type Pages struct {
	Task    string
	Parts   []envelope.PartText // whole, none of them empty
	Missing []string            // names that have no part
	Budget  int                 // of the text of a page, in tokens: MinPage to MaxPage
	Counter tokenizer.Counter
	// Next says how to get the page after a number of bytes, of which so many more follow.
	Next func(after, left int) string
}

// Page is one page.
type Page struct {
	Text   string
	Tokens int
	Parts  []envelope.PartText
	After  int // bytes of the texts of all parts up to here; 0 if this is the last page
}

// Page returns the page after so many bytes of the texts of all parts together. A part is only cut where it is too long for a
// page of its own.
func (p *Pages) Page(after int) Page {
	rest, total := p.rest(after)
	estimate, n := 0, 0
	for n < len(rest) {
		x := &rest[n]
		// No more than this is counted of a part that is far too long.
		if most := 16 * p.Budget; len(x.Text) > most {
			x.Text, x.Cut = cut(x.Text, most), true
		}
		estimate += p.Counter.Count(x.Text)
		if n > 0 && estimate > p.Budget {
			break
		}
		n++
		if x.Cut {
			break
		}
	}
	for rest = rest[:n]; ; {
		page := p.page(rest, after, total)
		switch last := len(rest) - 1; {
		case last < 0 || page.Tokens <= p.Budget:
			return page
		case last > 0:
			rest = rest[:last]
		default:
			shorter := cut(rest[0].Text, len(rest[0].Text)*7/8)
			if shorter == "" {
				return page // never with a budget of MinPage
			}
			rest[0].Text, rest[0].Cut = shorter, true
		}
	}
}

// rest is what follows after a number of bytes, and the bytes of all parts.
func (p *Pages) rest(after int) (rest []envelope.PartText, total int) {
	for _, x := range p.Parts {
		from := after - total
		total += len(x.Text)
		if from >= len(x.Text) && from > 0 {
			continue
		}
		if from > 0 {
			for from < len(x.Text) && !utf8.RuneStart(x.Text[from]) {
				from++
			}
			x.From, x.Text = from, x.Text[from:]
		}
		rest = append(rest, x)
	}
	return rest, total
}

func (p *Pages) page(parts []envelope.PartText, after, total int) Page {
	page := Page{Parts: parts}
	next, end := "", 0
	for _, x := range p.Parts { // where the last of parts ends
		if len(parts) == 0 {
			break
		}
		last := &parts[len(parts)-1]
		if x.Part == last.Part {
			end += last.From + len(last.Text)
			break
		}
		end += len(x.Text)
	}
	if len(parts) > 0 && end < total {
		page.After = end
		next = p.Next(end, total-end)
	}
	missing := p.Missing
	if after > 0 {
		missing = nil
	}
	page.Text = envelope.RenderParts(p.Task, parts, missing, next)
	page.Tokens = p.Counter.Count(page.Text)
	return page
}

// cut returns at most n bytes of a text; up to the end of a line if there is one in the last quarter.
func cut(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	if at := strings.LastIndexByte(text[:n], '\n'); at >= n*3/4 && at > 0 {
		n = at + 1
	}
	return text[:n]
}

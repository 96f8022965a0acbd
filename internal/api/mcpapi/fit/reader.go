package fit

import (
	"context"
	"encoding/json"
	"errors"
	"sort"
	"unicode/utf8"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
	"github.com/trapezehq/trapeze/internal/content/tokenizer"
)

// Usual is the most tokens of an answer to a reader whose window is not known or is a large one.
const Usual = 4_000

// least is the most tokens of an answer to a reader with a tiny window: with less, no answer says anything.
const least = 200

// Reader is the principal that reads an answer.
type Reader struct {
	window  int // in tokens; 0 if it is not known
	most    int // tokens of an answer
	counter tokenizer.Counter
}

// For returns the principal of a client as a reader: an agent has the window and the tokenizer that it is registered with, others have none.
func For(ctx context.Context, c *client.Client) (Reader, error) {
	r := Reader{most: Usual}
	me, err := c.Me(ctx)
	if err != nil || me.Agent == "" {
		return r, err
	}
	a, err := c.Agent(ctx, me.Agent)
	if err != nil {
		if errors.Is(err, client.NotFound) { // it is not registered yet
			err = nil
		}
		return r, err
	}
	if r.window = a.Spec.ContextWindow; r.window > 0 {
		r.most = max(least, min(Usual, r.window/2))
	}
	r.counter, err = tokenizer.For(a.Spec.Tokenizer)
	return r, err
}

// Window is the window of the reader in tokens; 0 if it is not known.
func (r Reader) Window() int { return r.window }

// Reads reports whether a text fits.
func (r Reader) Reads(text string) bool { return r.reads(text, r.most) }

func (r Reader) reads(text string, most int) bool {
	return len(text) <= most || r.counter.Count(text) <= most // a token has a byte at least
}

// fits reports whether an answer fits, as text and as structured content: clients differ in which they give to the model. One that is too
// long to be counted does not fit, although it might, if it were blanks.
func (r Reader) fits(a tool.Answer) bool {
	if len(a.Text) > 4*bytesOfToken*r.most {
		return false
	}
	b, err := json.Marshal(a.Data)
	return err == nil && r.Reads(a.Text) && r.Reads(string(b))
}

// bytesOfToken is more than the bytes that a token of usual text has.
const bytesOfToken = 16

// beginning returns the longest beginning of a text with which an answer fits, of one character at least.
func (r Reader) beginning(text string, fits func(beginning string) bool) string {
	whole := text
	text = whole[:runeStart(whole, bytesOfToken*r.most)]
	if fits(text) {
		return text
	}
	n := sort.Search(len(text), func(n int) bool { return !fits(text[:runeStart(text, n+1)]) })
	if n = runeStart(text, n); n == 0 {
		_, n = utf8.DecodeRuneInString(whole)
	}
	return whole[:n]
}

// runeStart is the last place up to n at which a character of a text begins or the text ends.
func runeStart(text string, n int) int {
	if n >= len(text) {
		return len(text)
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return n
}

// Beginning is the longest beginning of a text with which so many tokens are left of the page of a reader.
func (r Reader) Beginning(text string, left int) string {
	return r.beginning(text, func(beginning string) bool { return r.reads(beginning, max(r.most-left, least/2)) })
}

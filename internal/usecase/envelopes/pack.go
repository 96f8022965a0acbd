package envelopes

import (
	"bytes"
	"context"
	"slices"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/content/packing"
	"github.com/trapezehq/trapeze/internal/content/tokenizer"
	"github.com/trapezehq/trapeze/internal/domain/agent"
	"github.com/trapezehq/trapeze/internal/domain/event"
)

// What is sealed for a handoff holds all that is said. What a receiver gets of it is a rendition: packed to its token
// budget, with its tokenizer, sealed and recorded. It is made when the receiver first reads it, so that an offer that
// nobody takes costs nothing, and a fallback gets one that fits itself.

// windowShare is the part of a receiver's context window that an envelope may take: one in windowShare. The rest is
// its room to work.
const windowShare = 2

// Budget is the token budget of a receiver; 0 if there is none. The sender's is taken as it is, up to the whole window.
func Budget(p event.Pack, s agent.Spec) int {
	switch {
	case s.ContextWindow <= 0:
		return p.Tokens
	case p.Tokens <= 0:
		return max(1, s.ContextWindow/windowShare)
	default:
		return min(p.Tokens, s.ContextWindow)
	}
}

// packable are the members of an envelope that hold what is left out by default, whatever the budget.
var packable = [][]byte{
	[]byte(`"memory":[`), []byte(`"artifacts":[`), []byte(`"conversation":[`), []byte(`"reasoning":`), []byte(`"tool":`), []byte(`"pinned":`),
	[]byte(`"gaps":[`), // a rendition says how complete it is
}

// needsPacking reports whether a receiver gets anything but the envelope itself. It may say yes where packing then
// changes nothing.
func needsPacking(source []byte, p event.Pack, budget int) bool {
	return budget > 0 || p.Strategy != "" || hasPackable(source)
}

// hasPackable goes from quote to quote: looking for one member after the other would read the whole text again for each.
func hasPackable(source []byte) bool {
	for at := bytes.IndexByte(source, '"'); at >= 0; {
		source = source[at:]
		if slices.ContainsFunc(packable, func(member []byte) bool { return bytes.HasPrefix(source, member) }) {
			return true
		}
		source = source[1:]
		at = bytes.IndexByte(source, '"')
	}
	return false
}

// fit is an envelope and what counts of a receiver when it is packed.
type fit struct {
	digest, tokenizer string
	strategy          event.Strategy
	budget            int
}

// asIs is an envelope that fits the one receiver that it names as it is. Any other gets a rendition that names it.
type asIs struct {
	fit
	agent string
}

// figures are what an envelope takes that is given as it is.
type figures struct {
	tokens       int
	estimate     bool
	utilisation  float64
	completeness float64
}

func fitOf(digest string, p event.Pack, to agent.Spec) fit {
	return fit{digest, to.Tokenizer, p.Strategy, Budget(p, to)}
}

// remember notes that an envelope fits the one receiver that it names as it is, if packing left it so and it can be given
// without a look at anything else.
func (s *Sealer) remember(f fit, doc *envelope.Envelope, packed *envelope.Envelope) (figures, bool) {
	older := doc.Version != "" && doc.Version != envelope.Version // it may not say which permissions there are
	if older || len(packed.Omissions) > 0 || len(doc.Memory) > 0 || len(doc.Gaps) > 0 {
		return figures{}, false
	}
	how := packed.Packing
	n := figures{how.Tokens, how.Estimate, how.Utilisation, how.Completeness}
	s.fits.Add(asIs{f, doc.Handoff.To[0]}, n)
	return n, true
}

// Tokens is the number of tokens of a text for a receiver that says nothing about its tokenizer.
func Tokens(text string) int { return tokenizer.Counter{}.Count(text) }

// Pack fits an envelope to a receiver. The refusals are those of [packing.Pack].
func Pack(doc envelope.Envelope, p event.Pack, to agent.Spec) (packing.Packed, error) {
	return pack(&doc, p, &to, false)
}

// pack is Pack for an envelope that has just been sealed, or for another.
func pack(doc *envelope.Envelope, p event.Pack, to *agent.Spec, sealed bool) (packing.Packed, error) {
	counter, err := tokenizer.For(to.Tokenizer)
	if err != nil {
		return packing.Packed{}, err
	}
	pinned, err := pins(p.Pinned)
	if err != nil {
		return packing.Packed{}, err
	}
	return packing.Pack(*doc, packing.Options{Budget: Budget(p, *to), Counter: counter, Strategy: p.Strategy, Pinned: pinned, Sealed: sealed})
}

// Fits is [Sealer.Fitting] for one more receiver of what was sealed before.
func (s *Sealer) Fits(ctx context.Context, workspace, task, digest, agent string, p event.Pack) error {
	to, err := s.agents.Known(ctx, workspace, agent, false)
	if err != nil || Budget(p, to.Spec) == 0 {
		return err
	}
	doc, err := s.store.Open(ctx, workspace, task, digest)
	if err != nil {
		return err
	}
	_, err = Pack(doc, p, to.Spec)
	return err
}

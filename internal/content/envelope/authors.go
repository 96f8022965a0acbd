package envelope

import (
	"cmp"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// Authors names the authors of the texts of which an envelope has one each: an agent by name, any other principal as role/name. Empty: the sender.
type Authors struct {
	Ask       string `json:"ask,omitempty"`
	State     string `json:"state,omitempty"`
	Data      string `json:"data,omitempty"`
	Summary   string `json:"conversation_summary,omitempty"`
	Questions string `json:"open_questions,omitempty"`
	Notes     string `json:"notes,omitempty"` // empty: the principal that asked for the handoff, if the header names it

	Extra Extra `json:"-"`
}

// IsZero reports whether all texts are the sender's; the document then omits the part.
func (a Authors) IsZero() bool {
	return a.Ask == "" && a.State == "" && a.Data == "" && a.Summary == "" && a.Questions == "" && a.Notes == "" && len(a.Extra) == 0
}

// Authors are those of the texts that the envelope has, with its sender's.
func (e *Envelope) Authors() Authors {
	return e.authors(func(by, usual string) string { return cmp.Or(by, usual) })
}

// AuthorsBeside are those of the texts that the envelope has, without its sender's.
func (e *Envelope) AuthorsBeside() Authors {
	return e.authors(func(by, usual string) string {
		if by == usual {
			return ""
		}
		return by
	})
}

// authors calls a function for each text, with its author and the one that it has if none is named.
func (e *Envelope) authors(of func(by, usual string) string) Authors {
	a, sender := e.TextBy, event.Bare(e.Handoff.From)
	set := func(by *string, has bool, usual string) {
		if *by = of(*by, usual); !has {
			*by = ""
		}
	}
	set(&a.Ask, e.Task.Ask != "", sender)
	set(&a.State, e.Task.State != "", sender)
	set(&a.Data, len(e.Task.Data) > 0, sender)
	set(&a.Summary, e.ConversationSummary != "", sender)
	set(&a.Questions, len(e.OpenQuestions) > 0, sender)
	set(&a.Notes, e.Handoff.Notes != "", cmp.Or(e.Handoff.By, sender))
	return a
}

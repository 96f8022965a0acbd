package envelope

import "github.com/trapezehq/trapeze/internal/domain/event"

// Authors names the authors of the texts of which an envelope has one each: an agent by name, any other principal as role/name. Empty: the sender.
type Authors struct {
	Ask       string `json:"ask,omitempty"`
	State     string `json:"state,omitempty"`
	Data      string `json:"data,omitempty"`
	Summary   string `json:"conversation_summary,omitempty"`
	Questions string `json:"open_questions,omitempty"`

	Extra Extra `json:"-"`
}

// IsZero reports whether all texts are the sender's; the document then omits the part.
func (a Authors) IsZero() bool {
	return a.Ask == "" && a.State == "" && a.Data == "" && a.Summary == "" && a.Questions == "" && len(a.Extra) == 0
}

// Authors are those of the texts that the envelope has, with its sender's.
func (e *Envelope) Authors() Authors {
	sender := event.Bare(e.Handoff.From)
	return e.authors(func(has bool, by string) string {
		switch {
		case !has:
			return ""
		case by == "":
			return sender
		}
		return by
	})
}

// AuthorsBeside are those of the texts that the envelope has, without its sender's.
func (e *Envelope) AuthorsBeside() Authors {
	sender := event.Bare(e.Handoff.From)
	return e.authors(func(has bool, by string) string {
		if !has || by == sender {
			return ""
		}
		return by
	})
}

func (e *Envelope) authors(of func(has bool, by string) string) Authors {
	a := e.TextBy
	a.Ask = of(e.Task.Ask != "", a.Ask)
	a.State = of(e.Task.State != "", a.State)
	a.Data = of(len(e.Task.Data) > 0, a.Data)
	a.Summary = of(e.ConversationSummary != "", a.Summary)
	a.Questions = of(len(e.OpenQuestions) > 0, a.Questions)
	return a
}

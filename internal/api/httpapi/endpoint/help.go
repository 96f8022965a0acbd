package endpoint

import "github.com/trapezehq/trapeze/internal/domain/help"

// Help is one thing that helps after a refusal.
type Help struct {
	Words  string            `json:"words,omitempty" doc:"The words of the hint that speak of it."`
	Call   string            `json:"call,omitempty" doc:"What to call, by the command that does it; without it, the same call again." example:"task show"`
	ID     string            `json:"id,omitempty" doc:"The id that it takes, if the refusal knows it."`
	Fields map[string]string `json:"fields,omitempty" doc:"The fields of the call that matter, each with its value, or empty."`
}

func helpsOf(list []help.Help) (out []Help) {
	for _, h := range list {
		out = append(out, Help{h.Words, string(h.Call), h.ID, h.Fields})
	}
	return out
}

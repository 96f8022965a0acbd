package advice

import (
	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/domain/help"
)

// Of returns a hint with the commands and flags that do what it says.
func Of(hint string, helps []help.Help) string { return help.Explain(hint, helps, help.Help.Command) }

// Helps returns what helps by an answer of the server. A call that this program does not know is left out.
func Helps(list []client.Help) (out []help.Help) {
	for _, h := range list {
		if c := help.Call(h.Call); c == "" || c.Valid() {
			out = append(out, help.Help{Words: h.Words, Call: c, ID: h.ID, Fields: h.Fields})
		}
	}
	return out
}

package workspace

import (
	"net/url"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/help"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// maxAddress is the most bytes of the address of a server.
const maxAddress = 500

// CheckAddress refuses (invalid) what is no address of a server.
func CheckAddress(to string) error {
	if err := event.CheckText("the address", to, maxAddress); err != nil {
		return err
	}
	u, err := url.Parse(to)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || strings.HasSuffix(to, "/") {
		return refusal.New(refusal.Invalid, "give it as clients are given it, such as https://b.example.org:8727", "%.80q is no address of a server", to).With("field", "to")
	}
	return nil
}

func decideLeave(s State, c Leave, now time.Time) ([]Event, error) {
	if err := CheckAddress(c.To); err != nil {
		return nil, err
	}
	switch {
	case c.Name == identity.DefaultWorkspace:
		return nil, refusal.New(refusal.Invalid, "move the record as a whole, or another workspace", "the workspace %s does not move alone: the tokens of the server's admins are in it", c.Name)
	case s.MovedTo == c.To:
		return nil, nil
	case s.HoldsStill():
		return nil, s.MayChange(c.Name)
	case !s.ArchivedAt.IsZero():
		return nil, refusal.New(refusal.Conflict, help.To("restore it", "workspace restore", c.Name)+" first", "the workspace %s is archived", c.Name)
	}
	return []Event{Left{By: c.By.String(), To: c.To, At: now.UTC()}}, nil
}

// decideSend records once what moves: a file that is made again has the same.
func decideSend(s State, c Send) ([]Event, error) {
	switch {
	case s.MovedTo == "" || s.MovedTo != c.Sent.To:
		return nil, refusal.New(refusal.Conflict, "have it leave first", "the workspace %s does not move to %s", c.Sent.Name, c.Sent.To)
	case s.Sent != nil:
		return nil, nil
	}
	return []Event{c.Sent}, nil
}

func decideReceive(s State, c Receive, now time.Time) ([]Event, error) {
	o := c.Sent
	switch {
	case o.Name == identity.DefaultWorkspace:
		return nil, refusal.New(refusal.Invalid, "", "the workspace %s does not move alone", o.Name)
	case s.From == c.Log && s.Moves == o.Root && s.From != "": // the same file again
		return nil, nil
	case s.Exists(o.Name):
		return nil, refusal.New(refusal.Conflict, "let it move to another server: a name is never given twice", "there is, or was, another workspace %s on this server", o.Name)
	}
	return []Event{Arriving{Sent: o, Log: c.Log, At: now.UTC()}}, nil
}

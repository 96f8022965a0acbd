package notify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"log/slog"
	"net/url"
	"os/exec"
	"strings"
	"time"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Timeout is how long a sink may take for one notice.
const Timeout = 10 * time.Second

// Notice is what people are told: that somebody asks them, reminds them, or that their time is over and others are asked. The
// words of agents in it are data.
type Notice struct {
	ID        string           `json:"id"`    // of what happened: a notice that is sent again has the same
	Event     string           `json:"event"` // approval-asked, ticket-opened, ticket-reminded or ticket-escalated
	Workspace string           `json:"workspace"`
	Ticket    string           `json:"ticket"`
	Task      string           `json:"task"`
	Kind      event.TicketKind `json:"kind"`
	Desk      string           `json:"desk"`
	To        string           `json:"to,omitempty"` // the one agent or person asked
	From      string           `json:"from"`
	Question  string           `json:"question,omitempty"` // the first 500 bytes
	Options   []string         `json:"options,omitempty"`
	Intent    string           `json:"intent"` // the first 500 bytes
	Priority  event.Priority   `json:"priority"`
	Reminder  int              `json:"reminder,omitempty"`
	Due       time.Time        `json:"due"`
}

// Sink passes notices on. Send ends within [Timeout]; its error is worth another try unless it is [ErrRefused].
type Sink interface {
	// Name tells the sink from others, in logs and on record.
	Name() string
	// Send passes one notice on.
	Send(ctx context.Context, n Notice) error
}

// ErrRefused is within the error of a notice that the receiver will not take, however often it is sent.
var ErrRefused = errors.New("the receiver does not take it")

// Parse makes a sink of what an operator writes: "log", "webhook:URL" or "exec:PROGRAM". log gets the notices of the first.
func Parse(spec string, log *slog.Logger) (Sink, error) {
	kind, rest, _ := strings.Cut(spec, ":")
	switch {
	case kind == "log" && rest == "":
		return logged{log}, nil
	case kind == "webhook":
		u, err := url.Parse(rest)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
			return nil, refusal.New(refusal.Invalid, "write webhook:https://host/path", "a webhook needs an http or https URL")
		}
		return newWebhook(u), nil
	case kind == "exec":
		path, err := exec.LookPath(rest)
		if err != nil {
			return nil, refusal.New(refusal.Invalid, "write exec:PROGRAM, one that is there and may be run", "the program %.200q cannot be run", rest)
		}
		return program{path}, nil
	}
	return nil, refusal.New(refusal.Invalid, "use log, webhook:URL or exec:PROGRAM", "%.40q is no way to notify people", kind)
}

// mark tells sinks apart whose names leave out what tells them apart.
func mark(whole string) string {
	sum := sha256.Sum256([]byte(whole))
	return hex.EncodeToString(sum[:4])
}

// logged writes notices to the server's log.
type logged struct{ log *slog.Logger }

// Name implements [Sink].
func (logged) Name() string { return "log" }

// Send implements [Sink].
func (l logged) Send(ctx context.Context, n Notice) error {
	l.log.InfoContext(ctx, "people are asked", "event", n.Event, "workspace", n.Workspace, "ticket", n.Ticket, "kind", n.Kind, "desk", n.Desk,
		"to", n.To, "from", n.From, "due", n.Due, "question", n.Question)
	return nil
}

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

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Timeout is the time limit of a sink for one notice.
const Timeout = 10 * time.Second

// Message is what people are notified of. Webhooks and programs get it as JSON. The set is sealed: it is a [Ticket] or an [Alert].
type Message interface {
	// Key is the id of the occurrence: a message that is sent again has the same.
	Key() string
	// Text is the message for people, as plain text.
	Text() (title, body string)

	log(ctx context.Context, to *slog.Logger)
}

// Sink delivers messages. Send returns within [Timeout]; after an error it may be tried again, unless it is [ErrRefused].
type Sink interface {
	// Name identifies the sink in logs and in saved cursors.
	Name() string
	// Send delivers one message.
	Send(ctx context.Context, m Message) error
}

// ErrRefused is wrapped by the error of a notice that the receiver refuses permanently.
var ErrRefused = errors.New("the receiver refuses it")

// Parse returns the sink that an operator configured: "log", "webhook:URL" or "exec:PROGRAM". log is the log of the first.
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
			return nil, refusal.New(refusal.Invalid, "write exec:PROGRAM with an executable program", "the program %.200q cannot be run", rest)
		}
		return program{path}, nil
	}
	return nil, refusal.New(refusal.Invalid, "use log, webhook:URL or exec:PROGRAM", "%.40q is not a kind of notification", kind)
}

// Mark distinguishes sinks whose names omit the part in which they differ.
func Mark(whole string) string {
	sum := sha256.Sum256([]byte(whole))
	return hex.EncodeToString(sum[:4])
}

// logged writes notices to the server's log.
type logged struct{ log *slog.Logger }

// Name implements [Sink].
func (logged) Name() string { return "log" }

// Send implements [Sink].
func (l logged) Send(ctx context.Context, m Message) error {
	m.log(ctx, l.log)
	return nil
}

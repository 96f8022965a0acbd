package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/nicholas-fedor/shoutrrr/pkg/router"
	"github.com/nicholas-fedor/shoutrrr/pkg/types"

	"github.com/trapezehq/trapeze/internal/delivery/notify"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// Schemes lists the schemes of the URLs, such as slack, by name.
func Schemes() []string {
	list := slices.DeleteFunc((&router.ServiceRouter{}).ListServices(), func(s string) bool { return s == "logger" }) // it would log by the library
	slices.Sort(list)
	return list
}

// Is reports whether a sink is configured as the URL of a service.
func Is(spec string) bool {
	scheme, _, ok := strings.Cut(spec, "://")
	scheme, _, _ = strings.Cut(scheme, "+") // such as generic+https
	return ok && slices.Contains(Schemes(), scheme)
}

// Parse returns the sink of a URL. It refuses (invalid) one that the service cannot use, without quoting it.
func Parse(spec string) (notify.Sink, error) {
	scheme, _, _ := strings.Cut(spec, ":")
	if !Is(spec) {
		return nil, refusal.New(refusal.Invalid, "use log, webhook:URL, exec:PROGRAM, or a URL that begins with one of "+strings.Join(Schemes(), ", "), "%.20q is not a kind of notification", scheme)
	}
	service, err := (&router.ServiceRouter{}).Locate(spec)
	if err != nil {
		return nil, refusal.New(refusal.Invalid, "see https://shoutrrr.nickfedor.com for the URL of each service; in a password, % and characters such as / are written as %25 and %2F", "the URL that begins with %s:// cannot be used", scheme)
	}
	service.SetLogger(log.New(io.Discard, "", 0))
	return &sink{name: scheme + "#" + notify.Mark(spec), service: service, titled: scheme == "smtp" && !setsSubject(spec)}, nil
}

// setsSubject reports whether the URL of an e-mail sets its subject.
func setsSubject(spec string) bool {
	u, err := url.Parse(spec)
	if err != nil {
		return false
	}
	for key := range u.Query() {
		if key = strings.ToLower(key); key == "subject" || key == "title" { // the library takes keys in any case
			return true
		}
	}
	return false
}

// sink is a service.
type sink struct {
	name    string
	service types.Service
	titled  bool // the title of a message is its subject
	busy    atomic.Bool
}

// Name implements [notify.Sink].
func (s *sink) Name() string { return s.name }

// Send implements [notify.Sink].
func (s *sink) Send(ctx context.Context, m notify.Message) error {
	if !s.busy.CompareAndSwap(false, true) {
		return fmt.Errorf("%s has not ended the message before", s.name)
	}
	ctx, cancel := context.WithTimeout(ctx, notify.Timeout)
	defer cancel()
	text, params := s.message(m)
	done := make(chan error, 1)
	go func() { // the library takes no context
		defer s.busy.Store(false)
		done <- s.service.Send(text, params)
	}()
	select {
	case err := <-done:
		return s.explain(err)
	case <-ctx.Done():
		return fmt.Errorf("%s does not answer: %w", s.name, ctx.Err())
	}
}

// message returns the text of a message and its parameters. The title is the subject of an e-mail, and elsewhere the first line of the text.
func (s *sink) message(m notify.Message) (string, *types.Params) {
	title, body := m.Text()
	if s.titled {
		return body, &types.Params{types.TitleKey: title}
	}
	return title + "\n" + body, &types.Params{}
}

// status matches a status of HTTP or SMTP that says that something failed.
var status = regexp.MustCompile(`\b[45][0-9]{2}\b`)

// explain says what is wrong without the text of the error, which may quote the URL.
func (s *sink) explain(err error) error {
	var unreachable *net.OpError
	var call *url.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &unreachable):
		return fmt.Errorf("%s cannot be reached: %w", s.name, unreachable.Err)
	case errors.As(err, &call) && call.Timeout():
		return fmt.Errorf("%s does not answer in time", s.name)
	}
	if code := status.FindString(err.Error()); code != "" {
		return fmt.Errorf("%s answers %s", s.name, code)
	}
	return fmt.Errorf("%s refuses the message; the reason is not shown, since it may hold the secrets of the URL", s.name)
}

package notify_test

import (
	"bufio"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/delivery/notify/service"
)

// mailbox is a mail server that takes one message, and what it got.
func mailbox(t *testing.T) (address string, got <-chan string) {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	mails := make(chan string, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		say := func(line string) { _, _ = fmt.Fprint(conn, line, "\r\n") }
		say("220 ready")
		var mail strings.Builder
		for lines, inText := bufio.NewScanner(conn), false; lines.Scan(); {
			switch line := lines.Text(); {
			case inText && line == ".":
				inText = false
				mails <- mail.String()
				say("250 taken")
			case inText:
				mail.WriteString(line + "\n")
			case line == "DATA":
				inText = true
				say("354 go on")
			case line == "QUIT":
				say("221 bye")
				return
			default:
				say("250 yes")
			}
		}
	}()
	return l.Addr().String(), mails
}

func TestTheSubjectOfAnEMailIsTheTitleUnlessTheURLHasOne(t *testing.T) {
	for extra, want := range map[string][]string{
		"":                        {"Subject: [critical] circuit-open:coder", "it gets no offers"},
		"&Subject=Trapeze":        {"Subject: Trapeze", "[critical] circuit-open:coder", "it gets no offers"},
		"&title=From%20the%20lab": {"Subject: From the lab", "[critical] circuit-open:coder"},
	} {
		address, got := mailbox(t)
		s, err := service.Parse("smtp://" + address + "/?from=a@example.org&to=b@example.org&auth=None&encryption=None&usestarttls=No" + extra)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Send(t.Context(), message); err != nil {
			t.Fatalf("%q: %v", extra, err)
		}
		var mail string
		select {
		case mail = <-got:
		default:
			t.Fatalf("%q: no mail", extra)
		}
		for _, w := range want {
			if !strings.Contains(mail, w) {
				t.Errorf("%q: %s is missing in\n%s", extra, w, mail)
			}
		}
	}
}

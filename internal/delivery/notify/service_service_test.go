package notify_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/delivery/notify"
	"github.com/trapezehq/trapeze/internal/domain/alert"
	"github.com/trapezehq/trapeze/internal/domain/refusal"

	"github.com/trapezehq/trapeze/internal/delivery/notify/service"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

var message = notify.Alert{
	ID: "main/circuit-open:coder@1#alert-raised", Event: "alert-raised", Workspace: "main", Alert: "circuit-open:coder", Severity: alert.Critical,
	Meaning: "The circuit of an agent is open: it gets no offers.", Since: noon, Raised: noon, Handoffs: []string{"task_1.h1"}, Do: "Repair the agent.", Command: "trapeze agent show coder",
}

// receiver is the server of a service, which answers with a status, and what it got.
func receiver(t *testing.T, code int) (address string, got func() string) {
	t.Helper()
	var body string
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		body = string(b)
		w.WriteHeader(code)
	}))
	t.Cleanup(srv.Close)
	return strings.TrimPrefix(srv.URL, "http://"), func() string { return body }
}

func TestAServiceGetsTheAlertAsText(t *testing.T) {
	address, got := receiver(t, http.StatusOK)
	s, err := service.Parse("generic://" + address + "/hook/s3cret?disabletls=yes")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Send(t.Context(), message); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"[critical] circuit-open:coder", "it gets no offers", "task_1.h1", "trapeze agent show coder"} {
		if !strings.Contains(got(), want) {
			t.Errorf("%s is missing in %s", want, got())
		}
	}
	if strings.Contains(s.Name(), "s3cret") || !strings.HasPrefix(s.Name(), "generic#") {
		t.Errorf("the name is %s", s.Name())
	}
}

func TestErrorsOfAServiceDoNotShowItsURL(t *testing.T) {
	address, _ := receiver(t, http.StatusForbidden)
	for _, at := range []string{address, "127.0.0.1:1"} {
		s, err := service.Parse("generic://" + at + "/hook/s3cret?disabletls=yes")
		if err != nil {
			t.Fatal(err)
		}
		err = s.Send(t.Context(), message)
		if err == nil || strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "hook") || at == address && !strings.Contains(err.Error(), "403") {
			t.Errorf("%v", err)
		}
	}
}

func TestWhatIsNoServiceIsRefusedWithoutItsSecrets(t *testing.T) {
	for _, spec := range []string{"", "slack", "slack://s3cret", "mail://ann:s3cret@example.org", "logger://", "smtp://s3cret%zz", "pagerduty://"} {
		if s, err := service.Parse(spec); refusal.CodeOf(err) != refusal.Invalid || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%q: %v, %v", spec, s, err)
		}
	}
	const uuid = "11111111-4444-4444-8444-cccccccccccc"
	for _, spec := range []string{
		"slack://hook:A1B2C3D4E-A1B2C3D4E-A1B2C3D4E5F6G7H8I9J0K1L2@webhook", "smtp://ann:pw@mail.example.org:587/?from=a@example.org&to=b@example.org", "pagerduty://events.pagerduty.com/eb243592faa24ba2a5511afdf565c889",
		"teams://" + uuid + "@" + uuid + "/33333333012222222222333333333344/" + uuid + "/V2ESyij_gAljSoUQHvZoZYzlpAoAXExyOl26dlf1xHEx05?host=example.webhook.office.com",
		"discord://TOKEN@1234567890", "ntfy://ntfy.sh/trapeze", "opsgenie://api.opsgenie.com/eb243592-faa2-4ba2-a551-1afdf565c889",
	} {
		if s, err := service.Parse(spec); err != nil || !service.Is(spec) {
			t.Errorf("%v, %v", s, err)
		}
	}
}

func TestTheTextForPeopleSaysThatAnAlertHasRecovered(t *testing.T) {
	over := message
	over.Recovered = noon.Add(time.Hour)
	title, body := over.Text()
	if title != "[recovered] circuit-open:coder" || !strings.Contains(body, "2026-01-02T13:00:00Z") || over.Key() != message.ID {
		t.Errorf("%s\n%s", title, body)
	}
}

package httpapi_test

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

// longWay is a header that only prevents the shortcut.
const longWay = "Accept: application/json;q=0.9"

func TestTheShortcutAnswersAsHumaDoes(t *testing.T) {
	h := open(t, httpapi.Options{})
	_, planner := h.agent("planner")
	_, writer := h.agent("writer")
	both := func(token, line, body, key string) (short string) {
		t.Helper()
		key = "Idempotency-Key: " + key
		h.call(token, line, body, key) // from now on each is a repeat
		a, b := h.call(token, line, body, key), h.call(token, line, body, key, longWay)
		if a.status >= 300 || a.status != b.status || a.body != b.body || !strings.Contains(a.body, `"repeat":true`) {
			t.Errorf("%s: %d %s\nand: %d %s", line, a.status, a.body, b.status, b.body)
		}
		if a.header.Get("Content-Length") == "" {
			t.Errorf("%s has no length: it went the long way", line)
		}
		for _, header := range []http.Header{a.header, b.header} {
			header.Del("Content-Length") // net/http sets it too, where an answer is short
			header.Del("Date")
		}
		if len(a.header) != len(b.header) {
			t.Errorf("%s: %v and %v", line, a.header, b.header)
		}
		for name := range a.header {
			if a.header.Get(name) != b.header.Get(name) {
				t.Errorf("%s: %s is %q and %q", line, name, a.header.Get(name), b.header.Get(name))
			}
		}
		return a.body
	}
	content := `"content":{"data":{"text":"<é & \u2028>","note":"` + strings.Repeat("x", 3000) + `"}}`
	sent := both(planner, "POST /v1/tasks", `{"intent":"a \"b\"",`+content+`,"send":{"to":["writer"]}}`, "1")
	task, handoff := between(sent, `"task":"`), between(sent, `"handoff":"`)
	if got := both(writer, "POST /v1/handoffs/"+handoff+"/accept", ``, "2"); !strings.Contains(got, "xxx") {
		t.Errorf("accepted without the content: %s", got)
	}
	both(writer, "POST /v1/tasks/"+task+"/progress", `{"epoch":1,"note":"half"}`, "3")
	both(writer, "POST /v1/tasks/"+task+"/progress", `{"epoch":1,"usage":{"tokens":5}}`, "5")
	both(writer, "POST /v1/tasks/"+task+"/complete", `{"epoch":1,"result":{"text":"done"}}`, "4")
}

// between is the text after a prefix, up to the next quote.
func between(answer, prefix string) string {
	_, rest, _ := strings.Cut(answer, prefix)
	value, _, _ := strings.Cut(rest, `"`)
	return value
}

// cut is a body that ends too early.
type cut struct {
	*strings.Reader
	err error
}

func (c cut) Read(b []byte) (int, error) {
	if c.Len() == 0 {
		return 0, c.err
	}
	return c.Reader.Read(b)
}

// TestAnAnswerTellsItsLength sends bodies of sizes around that of the buffer of net/http, which tells the length of shorter answers.
func TestAnAnswerTellsItsLength(t *testing.T) {
	h := open(t, httpapi.Options{})
	_, planner := h.agent("planner")
	for _, size := range []int{1, 1050, 1090, 1100, 1110, 1150, 5000} {
		body := `{"intent":"write","content":{"data":"` + strings.Repeat("x", size) + `"},"send":{"to":["planner"]}}`
		handoff := between(h.call(planner, "POST /v1/tasks", body).body, `"handoff":"`)
		a := h.call(planner, "POST /v1/handoffs/"+handoff+"/accept", `{}`)
		if got := a.header.Get("Content-Length"); a.status != http.StatusOK || got != strconv.Itoa(len(a.body)) {
			t.Errorf("%d: an answer of %d bytes has the length %q", a.status, len(a.body), got)
		}
	}
}

func TestABodyThatBreaksOffIsNotTaken(t *testing.T) {
	h := open(t, httpapi.Options{})
	_, token := h.agent("writer")
	u, err := url.Parse(h.URL + "/v1/tasks")
	if err != nil {
		t.Fatal(err)
	}
	send := func(err error, header ...string) *recorder {
		w := &recorder{quiet: quiet{header: http.Header{}}}
		r := &http.Request{
			Method: http.MethodPost, URL: u, Host: "localhost", Header: http.Header{"Authorization": {"Bearer " + token}},
			Body: io.NopCloser(cut{strings.NewReader(`{"intent":"x"}`), err}), ContentLength: 20,
		}
		for _, line := range header {
			name, value, _ := strings.Cut(line, ": ")
			r.Header.Set(name, value)
		}
		h.Config.Handler.ServeHTTP(w, r)
		return w
	}
	for _, err := range []error{io.ErrUnexpectedEOF, errors.New("reset"), http.ErrBodyReadAfterClose} {
		a, b := send(err), send(err, longWay)
		if a.status < 400 || a.status != b.status || a.body.String() != b.body.String() {
			t.Errorf("%v: %d %s\nand: %d %s", err, a.status, &a.body, b.status, &b.body)
		}
	}
}

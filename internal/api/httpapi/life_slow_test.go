//go:build slow

package httpapi_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

func TestALongPollOutlivesTheReadTimeoutOfTheServer(t *testing.T) {
	h := open(t, httpapi.Options{}, func(s *http.Server) { s.ReadTimeout = 250 * time.Millisecond })
	writer, _ := h.agent("writer")
	in, err := writer.Inbox(t.Context(), client.InboxOptions{Wait: 600 * time.Millisecond})
	if err != nil || in.Items == nil || len(in.Items) != 0 {
		t.Fatalf("%+v, %v", in, err)
	}
}

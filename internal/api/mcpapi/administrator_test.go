package mcpapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
)

func TestACallWithTheAdministratorsTokenIsRefusedAndRecorded(t *testing.T) {
	h := open(t)
	k, err := h.admin.CreateToken(t.Context(), client.TokenInput{Role: client.RoleAdmin, Name: "ada"})
	if err != nil {
		t.Fatal(err)
	}
	req := httptest.NewRequest(http.MethodPost, "http://localhost/mcp", strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	req.Header.Set("Authorization", "Bearer "+k.Text)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	w := httptest.NewRecorder()
	h.api.ServeHTTP(w, req)
	if body := w.Body.String(); w.Code != http.StatusForbidden || !strings.Contains(body, "administrator") || !strings.Contains(body, "(trapeze token create --name NAME --role agent)") {
		t.Errorf("%d %s", w.Code, body)
	}
	var record strings.Builder
	if err := h.admin.Export(t.Context(), client.ExportOptions{}, &record); err != nil {
		t.Fatal(err)
	}
	found := 0
	for line := range strings.Lines(record.String()) {
		if strings.Contains(line, "attempt-refused") && strings.Contains(line, "admin/ada") && strings.Contains(line, "connect-model") {
			found++
		}
	}
	if found != 1 {
		t.Errorf("the refusal is recorded %d times:\n%s", found, record.String())
	}
}

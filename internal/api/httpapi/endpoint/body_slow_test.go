//go:build slow

package endpoint

import (
	"net/http"
	"testing"

	"github.com/trapezehq/trapeze/internal/api/shape"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/tasks"
)

func TestOnlyCodesHaveAStatus(t *testing.T) {
	if len(statuses) != len(refusal.Codes()) {
		t.Errorf("%d statuses for %d codes", len(statuses), len(refusal.Codes()))
	}
}

func FuzzABodyIsReadOrRefused(f *testing.F) {
	for _, seed := range []string{
		`{"intent":"x"}`, `{"intent":"x","send":{"to":["a"],"timeouts":{"ack":"15s"}}}`, `{"a":"\"[{"}`, "[[[[", `"\`, "\xff", `{"intent":null}`,
		`{"epoch":18446744073709551615}`, `{"deadline":"2026-01-01T00:00:00Z"}`, `null`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var in tasks.CreateInput
		err := shape.Check(b)
		if err == nil && unmarshal(b, &in) == nil {
			return
		}
		if err == nil {
			err = unmarshal(b, &in)
		}
		p := Malformed(http.StatusBadRequest, "validation failed", []error{err})
		if (p.Code != refusal.Invalid && p.Code != refusal.TooLarge) || p.Detail == "" || p.Hint == "" || len(p.Detail) > 1100 {
			t.Errorf("%+v", p)
		}
	})
}

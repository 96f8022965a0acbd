//go:build slow

package httpapi_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/api/httpapi"
)

// Servers of one process share the description of types, so that tests start faster.
func TestEveryServerOfAProcessHasTheDescriptionOfItsOptions(t *testing.T) {
	movable := func(context.Context, time.Duration) (time.Time, error) { return time.Time{}, nil }
	served := map[bool]string{}
	for _, o := range []httpapi.Options{{}, {Advance: movable}, {}, {Advance: movable}} {
		got := open(t, o).call("", "GET /openapi.json", "").body
		before := served[o.Advance != nil]
		if before != "" && got != before {
			t.Error("a server has another description than the one before it with the same options")
		}
		served[o.Advance != nil] = got
		if strings.Contains(got, "ClockInput") != (o.Advance != nil) {
			t.Errorf("a server whose clock can be moved, %t, describes how", o.Advance != nil)
		}
	}
}

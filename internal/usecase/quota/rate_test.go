package quota_test

import (
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/internal/usecase/quota"
)

func TestARateBoundsCallsAndBytesOfEachPrincipal(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	r, err := quota.NewRate(6, 600, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	take := func(want, principal string, bytes ...int) {
		t.Helper()
		got := ""
		for _, n := range bytes {
			got += map[bool]string{true: "+", false: "-"}[r.Take("default", principal, n)]
		}
		if got != want {
			t.Errorf("%s: %s, want %s", principal, got, want)
		}
	}
	take("++++++-", "ann", 1, 1, 1, 1, 1, 1, 1) // calls
	take("+-+", "bob", 400, 201, 200)           // bytes
	take("+-", "cy", 10_000, 1)
	now = now.Add(10 * time.Second)
	take("+-", "ann", 1, 1)
	take("+-", "bob", 100, 1)
	now = now.Add(time.Hour)
	take(strings.Repeat("+", 6)+"-", "ann", 100, 100, 100, 100, 100, 100, 0)
	var none *quota.Rate
	if !none.Take("default", "ann", 1<<30) {
		t.Error("no rate is a bound")
	}
}

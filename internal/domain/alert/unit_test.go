package alert_test

import (
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/alert"
)

func TestValuesAreWrittenAsPeopleReadThem(t *testing.T) {
	for _, c := range []struct {
		unit  alert.Unit
		value float64
		want  string
	}{
		{alert.Count, 3, "3"},
		{alert.Percent, 0.005, "0.5 %"},
		{alert.Seconds, 60, "1 minute"},
		{alert.Seconds, 90 * 60, "90 minutes"},
		{alert.Seconds, 3600, "1 hour"},
		{alert.Seconds, 25 * 3600, "25 hours"},
		{alert.Seconds, 48 * 3600, "2 days"},
		{alert.Seconds, 1501 * 60, "25h1m"},
		{alert.Seconds, 25*3600 + 458, "25h7m38s"},
	} {
		if got := c.unit.Text(c.value); got != c.want {
			t.Errorf("%s %g: %q, want %q", c.unit, c.value, got, c.want)
		}
	}
}

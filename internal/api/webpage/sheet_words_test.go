package webpage_test

import (
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/api/webpage/sheet"
	"github.com/trapezehq/trapeze/internal/content/envelope"
)

func TestEachReasonOfAnOmissionHasWords(t *testing.T) {
	for _, reason := range envelope.OmissionReasons.Values() {
		if words := sheet.Because(string(reason)); !strings.Contains(words, " ") || strings.Contains(words, "_") {
			t.Errorf("%s is shown as %q", reason, words)
		}
	}
	if words := sheet.Because("no_room"); words != "no room" {
		t.Errorf("another is %q", words)
	}
}

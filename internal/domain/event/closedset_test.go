package event_test

import (
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/event"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

func TestAClosedSetDecodesItsValuesAndNothingElse(t *testing.T) {
	set := event.NewSet("a size", event.Kind("small"), event.Kind("large"))
	for text, want := range map[string]refusal.Code{"small": "", "": "", "huge": refusal.Invalid, "Small": refusal.Invalid, " small": refusal.Invalid} { //nolint:gocritic // the white space is meant
		v := event.Kind("before")
		err := set.Decode(&v, []byte(text))
		if refusal.CodeOf(err) != want {
			t.Errorf("%q: %v", text, err)
		}
		if err != nil && !strings.Contains(err.Error(), " is not a size (") {
			t.Errorf("%q: %v", text, err)
		}
		if err == nil && v != event.Kind(text) || err != nil && v != "before" {
			t.Errorf("%q is decoded as %q", text, v)
		}
	}
	set.Values()[0] = "other"
	if !set.Has("small") || set.Has("other") || set.Index("large") != 1 || set.Index("huge") != -1 {
		t.Errorf("the set is now %v", set.Values())
	}
}

func TestValuesAreListedAsASentenceHasThem(t *testing.T) {
	for want, values := range map[string][]event.Kind{"": nil, "a": {"a"}, "a or b": {"a", "b"}, "a, b or c": {"a", "b", "c"}} {
		if got := event.OneOf(values); got != want {
			t.Errorf("%v: %q, want %q", values, got, want)
		}
	}
}

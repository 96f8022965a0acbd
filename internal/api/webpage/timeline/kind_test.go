package timeline

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Each event of a task is read in its own way, and no other: a new one gets a colour on purpose.
func TestEachEventOfATaskHasAColour(t *testing.T) {
	b, err := os.ReadFile("../../../../docs/events.md")
	if err != nil {
		t.Fatal(err)
	}
	_, tasks, _ := strings.Cut(string(b), "\n## Tasks and handoffs\n")
	tasks, _, _ = strings.Cut(tasks, "\n### Action\n") // after the events come the types of their fields
	var events []string
	for _, m := range regexp.MustCompile("(?m)^### ([a-z-]+)$").FindAllStringSubmatch(tasks, -1) {
		events = append(events, m[1])
	}
	if slices.Sort(events); !slices.Equal(events, slices.Sorted(maps.Keys(kinds))) {
		t.Errorf("events  %q\ncolours %q", events, slices.Sorted(maps.Keys(kinds)))
	}
}

//go:build slow || outside

package natslog

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

func newsOf(list ...told) *news {
	n := &news{}
	for _, t := range list {
		n.add(t)
	}
	return n
}

func tell(at ledger.Position, frame string) told { return told{at: at, frame: []byte(frame)} }

func taken(n *news, after ledger.Position, limit int) string {
	list, read := n.take(after, limit)
	text := fmt.Sprint(read)
	for _, t := range list {
		text += fmt.Sprintf(" %d%s", t.at, t.frame)
	}
	return text
}

func TestEntriesAreTakenInTheirOrderAndUpToTheFirstThatIsMissing(t *testing.T) {
	n := newsOf(tell(7, "c"), tell(5, "a"), tell(9, "e"), tell(6, "b"), tell(4, "old"), tell(5, "a"))
	for _, step := range []struct {
		after ledger.Position
		limit int
		want  string
	}{{4, 2, "false 5a 6b"}, {6, 9, "false 7c"}, {7, 9, "false"}, {8, 9, "false 9e"}, {9, 9, "false"}} {
		if got := taken(n, step.after, step.limit); got != step.want {
			t.Errorf("after %d: %s, want %s", step.after, got, step.want)
		}
	}
	if len(n.told) != 0 || n.bytes != 0 {
		t.Errorf("%d entries of %d bytes are left", len(n.told), n.bytes)
	}
}

func TestWhatIsToldInTwoWaysOrOnlyByItsPositionIsRead(t *testing.T) {
	n := newsOf(tell(5, "a"), tell(6, "b"), tell(6, "other"), tell(6, "b"), tell(7, ""), tell(8, "d"))
	for _, step := range []struct {
		after ledger.Position
		want  string
	}{{4, "false 5a"}, {5, "true"}, {6, "true"}, {7, "false 8d"}} {
		if got := taken(n, step.after, 9); got != step.want {
			t.Errorf("after %d: %s, want %s", step.after, got, step.want)
		}
	}
}

func TestOnlyWhatIsMissingBeforeTheNextThatWasToldIsRead(t *testing.T) {
	n := newsOf(tell(7, ""), tell(8, "d"), tell(9, "e"), tell(20, "x"))
	for after, want := range map[ledger.Position]int{4: 3, 6: 1, 9: 9, 10: 9, 12: 7, 20: 9} {
		if got := n.missing(after, 9); got != want {
			t.Errorf("after %d: %d, want %d", after, got, want)
		}
	}
}

func TestTheMemoryOfNewsIsBounded(t *testing.T) {
	n, large := &news{}, string(make([]byte, newsFrame))
	for at := range ledger.Position(newsEntries + 9) {
		n.add(tell(at+1, "x"))
	}
	if len(n.told) != newsEntries {
		t.Errorf("%d entries", len(n.told))
	}
	n = &news{}
	for at := range ledger.Position(newsBytes/newsFrame + 9) {
		n.add(tell(at+1, large))
	}
	if n.bytes != newsBytes {
		t.Errorf("%d bytes", n.bytes)
	}
}

// newsIn is what a front end reads in a message.
func newsIn(message []byte, self string) (list []told) {
	readNews(message, self, func(t told) { list = append(list, t) })
	return list
}

func TestAFrontEndReadsWhatAnotherTellsAndNotWhatItTellsItself(t *testing.T) {
	want := []told{tell(1, "one"), tell(300, ""), tell(301, string(make([]byte, 1000)))}
	message := append([]byte{newsFormat}, "ann\n"...)
	for _, e := range want {
		message = appendNews(message, e)
	}
	same := func(a, b told) bool { return a.at == b.at && bytes.Equal(a.frame, b.frame) }
	if got := newsIn(message, "bob"); !slices.EqualFunc(got, want, same) {
		t.Errorf("%d entries: %v", len(got), got)
	}
	if got := newsIn(message, "ann"); len(got) > 0 {
		t.Errorf("its own: %v", got)
	}
	if got := newsIn(message[:len(message)-1], "bob"); !slices.EqualFunc(got, want[:2], same) {
		t.Errorf("a message that is cut off: %d entries", len(got))
	}
}

func FuzzNews(f *testing.F) {
	f.Add(appendNews([]byte("\x01ann\n"), tell(7, "frame")))
	f.Add([]byte("\x01\n\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Add([]byte("17"))
	f.Fuzz(func(t *testing.T, message []byte) {
		for _, e := range newsIn(message, "bob") {
			if e.at == 0 || e.at > maxPosition || len(e.frame) > len(message) {
				t.Errorf("%d bytes at %d", len(e.frame), e.at)
			}
		}
	})
}

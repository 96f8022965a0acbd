package work

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"testing"
)

func newLines(show *bytes.Buffer, notes *[]string) *lines {
	return &lines{show: show, showing: &sync.Mutex{}, progress: func(n string) { *notes = append(*notes, n) }}
}

func TestProgressLinesAreSeparatedFromStandardError(t *testing.T) {
	text := "hello\nprogress: one\r\nprogress:two\nprogress:   \nprogress: thr\u00e9e\nlast"
	for size := 1; size <= len(text); size++ {
		var show bytes.Buffer
		var notes []string
		l := newLines(&show, &notes)
		for rest := []byte(text); len(rest) > 0; {
			n := min(size, len(rest))
			l.Write(rest[:n])
			rest = rest[n:]
		}
		l.flush()
		if !slices.Equal(notes, []string{"one", "thr\u00e9e"}) || show.String() != "hello\nprogress:two\nlast\n" || l.last() != "last" {
			t.Fatalf("in pieces of %d: notes %q, shown %q, last %q", size, notes, show.String(), l.last())
		}
	}
}

func TestOverlongLinesAreCut(t *testing.T) {
	var show bytes.Buffer
	var notes []string
	l := newLines(&show, &notes)
	l.Write([]byte(progressPrefix + strings.Repeat("x", 3*maxLine) + "\nnext\n"))
	if len(notes) != 1 || len(notes[0]) > maxLine || show.String() != "next\n" {
		t.Errorf("%d notes, shown %.80q", len(notes), show.String())
	}
}

func TestOnlyTheEndOfStandardErrorIsKept(t *testing.T) {
	var show bytes.Buffer
	var notes []string
	l := newLines(&show, &notes)
	for range 2000 {
		l.Write([]byte("\u00e4\u00e4\u00e4\n"))
	}
	l.Write([]byte("bad \xff bytes\n"))
	if len(l.tail) > maxTail || l.last() != "bad \uFFFD bytes" || strings.ToValidUTF8(string(l.tail), "") != string(l.tail) {
		t.Errorf("%d bytes, last %q", len(l.tail), l.last())
	}
}

func TestAResultIsReadToItsEndAndKeptToItsLimit(t *testing.T) {
	var r result
	for range 5 {
		if n, err := r.Write(make([]byte, 100<<10)); n != 100<<10 || err != nil {
			t.Fatal(n, err)
		}
	}
	if r.b.Len() != MaxResult || !r.over {
		t.Errorf("%d bytes, over %v", r.b.Len(), r.over)
	}
}

func TestAProgramGetsNoneOfItsWorkersOwnVariables(t *testing.T) {
	got := cleanEnv([]string{"PATH=/bin", "TRAPEZE_TOKEN=owner", "TRAPEZE_DATA=/srv", "HOME=/home/li"})
	if !slices.Equal(got, []string{"PATH=/bin", "HOME=/home/li"}) {
		t.Errorf("got %v", got)
	}
}

func TestTextOfOthersIsEscaped(t *testing.T) {
	var b bytes.Buffer
	w := &worker{o: Options{Stderr: &b}}
	w.say("failed: %s", "\x1b]0;x\x07red\u009b31m \u202eback\r\nnext\tä")
	if got := b.String(); got != `trapeze work: failed: ⟨U+001B⟩]0;x⟨U+0007⟩red⟨U+009B⟩31m ⟨U+202E⟩back next ä`+"\n" {
		t.Errorf("%q", got)
	}
}

func TestTheSecondPromptHasTheWholeResultFenced(t *testing.T) {
	got := fixPrompt("# Do it\n", "one\n```\ntwo\n", "too short")
	for _, want := range []string{"# Do it\n", "```text\ntoo short\n```\n", "````text\none\n```\ntwo\n````\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %q", want, got)
		}
	}
}

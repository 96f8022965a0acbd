package work

import (
	"bytes"
	"io"
	"strings"
	"sync"
	"unicode/utf8"
)

const (
	// MaxResult is the maximum size of a program's result, in bytes: the server accepts no more.
	MaxResult = 256 << 10
	maxTail   = 4 << 10  // of standard error, kept for the report of a failure
	maxLine   = 16 << 10 // of a progress line: longer ones are cut
	// progressPrefix marks the lines of standard error that are reported as progress.
	progressPrefix = "progress: "
)

// result keeps a program's output up to MaxResult, and discards the rest.
type result struct {
	b    bytes.Buffer
	over bool
}

func (r *result) Write(p []byte) (int, error) {
	if room := MaxResult - r.b.Len(); len(p) > room {
		r.b.Write(p[:room])
		r.over = true
		return len(p), nil
	}
	return r.b.Write(p)
}

// lines splits standard error into lines: progress lines go to progress, the others to show. It keeps the end of the others.
type lines struct {
	show     io.Writer
	showing  *sync.Mutex // several programs share one standard error
	prefix   string
	progress func(string)

	part []byte
	cut  bool // the rest of an overlong line is skipped
	tail []byte
}

func (l *lines) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			l.add(p)
			break
		}
		l.add(p[:i])
		l.flush()
		p = p[i+1:]
	}
	return n, nil
}

func (l *lines) add(p []byte) {
	if room := maxLine - len(l.part); len(p) > room {
		p, l.cut = p[:room], true
	}
	l.part = append(l.part, p...)
}

// flush ends the current line.
func (l *lines) flush() {
	if len(l.part) == 0 && !l.cut {
		return
	}
	line := strings.ToValidUTF8(string(bytes.TrimSuffix(l.part, []byte("\r"))), "\uFFFD")
	l.part, l.cut = l.part[:0], false
	if note, ok := strings.CutPrefix(line, progressPrefix); ok {
		if note = strings.TrimSpace(note); note != "" {
			l.progress(note)
		}
		return
	}
	if l.tail = append(append(l.tail, line...), '\n'); len(l.tail) > maxTail {
		l.tail = l.tail[len(l.tail)-maxTail:]
		for len(l.tail) > 0 && !utf8.RuneStart(l.tail[0]) {
			l.tail = l.tail[1:]
		}
	}
	l.showing.Lock()
	defer l.showing.Unlock()
	io.WriteString(l.show, l.prefix+line+"\n") //nolint:errcheck // nobody reads it
}

// last is the last line that is not empty.
func (l *lines) last() string {
	text := strings.TrimSpace(string(l.tail))
	return text[strings.LastIndexByte(text, '\n')+1:]
}

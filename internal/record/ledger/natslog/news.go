package natslog

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"sync"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// Bounds of what is told and kept of entries: beyond these, followers are told a position alone, and the entry is read from a replica.
const (
	newsFrame   = 64 << 10 // of one entry
	newsMessage = 256 << 10
	newsEntries = 4096
	newsBytes   = 16 << 20
)

// newsFormat is the first byte of a message with news.
const newsFormat = 1

// told is an entry that is in the record.
type told struct {
	at    ledger.Position
	frame []byte        // as it is stored; empty: it has to be read
	own   *ledger.Entry // that this front end has appended; nil: it is in the frame
}

// outbox is what this front end has appended, and not yet told the others.
type outbox struct {
	mu     sync.Mutex
	told   []told
	filled chan struct{}
}

func (o *outbox) add(t told) {
	o.mu.Lock()
	o.told = append(o.told, t)
	o.mu.Unlock()
	select {
	case o.filled <- struct{}{}:
	default:
	}
}

func (o *outbox) take() []told {
	o.mu.Lock()
	defer o.mu.Unlock()
	list := o.told
	o.told = nil
	return list
}

// appendNews appends one entry to a message, which begins with newsFormat and the name of the front end that tells it, and a line feed.
func appendNews(b []byte, t told) []byte {
	b = binary.AppendUvarint(b, uint64(t.at))
	b = binary.AppendUvarint(b, uint64(len(t.frame)))
	return append(b, t.frame...)
}

// readNews calls fn with the entries of a message that another front end has sent. What cannot be read is left out: those entries are found in the record.
func readNews(message []byte, self string, fn func(told)) {
	if len(message) == 0 || message[0] != newsFormat {
		return
	}
	from, rest, ok := bytes.Cut(message[1:], []byte("\n"))
	if !ok || string(from) == self {
		return
	}
	for len(rest) > 0 {
		at, n := binary.Uvarint(rest)
		if n <= 0 || at == 0 || ledger.Position(at) > maxPosition {
			return
		}
		size, m := binary.Uvarint(rest[n:])
		if rest = rest[max(n+m, 0):]; m <= 0 || size > uint64(len(rest)) {
			return
		}
		fn(told{at: ledger.Position(at), frame: rest[:size:size]})
		rest = rest[size:]
	}
}

// news is the entries of which front ends have said that they appended them, until the listener hands them to the followers. Each was stored by a majority before it was
// told. What is missing, or was told in two ways, is read from the record.
type news struct {
	mu    sync.Mutex
	told  map[ledger.Position]told
	bytes int
	taken ledger.Position // what comes after it is kept
}

func (n *news) add(t told) {
	n.mu.Lock()
	defer n.mu.Unlock()
	before, twice := n.told[t.at]
	switch {
	case t.at <= n.taken || twice && (len(before.frame) == 0 || bytes.Equal(before.frame, t.frame)):
		return
	case twice: // a cluster that has lost what was acknowledged gives a position again
		n.bytes -= len(before.frame)
		t = told{at: t.at}
	case len(n.told) >= newsEntries || n.bytes+len(t.frame) > newsBytes:
		return
	}
	if n.told == nil {
		n.told = map[ledger.Position]told{}
	}
	n.told[t.at] = t
	n.bytes += len(t.frame)
}

// take returns what was told of the entries right after a position, and forgets it, and what is before. read: the next one has to be read.
func (n *news) take(after ledger.Position, limit int) (list []told, read bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for at := range n.told {
		if at <= after {
			n.forget(at)
		}
	}
	for n.taken = after; len(list) < limit; n.taken++ {
		t, ok := n.told[n.taken+1]
		if !ok || len(t.frame) == 0 {
			return list, ok && len(list) == 0
		}
		if list == nil {
			list = make([]told, 0, min(limit, len(n.told)))
		}
		list = append(list, t)
		n.forget(t.at)
	}
	return list, false
}

// missing returns how many entries after a position are to be read, at most a limit: up to the next one that was told.
func (n *news) missing(after ledger.Position, limit int) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	for count := 1; count < limit; count++ {
		if t := n.told[after+ledger.Position(count)+1]; len(t.frame) > 0 {
			return count
		}
	}
	return limit
}

// forget forgets an entry. It needs n.mu.
func (n *news) forget(at ledger.Position) {
	if t, ok := n.told[at]; ok {
		n.bytes -= len(t.frame)
		delete(n.told, at)
	}
}

// entries decodes what was told. One that cannot be decoded ends the list: the record says what is wrong with it.
func (c *chain) entries(list []told) (entries []ledger.Entry, size int) {
	entries = make([]ledger.Entry, 0, len(list))
	for _, t := range list {
		var e ledger.Entry
		if t.own != nil {
			e = *t.own
			e.Position, e.Events, c.last = t.at, slices.Clone(e.Events), t.at
		} else {
			var err error
			if e, err = c.next(message{seq: t.at, body: t.frame}); err != nil {
				break
			}
		}
		entries, size = append(entries, e), size+len(t.frame)
	}
	return entries, size
}

// wake is the subject on which front ends tell what they appended.
func (o Options) wake() string { return strings.ToLower(o.Name) + ".appended" }

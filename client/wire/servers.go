package wire

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Servers are the addresses of servers that share one record: a call goes to one of them, and on to the next when that does not answer, or says that it
// cannot do its work. It is safe for concurrent use.
type Servers struct {
	list []string
	at   atomic.Uint32
	// seen is the greatest position in an answer: what a server that is behind the one before does not have yet.
	seen atomic.Uint64
}

// ParseServers parses addresses with commas between them. An error names the malformed one.
func ParseServers(text string) (*Servers, error) {
	s := &Servers{}
	for one := range strings.SplitSeq(text, ",") {
		u, err := url.Parse(strings.TrimSpace(one))
		if err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			return nil, fmt.Errorf("client: %q is not a server's URL, such as http://127.0.0.1:8727", one)
		}
		s.list = append(s.list, strings.TrimRight(u.String(), "/"))
	}
	return s, nil
}

// Current is the address that calls go to now.
func (s *Servers) Current() string { return s.list[int(s.at.Load())%len(s.list)] }

// Count is how many addresses there are.
func (s *Servers) Count() int { return len(s.list) }

// Timeout is the usual time limit of an attempt, which is shorter where another server can be asked.
func (s *Servers) Timeout() time.Duration {
	if len(s.list) > 1 {
		return 10 * time.Second
	}
	return 30 * time.Second
}

// String is all addresses with commas between them, the current one first.
func (s *Servers) String() string {
	at := int(s.at.Load()) % len(s.list)
	return strings.Join(slices.Concat(s.list[at:], s.list[:at]), ",")
}

// leave goes on with the address after one that failed, unless another call has done so.
func (s *Servers) leave(failed string) {
	at := s.at.Load()
	if s.list[int(at)%len(s.list)] == failed {
		s.at.CompareAndSwap(at, uint32((int(at)+1)%len(s.list))) //nolint:gosec // less than the number of addresses
	}
}

// answered takes the header with the position of an answer.
func (s *Servers) answered(header string) {
	position, err := strconv.ParseUint(header, 10, 64)
	for err == nil {
		seen := s.seen.Load()
		if position <= seen || s.seen.CompareAndSwap(seen, position) {
			return
		}
	}
}

// least is the position that an answer must have reached, where a call asks for one itself: with several servers, also what other answers had.
func (s *Servers) least(asked uint64) uint64 {
	if len(s.list) == 1 {
		return asked
	}
	return max(asked, s.seen.Load())
}

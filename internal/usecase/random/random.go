package random

import (
	"io"
	"sync"
)

// Source is random numbers. Its methods are safe for many goroutines.
type Source struct {
	mu     sync.Mutex
	reader io.Reader
}

// New returns a source that reads from r.
func New(r io.Reader) *Source { return &Source{reader: r} }

// Fill fills b with random bytes.
func (s *Source) Fill(b []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, err := io.ReadFull(s.reader, b)
	return err
}

// Jitter is a random number from 0 up to 1.
func (s *Source) Jitter() float64 {
	var b [2]byte
	if s.Fill(b[:]) != nil {
		return 0.5 // spreading retries is a courtesy; the middle serves
	}
	return float64(uint(b[0])<<8|uint(b[1])) / (1 << 16)
}

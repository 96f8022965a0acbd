package proof

import (
	"fmt"
	"io"

	"golang.org/x/mod/sumdb/tlog"
)

// Stored reads the hashes of a stored tree: 32 bytes each, in the order of [tlog.StoredHashIndex]. It implements [tlog.HashReader].
type Stored struct{ From io.ReaderAt }

// ReadHashes implements [tlog.HashReader]. Hashes that follow each other are read at once.
func (s Stored) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(indexes))
	var b []byte
	for i := 0; i < len(indexes); {
		n := 1
		for i+n < len(indexes) && indexes[i+n] == indexes[i]+int64(n) {
			n++
		}
		b = append(b[:0], make([]byte, n*tlog.HashSize)...)
		if _, err := s.From.ReadAt(b, indexes[i]*tlog.HashSize); err != nil {
			return nil, fmt.Errorf("proof: stored hash %d: %w", indexes[i], err)
		}
		for j := range n {
			hashes[i+j] = tlog.Hash(b[j*tlog.HashSize:])
		}
		i += n
	}
	return hashes, nil
}

// Leaves is the number of leaves of a stored tree of so many bytes. What follows the hashes of the last whole leaf is not counted.
func Leaves(bytes int64) int64 {
	hashes := bytes / tlog.HashSize
	n := hashes / 2 // a tree of n leaves has less than 2n hashes
	for tlog.StoredHashCount(n+1) <= hashes {
		n++
	}
	return n
}

package sqlitelog

import (
	_ "embed" // for the dictionary
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"sync"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// An entry is stored as its bytes, which start with '{', or framed: a byte that names the framing, then the compressed bytes. Proofs hash
// the bytes, which every framing gives back exactly. Data directories of format 1 have no frames.
const (
	plainEntry = '{'
	// framing1 is the CRC-32C of the entry, least significant byte first, its length as a varint, and a block of LZ4 with dictionary 1.
	framing1    = 1
	frameHeader = 1 + crc32.Size
	// Entries with fewer or more bytes are stored as they are. Most have some hundred bytes. Those with large envelopes are mostly
	// text, and would cost more time in both directions than the space is worth.
	minFramed = 64
	maxFramed = 8 << 10
)

// errFrame is the error for a stored entry that was changed.
var errFrame = fmt.Errorf("%w: its compressed bytes do not have their checksum", ledger.ErrInvalid)

// dictionary1 has what most entries have: names of events and fields, and common entries. It is frozen, as every entry with framing 1
// refers to its bytes. A better one is a new framing.
//
//go:embed dictionary1.txt
var dictionary1 []byte

var dict1 = sync.OnceValue(func() *dictionary { return newDictionary(dictionary1) })

// castagnoli is the polynomial of the checksum in a frame.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendFrame appends the stored form of an entry to b.
func appendFrame(b, entry []byte) []byte {
	if len(entry) < minFramed || len(entry) > maxFramed {
		return append(b, entry...)
	}
	start := len(b)
	b = binary.LittleEndian.AppendUint32(append(b, framing1), crc32.Checksum(entry, castagnoli))
	b = dict1().appendBlock(binary.AppendUvarint(b, uint64(len(entry))), entry)
	if len(b)-start >= len(entry) {
		return append(b[:start], entry...)
	}
	return b
}

// unframe returns the bytes of a stored entry.
func unframe(stored []byte) ([]byte, error) {
	if len(stored) == 0 || stored[0] == plainEntry {
		return stored, nil
	}
	if stored[0] != framing1 {
		return nil, fmt.Errorf("%w: stored with framing %d, which this version of Trapeze does not read", ledger.ErrInvalid, stored[0])
	}
	if len(stored) < frameHeader {
		return nil, errFrame
	}
	sum, rest := binary.LittleEndian.Uint32(stored[1:]), stored[frameHeader:]
	size, n := binary.Uvarint(rest)
	if n <= 0 || size > ledger.MaxEntrySize {
		return nil, errFrame
	}
	b := make([]byte, size)
	if !dict1().expand(b, rest[n:]) || crc32.Checksum(b, castagnoli) != sum {
		return nil, errFrame
	}
	return b, nil
}

package frame

import (
	"crypto/sha256"
	_ "embed" // for the dictionary
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"sync"

	"github.com/trapezehq/trapeze/internal/record/ledger"
)

// An entry is stored in a frame: a byte that names the framing, then what the framing says. Proofs hash the bytes of the entry, which every
// framing gives back exactly. In data directories of format 1 entries are stored as their bytes, which start with '{'.
const (
	plainEntry = '{'
	// framing1 is the CRC-32C of the entry, least significant byte first, its length as a varint, and a block of LZ4 with dictionary 1.
	framing1    = 1
	frameHeader = 1 + crc32.Size
	// framing2 is a checksum, the position of the entry before it in its stream (40 bits), and then what framing 1 has after its own. A length
	// of zero means that the bytes follow as they are. The checksum is the CRC-32C of the entry, of its position and of the one before,
	// 64 bits each: an entry in another place is as damaged as one with other bytes. Numbers have their least significant byte first.
	framing2 = 2
	// framing3 is framing 2 with a checksum of the length and the block as they are stored, instead of the entry: a block with a changed bit can
	// still mean the same bytes, and is damaged all the same.
	framing3 = 3
	// framing4 is framing 3 with the sum over the index after the position of the entry before. The checksum is also of the sum, after the two positions.
	framing4 = 4
	// framing5 stands for an entry that was put away: framing 4 with its leaf in the tree (32 bytes) and the name of its segment, instead of the length and the block. The checksum is also of the number of the framing.
	framing5      = 5
	leafBytes     = 32
	previousBytes = 5
	placedHeader  = frameHeader + previousBytes // of framings 2 and 3
	indexBytes    = 8
	sealedHeader  = placedHeader + indexBytes
	maxPrevious   = 1<<(8*previousBytes) - 1
	// Entries with fewer or more bytes are not compressed. Most have some hundred bytes. Those with large envelopes are mostly
	// text, and would cost more time in both directions than the space is worth.
	minFramed = 64
	maxFramed = 8 << 10
)

// ErrChanged is the error for a stored entry that was changed.
var ErrChanged = fmt.Errorf("%w: its stored bytes do not have their checksum", ledger.ErrInvalid)

// dictionary1 has what most entries have: names of events and fields, and common entries. It is frozen, as every entry with framing 1
// refers to its bytes. A better one is a new framing.
//
//go:embed dictionary1.txt
var dictionary1 []byte

var dict1 = sync.OnceValue(func() *dictionary { return newDictionary(dictionary1) })

// castagnoli is the polynomial of the checksum in a frame.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Append appends the stored form of an entry to b, and returns the checksum of its content, with which [Seal] finishes the frame.
func Append(b, entry []byte) ([]byte, uint32) {
	start := len(b)
	b = append(append(b, framing4), make([]byte, sealedHeader-1)...)
	if len(entry) >= minFramed && len(entry) <= maxFramed {
		b = dict1().appendBlock(binary.AppendUvarint(b, uint64(len(entry))), entry)
		if len(b)-start-sealedHeader <= len(entry) {
			return b, crc32.Checksum(b[start+sealedHeader:], castagnoli)
		}
	}
	b = append(append(b[:start+sealedHeader], 0), entry...)
	return b, crc32.Checksum(b[start+sealedHeader:], castagnoli)
}

// encodings are buffers for the bytes of entries before they are framed; those that are larger than maxKept are not kept.
var encodings = sync.Pool{New: func() any { return new([]byte) }}

const maxKept = 64 << 10

// AppendEntry is [Append] for an entry that is to follow a position, and returns how many bytes it has. Errors: those of [ledger.Entry.EncodeFor].
func AppendEntry(b []byte, e *ledger.Entry, expect ledger.Position) (stored []byte, sum uint32, size int, err error) {
	buf, _ := encodings.Get().(*[]byte)
	encoded, err := e.EncodeFor((*buf)[:0], expect)
	if err == nil {
		b, sum = Append(b, encoded)
	}
	if cap(encoded) <= maxKept {
		*buf = encoded
		encodings.Put(buf)
	}
	return b, sum, len(encoded), err
}

// Seal writes into a frame where its entry is: its position, that of the entry before it in its stream, 0 for none, and the sum over the
// index with both.
func Seal(frame []byte, sum uint32, at, previous ledger.Position, index uint64) error {
	if previous > maxPrevious {
		return fmt.Errorf("%w: position %d has more than %d bits", ledger.ErrInvalid, previous, 8*previousBytes)
	}
	var p [8]byte
	binary.LittleEndian.PutUint64(p[:], uint64(previous))
	copy(frame[frameHeader:placedHeader], p[:])
	binary.LittleEndian.PutUint64(frame[placedHeader:], index)
	binary.LittleEndian.PutUint32(frame[1:], crc32.Update(placed(sum, at, previous), castagnoli, frame[placedHeader:sealedHeader]))
	return nil
}

// placed is the checksum of a frame's content and of its place.
func placed(sum uint32, at, previous ledger.Position) uint32 {
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], uint64(at))
	binary.LittleEndian.PutUint64(b[8:], uint64(previous))
	return crc32.Update(sum, castagnoli, b[:])
}

// Stored is an entry as it was read.
type Stored struct {
	Bytes    []byte
	Placed   bool            // the frame says where it is
	Previous ledger.Position // in its stream; 0: none
	Indexed  bool            // the frame has a sum over the index
	Index    uint64
	Segment  string // where the bytes are, if they were put away
	Leaf     [leafBytes]byte
}

// Open returns the entry that is stored at a position. Errors: ErrChanged, and ErrInvalid for a framing that is not known.
func Open(frame []byte, at ledger.Position) (Stored, error) {
	if len(frame) == 0 || frame[0] == plainEntry {
		return Stored{Bytes: frame}, nil
	}
	switch framing := frame[0]; {
	case framing < framing1 || framing > framing5:
		return Stored{}, fmt.Errorf("%w: stored with framing %d, which this version of Trapeze does not read", ledger.ErrInvalid, framing)
	case len(frame) < headerOf(framing):
		return Stored{}, ErrChanged
	case framing == framing1:
		b, err := content(frame[frameHeader:])
		if err != nil || crc32.Checksum(b, castagnoli) != binary.LittleEndian.Uint32(frame[1:]) {
			return Stored{}, ErrChanged
		}
		return Stored{Bytes: b}, nil
	}
	header := headerOf(frame[0])
	var p [8]byte
	copy(p[:], frame[frameHeader:placedHeader])
	previous := ledger.Position(binary.LittleEndian.Uint64(p[:]))
	if frame[0] == framing5 {
		return openPutAway(frame, at, previous)
	}
	b, err := content(frame[header:])
	sealed := frame[header:]
	if frame[0] == framing2 {
		sealed = b
	}
	if err != nil || crc32.Update(placed(crc32.Checksum(sealed, castagnoli), at, previous), castagnoli, frame[placedHeader:header]) != binary.LittleEndian.Uint32(frame[1:]) {
		return Stored{}, ErrChanged
	}
	if frame[0] != framing4 {
		return Stored{Bytes: b, Placed: true, Previous: previous}, nil
	}
	return Stored{Bytes: b, Placed: true, Previous: previous, Indexed: true, Index: binary.LittleEndian.Uint64(frame[placedHeader:])}, nil
}

// IsNote reports whether a frame stands for an entry that was put away.
func IsNote(frame []byte) bool { return len(frame) > 0 && frame[0] == framing5 }

// PutAway returns what is stored at a position instead of the frame of an entry that is in a segment; false: the frame is of a framing that cannot be replaced, or
// the entry was put away before. Errors: those of [Open].
func PutAway(frame []byte, at ledger.Position, segment string) ([]byte, bool, error) {
	s, err := Open(frame, at)
	if err != nil || frame[0] != framing4 {
		return nil, false, err
	}
	leaf := Leaf(s.Bytes)
	b := append(append(append([]byte{framing5}, make([]byte, sealedHeader-1)...), leaf[:]...), segment...)
	return b, true, Seal(b, sumOfNote(b[sealedHeader:]), at, s.Previous, s.Index)
}

// Leaf is the leaf of an entry in the tree of package proof (RFC 6962, section 2.1), by its bytes.
func Leaf(entry []byte) [leafBytes]byte { return sha256.Sum256(append([]byte{0}, entry...)) }

// sumOfNote is the sum over the leaf and the segment of an entry that was put away. It is also of the framing: one that was changed to framing 4, or from it, is noticed.
func sumOfNote(body []byte) uint32 {
	return crc32.Update(crc32.Checksum([]byte{framing5}, castagnoli), castagnoli, body)
}

// openPutAway opens a frame that stands for an entry that was put away.
func openPutAway(frame []byte, at, previous ledger.Position) (Stored, error) {
	body := frame[sealedHeader:]
	if crc32.Update(placed(sumOfNote(body), at, previous), castagnoli, frame[placedHeader:sealedHeader]) != binary.LittleEndian.Uint32(frame[1:]) || len(body) <= leafBytes {
		return Stored{}, ErrChanged
	}
	return Stored{Placed: true, Previous: previous, Indexed: true, Index: binary.LittleEndian.Uint64(frame[placedHeader:]), Segment: string(body[leafBytes:]), Leaf: [leafBytes]byte(body)}, nil
}

// headerOf is the length of the header of a framing.
func headerOf(framing byte) int {
	switch framing {
	case framing1:
		return frameHeader
	case framing2, framing3:
		return placedHeader
	default:
		return sealedHeader
	}
}

// content returns the bytes of an entry, which come after the header of its frame: their length, and a block; or zero, and the bytes.
func content(b []byte) ([]byte, error) {
	size, n := binary.Uvarint(b)
	if n <= 0 || size > ledger.MaxEntrySize {
		return nil, ErrChanged
	}
	if size == 0 {
		return b[n:], nil
	}
	entry := make([]byte, size)
	if !dict1().expand(entry, b[n:]) {
		return nil, ErrChanged
	}
	return entry, nil
}

package frame

import (
	"encoding/binary"
	"math/bits"
	"sync"
)

// Blocks have the LZ4 block format (https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md) with a dictionary before them, which
// every implementation with dictionaries reads. The encoder is our own, because it is called for every entry: entries are short, and
// those of the libraries clear or copy tables that are larger than an entry.
const (
	minMatch    = 4
	maxOffset   = 1<<16 - 1
	lastMatch   = 12 // no match begins in the last 12 bytes,
	lastLiteral = 5  // and none reaches into the last 5

	// short is how many bytes are copied at once, if there are as many: what comes next is written over those that are too many.
	short = 16

	dictBits = 15
	hereBits = 12
)

// dictionary is what blocks refer to before their own bytes. It never changes.
type dictionary struct {
	bytes []byte
	at    [1 << dictBits]uint16 // the last place, plus one, of six bytes with a hash: fewer bytes are in too many places
}

// newDictionary indexes at most 64 KiB, less one byte.
func newDictionary(b []byte) *dictionary {
	d := &dictionary{bytes: b}
	for i := 0; i+8 <= len(b); i++ {
		d.at[hash6(load8(b, i))] = uint16(i + 1) //nolint:gosec // a dictionary is short
	}
	return d
}

// places are the last places, plus one, of four bytes with a hash in the source.
type places [1 << hereBits]uint32

var placesPool = sync.Pool{New: func() any { return new(places) }}

func load(b []byte, i int) uint32 { return binary.LittleEndian.Uint32(b[i:]) }

func load8(b []byte, i int) uint64 { return binary.LittleEndian.Uint64(b[i:]) }

func hash4(v uint32) uint32 { return v * 2654435761 >> (32 - hereBits) }

func hash6(v uint64) uint64 { return v << 16 * 227718039650203 >> (64 - dictBits) }

// appendBlock appends src, compressed, to dst.
func (d *dictionary) appendBlock(dst, src []byte) []byte {
	here, _ := placesPool.Get().(*places)
	defer placesPool.Put(here)
	clear(here[:])
	next, misses := 0, 0 // the first byte that is not written yet
	for i := 0; i < len(src)-lastMatch; {
		v8 := load8(src, i)
		v := uint32(v8) //nolint:gosec // its first four bytes
		slot := &here[hash4(v)]
		local := int(*slot) - 1
		*slot = uint32(i + 1) //nolint:gosec // entries are short
		length, offset := 0, 0
		if local >= 0 && i-local <= maxOffset && load(src, local) == v {
			length, offset = same(src, i, src[local:]), i-local
		}
		if at := int(d.at[hash6(v8)]) - 1; at >= 0 && i+len(d.bytes)-at <= maxOffset && load(d.bytes, at) == v {
			if n := same(src, i, d.bytes[at:]); n > length {
				length, offset = n, i+len(d.bytes)-at
			}
		}
		if length < minMatch {
			misses++
			i += 1 + misses>>6 // what cannot be compressed is passed faster and faster
			continue
		}
		misses = 0
		dst = appendSequence(dst, src[next:i], offset, length)
		i += length
		next = i
		if i < len(src)-lastMatch { // the end of a match often begins the next
			here[hash4(load(src, i-2))] = uint32(i - 1) //nolint:gosec // as above
		}
	}
	return appendSequence(dst, src[next:], 0, 0)
}

// same returns how many bytes of src from i are those of b, without the last of src.
func same(src []byte, i int, b []byte) (n int) {
	most := min(len(src)-lastLiteral-i, len(b))
	for ; n+8 <= most; n += 8 {
		if x := binary.LittleEndian.Uint64(src[i+n:]) ^ binary.LittleEndian.Uint64(b[n:]); x != 0 {
			return n + bits.TrailingZeros64(x)/8
		}
	}
	for n < most && src[i+n] == b[n] {
		n++
	}
	return n
}

// appendSequence appends literals and the match after them; a length of 0 is the end of the block.
func appendSequence(dst, literals []byte, offset, length int) []byte {
	token := byte(min(len(literals), 15) << 4) //nolint:gosec // four bits
	if length > 0 {
		token |= byte(min(length-minMatch, 15)) //nolint:gosec // four bits
	}
	dst = appendRest(append(dst, token), len(literals))
	dst = append(dst, literals...)
	if length == 0 {
		return dst
	}
	dst = append(dst, byte(offset), byte(offset>>8)) //nolint:gosec // 16 bits
	return appendRest(dst, length-minMatch)
}

// appendRest appends what four bits of the token do not hold of a length.
func appendRest(dst []byte, n int) []byte {
	if n < 15 {
		return dst
	}
	for n -= 15; n >= 255; n -= 255 {
		dst = append(dst, 255)
	}
	return append(dst, byte(n))
}

// expand fills dst with the bytes of a block, and reports whether the block is whole and fills it.
func (d *dictionary) expand(dst, block []byte) bool {
	r, at := blockReader{block}, 0
	for {
		token, ok := r.byte()
		if !ok {
			return false
		}
		n, ok := r.length(int(token >> 4))
		if !ok || n > len(r.rest) || n > len(dst)-at {
			return false
		}
		if n <= short && len(r.rest) >= short && len(dst)-at >= short {
			*(*[short]byte)(dst[at:]) = [short]byte(r.rest)
		} else {
			copy(dst[at:], r.rest[:n])
		}
		at += n
		if r.rest = r.rest[n:]; len(r.rest) == 0 {
			return at == len(dst)
		}
		if len(r.rest) < 2 {
			return false
		}
		offset := int(binary.LittleEndian.Uint16(r.rest))
		r.rest = r.rest[2:]
		if n, ok = r.length(int(token & 15)); !ok {
			return false
		}
		if n += minMatch; n > len(dst)-at || !d.copyMatch(dst, at, offset, n) {
			return false
		}
		at += n
	}
}

// copyMatch copies n bytes from an offset before dst[at] to it. What it copies may include what it has just copied.
func (d *dictionary) copyMatch(dst []byte, at, offset, n int) bool {
	if offset == 0 || offset > at+len(d.bytes) {
		return false
	}
	before := offset - at // the bytes of the dictionary from where it begins
	switch wide := n <= short && len(dst)-at >= short; {
	case wide && before >= short:
		*(*[short]byte)(dst[at:]) = [short]byte(d.bytes[len(d.bytes)-before:])
		return true
	case wide && before <= 0 && offset >= short:
		*(*[short]byte)(dst[at:]) = [short]byte(dst[at-offset:])
		return true
	}
	if before > 0 {
		done := copy(dst[at:at+n], d.bytes[len(d.bytes)-before:])
		at, n = at+done, n-done
	}
	for n > 0 {
		done := copy(dst[at:at+n], dst[at-offset:at])
		at, n = at+done, n-done
	}
	return true
}

// blockReader reads the lengths in a block.
type blockReader struct{ rest []byte }

func (r *blockReader) byte() (b byte, ok bool) {
	if len(r.rest) == 0 {
		return 0, false
	}
	b, r.rest = r.rest[0], r.rest[1:]
	return b, true
}

func (r *blockReader) length(n int) (int, bool) {
	if n < 15 {
		return n, true
	}
	for {
		b, ok := r.byte()
		if n += int(b); !ok || n > 1<<30 {
			return 0, false
		}
		if b < 255 {
			return n, true
		}
	}
}

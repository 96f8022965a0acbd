package wire

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"sync/atomic"
	"time"
)

// lastKey is the time of the newest key, in 4096ths of a millisecond since 1970.
var lastKey atomic.Int64

// NewKey returns an idempotency key: a UUID of version 7 whose 12 bits after the millisecond are its fraction (RFC 9562, section 6.2, method
// 3). Keys of one program, and ids derived from them, sort by creation, also within a millisecond and when the clock is set back.
func NewKey() string {
	at := nextKeyTime()
	var b [16]byte
	rand.Read(b[8:]) // never fails, by its documentation
	binary.BigEndian.PutUint64(b[:8], uint64(at>>12<<16|0x7000|at&0xfff))
	b[8] = b[8]&0x3f | 0x80
	var text [36]byte
	hex.Encode(text[0:8], b[0:4])
	hex.Encode(text[9:13], b[4:6])
	hex.Encode(text[14:18], b[6:8])
	hex.Encode(text[19:23], b[8:10])
	hex.Encode(text[24:36], b[10:16])
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return string(text[:])
}

// nextKeyTime is now, or a step after the newest key where that is later.
func nextKeyTime() int64 {
	now := time.Now()
	at := now.UnixMilli()<<12 | int64(now.Nanosecond()%1e6)<<12/1e6
	for {
		last := lastKey.Load()
		at = max(at, last+1)
		if lastKey.CompareAndSwap(last, at) {
			return at
		}
	}
}

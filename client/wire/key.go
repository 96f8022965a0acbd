package wire

import (
	"crypto/rand"
	"encoding/hex"
	"time"
)

// NewKey returns an idempotency key: a UUID of version 7 (RFC 9562), so that ids derived from it sort by time.
func NewKey() string {
	var b [16]byte
	rand.Read(b[:]) // never fails, by its documentation
	ms := uint64(time.Now().UnixMilli())
	for i := range 6 {
		b[i] = byte(ms >> (40 - 8*i))
	}
	b[6], b[8] = b[6]&0x0f|0x70, b[8]&0x3f|0x80
	var text [36]byte
	hex.Encode(text[0:8], b[0:4])
	hex.Encode(text[9:13], b[4:6])
	hex.Encode(text[14:18], b[6:8])
	hex.Encode(text[19:23], b[8:10])
	hex.Encode(text[24:36], b[10:16])
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return string(text[:])
}

package artifact

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
)

// PieceSize is the greatest size of a piece, in bytes. A store whose technology bounds the size of a value keeps content in pieces, numbered from 0.
const PieceSize = 256 << 10

// WritePieces reads content to its end, and stores it in pieces. store must not keep the bytes of a piece. Errors: that the content has more than most bytes, and
// those of r and of store.
func WritePieces(r io.Reader, most int64, store func(number int, piece []byte) error) (info Info, err error) {
	h, b := sha256.New(), make([]byte, PieceSize)
	for number := 0; ; number++ {
		n, err := io.ReadFull(io.LimitReader(r, most+1-info.Size), b)
		if info.Size += int64(n); info.Size > most {
			return info, TooLarge(most)
		}
		end := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !end {
			return info, err
		}
		if n > 0 {
			h.Write(b[:n])
			if err := store(number, b[:n]); err != nil {
				return info, err
			}
		}
		if end {
			info.Digest = DigestFrom(h)
			return info, nil
		}
	}
}

// Pieces reads content that is stored in pieces.
type Pieces struct {
	Left int64                            // bytes of the content that were not loaded
	Load func(number int) ([]byte, error) // returns a piece; nil if there is none
	// Lost is called for a piece that is not there or has another size. It returns why the content is gone; nil if it should be there, and so is damaged.
	Lost func() error

	number int
	loaded []byte
}

// Read returns [ErrCorrupt] where a piece is missing or damaged.
func (r *Pieces) Read(p []byte) (int, error) {
	for len(r.loaded) == 0 {
		if r.Left == 0 {
			return 0, io.EOF
		}
		b, err := r.Load(r.number)
		if err != nil {
			return 0, err
		}
		if len(b) == 0 || int64(len(b)) > r.Left {
			if err := r.Lost(); err != nil {
				return 0, err
			}
			return 0, fmt.Errorf("%w: piece %d is missing or damaged", ErrCorrupt, r.number)
		}
		r.loaded = b
		r.number++
		r.Left -= int64(len(b))
	}
	n := copy(p, r.loaded)
	r.loaded = r.loaded[n:]
	return n, nil
}

// Close does nothing.
func (r *Pieces) Close() error { return nil }

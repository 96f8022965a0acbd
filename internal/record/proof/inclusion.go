package proof

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

// Inclusion is the proof that an entry is in a tree. Its text is that of c2sp.org/tlog-proof; the bytes of the entry are its extra data.
type Inclusion struct {
	Entry      []byte // or its leaf alone: see Withheld
	Index      int64  // of the leaf: the position of the entry, less one
	Path       []Hash
	Checkpoint []byte // a signed note
}

// inclusionHeader is the first line of an inclusion proof.
const inclusionHeader = "c2sp.org/tlog-proof@v1"

// HasInclusions reports whether a text is one of inclusion proofs, whole or damaged: it is no checkpoint. Any of the lines with which a proof begins
// tells, since the others may be damaged.
func HasInclusions(text []byte) bool {
	for i := 0; len(text) > 0; i++ {
		var line []byte
		line, text, _ = bytes.Cut(text, []byte("\n"))
		if bytes.HasPrefix(line, []byte(inclusionHeader)) || i < 3 && (bytes.HasPrefix(line, []byte("extra ")) || bytes.HasPrefix(line, []byte("index "))) {
			return true
		}
	}
	return false
}

// ErrProof: it is not a proof, or it proves something else.
var ErrProof = errors.New("proof: not a valid proof")

// Prove makes the inclusion proof of the leaf at an index in the tree of a checkpoint of so many leaves.
func Prove(entry []byte, index, size int64, stored tlog.HashReader, checkpoint []byte) (Inclusion, error) {
	path, err := tlog.ProveRecord(size, index, stored)
	return Inclusion{entry, index, path, checkpoint}, err
}

// Withheld returns the leaf of an entry that is withheld: its 32 bytes stand in the place of the entry, of which the header alone is longer.
func (p Inclusion) Withheld() (leaf Hash, ok bool) {
	if len(p.Entry) != len(leaf) {
		return leaf, false
	}
	return Hash(p.Entry), true
}

// Withhold has the proof say no more than the leaf of the entry.
func (p *Inclusion) Withhold(stored tlog.HashReader) error {
	leaf, err := stored.ReadHashes([]int64{tlog.StoredHashIndex(0, p.Index)})
	if err == nil {
		p.Entry = leaf[0][:]
	}
	return err
}

// Append appends the text of the proof to b.
func (p Inclusion) Append(b []byte) []byte {
	b = append(append(b, inclusionHeader...), "\nextra "...)
	b = base64.StdEncoding.AppendEncode(b, p.Entry)
	b = strconv.AppendInt(append(b, "\nindex "...), p.Index, 10)
	b = append(b, '\n')
	for _, h := range p.Path {
		b = append(base64.StdEncoding.AppendEncode(b, h[:]), '\n')
	}
	return append(append(b, '\n'), p.Checkpoint...)
}

// maxInclusion bounds the text of one proof, in bytes: an entry has at most 2 MiB.
const maxInclusion = 16 << 20

// ParseInclusions reads the proofs of a receipt: one text after the other. Error: ErrProof.
func ParseInclusions(text []byte) (list []Inclusion, err error) {
	for p, err := range Inclusions(bytes.NewReader(text)) {
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// Inclusions reads proofs one after the other. After an error there are no more. Errors: ErrProof, and those of the reader.
func Inclusions(r io.Reader) iter.Seq2[Inclusion, error] {
	const header = inclusionHeader + "\n"
	return func(yield func(Inclusion, error) bool) {
		in := bufio.NewReaderSize(r, 64<<10)
		var one []byte
		for n := 0; ; {
			line, err := in.ReadSlice('\n')
			if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, bufio.ErrBufferFull) {
				yield(Inclusion{}, err)
				return
			}
			end := errors.Is(err, io.EOF)
			begins := string(line) == header && (len(one) == 0 || one[len(one)-1] == '\n')
			if n == 0 && !begins {
				yield(Inclusion{}, fmt.Errorf("%w: the first line is not %s", ErrProof, inclusionHeader))
				return
			}
			if (begins || end) && n > 0 {
				if end {
					one = append(one, line...)
				}
				p, err := parseInclusion(string(one))
				if err != nil {
					yield(Inclusion{}, fmt.Errorf("%w: proof %d: %w", ErrProof, n, err))
					return
				}
				if !yield(p, nil) || end {
					return
				}
				one = one[:0]
			}
			if begins {
				n++
				continue
			}
			if one = append(one, line...); len(one) > maxInclusion {
				yield(Inclusion{}, fmt.Errorf("%w: proof %d is longer than %d bytes", ErrProof, n, maxInclusion))
				return
			}
		}
	}
}

// parseInclusion reads what follows the first line.
func parseInclusion(text string) (p Inclusion, err error) {
	head, checkpoint, ok := strings.Cut(text, "\n\n")
	if !ok {
		return p, errors.New("there is no checkpoint")
	}
	lines := strings.Split(head, "\n")
	if extra, ok := strings.CutPrefix(lines[0], "extra "); ok {
		if p.Entry, err = decode64(extra); err != nil {
			return p, errors.New("the extra data is not base64")
		}
		lines = lines[1:]
	}
	if len(lines) == 0 {
		return p, errors.New("there is no index")
	}
	index, ok := strings.CutPrefix(lines[0], "index ")
	if p.Index, err = strconv.ParseInt(index, 10, 64); err != nil || !ok || p.Index < 0 || p.Index == math.MaxInt64 || strconv.FormatInt(p.Index, 10) != index {
		return p, fmt.Errorf("%.60q is not an index", lines[0])
	}
	for _, line := range lines[1:] {
		h, err := parseHash(line)
		if err != nil {
			return p, err
		}
		p.Path = append(p.Path, h)
	}
	p.Checkpoint = []byte(checkpoint)
	return p, nil
}

// Check verifies that the entry is in the tree of a checkpoint that was opened. Error: ErrProof.
func (p Inclusion) Check(c Checkpoint) error {
	if p.Index >= c.Size {
		return fmt.Errorf("%w: the checkpoint ends at position %d, before entry %d", ErrProof, c.Size, p.Index+1)
	}
	leaf, withheld := p.Withheld()
	if !withheld {
		leaf = LeafOf(p.Entry)
	}
	if err := tlog.CheckRecord(p.Path, c.Size, c.Root, p.Index, leaf); err != nil {
		return fmt.Errorf("%w: entry %d is not in the tree of the checkpoint: %w", ErrProof, p.Index+1, err)
	}
	return nil
}

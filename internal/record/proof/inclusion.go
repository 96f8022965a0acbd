package proof

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/tlog"
)

// Inclusion is the proof that an entry is in a tree. Its text is that of c2sp.org/tlog-proof; the bytes of the entry are its extra data.
type Inclusion struct {
	Entry      []byte
	Index      int64 // of the leaf: the position of the entry, less one
	Path       []Hash
	Checkpoint []byte // a signed note
}

// inclusionHeader is the first line of an inclusion proof.
const inclusionHeader = "c2sp.org/tlog-proof@v1"

// ErrProof: it is not a proof, or it proves something else.
var ErrProof = errors.New("proof: not a valid proof")

// Prove makes the inclusion proof of the leaf at an index in the tree of a checkpoint of so many leaves.
func Prove(entry []byte, index, size int64, stored tlog.HashReader, checkpoint []byte) (Inclusion, error) {
	path, err := tlog.ProveRecord(size, index, stored)
	return Inclusion{entry, index, path, checkpoint}, err
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

// ParseInclusions reads the proofs of a receipt: one text after the other. Error: ErrProof.
func ParseInclusions(text []byte) ([]Inclusion, error) {
	const header = inclusionHeader + "\n"
	if !bytes.HasPrefix(text, []byte(header)) {
		return nil, fmt.Errorf("%w: the first line is not %s", ErrProof, inclusionHeader)
	}
	var list []Inclusion
	for i, one := range strings.Split("\n"+string(text), "\n"+header)[1:] {
		p, err := parseInclusion(one)
		if err != nil {
			return nil, fmt.Errorf("%w: proof %d: %w", ErrProof, i+1, err)
		}
		list = append(list, p)
	}
	for i := range len(list) - 1 { // the separator took the line feed of those before the last
		list[i].Checkpoint = append(list[i].Checkpoint, '\n')
	}
	return list, nil
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
	if p.Index, err = strconv.ParseInt(index, 10, 64); err != nil || !ok || p.Index < 0 || strconv.FormatInt(p.Index, 10) != index {
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
	if err := tlog.CheckRecord(p.Path, c.Size, c.Root, p.Index, tlog.RecordHash(p.Entry)); err != nil {
		return fmt.Errorf("%w: entry %d is not in the tree of the checkpoint: %w", ErrProof, p.Index+1, err)
	}
	return nil
}

package gitsnap

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"io"
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// alphabet is the digits of the base 85 of git.
const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"

// checkUnpackedSize refuses a patch whose binary parts would unpack to more than MaxTree, before git unpacks them. The size of
// a literal is in its first line; that of the result of a delta is in the first bytes of the delta. A text line that looks like
// the start of a binary part counts too: at worst that refuses a harmless patch.
func checkUnpackedSize(patch []byte) error {
	var total uint64
	lines := bytes.Split(patch, []byte("\n"))
	for i, line := range lines {
		kind, size, ok := binaryPart(line)
		if !ok {
			continue
		}
		if kind == "delta" {
			var first []byte
			if i+1 < len(lines) {
				first = lines[i+1]
			}
			if size, ok = deltaResult(first); !ok {
				return refusal.New(refusal.Invalid, "ask for a new snapshot", "a binary part of the patch cannot be read")
			}
		}
		if total += min(size, MaxTree+1); total > MaxTree {
			return refusal.New(refusal.TooLarge, "hand over [large files as artifacts](artifact put)", "the patch unpacks to more than %d bytes", MaxTree)
		}
	}
	return nil
}

// binaryPart recognises the lines "literal N" and "delta N".
func binaryPart(line []byte) (kind string, size uint64, ok bool) {
	if len(line) > 40 {
		return "", 0, false
	}
	kind, number, ok := strings.Cut(string(line), " ")
	if !ok || kind != "literal" && kind != "delta" {
		return "", 0, false
	}
	size, err := strconv.ParseUint(strings.TrimRight(number, "\r"), 10, 64)
	return kind, size, err == nil
}

// deltaResult returns the size of the result of a delta. Its first line always contains it: two numbers of up to ten bytes.
func deltaResult(line []byte) (uint64, bool) {
	packed, ok := decode85(line)
	if !ok {
		return 0, false
	}
	z, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return 0, false
	}
	head := make([]byte, 2*binary.MaxVarintLen64)
	n, _ := io.ReadFull(z, head) // the line may end before the stream does
	_, used := binary.Uvarint(head[:n])
	if used <= 0 {
		return 0, false
	}
	result, more := binary.Uvarint(head[used:n])
	return result, more > 0
}

// decode85 decodes one line of a binary patch: a letter for its length, and groups of five digits for four bytes.
func decode85(line []byte) ([]byte, bool) {
	line = bytes.TrimRight(line, "\r")
	if len(line) < 6 || len(line)%5 != 1 {
		return nil, false
	}
	length := 0
	switch c := line[0]; {
	case c >= 'A' && c <= 'Z':
		length = int(c-'A') + 1
	case c >= 'a' && c <= 'z':
		length = int(c-'a') + 27
	}
	var out []byte
	for group := line[1:]; len(group) > 0; group = group[5:] {
		var v uint64
		for _, c := range group[:5] {
			digit := strings.IndexByte(alphabet, c)
			if digit < 0 {
				return nil, false
			}
			v = v*85 + uint64(digit)
		}
		if v > 1<<32-1 {
			return nil, false
		}
		out = binary.BigEndian.AppendUint32(out, uint32(v))
	}
	if length == 0 || length > len(out) {
		return nil, false
	}
	return out[:length], true
}

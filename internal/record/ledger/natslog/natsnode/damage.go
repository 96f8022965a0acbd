package natsnode

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/minio/highwayhash"
)

// nats-server drops a message whose checksum is wrong when it starts, and is then a replica without it: while it leads, what was acknowledged is missing, and
// another could be stored in its place. So replicas are checked before.

// storeDir is the directory in that of a node in which nats-server keeps everything.
const storeDir = "jetstream"

// checkReplicas refuses a directory with a damaged message in a stream. What was written last may be incomplete: the node gets it from the others.
func checkReplicas(dir string) error {
	streams, err := filepath.Glob(filepath.Join(dir, storeDir, "*", "streams", "*"))
	if err != nil {
		return err
	}
	for _, stream := range streams {
		blocks, err := blocksOf(stream)
		if err != nil {
			return err
		}
		for i, b := range blocks {
			text, err := os.ReadFile(b.file)
			if err != nil {
				return err
			}
			if at := b.damage(text, i == len(blocks)-1); at >= 0 {
				return fmt.Errorf("natsnode: the replica of this node is damaged: %s is not as it was written, at byte %d. Nothing is lost while the others run: look for what "+
					"damages files here, delete %s, and start the node again. Its replica is made again from those of the others", b.file, at, filepath.Join(dir, storeDir))
			}
		}
	}
	return nil
}

// block is a file with messages of a stream.
type block struct {
	stream string
	number int
	file   string
}

// blocksOf returns the blocks of a stream, the last one last.
func blocksOf(stream string) (list []block, err error) {
	files, err := filepath.Glob(filepath.Join(stream, "msgs", "*.blk"))
	for _, file := range files {
		if n, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(file), ".blk")); err == nil {
			list = append(list, block{filepath.Base(stream), n, file})
		}
	}
	slices.SortFunc(list, func(a, b block) int { return cmp.Compare(a.number, b.number) })
	return list, err
}

// The form of a message in a block: its length, with a bit for one that has a header; its number; its time; the length of its subject; the subject; if it has a
// header, the length of that; the header and the content; a checksum.
const (
	headSize   = 4 + 8 + 8 + 2
	sumSize    = 8
	withHeader = 1 << 31
	maxLength  = 32 << 20
)

// damage returns where a message is damaged, -1 for nowhere. At the end of the last block one may be incomplete, with nothing behind it.
func (b block) damage(text []byte, last bool) int {
	key := sha256.Sum256(fmt.Appendf(nil, "%s-%d", b.stream, b.number))
	for at := 0; at < len(text); {
		n := whole(text[at:], key[:])
		if n > 0 {
			at += n
			continue
		}
		if !last {
			return at
		}
		for behind := at + 1; behind < len(text); behind++ {
			if whole(text[behind:], key[:]) > 0 {
				return at
			}
		}
		return -1
	}
	return -1
}

// whole returns the length of the message at the beginning of a text, 0 if there is none, or its checksum is wrong.
func whole(text, key []byte) int {
	if len(text) < headSize+sumSize {
		return 0
	}
	length, subject := binary.LittleEndian.Uint32(text), int(binary.LittleEndian.Uint16(text[headSize-2:]))
	rest := headSize + subject
	skip := rest
	if length&withHeader != 0 {
		skip += 4
	}
	n := int(length &^ withHeader)
	if n > maxLength || n > len(text) || skip+sumSize > n {
		return 0
	}
	sum, err := highwayhash.New64(key)
	if err != nil {
		return 0
	}
	for _, part := range [][]byte{text[4 : headSize-2], text[headSize:rest], text[skip : n-sumSize]} {
		_, _ = sum.Write(part) // never fails
	}
	if !bytes.Equal(sum.Sum(nil), text[n-sumSize:n]) {
		return 0
	}
	return n
}

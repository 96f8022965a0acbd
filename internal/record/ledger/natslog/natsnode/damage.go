package natsnode

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/minio/highwayhash"
)

// After a loss of power the end of what was written may be incomplete. So may be what is in front of messages that were written later, since nats-server syncs the Raft log with each write and the
// blocks of a replicated stream only when it shortens that log, and file systems promise no order: zeros in a block, or a block that is torn before one with content. That is refused like damage, as
// nats-server goes on behind it: it applies from its Raft log only what comes after its last message, and the replica would lack the messages between for good.
//
// nats-server drops a message whose checksum is wrong when it starts, and is then a replica without it: while it leads, what was acknowledged is missing, and
// another could be stored in its place. So replicas are checked before.

// storeDir is the directory in that of a node in which nats-server keeps everything.
const storeDir = "jetstream"

// checkReplicas refuses a directory with a damaged message in a stream. What was written last may be incomplete: the node gets it from the others.
func checkReplicas(dir string, log *slog.Logger) error {
	streams, err := fs.Glob(os.DirFS(dir), storeDir+"/*/streams/*")
	if err != nil {
		return err
	}
	var all []block
	size := int64(0)
	for _, stream := range streams {
		blocks, n, err := blocksOf(filepath.Join(dir, filepath.FromSlash(stream)))
		if err != nil {
			return err
		}
		all, size = append(all, blocks...), size+n
	}
	if log != nil && size > 0 {
		log.Info("the replicas of this node are read and checked before it starts", "directory", filepath.Join(dir, storeDir), "files", len(all), "bytes", size)
	}
	for _, b := range all {
		text, err := os.ReadFile(b.file)
		if err != nil {
			return err
		}
		if at := b.damage(text); at >= 0 {
			return damaged(dir, b.file, fmt.Sprint(", at byte ", at))
		}
	}
	return checkSnapshots(dir)
}

// damaged says which file of a node is, and what to do.
func damaged(dir, file, where string) error {
	return fmt.Errorf("natsnode: the replica of this node is damaged: %s is not as it was written%s. Look for what damages files here. If all other nodes run "+
		"and are current (trapeze cluster status), delete %s, and start the node again: its replica is made again from those of the others. Do so at one node at a time "+
		"only, as its vote is deleted, too; otherwise restore a backup", file, where, filepath.Join(dir, storeDir))
}

// block is a file with messages of a stream.
type block struct {
	stream string
	number int
	file   string
	last   bool // its end may be incomplete
}

// blocksOf returns the blocks of a stream, the last one last, and their size. nats-server syncs a block later than it begins the next: after a loss of power that
// may have nothing, and the one before be incomplete. So blocks with nothing at the end are left out.
func blocksOf(stream string) (list []block, size int64, err error) {
	files, err := fs.Glob(os.DirFS(stream), "msgs/*.blk")
	if err != nil {
		return nil, 0, err
	}
	for _, file := range files {
		path := filepath.Join(stream, filepath.FromSlash(file))
		if n, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(path), ".blk")); err == nil {
			list = append(list, block{stream: filepath.Base(stream), number: n, file: path})
		}
	}
	slices.SortFunc(list, func(a, b block) int { return cmp.Compare(a.number, b.number) })
	for ; len(list) > 0; list = list[:len(list)-1] {
		end := &list[len(list)-1]
		text, err := os.ReadFile(end.file)
		if err != nil {
			return nil, 0, err
		}
		if len(bytes.Trim(text, "\x00")) > 0 { // a file may have its length before its content
			end.last = true
			break
		}
	}
	for _, b := range list {
		info, err := os.Stat(b.file)
		if err != nil {
			return nil, 0, err
		}
		size += info.Size()
	}
	return list, size, nil
}

// The form of a message in a block: its length, with a bit for one that has a header; its number; its time; the length of its subject; the subject; if it has a
// header, the length of that; the header and the content; a checksum.
const (
	headSize   = 4 + 8 + 8 + 2
	sumSize    = 8
	withHeader = 1 << 31
	maxLength  = 32 << 20
)

// damage returns where a message is damaged, -1 for nowhere. At the end of the last block one may be incomplete, with nothing or zeros behind it.
func (b block) damage(text []byte) int {
	key := sha256.Sum256(fmt.Appendf(nil, "%s-%d", b.stream, b.number))
	for at := 0; at < len(text); {
		n := whole(text[at:], key[:])
		if n > 0 {
			at += n
			continue
		}
		if !b.last {
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

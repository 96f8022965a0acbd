package seal

import (
	"bytes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/trapezehq/trapeze/internal/record/durable"
)

// A key file begins with a header: magic, the length of its wrapped key (16 bits), that key, and zeros. Slots follow, each of which has a
// key or says that it was destroyed. Numbers have their least significant byte first, and the last four bytes of a slot are the CRC-32C of those
// before.
//
//	'K' check(4) key encrypted(60) zeros        a key
//	'E' check(4) time(8) length(1) principal    when and by whom it was destroyed; time in microseconds
//
// check is random: a key is named by its slot and its check, so that a file of another record is noticed.
const (
	magic      = "TRPZKEY1"
	headerSize = 4096
	slotSize   = 128
	slotSum    = slotSize - crc32.Size
	hasKey     = 'K'
	isErased   = 'E'
	maxBy      = slotSum - 14

	chunk = 256 // the number of keys that are made at once, which takes one fsync
	low   = 64  // the number of unused keys at which more are made
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// KeyFile is the keys of a record. Its methods are safe for many goroutines.
type KeyFile struct {
	file *os.File
	own  cipher.AEAD // encrypts the keys

	mu     sync.Mutex
	slots  int64 // in the file
	unused []slot
	making chan struct{} // closed when more keys are there; nil: none are being made
	failed error         // of the last making
}

// slot is a key with its name.
type slot struct {
	id   string
	aead cipher.AEAD
}

// Create makes a key file, durably. It fails if there is one.
func Create(path string, w Wrapper) error {
	wrapped, err := w.Wrap(newKey())
	if err != nil {
		return err
	}
	header := make([]byte, headerSize)
	if len(wrapped) > headerSize-len(magic)-2 {
		return fmt.Errorf("a wrapped key of %d bytes is too long", len(wrapped))
	}
	copy(header, magic)
	binary.LittleEndian.PutUint16(header[len(magic):], uint16(len(wrapped))) //nolint:gosec // see above
	copy(header[len(magic)+2:], wrapped)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the path is the operator's
	if err != nil {
		return err
	}
	_, err = f.Write(header)
	return errors.Join(err, f.Sync(), f.Close(), durable.Sync(filepath.Dir(path)))
}

// OpenFile opens a key file; readOnly: no key can be made or destroyed.
func OpenFile(path string, w Wrapper, readOnly bool) (_ *KeyFile, err error) {
	flag := os.O_RDWR
	if readOnly {
		flag = os.O_RDONLY
	}
	f, err := os.OpenFile(path, flag, 0) //nolint:gosec // the path is the operator's
	if err != nil {
		return nil, err
	}
	k := &KeyFile{file: f}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("the keys in %s: %w", path, err), f.Close())
		}
	}()
	header := make([]byte, headerSize)
	if _, err := f.ReadAt(header, 0); err != nil || string(header[:len(magic)]) != magic {
		return nil, errors.New("this is no key file, or it is damaged: restore it from a backup")
	}
	size := int(binary.LittleEndian.Uint16(header[len(magic):]))
	if size > headerSize-len(magic)-2 {
		return nil, errors.New("this is no key file, or it is damaged: restore it from a backup")
	}
	key, err := w.Unwrap(header[len(magic)+2 : len(magic)+2+size])
	if err != nil {
		return nil, fmt.Errorf("the key of the installation does not open it: %w", err)
	}
	k.own = newAEAD(key)
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	k.slots = (info.Size() - headerSize + slotSize - 1) / slotSize // a slot that was not written whole is not used again
	return k, nil
}

// Close closes the file.
func (k *KeyFile) Close() error {
	k.mu.Lock()
	making := k.making
	k.mu.Unlock()
	if making != nil {
		<-making
	}
	return k.file.Close()
}

// take returns a key that was given to nobody, which is on disk.
func (k *KeyFile) take() (slot, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for len(k.unused) == 0 {
		making := k.more()
		k.mu.Unlock()
		<-making
		k.mu.Lock()
		if len(k.unused) == 0 && k.failed != nil {
			return slot{}, k.failed
		}
	}
	s := k.unused[len(k.unused)-1]
	k.unused = k.unused[:len(k.unused)-1]
	if len(k.unused) < low {
		k.more()
	}
	return s, nil
}

// more begins to make keys, unless that has begun. The caller holds the lock.
func (k *KeyFile) more() (done <-chan struct{}) {
	if k.making == nil {
		made := make(chan struct{})
		k.making = made
		from := k.slots
		k.slots += chunk
		go func() {
			list, err := k.write(from)
			k.mu.Lock()
			k.unused, k.failed, k.making = append(k.unused, list...), err, nil
			k.mu.Unlock()
			close(made)
		}()
	}
	return k.making
}

// write writes new keys from a slot on.
func (k *KeyFile) write(from int64) ([]slot, error) {
	list, b := make([]slot, 0, chunk), make([]byte, 0, chunk*slotSize)
	for i := range int64(chunk) {
		key, check := newKey(), newKey()[:4]
		one := make([]byte, slotSize)
		one[0] = hasKey
		copy(one[1:5], check)
		id := keyID(from+i, check)
		copy(one[5:], lock(k.own, key, []byte(id)))
		sum(one)
		b = append(b, one...)
		list = append(list, slot{id, newAEAD(key)})
	}
	if _, err := k.file.WriteAt(b, headerSize+from*slotSize); err != nil {
		return nil, err
	}
	return list, k.file.Sync()
}

func keyID(n int64, check []byte) string { return fmt.Sprintf("k%d.%x", n, check) }

func sum(one []byte) {
	binary.LittleEndian.PutUint32(one[slotSum:], crc32.Checksum(one[:slotSum], castagnoli))
}

// destroyed says when and by whom a key was destroyed.
type destroyed struct {
	at time.Time
	by string
}

// ErrMissing is the error for a key that is not in the file.
var ErrMissing = errors.New("its key is not in the key file, or damaged there: restore that file from a backup")

// find returns a key, or that it was destroyed. Error: ErrMissing.
func (k *KeyFile) find(id string) (slot, *destroyed, error) {
	one, _, err := k.read(id)
	if err != nil {
		return slot{}, nil, err
	}
	if one[0] == isErased {
		by := one[14 : 14+int(one[13])]
		return slot{}, &destroyed{time.UnixMicro(int64(binary.LittleEndian.Uint64(one[5:]))).UTC(), string(by)}, nil //nolint:gosec // as it was written
	}
	key, err := unlock(k.own, one[5:5+12+keySize+16], []byte(id))
	if err != nil {
		return slot{}, nil, fmt.Errorf("key %s: %w", id, ErrMissing)
	}
	return slot{id, newAEAD(key)}, nil, nil
}

// errDamaged is ErrMissing for a slot whose sum is wrong.
var errDamaged = fmt.Errorf("%w (its slot was changed)", ErrMissing)

// read returns the slot of a key, and its number.
func (k *KeyFile) read(id string) (one []byte, n int64, err error) {
	var check uint32
	if _, err := fmt.Sscanf(id, "k%d.%x", &n, &check); err != nil || n < 0 || n > 1<<40 || keyID(n, binary.BigEndian.AppendUint32(nil, check)) != id {
		return nil, 0, fmt.Errorf("key %s: %w", id, ErrMissing)
	}
	one = make([]byte, slotSize)
	if _, err := k.file.ReadAt(one, headerSize+n*slotSize); err != nil {
		return nil, 0, fmt.Errorf("key %s: %w", id, ErrMissing)
	}
	if binary.LittleEndian.Uint32(one[slotSum:]) != crc32.Checksum(one[:slotSum], castagnoli) {
		clear(one)
		binary.BigEndian.PutUint32(one[1:], check)
		return one, n, fmt.Errorf("key %s: %w", id, errDamaged)
	}
	if one[0] != hasKey && one[0] != isErased || keyID(n, one[1:5]) != id || one[0] == isErased && one[13] > maxBy {
		return nil, 0, fmt.Errorf("key %s: %w", id, ErrMissing)
	}
	return one, n, nil
}

// Check returns what is wrong with the file: each slot that was changed, also of keys that were given to nobody.
func (k *KeyFile) Check() (wrong []string, err error) {
	header := make([]byte, headerSize)
	if _, err := k.file.ReadAt(header, 0); err != nil {
		return nil, err
	}
	used := len(magic) + 2 + int(binary.LittleEndian.Uint16(header[len(magic):]))
	if used > headerSize || !isZero(header[used:]) {
		wrong = append(wrong, "its header was changed")
	}
	one := make([]byte, slotSize)
	for n := int64(0); ; n++ {
		if _, err := k.file.ReadAt(one, headerSize+n*slotSize); errors.Is(err, io.EOF) {
			return wrong, nil // the last slot may not have been written whole
		} else if err != nil {
			return wrong, err
		}
		if isZero(one) { // a loss of power leaves slots of keys that were given to nobody
			continue
		}
		if _, _, err := k.find(keyID(n, one[1:5])); err != nil {
			wrong = append(wrong, fmt.Sprintf("its slot %d was changed: %v", n, err))
		}
	}
}

func isZero(b []byte) bool { return len(bytes.Trim(b, "\x00")) == 0 }

// destroy overwrites keys, durably. One that was destroyed before stays as it is. A damaged slot is overwritten, since it may have most of a key.
func (k *KeyFile) destroy(ids []string, at time.Time, by string) error {
	for _, id := range ids {
		one, n, err := k.read(id)
		if err != nil && !errors.Is(err, errDamaged) {
			return err
		}
		if one[0] == isErased {
			continue
		}
		clear(one[5:])
		one[0] = isErased
		binary.LittleEndian.PutUint64(one[5:], uint64(at.UnixMicro())) //nolint:gosec // as it is read
		one[13] = byte(copy(one[14:14+maxBy], by))                     //nolint:gosec // at most maxBy
		sum(one)
		if _, err := k.file.WriteAt(one, headerSize+n*slotSize); err != nil {
			return err
		}
	}
	return k.file.Sync()
}

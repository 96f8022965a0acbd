//go:build slow

package natsnode

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/minio/highwayhash"
)

// stored is a message as nats-server stores it in block 1 of the stream S.
func stored(t *testing.T, number uint64, subject, header, content string) []byte {
	t.Helper()
	key := sha256.Sum256([]byte("S-1"))
	sum, err := highwayhash.New64(key[:])
	if err != nil {
		t.Fatal(err)
	}
	length := uint32(headSize + len(subject) + len(header) + len(content) + sumSize) //nolint:gosec // small
	if header != "" {
		length = (length + 4) | withHeader
	}
	b := binary.LittleEndian.AppendUint32(nil, length)
	b = binary.LittleEndian.AppendUint64(b, number)
	b = binary.LittleEndian.AppendUint64(b, 17)
	_, _ = sum.Write(b[4:])
	b = binary.LittleEndian.AppendUint16(b, uint16(len(subject))) //nolint:gosec // small
	b = append(b, subject...)
	if header != "" {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(header))) //nolint:gosec // small
	}
	b = append(append(b, header...), content...)
	_, _ = sum.Write([]byte(subject + header + content))
	return sum.Sum(b)
}

func TestADamagedMessageIsFoundAndATornEndIsNone(t *testing.T) {
	one, two := stored(t, 1, "s.one", "H: 1", "content"), stored(t, 2, "s.two", "", "more")
	all := slices.Concat(one, two)
	b, before := block{stream: "S", number: 1, last: true}, block{stream: "S", number: 1}
	if b.damage(all) != -1 || before.damage(all) != -1 {
		t.Errorf("whole: damaged at %d, and at %d where another block follows", b.damage(all), before.damage(all))
	}
	for end := len(one) + 1; end < len(all); end++ {
		if b.damage(all[:end]) != -1 || before.damage(all[:end]) != len(one) {
			t.Errorf("cut at %d: %d, and %d where another block follows", end, b.damage(all[:end]), before.damage(all[:end]))
		}
	}
	for bit := range 8 * len(one) {
		if n := bit / 8; n >= headSize-2 && n < headSize || n >= headSize+5 && n < headSize+9 {
			continue // lengths that no sum covers; an entry is compared with its subject when it is read
		}
		bad := slices.Clone(all)
		bad[bit/8] ^= 1 << (bit % 8)
		if b.damage(bad) != 0 {
			t.Errorf("bit %d: %d", bit, b.damage(bad))
		}
	}
}

func TestANodeWithADamagedReplicaDoesNotStart(t *testing.T) {
	o := Options{Cluster: "test", Name: "one", Dir: t.TempDir(), Addr: "127.0.0.1:0", Join: []string{"127.0.0.1:1"}, Secret: strings.Repeat("s", minSecret)}
	dir := filepath.Join(o.Dir, storeDir, "$G", "streams", "S", "msgs")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	bad := slices.Concat(stored(t, 1, "s.one", "", "content"), stored(t, 2, "s.two", "", "more"))
	bad[headSize+7] ^= 1
	file := filepath.Join(dir, "1.blk")
	if err := os.WriteFile(file, bad, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "10.blk"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	n, err := Start(o)
	if err == nil {
		_ = n.Stop(t.Context())
	}
	if err == nil || !strings.Contains(err.Error(), file+" is not as it was written, at byte 0") || !strings.Contains(err.Error(), "delete "+filepath.Join(o.Dir, storeDir)+", and start") || !strings.Contains(err.Error(), "at one node at a time") {
		t.Errorf("%v", err)
	}
}

// blocks writes the blocks of the stream S into the directory of a node, and returns the first one.
func blocks(t *testing.T, dir string, list ...[]byte) string {
	t.Helper()
	dir = filepath.Join(dir, storeDir, "$G", "streams", "S", "msgs")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for i, text := range list {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i+1, ".blk")), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "1.blk")
}

func TestWhatALossOfPowerLeavesIsNoDamage(t *testing.T) {
	one, two := stored(t, 1, "s.one", "", "content"), stored(t, 2, "s.two", "", "more")
	all, zeros := slices.Concat(one, two), make([]byte, 4096)
	bad := slices.Clone(all)
	bad[headSize+7] ^= 1
	torn := all[:len(all)-3]
	for name, after := range map[string][][]byte{
		"nothing": nil, "an empty block": {nil}, "two empty blocks": {nil, nil}, "a block of zeros": {zeros}, "both": {zeros, nil},
	} {
		for end, text := range map[string][]byte{"torn": torn, "torn, and zeros": slices.Concat(torn, zeros), "zeros": slices.Concat(all, zeros)} {
			dir := t.TempDir()
			blocks(t, dir, append([][]byte{text}, after...)...)
			if err := checkReplicas(dir, nil); err != nil {
				t.Errorf("%s, then %s: %v", end, name, err)
			}
		}
		for end, text := range map[string][]byte{"whole": bad, "zeros": slices.Concat(bad, zeros)} {
			dir := t.TempDir()
			file := blocks(t, dir, append([][]byte{text}, after...)...)
			if err := checkReplicas(dir, nil); err == nil || !strings.Contains(err.Error(), file+" is not as it was written, at byte 0.") {
				t.Errorf("a bit before the end (%s), then %s: %v", end, name, err)
			}
		}
	}
}

func TestReplicasAreCheckedInADirectoryWithAnyNameAndTheLogSaysSo(t *testing.T) {
	for _, name := range []string{"a[b]", "a[b", "a*", "a?"} {
		dir := filepath.Join(t.TempDir(), name)
		text := slices.Concat(stored(t, 1, "s.one", "", "content"), stored(t, 2, "s.two", "", "more"))
		text[headSize+7] ^= 1
		file := blocks(t, dir, text)
		var log bytes.Buffer
		err := checkReplicas(dir, slog.New(slog.NewTextHandler(&log, nil)))
		if err == nil || !strings.Contains(err.Error(), file+" is not as it was written") {
			t.Errorf("%s: %v", name, err)
		}
		if strings.Count(log.String(), "\n") != 1 || !strings.Contains(log.String(), fmt.Sprintf("files=1 bytes=%d", len(text))) {
			t.Errorf("%s: %s", name, &log)
		}
	}
}

package proof_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/record/proof"
)

// ctLeaves and ctRoots are the vectors of the reference implementation of RFC 6962, Certificate Transparency.
var (
	ctLeaves = []string{"", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"}
	ctRoots  = []string{
		"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
		"fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
		"aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
		"d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
		"4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
		"76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
		"ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
		"5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
	}
)

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestTheTreeHasTheRootsOfRFC6962(t *testing.T) {
	tree := new(proof.Tree)
	for i, want := range ctRoots {
		if root := tree.Root(); hex.EncodeToString(root[:]) != want {
			t.Errorf("the root of %d leaves is %x, want %s", i, root, want)
		}
		if i < len(ctLeaves) {
			tree.Append(tlog.RecordHash(unhex(t, ctLeaves[i])), nil)
		}
	}
	if empty := unhex(t, ctRoots[1]); !bytes.Equal(proof.Gap[:], empty) {
		t.Errorf("the leaf of a gap is %x, want that of no bytes", proof.Gap)
	}
}

// memory is stored hashes.
type memory []proof.Hash

func (m memory) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	var out []tlog.Hash
	for _, i := range indexes {
		if i < 0 || i >= int64(len(m)) {
			return nil, errors.New("beyond the end")
		}
		out = append(out, m[i])
	}
	return out, nil
}

func grow(n int64) (*proof.Tree, memory) {
	tree, stored := new(proof.Tree), memory(nil)
	for i := range n {
		stored = tree.Append(tlog.RecordHash([]byte{byte(i), byte(i >> 8)}), stored)
	}
	return tree, stored
}

func TestATreeStoresWhatTlogStores(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, 700).Draw(t, "leaves")
		tree, stored := grow(n)
		if got := tlog.StoredHashCount(n); int64(len(stored)) != got {
			t.Fatalf("%d leaves have %d hashes, want %d", n, len(stored), got)
		}
		want, err := tlog.TreeHash(n, stored)
		if err != nil || tree.Root() != want {
			t.Fatalf("the root of %d leaves is %v, want %v, %v", n, tree.Root(), want, err)
		}
		again, err := proof.LoadTree(n, stored)
		if err != nil || again.Root() != want || again.Size() != n {
			t.Fatalf("the stored tree of %d leaves has the root %v, want %v, %v", n, again.Root(), want, err)
		}
		leaf := tlog.RecordHash([]byte("one more"))
		more, err := tlog.StoredHashesForRecordHash(n, leaf, stored)
		if err != nil {
			t.Fatal(err)
		}
		if got := again.Append(leaf, nil); len(got) != len(more) || got[len(got)-1] != more[len(more)-1] {
			t.Fatalf("leaf %d stores %v, want %v", n, got, more)
		}
	})
}

// sofa is the example of c2sp.org/tlog-checkpoint.
const sofa = `example.com/behind-the-sofa
20852163
CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=

— example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=
`

func TestTheExampleOfTheSpecificationIsReadAndWrittenByteForByte(t *testing.T) {
	text, _, _ := strings.Cut(sofa, "\n\n")
	c, err := proof.ParseCheckpoint(text + "\n")
	if err != nil || c.Origin != "example.com/behind-the-sofa" || c.Size != 20852163 || c.Text() != text+"\n" {
		t.Errorf("%+v, %v", c, err)
	}
	_, public, err := note.GenerateKey(nil, "example.com/behind-the-sofa")
	if err != nil {
		t.Fatal(err)
	}
	other, err := proof.ParseKeys(public)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := proof.OpenCheckpoint([]byte(sofa), other); !errors.Is(err, proof.ErrSignature) {
		t.Errorf("a checkpoint of another key: %v", err)
	}
}

func TestWhatIsNoCheckpointIsRefused(t *testing.T) {
	const hash = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I="
	for _, text := range []string{
		"", "a\n", "a\n1\n", "a\n1\n" + hash, "a\n01\n" + hash + "\n", "a\n-1\n" + hash + "\n", "a\n+1\n" + hash + "\n", "a\n 1\n" + hash + "\n",
		"\n1\n" + hash + "\n", "a\n1\n" + hash[:40] + "\n", "a\n1\n" + hash + "\n\n", "a\n1\n" + hash[:42] + "J=\n", "a\n99999999999999999999\n" + hash + "\n",
	} {
		if c, err := proof.ParseCheckpoint(text); !errors.Is(err, proof.ErrCheckpoint) {
			t.Errorf("%q is read as %+v, %v", text, c, err)
		}
	}
	if c, err := proof.ParseCheckpoint("a\n0\n" + hash + "\nextension\n"); err != nil || c.Size != 0 {
		t.Errorf("a checkpoint with an extension: %+v, %v", c, err)
	}
}

// signed is a tree with a key, and a checkpoint of it.
func signed(t *testing.T, n int64) (memory, note.Verifiers, []byte) {
	t.Helper()
	tree, stored := grow(n)
	private, public, err := note.GenerateKey(nil, "trapeze/test")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	msg, err := proof.Checkpoint{Origin: "trapeze/test", Size: n, Root: tree.Root()}.Sign(signer)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := proof.ParseKeys("# of the test\n\n" + public + "\n")
	if err != nil {
		t.Fatal(err)
	}
	return stored, keys, msg
}

func TestNoBitOfAReceiptCanChange(t *testing.T) {
	stored, keys, msg := signed(t, 11)
	var text []byte
	for _, index := range []int64{0, 7, 10} {
		p, err := proof.Prove([]byte{byte(index), 0}, index, 11, stored, msg)
		if err != nil {
			t.Fatal(err)
		}
		text = p.Append(text)
	}
	check := func(text []byte) error {
		list, err := proof.ParseInclusions(text)
		if err != nil {
			return err
		}
		if len(list) != 3 {
			return errors.New("not three proofs")
		}
		for i, p := range list {
			c, err := proof.OpenCheckpoint(p.Checkpoint, keys)
			if err != nil {
				return err
			}
			if err := p.Check(c); err != nil {
				return err
			}
			if p.Index != []int64{0, 7, 10}[i] {
				return errors.New("another entry")
			}
		}
		return nil
	}
	if err := check(text); err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(text)*8; i += 5 { // every bit of a byte, in one byte or another
		changed := bytes.Clone(text)
		changed[i/8] ^= 1 << (i % 8)
		if check(changed) == nil {
			t.Fatalf("bit %d of byte %d can change in\n%s", i%8, i/8, text)
		}
	}
}

func TestTilesHaveThePathsAndHashesOfTheSpecification(t *testing.T) {
	const size = 70000 // the example of c2sp.org/tlog-tiles
	tree, stored := grow(size)
	root := tree.Root()
	for path, width := range map[string]int{"0/000": 256, "0/272": 256, "0/273.p/112": 112, "1/000": 256, "1/001.p/17": 17, "2/000.p/1": 1} {
		tile, err := proof.ParseTile(path)
		if err != nil || proof.TilePath(tile) != path {
			t.Errorf("%s: %v, %v", path, proof.TilePath(tile), err)
			continue
		}
		b, err := proof.Tile(tile, size, stored)
		if err != nil || len(b) != width*tlog.HashSize {
			t.Errorf("%s has %d bytes, %v", path, len(b), err)
		}
	}
	for _, path := range []string{
		"", "0", "0/0", "0/273", "0/273.p/113", "0/273.p/0", "0/273.p/256", "2/000", "1/002.p/1", "3/000.p/1", "7/000.p/1", "63/000.p/1", "64/000.p/1", "-1/000", "00/000",
		"0/x000/000", "0/999999", "data/000", "entries/000", "0/x999/x999/x999/x999/x999/999.p/1", "0/000/../000",
	} {
		tile, err := proof.ParseTile(path)
		if err == nil {
			_, err = proof.Tile(tile, size, stored)
		}
		if !errors.Is(err, proof.ErrTile) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if tile, err := proof.ParseTile("0/x001/x234/067"); err != nil || tile.N != 1234067 {
		t.Errorf("%+v, %v", tile, err)
	}
	// A client that has the tiles and the checkpoint alone proves that an entry is in the tree.
	reader := tlog.TileHashReader(tlog.Tree{N: size, Hash: root}, tiles{t, size, stored})
	p, err := tlog.ProveRecord(size, 12345, reader)
	if err != nil {
		t.Fatal(err)
	}
	if err := tlog.CheckRecord(p, size, root, 12345, tlog.RecordHash([]byte{12345 & 255, 12345 >> 8})); err != nil {
		t.Error(err)
	}
}

// tiles serves tiles by their paths.
type tiles struct {
	t      *testing.T
	size   int64
	stored memory
}

func (tiles) Height() int { return 8 }

func (r tiles) ReadTiles(list []tlog.Tile) ([][]byte, error) {
	var out [][]byte
	for _, tile := range list {
		same, err := proof.ParseTile(proof.TilePath(tile))
		if err != nil {
			r.t.Errorf("%+v: %v", tile, err)
		}
		b, err := proof.Tile(same, r.size, r.stored)
		if err != nil {
			return nil, err
		}
		out = append(out, b)
	}
	return out, nil
}

func (tiles) SaveTiles([]tlog.Tile, [][]byte) {}

func TestAnIndexThatNoTreeHasIsRefused(t *testing.T) {
	for _, index := range []string{"9223372036854775807", "9223372036854775808", "-1", "+1", "01", ""} { // the entry after the first of them would have a negative number
		if got, err := proof.ParseInclusions([]byte("c2sp.org/tlog-proof@v1\nextra AA==\nindex " + index + "\n\n" + sofa)); err == nil {
			t.Errorf("%q: %+v", index, got)
		}
	}
}

func FuzzParseInclusions(f *testing.F) {
	f.Add([]byte("c2sp.org/tlog-proof@v1\nextra AA==\nindex 0\n\n" + sofa))
	f.Add([]byte("c2sp.org/tlog-proof@v1\nindex 1\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n" + sofa + "c2sp.org/tlog-proof@v1\nindex 2\n\n" + sofa))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := proof.ParseInclusions(text)
		if err != nil {
			return
		}
		var again []byte
		for _, p := range list {
			if p.Entry == nil { // what is not written
				return
			}
			again = p.Append(again)
		}
		if !bytes.Equal(again, text) {
			t.Errorf("%q is written as %q", text, again)
		}
	})
}

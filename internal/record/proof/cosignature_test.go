package proof_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/trapezehq/trapeze/internal/record/proof"
)

func TestACosignatureIsOfItsWitnessItsTimeAndItsCheckpoint(t *testing.T) {
	t.Parallel()
	at := time.Unix(1679315147, 0)
	text, err := proof.NewWitnessKey("witness.example.com/w1")
	if err != nil {
		t.Fatal(err)
	}
	w, err := proof.ParseWitnessSigner(text, func() time.Time { return at })
	if err != nil {
		t.Fatal(err)
	}
	key, err := proof.ParseWitnessKey(w.String())
	if err != nil {
		t.Fatal(err)
	}
	private, public, err := note.GenerateKey(nil, "log.example.com")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	c := proof.Checkpoint{Origin: "log.example.com", Size: 3, Root: proof.Gap}
	msg, err := note.Sign(&note.Note{Text: c.Text()}, signer, w)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := proof.ParseKeys(public)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := proof.OpenCheckpoint(msg, keys); err != nil || got != c {
		t.Errorf("%v, %v", got, err)
	}
	list, err := proof.CheckCosignatures(msg, []proof.WitnessKey{key}, 1)
	if err != nil || len(list) != 1 || list[0].Witness != "witness.example.com/w1" || !list[0].Time.Equal(at) {
		t.Errorf("%v, %v", list, err)
	}
	if list, err := proof.CheckCosignatures(msg, []proof.WitnessKey{key}, 2); !errors.Is(err, proof.ErrCosignatures) {
		t.Errorf("%v, %v", list, err)
	}
	for bit := range len(msg) * 8 {
		changed := bytes.Clone(msg)
		changed[bit/8] ^= 1 << (bit % 8)
		_, err1 := proof.OpenCheckpoint(changed, keys)
		_, err2 := proof.CheckCosignatures(changed, []proof.WitnessKey{key}, 1)
		if err1 == nil && err2 == nil {
			t.Fatalf("with bit %d changed it verifies: %s", bit, changed)
		}
	}
}

func TestAKeyThatIsNoneOfAWitnessIsRefused(t *testing.T) {
	t.Parallel()
	_, public, err := note.GenerateKey(nil, "log.example.com")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{public, "", "a", "a+b", "a+00000000+BA==", "a b+00000000+BAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"} {
		if k, err := proof.ParseWitnessKey(text); err == nil {
			t.Errorf("%q is %v", text, k)
		}
	}
}

package server

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

func TestWhatIsErasedIsInNoFileAndNoAnswerAndEveryProofStillVerifies(t *testing.T) {
	t.Parallel()
	k := treat(t, openErasable(t, t.TempDir()))
	_, err := k.admin.Erase(t.Context(), patient)
	refusedWith(t, err, refusal.Conflict, "has not ended")
	k.end(t)
	if n := len(k.inFiles(t)); n < 5 { // in the views and the artifact
		t.Fatalf("the files have %d of the words: this test proves nothing", n)
	}
	if n := len(k.told(t)); n < len(k.words) {
		t.Fatalf("the answers have %d of the words: this test proves nothing", n)
	}
	before := k.receipt(t)
	must(t)(k.admin.SetHold(t.Context(), admin.SubjectInput{Subject: k.task, Why: "case 12"}))
	_, err = k.admin.Erase(t.Context(), patient)
	refusedWith(t, err, refusal.Conflict, "a legal hold on task/"+k.task)
	must(t)(k.admin.LiftHold(t.Context(), admin.SubjectInput{Subject: k.task, Why: "case 12 is closed"}))

	e, err := k.admin.Erase(t.Context(), patient)
	if err != nil {
		t.Fatal(err)
	}
	if e.Streams != 3 || e.Left != 0 || len(e.Kept) != 0 || e.Files != 1 || e.Keys < 3 || e.Finished == nil {
		t.Errorf("%+v", e)
	}
	k.check(t)
	told := k.answers(t)
	for _, what := range []string{"task", "trail", "export", "content", "drift", "conversation"} {
		if !strings.Contains(told[what], "erased on ") || !strings.Contains(told[what], "by admin/") {
			t.Errorf("%s: %.600s", what, told[what])
		}
	}
	if !strings.Contains(told["trail"], "handoff-complete") || !strings.Contains(told["trail"], `"bob"`) {
		t.Errorf("what happened is gone: %.600s", told["trail"])
	}
	for what, text := range map[string][]byte{"before": before, "after": k.receipt(t)} {
		k.verify(t, what, text)
	}
	k.after(t)
}

// verify wants a receipt to show the handoff, without the keys of the content.
func (k *clinic) verify(t *testing.T, when string, receipt []byte) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(k.dir, "proof", "keys"))
	if err != nil {
		t.Fatal(err)
	}
	keys, err := proof.ParseKeys(string(text))
	if err != nil {
		t.Fatal(err)
	}
	r, err := proof.VerifyReceipt(receipt, keys)
	if err != nil || len(r.Handoffs) != 1 || r.Handoffs[0].From != "ann" || r.Handoffs[0].To != "bob" || !strings.HasPrefix(r.Handoffs[0].Envelope, "sha256:") {
		t.Errorf("the receipt from %s the erasure shows %+v, %v", when, r, err)
	}
	for _, w := range k.words {
		if bytes.Contains(receipt, []byte(w)) {
			t.Errorf("it has %s", w)
		}
	}
}

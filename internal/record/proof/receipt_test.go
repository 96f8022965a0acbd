package proof_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/proof"
)

// receipt is a receipt that a log signs, whatever its entries say, and the keys of that log.
func receipt(t *testing.T, entries ...ledger.Entry) ([]byte, note.Verifiers) {
	t.Helper()
	var tree proof.Tree
	var stored memory
	var list [][]byte
	for _, e := range entries {
		e.Time, e.Actor.Principal = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), "agent/ann"
		b, err := e.Encode()
		if err != nil {
			t.Fatal(err)
		}
		list, stored = append(list, b), tree.Append(tlog.RecordHash(b), stored)
	}
	private, public, err := note.GenerateKey(nil, "trapeze/test")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	n := int64(len(list))
	msg, err := proof.Checkpoint{Origin: "trapeze/test", Size: n, Root: tree.Root()}.Sign(signer)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := proof.ParseKeys(public)
	if err != nil {
		t.Fatal(err)
	}
	var text []byte
	for i, b := range list {
		p, err := proof.Prove(b, int64(i), n, stored, msg)
		if err != nil {
			t.Fatal(err)
		}
		text = p.Append(text)
	}
	return text, keys
}

func entry(stream ledger.Stream, version uint64, name, data string) ledger.Entry {
	return ledger.Entry{Stream: stream, Version: version, Events: []ledger.Event{{Name: name, Version: 1, Data: json.RawMessage(data)}}}
}

// TestAReceiptShowsNoMoreThanItsEntriesSay has logs that signed what no server records.
func TestAReceiptShowsNoMoreThanItsEntriesSay(t *testing.T) {
	const task, other = "default/task/task_1", "other/task/task_1"
	request := entry(task, 1, "handoff-request", `{"handoff":1,"from":"ann"}`)
	for _, test := range []struct {
		what    string
		entries []ledger.Entry
		refused bool
		want    []proof.Handoff
	}{
		{"the completion names another than the acceptance", []ledger.Entry{
			request, entry(task, 2, "handoff-acknowledgment", `{"handoff":1,"agent":"bob"}`), entry(task, 3, "handoff-complete", `{"handoff":1,"to":"carol","epoch":2}`),
		}, false, []proof.Handoff{{ID: "task_1.h1", From: "ann", To: "bob", Owner: "carol", Epoch: 2}}},
		{"the acceptance is of the task of another workspace", []ledger.Entry{
			request, entry(other, 1, "handoff-acknowledgment", `{"handoff":1,"agent":"bob"}`),
		}, false, []proof.Handoff{{ID: "task_1.h1", From: "ann"}, {ID: "task_1.h1", To: "bob"}}},
		{"an approval without its request", []ledger.Entry{entry(task, 4, "handoff-approved", `{"by":"operator/olga"}`)}, false, nil},
		{"two entries have one number", []ledger.Entry{request, entry(task, 1, "handoff-acknowledgment", `{"handoff":1,"agent":"bob"}`)}, true, nil},
		{"the numbers fall", []ledger.Entry{entry(task, 3, "task-progress", `{}`), request}, true, nil},
	} {
		t.Run(test.what, func(t *testing.T) {
			text, keys := receipt(t, test.entries...)
			r, err := proof.VerifyReceipt(text, keys)
			if test.refused {
				if !errors.Is(err, proof.ErrProof) {
					t.Fatalf("it is not refused: %v", err)
				}
				return
			}
			if err != nil || len(r.Handoffs) != len(test.want) {
				t.Fatalf("%+v, %v", r.Handoffs, err)
			}
			for i, want := range test.want {
				if got := r.Handoffs[i]; got.ID != want.ID || got.From != want.From || got.To != want.To || got.Owner != want.Owner || got.Epoch != want.Epoch {
					t.Errorf("it shows %+v, want %+v", got, want)
				}
			}
		})
	}
}

// counting is an entry that records an export.
func counting(of string, through, entries int, root string) ledger.Entry {
	return entry("default/access/auditor:otto", 0, "record-exported", fmt.Sprintf(`{"what":"everything","format":"proof","counted":{"of":%q,"through":%d,"entries":%d,"root":%q}}`, of, through, entries, root))
}

func TestTheCountOfAnExportIsComparedWithWhatIsHere(t *testing.T) {
	first, second := entry("default/task/task_1", 1, "task-created", `{}`), entry("default/task/task_2", 1, "task-created", `{}`)
	foreign := entry("other/task/task_3", 1, "task-created", `{}`)
	root := func(entries ...ledger.Entry) string {
		var tree proof.Tree
		text, _ := receipt(t, entries...)
		list, err := proof.ParseInclusions(text)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range list {
			tree.Append(tlog.RecordHash(p.Entry), nil)
		}
		return tree.Root().String()
	}
	both := root(first, second)
	for _, test := range []struct {
		what    string
		counted ledger.Entry
		refused bool
		exports int
		whole   bool
		found   bool // by the verification of the record, in which none is missing
	}{
		{"all are here, and one of another workspace", counting("default", 3, 2, both), false, 1, true, false},
		{"one task of two", counting("default/task/task_2", 3, 1, root(second)), false, 1, true, false},
		{"one is missing", counting("default", 3, 3, root(first, second, first)), false, 1, false, true},
		{"up to an earlier position", counting("default", 1, 1, root(first)), false, 1, true, false},
		{"there is more than it says", counting("default", 3, 1, root(first)), true, 0, false, true},
		{"the root is another", counting("default", 3, 2, root(second, first)), true, 0, false, true},
		{"of another workspace than that of the entry", counting("other", 3, 1, root(foreign)), false, 0, false, false},
		{"of what comes later", counting("default", 4, 2, both), false, 0, false, false},
	} {
		text, keys := receipt(t, first, second, foreign, test.counted)
		r, err := proof.VerifyReceipt(text, keys)
		if test.refused != errors.Is(err, proof.ErrProof) || !test.refused && err != nil {
			t.Errorf("%s: %v", test.what, err)
		}
		if !test.refused && (len(r.Exports) != test.exports || test.exports > 0 && r.Exports[0].Whole != test.whole) {
			t.Errorf("%s: %+v", test.what, r.Exports)
		}
		report, err := proof.VerifyRecord(t.Context(), &few{first, second, foreign, test.counted}, proof.Evidence{})
		if err != nil || (len(report.Findings) == 1 && report.Findings[0].Position == 4) != test.found || report.Counted != test.exports && !test.refused {
			t.Errorf("%s: of the record, %d counts, %v, %v", test.what, report.Counted, report.Findings, err)
		}
		unsound := proof.Evidence{Checkpoints: []proof.Checkpoint{{Size: 2}}} // of another record
		if again, err := proof.VerifyRecord(t.Context(), &few{first, second, foreign, test.counted}, unsound); err != nil || again.Counted != 0 || again.Uncounted != report.Counted {
			t.Errorf("%s: of a record that does not verify, %d counts and %d that were not made again, %v, %v", test.what, again.Counted, again.Uncounted, again.Findings, err)
		}
	}
}

// few are the entries of a record.
type few []ledger.Entry

func (f *few) Last(context.Context) (ledger.Position, error) { return ledger.Position(len(*f)), nil }

func (f *few) Read(_ context.Context, after ledger.Position, limit int) (list []ledger.Entry, err error) {
	for i, e := range (*f)[after:] {
		if e.Position = after + ledger.Position(i) + 1; i < limit { //nolint:gosec // never negative
			e.Time, e.Actor.Principal = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), "agent/ann"
			list = append(list, e)
		}
	}
	return list, nil
}

// unreadable is an entry whose payload has an encoding that no version of the program has.
func unreadable() ledger.Entry {
	return ledger.Entry{Stream: "default/task/task_1", Version: 1, Events: []ledger.Event{{Name: "task-created", Version: 1}}, Enc: "sealed-99", KeyID: "k", Sealed: []byte("x")}
}

func TestAPayloadOfAnUnknownEncodingDoesNotVerify(t *testing.T) {
	text, keys := receipt(t, unreadable())
	if _, err := proof.VerifyReceipt(text, keys); !errors.Is(err, proof.ErrProof) || !strings.Contains(err.Error(), `entry 1: its payload has the encoding "sealed-99"`) {
		t.Errorf("a receipt: %v", err)
	}
	report, err := proof.VerifyRecord(t.Context(), records{unreadable()}, proof.Evidence{})
	if err != nil || len(report.Findings) != 1 || report.Findings[0].Position != 1 || !strings.Contains(report.Findings[0].What, `encoding "sealed-99"`) {
		t.Errorf("a record: %v, %v", report.Findings, err)
	}
}

// records is a record of some entries.
type records []ledger.Entry

func (r records) Read(_ context.Context, after ledger.Position, _ int) (list []ledger.Entry, _ error) {
	for i, e := range r[after:] {
		e.Position, e.Time, e.Actor.Principal = after+ledger.Position(i)+1, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), "agent/ann"
		list = append(list, e)
	}
	return list, nil
}

func (r records) Last(context.Context) (ledger.Position, error) {
	return ledger.Position(len(r)), nil
}

//go:build slow

package server

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/client/admin"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	memoryrules "github.com/trapezehq/trapeze/internal/domain/memory"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/proof"
	"github.com/trapezehq/trapeze/internal/record/seal"
	"github.com/trapezehq/trapeze/internal/record/stream"
	"github.com/trapezehq/trapeze/internal/server/recordfile"
)

func TestAnErasureThatACrashInterruptsIsFinishedAtTheNextStart(t *testing.T) {
	t.Parallel()
	k := treat(t, openErasable(t, t.TempDir()))
	k.end(t)
	k.record(t) // as far as it came before the crash
	all, err := k.admin.Erasures(t.Context(), admin.ErasureFilter{})
	if err != nil || len(all.Erasures) != 1 || all.Erasures[0].Finished != nil {
		t.Fatalf("%+v, %v", all, err)
	}
	must(t)(nil, k.server.sealer.Destroy(nil, keysOf(t, k), time.Now(), "admin/local"))
	unfinished := comparedViews(t, k.dir)
	stop(t, k.server)
	for when, r := range map[string]*recordfile.File{"while the server runs": unfinished, "after it": comparedViews(t, k.dir)} {
		found, err := r.CheckViews(t.Context(), nil)
		if _, none := errors.AsType[*proof.NotCompared](err); !none || len(found) > 0 {
			t.Errorf("%s, a verification of views that are to be built again finds %v, %v", when, found, err)
		}
	}
	k.again(t, Config{})
	k.check(t)
	all, err = k.admin.Erasures(t.Context(), admin.ErasureFilter{})
	if err != nil || len(all.Erasures) != 1 || all.Erasures[0].Finished == nil || all.Erasures[0].Keys < 3 {
		t.Errorf("%+v, %v", all, err)
	}
	if list, err := k.server.sealer.Pending(); err != nil || len(list) != 0 {
		t.Errorf("%v, %v", list, err)
	}
}

// keysOf are the names of the keys of the patient's task.
func keysOf(t *testing.T, k *clinic) (ids []string) {
	t.Helper()
	must(t)(nil, stream.Each(t.Context(), k.server.log, ledger.Stream("default/task/"+k.task), func(e ledger.Entry) error {
		if e.KeyID != "" && !slices.Contains(ids, e.KeyID) {
			ids = append(ids, e.KeyID)
		}
		return nil
	}))
	return ids
}

// comparedViews opens a record for a verification.
func comparedViews(t *testing.T, dir string) *recordfile.File {
	t.Helper()
	r, err := OpenRecord(dir)
	must(t)(nil, err)
	t.Cleanup(func() { must(t)(nil, r.Close()) })
	return r
}

// TestAVerificationThatSeesContentBeforeAndAfterItsErasureFindsNothing has a verifier that knows the keys from before.
func TestAVerificationThatSeesContentBeforeAndAfterItsErasureFindsNothing(t *testing.T) {
	t.Parallel()
	k := treat(t, openErasable(t, t.TempDir()))
	k.end(t)
	r := comparedViews(t, k.dir)
	compare := func() {
		t.Helper()
		if found, err := r.CheckViews(t.Context(), nil); err != nil || len(found) > 0 {
			t.Errorf("%v, %v", found, err)
		}
	}
	compare()
	must(t)(k.admin.Erase(t.Context(), patient))
	compare()
}

func TestTheKeyOfTheInstallationCanBeInTheEnvironment(t *testing.T) {
	t.Setenv(seal.InstallationKey, base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{3}, 32)))
	k := treat(t, openErasable(t, t.TempDir()))
	if _, err := os.Stat(filepath.Join(k.dir, seal.InstallationFile)); err == nil {
		t.Error("it is in the data directory, too")
	}
	stop(t, k.server)
	k.again(t, Config{})
	stop(t, k.server)
	t.Setenv(seal.InstallationKey, "no key")
	if _, err := Open(t.Context(), Config{DataDir: k.dir, Addr: "127.0.0.1:0"}); err == nil || !strings.Contains(err.Error(), seal.InstallationKey) {
		t.Errorf("%v", err)
	}
}

func TestWhatWasRecordedBeforeStaysAndIsCounted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	k := treat(t, open(t, dir))
	_, err := k.admin.Erase(t.Context(), patient)
	refusedWith(t, err, refusal.Conflict, "not sealed")
	stop(t, k.server)
	k.server = openErasable(t, dir)
	k.admin = admin.New(signedIn(t, k.server, token(t, k.server)))
	at, err := k.admin.Task(t.Context(), k.task)
	if err != nil {
		t.Fatal(err)
	}
	must(t)(k.admin.Cancel(t.Context(), k.task, client.CancelInput{Detail: "moved to " + k.secret("cancel")}))
	if got := k.answers(t)["trail"]; !strings.Contains(got, k.secret("note")) || !strings.Contains(got, k.secret("cancel")) {
		t.Errorf("%s %.300s", at.State, got)
	}
	e, err := k.admin.Erase(t.Context(), patient)
	if err != nil || e.Left < 6 || e.Keys != 1 {
		t.Fatalf("%+v, %v", e, err)
	}
	got := k.answers(t)["trail"]
	if !strings.Contains(got, k.secret("note")) || strings.Contains(got, k.secret("cancel")) {
		t.Errorf("%.300s", got)
	}
	stop(t, k.server)
	if found := verified(t, dir); len(found) > 0 {
		t.Errorf("the verifier finds %v", found)
	}
}

func TestABackupWithoutTheKeysCannotBeReadAndWithThemItCan(t *testing.T) {
	t.Parallel()
	k := treat(t, openErasable(t, t.TempDir()))
	var b, apart bytes.Buffer
	if _, err := Backup(t.Context(), k.dir, &b, BackupOptions{Secrets: &apart}); err != nil {
		t.Fatal(err)
	}
	stop(t, k.server)
	k.dir = filepath.Join(t.TempDir(), "without")
	if _, err := Restore(t.Context(), k.dir, "", Place{}, []io.Reader{bytes.NewReader(b.Bytes())}); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), Config{DataDir: k.dir, Addr: "127.0.0.1:0"}); err == nil || !strings.Contains(err.Error(), "trapeze backup --secrets") {
		t.Errorf("%v", err)
	}
	k.dir = filepath.Join(t.TempDir(), "with")
	if _, err := Restore(t.Context(), k.dir, "", Place{}, []io.Reader{bytes.NewReader(b.Bytes()), bytes.NewReader(apart.Bytes())}); err != nil {
		t.Fatal(err)
	}
	k.again(t, Config{})
	if got := k.answers(t)["trail"]; !strings.Contains(got, k.secret("note")) {
		t.Errorf("%.300s", got)
	}
}

func TestAParentAndASharedConversationAreNamedAsKept(t *testing.T) {
	t.Parallel()
	k := treat(t, openErasable(t, t.TempDir()))
	k.end(t)
	other, err := k.ann.CreateTask(t.Context(), client.CreateInput{Intent: "call the insurance", Conversation: "visit-9", Start: true})
	if err != nil {
		t.Fatal(err)
	}
	e, err := k.admin.Erase(t.Context(), admin.SubjectInput{Subject: k.task, Why: "request"})
	if err != nil || len(e.Kept) != 1 || e.Kept[0] != "conversation/visit-9~ann" || e.Streams != 2 {
		t.Fatalf("%+v, %v", e, err)
	}
	if got := k.answers(t)["conversation"]; !strings.Contains(got, k.secret("turn")) {
		t.Errorf("%.300s", got)
	}
	must(t)(k.ann.AppendTurn(t.Context(), "visit-9", client.TurnInput{Role: "user", Text: "and now " + k.secret("later"), Task: other.Task}))
	if _, err = k.admin.Erase(t.Context(), admin.SubjectInput{Subject: "conversation/visit-9", Why: "request"}); err != nil {
		t.Fatal(err)
	}
	must(t)(k.ann.AppendTurn(t.Context(), "visit-9", client.TurnInput{Role: "user", Text: "afterwards", Task: other.Task}))
	k.words = []string{k.secret("turn"), k.secret("later")}
	for _, found := range k.inFiles(t) {
		t.Error(found)
	}
	if got := k.answers(t)["conversation"]; strings.Contains(got, "wanda") || !strings.Contains(got, "afterwards") {
		t.Errorf("%.600s", got)
	}
	_, err = k.admin.Erase(t.Context(), admin.SubjectInput{Subject: "task/task_none", Why: "request"})
	refusedWith(t, err, refusal.NotFound, "nothing")
	_, err = k.ann.Task(t.Context(), k.task)
	must(t)(nil, err)
	_, err = admin.New(k.ann).Erase(t.Context(), patient)
	refusedWith(t, err, refusal.NotPermitted, "")
}

// A crash comes after the item was forgotten, and before its keys were destroyed.
func TestTheErasureOfAForgottenItemIsFinishedAtTheNextStart(t *testing.T) {
	t.Parallel()
	k := treat(t, openErasable(t, t.TempDir()))
	must(t)(nil, k.server.sealer.Begin("default/memory/"+k.item, "*"))
	kind, err := stream.New("memory", k.server.log, memoryrules.Fold, time.Now, memoryrules.Events, stream.Options[memoryrules.State, memoryrules.Event]{Cached: 1})
	must(t)(nil, err)
	by := identity.Principal{Workspace: "default", Role: identity.Agent, Name: "bob"}
	must(t)(kind.Do(t.Context(), stream.Write{Actor: ledger.Actor{Principal: by.String()}}, ledger.StreamOf("default", "memory", k.item), func(s memoryrules.State, now time.Time) ([]memoryrules.Event, error) {
		return memoryrules.Decide(s, memoryrules.Forget{By: memoryrules.Reader{Principal: by}, ID: k.item}, now)
	}))
	stop(t, k.server)
	k.again(t, Config{})
	k.words = []string{k.secret("title"), k.secret("memory")}
	export := k.forgotten(t)
	for _, w := range k.words {
		if strings.Contains(export, w) {
			t.Errorf("the key is still there: the operator's export has %s", w)
		}
	}
	must(t)(nil, k.server.UseCases.Erasures.Tend(t.Context()))
	for _, found := range append(k.inFiles(t), k.told(t)...) {
		t.Error("there is still " + found)
	}
}

func TestWithoutItsKeysASealedRecordIsNotServed(t *testing.T) {
	t.Parallel()
	k := treat(t, openErasable(t, t.TempDir()))
	stop(t, k.server)
	path := filepath.Join(k.dir, seal.ContentKeys)
	keys, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	start := func(what string, c Config) {
		t.Helper()
		c.DataDir, c.Addr = k.dir, "127.0.0.1:0"
		s, err := Open(t.Context(), c)
		if err == nil {
			_ = s.Close(context.Background())
		}
		if err == nil || !strings.Contains(err.Error(), "its keys cannot be used") {
			t.Errorf("%s: %v", what, err)
		}
		if found := views(t, k.dir); strings.HasPrefix(what, "no file") != (len(found) == 0) {
			t.Errorf("%s: trapeze verify finds %q", what, found)
		}
	}
	for what, b := range map[string][]byte{"no key": keys[:4096], "half of the header": keys[:100], "zeros": make([]byte, len(keys))} {
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		start(what, Config{})
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	start("no file", Config{})
	start("no file, and the flag", Config{Erasable: true})
	if _, err := os.Stat(path); err == nil {
		t.Error("new keys were made for a sealed record")
	}
	if found := verified(t, k.dir); len(found) > 0 {
		t.Errorf("without keys the verifier finds %v", found)
	}
	if err := os.WriteFile(path, keys, 0o600); err != nil {
		t.Fatal(err)
	}
	own := filepath.Join(k.dir, seal.InstallationFile)
	right, err := os.ReadFile(own)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(own, []byte(base64.StdEncoding.EncodeToString(make([]byte, 32))), 0o600); err != nil {
		t.Fatal(err)
	}
	start("another key of the installation", Config{})
	if err := os.WriteFile(own, right, 0o600); err != nil {
		t.Fatal(err)
	}
	k.again(t, Config{})
	if got := k.answers(t)["trail"]; !strings.Contains(got, k.secret("note")) {
		t.Errorf("%.300s", got)
	}
}

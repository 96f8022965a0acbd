package verify

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/proof"
	"github.com/trapezehq/trapeze/internal/record/proof/segment"
)

// record is an empty record, of which reading some part may fail.
type record struct {
	last, read, file, keys, views, artifacts error
	missing                                  []string
	moved                                    bool
}

func (r record) Read(context.Context, ledger.Position, int) ([]ledger.Entry, error) {
	return nil, r.read
}

func (r record) Last(context.Context) (ledger.Position, error) {
	if r.read != nil {
		return 1, r.last
	}
	return 0, r.last
}
func (r record) CheckFile(context.Context) ([]string, error) { return nil, r.file }
func (r record) CheckKeys(context.Context) ([]string, error) { return nil, r.keys }
func (r record) CheckViews(_ context.Context, along *proof.Ahead) ([]string, error) {
	along.Close()
	return nil, r.views
}

func (r record) CheckFiles(context.Context) ([]string, error) { return r.missing, r.artifacts }
func (r record) Moved() bool                                  { return r.moved }
func (r record) Close() error                                 { return nil }

// placed is an error at a position.
type placed struct {
	at   ledger.Position
	what string
}

func (p placed) Error() string                    { return p.what }
func (p placed) Place() (ledger.Position, string) { return p.at, p.what }

// proofs writes a directory of the proofs of an empty record.
func proofs(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	var private, public string
	for !strings.ContainsAny(hashOf(public), "abcdef") { // for upperHash
		var err error
		if private, public, err = note.GenerateKey(nil, "trapeze/test"); err != nil {
			t.Fatal(err)
		}
	}
	signer, err := note.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := proof.Checkpoint{Origin: "trapeze/test", Root: new(proof.Tree).Root()}.Sign(signer)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "proof"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"keys": public + "\n", "key": private + "\n", "tree": "", "checkpoint": string(signed)} {
		write(t, filepath.Join(dir, "proof", name), text)
	}
	return dir
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// run runs the command and returns its exit code and what it prints, on standard error and then on standard output.
func run(t *testing.T, open Opener, args ...string) (exit int, printed string) {
	t.Helper()
	var out, errs bytes.Buffer
	s := shell.New(shell.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }})
	cmd := Command(s, open)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(t.Context())
	if err != nil {
		s.PrintError(err)
	}
	return shell.ExitCode(err), errs.String() + out.String()
}

func TestTheExitCodeTellsDamageFromAVerificationThatCouldNotBeFinished(t *testing.T) {
	damage := errors.New("it is malformed")
	noSpace := fmt.Errorf("write: %w", syscall.ENOSPC)
	forbidden := &fs.PathError{Op: "open", Path: "trapeze.db", Err: fs.ErrPermission}
	missing := &fs.PathError{Op: "open", Path: "trapeze.db", Err: fs.ErrNotExist}
	for what, c := range map[string]struct {
		record record
		opens  error // of opening the record
		change func(dir string) (args []string)
		exit   int
		says   string
	}{
		"nothing is wrong": {},

		"the record is damaged":             {opens: damage, exit: 1, says: "malformed"},
		"reading the record finds damage":   {record: record{last: damage}, exit: 1, says: "does not verify"},
		"the file is damaged":               {record: record{file: damage}, exit: 1, says: "does not verify"},
		"the views are damaged":             {record: record{views: damage}, exit: 1, says: "does not verify"},
		"the record is gone":                {opens: missing, exit: 1, says: "trapeze.db, is missing"},
		"no view of an entry":               {record: record{views: fmt.Errorf("write: %w", placed{7, "no view"})}, exit: 1, says: "position 7: the views cannot be compared with the record: no view\n"},
		"views of what is put away":         {record: record{views: &ledger.PutAway{Position: 1, Segment: "1-2.segment"}}},
		"the public keys are gone":          {change: func(dir string) []string { return remove(dir, "keys") }, exit: 1, says: "proof/keys"},
		"the public keys are damaged":       {change: func(dir string) []string { return overwrite(dir, "keys") }, exit: 1, says: "proof/keys"},
		"a public key is written otherwise": {change: func(dir string) []string { return upperHash(dir, "keys") }, exit: 1, says: "proof/keys"},
		"the private key is, too":           {change: func(dir string) []string { return upperHash(dir, "key") }, exit: 1, says: "proof/key:"},
		"the checkpoint is gone":            {change: func(dir string) []string { return remove(dir, "checkpoint") }, exit: 1, says: "the last checkpoint"},
		"damage, and views without space":   {record: record{file: damage, views: noSpace}, exit: 1, says: "does not verify"},
		"a token may not be read":           {record: record{missing: []string{"one is missing"}, artifacts: forbidden}, exit: 1, says: "one is missing"},
		"damage, and a record not to read":  {record: record{file: damage, last: forbidden}, exit: 1, says: "could not be finished"},

		"the record may not be opened":         {opens: forbidden, exit: 6, says: "could not be finished"},
		"the record may not be read":           {record: record{last: forbidden}, exit: 6, says: "could not be finished"},
		"the disk of the record fails":         {record: record{last: syscall.EIO}, exit: 6, says: "could not be finished"},
		"the file may not be checked":          {record: record{file: ledger.ErrUnavailable}, exit: 6, says: "could not be finished"},
		"the keys may not be read":             {record: record{keys: forbidden}, exit: 6, says: "could not be finished"},
		"there is no space for the views":      {record: record{views: noSpace}, exit: 6, says: "the views cannot be compared"},
		"there is no temporary directory":      {record: record{views: fmt.Errorf("%w: TMPDIR", ledger.ErrUnavailable)}, exit: 6, says: "hint: "},
		"which artifacts there are, by a disk": {record: record{artifacts: syscall.EIO}, exit: 6, says: "not all artifacts and tokens"},
		"a segment may not be read":            {record: record{read: &ledger.Damaged{Position: 1, Err: forbidden}}, exit: 6, says: "could not be finished"},
		"the disk of a segment fails":          {record: record{read: &ledger.Damaged{Position: 1, Err: syscall.EIO}}, exit: 6, says: "could not be finished"},
		"a segment is damaged":                 {record: record{read: &ledger.Damaged{Position: 1, Err: segment.ErrFormat}}, exit: 1, says: "position 1"},
		"it is interrupted":                    {record: record{last: context.Canceled}, exit: 6, says: "interrupted"},

		"the directory is another one": {opens: missing, change: func(dir string) []string { return remove(dir, "") }, exit: 2, says: "no data directory"},
		"the directory is not there":   {change: func(dir string) []string { return []string{filepath.Join(dir, "none")} }, exit: 2, says: "no such file"},
		"--keys names nothing":         {change: func(string) []string { return []string{"--keys", "none"} }, exit: 2, says: "none"},
		"--keys names no keys":         {change: func(dir string) []string { return []string{"--keys", filepath.Join(dir, "proof", "checkpoint")} }, exit: 2, says: "not a public key"},
		"--keys names a directory":     {change: func(dir string) []string { return []string{"--keys", dir} }, exit: 2, says: "is a directory"},
		"--checkpoint names nothing":   {change: func(string) []string { return []string{"--checkpoint", "none"} }, exit: 2, says: "none"},
		"--segments names nothing":     {change: func(string) []string { return []string{"--segments", "none"} }, exit: 2, says: "--segments"},
		"--segments is empty":          {change: func(string) []string { return []string{"--segments", ""} }, exit: 2, says: "--segments"},
		"--segments names a file":      {change: func(dir string) []string { return []string{"--segments", filepath.Join(dir, "proof", "keys")} }, exit: 2, says: "is no directory"},
		"--segments of a file": {change: func(dir string) []string {
			return []string{filepath.Join(dir, "proof", "checkpoint"), "--segments", dir}
		}, exit: 2, says: "--segments is for a data directory"},
		"--segments of the newest":       {change: func(dir string) []string { return []string{dir, "--fast", "--segments=" + dir} }, exit: 2, says: "--fast reads no segments"},
		"a receipt without keys":         {change: func(dir string) []string { return []string{filepath.Join(dir, "proof", "checkpoint")} }, exit: 2, says: "--keys FILE"},
		"a file that is nothing of this": {change: noReceipt, exit: 1, says: "a receipt, a checkpoint and an export verify"},
	} {
		t.Run(what, func(t *testing.T) {
			dir := proofs(t)
			args := []string{dir}
			if c.change != nil {
				if changed := c.change(dir); len(changed) == 1 || len(changed) == 3 { // it names what is verified
					args = changed
				} else {
					args = append(args, changed...)
				}
			}
			exit, printed := run(t, func(string, ...string) (File, error) { return c.record, c.opens }, args...)
			if exit != c.exit || !strings.Contains(printed, c.says) {
				t.Errorf("the exit code is %d, want %d, and it says, without %q:\n%s", exit, c.exit, c.says, printed)
			}
			if exit == 6 && strings.Contains(printed, "does not verify") {
				t.Errorf("what could not be read is called damaged:\n%s", printed)
			}
		})
	}
}

func TestTheDirectoryOfAFrontEndHasAnExitCodeOfItsOwnAndTheHelpTellsAll(t *testing.T) {
	elsewhere := refusal.New(refusal.Conflict, "ask a front end", "the record is in PostgreSQL")
	exit, printed := run(t, func(string, ...string) (File, error) { return nil, elsewhere }, proofs(t))
	if exit != 4 || !strings.Contains(printed, "is in PostgreSQL") {
		t.Errorf("the exit code is %d, and it says:\n%s", exit, printed)
	}
	_, help, _ := strings.Cut(Command(shell.New(shell.Env{}), nil).Long, "The exit code is")
	for _, exit := range []int{0, 1, 2, 4, 6} {
		if !strings.Contains(help, fmt.Sprintf(" %d ", exit)) {
			t.Errorf("the help does not tell the exit code %d: %s", exit, help)
		}
	}
}

// TestTheRecordIsVerifiedWithoutTheViews has damage in the views, and asks for the record alone.
func TestTheRecordIsVerifiedWithoutTheViews(t *testing.T) {
	damage, dir := errors.New("it is malformed"), proofs(t)
	for _, c := range []struct {
		record record
		args   []string
		exit   int
		says   string
	}{
		{record{views: damage, artifacts: damage}, []string{dir}, 1, "the views cannot be compared"},
		{record{views: damage, artifacts: damage}, []string{dir, "--record"}, 0, "since --record was given"},
		{record{last: damage}, []string{dir, "--record"}, 1, "does not verify"},
		{record{file: damage}, []string{dir, "--record"}, 1, "the database cannot be checked"},
		{record{}, []string{dir, "--record", "--fast"}, 2, "give one of them"},
		{record{}, []string{filepath.Join(dir, "proof", "checkpoint"), "--record"}, 2, "--record is for a data directory"},
	} {
		exit, printed := run(t, func(string, ...string) (File, error) { return c.record, nil }, c.args...)
		if exit != c.exit || !strings.Contains(printed, c.says) {
			t.Errorf("%v: the exit code is %d, want %d, and it says, without %q:\n%s", c.args[1:], exit, c.exit, c.says, printed)
		}
	}
}

// hashOf is the hash in a public or a private key.
func hashOf(key string) string {
	_, rest, _ := strings.Cut(strings.TrimPrefix(key, "PRIVATE+KEY+"), "+")
	hash, _, _ := strings.Cut(rest, "+")
	return hash
}

// upperHash writes the hash of a key in upper case, which means the same.
func upperHash(dir, name string) []string {
	path := filepath.Join(dir, "proof", name)
	b, err := os.ReadFile(path) //nolint:gosec // of the test
	if err != nil {
		panic(err)
	}
	hash := hashOf(string(b))
	if err := os.WriteFile(path, []byte(strings.Replace(string(b), hash, strings.ToUpper(hash), 1)), 0o600); err != nil { //nolint:gosec // of the test
		panic(err)
	}
	return nil
}

// remove removes a file of the proofs, or all of them.
func remove(dir, name string) []string {
	_ = os.RemoveAll(filepath.Join(dir, "proof", name)) // the command tells
	return nil
}

func overwrite(dir, name string) []string {
	_ = os.WriteFile(filepath.Join(dir, "proof", name), []byte("damaged\n"), 0o600) // as above
	return nil
}

func noReceipt(dir string) []string {
	return []string{filepath.Join(dir, "proof", "tree"), "--keys", filepath.Join(dir, "proof", "keys")}
}

// TestAReceiptWhoseBeginningIsDamagedIsCalledDamaged changes each of the first lines.
func TestAReceiptWhoseBeginningIsDamagedIsCalledDamaged(t *testing.T) {
	dir := proofs(t)
	signed, err := os.ReadFile(filepath.Join(dir, "proof", "checkpoint"))
	if err != nil {
		t.Fatal(err)
	}
	one := string(proof.Inclusion{Entry: []byte("{}"), Checkpoint: signed}.Append(nil))
	first, rest, _ := strings.Cut(one, "\n")
	for what, text := range map[string]string{
		"a letter of the first line": "C" + first[1:] + "\n" + rest,
		"the first line is empty":    "\n" + rest,
		"the first line is gone":     rest,
		"the beginning is gone":      one[len(one)/3:] + one,
	} {
		name := filepath.Join(dir, "receipt")
		write(t, name, text)
		exit, printed := run(t, nil, name, "--keys", filepath.Join(dir, "proof", "keys"))
		if exit != 1 || !strings.Contains(printed, "not a valid proof") || strings.Contains(printed, "a receipt, a checkpoint and an export verify") {
			t.Errorf("%s: the exit code is %d, and it says\n%s", what, exit, printed)
		}
	}
}

// TestASegmentThatCannotBeReadSaysNothingOfWhatIsVerified has a file on a disk that fails: the memory of this process cannot be read where a file begins.
func TestASegmentThatCannotBeReadSaysNothingOfWhatIsVerified(t *testing.T) {
	const memory = "/proc/self/mem"
	if _, err := os.ReadFile(memory); !errors.Is(err, syscall.EIO) {
		t.Skip("no file here fails when it is read")
	}
	dir, elsewhere := proofs(t), t.TempDir()
	name := filepath.Join(elsewhere, "1-2.segment")
	if err := os.Symlink(memory, name); err != nil {
		t.Fatal(err)
	}
	exit, printed := run(t, nil, name, "--keys", filepath.Join(dir, "proof", "keys"))
	if exit != 6 || !strings.Contains(printed, "could not be finished") {
		t.Errorf("of the file: the exit code is %d, and it says\n%s", exit, printed)
	}
	open := func(string, ...string) (File, error) { return told{}, nil }
	exit, printed = run(t, open, dir, "--segments", elsewhere)
	if exit != 6 || !strings.Contains(printed, "the segments: ") || !strings.Contains(printed, "could not be finished") {
		t.Errorf("of a directory: the exit code is %d, and it says\n%s", exit, printed)
	}
}

// told is a record that says that a segment was written.
type told struct{ record }

func (told) Last(context.Context) (ledger.Position, error) { return 1, nil }

func (told) Read(context.Context, ledger.Position, int) ([]ledger.Entry, error) {
	data := []byte(`{"first":1,"last":2,"root":"","sha256":"00"}`)
	return []ledger.Entry{{Position: 1, Stream: proof.SegmentStream, Version: 1, Events: []ledger.Event{{Name: proof.SegmentWritten{}.EventName(), Version: 1, Data: data}}}}, nil
}

// TestWhatIsFoundWhileAProgramBeginsToWriteIsLookedForOnceMore opens a record as it is at one look after the other.
func TestWhatIsFoundWhileAProgramBeginsToWriteIsLookedForOnceMore(t *testing.T) {
	damaged := errors.New("it is malformed")
	for what, c := range map[string]struct {
		looks []record
		keys  int // the look before which the key is rotated
		exit  int
		says  string
	}{
		"a server starts":                   {looks: []record{{file: damaged, moved: true}, {}}},
		"a server starts, and it is so":     {looks: []record{{file: damaged, moved: true}, {file: damaged}}, exit: 1, says: "it is malformed"},
		"nothing is found":                  {looks: []record{{moved: true}}},
		"nothing changes":                   {looks: []record{{file: damaged}}, exit: 1, says: "it is malformed"},
		"the key is rotated":                {looks: []record{{file: damaged}, {}}, keys: 1},
		"servers start and stop all along":  {looks: []record{{file: damaged, moved: true}, {views: damaged, moved: true}, {file: damaged, moved: true}}, exit: 6, says: "could not be finished"},
		"what is found is not there before": {looks: []record{{views: damaged, moved: true}, {file: damaged}}, exit: 1, says: "it is malformed"},
	} {
		t.Run(what, func(t *testing.T) {
			dir, looks := proofs(t), 0
			exit, printed := run(t, func(string, ...string) (File, error) {
				if looks++; looks == c.keys {
					remove(dir, "key")
				}
				return c.looks[looks-1], nil
			}, dir)
			if exit != c.exit || !strings.Contains(printed, c.says) || looks != len(c.looks) {
				t.Errorf("after %d looks of %d the exit code is %d, want %d, and it says, without %q:\n%s", looks, len(c.looks), exit, c.exit, c.says, printed)
			}
		})
	}
}

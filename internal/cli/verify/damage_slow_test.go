//go:build slow

package verify

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
	"github.com/trapezehq/trapeze/internal/domain/identity"
	"github.com/trapezehq/trapeze/internal/server"
)

// written is a data directory with some tasks, whose server is stopped.
func written(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	s, err := server.Open(t.Context(), server.Config{DataDir: dir, Addr: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	token, err := os.ReadFile(s.AdminTokenFile())
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(s.URL(), string(token), client.Options{Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 40 {
		if _, err := c.CreateTask(t.Context(), client.CreateInput{Intent: fmt.Sprintf("the work %d", n)}); err != nil {
			t.Fatal(err)
		}
	}
	var words strings.Builder // on some pages of the index
	for n := range 2500 {
		_, _ = fmt.Fprintf(&words, "%x ", sha256.Sum256([]byte{byte(n), byte(n >> 8)}))
	}
	if _, err := c.RegisterAgent(t.Context(), "ann", client.AgentSpec{}); err != nil {
		t.Fatal(err)
	}
	remembered(t, s, c, words.String()[:60_000])
	if err := c.Export(t.Context(), client.ExportOptions{Format: "proof"}, io.Discard); err != nil {
		t.Fatal(err)
	}
	c.Close()
	if err := s.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
	return dir
}

// remembered stores a memory item.
func remembered(t *testing.T, s *server.Server, owner *client.Client, text string) {
	t.Helper()
	made, err := owner.CreateToken(t.Context(), client.TokenInput{Role: client.RoleAgent, Name: "ann"})
	if err != nil {
		t.Fatal(err)
	}
	ann, err := client.New(s.URL(), made.Text, client.Options{Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer ann.Close()
	if _, err := ann.Remember(t.Context(), client.RememberInput{Text: text, Scope: "workspace"}); err != nil {
		t.Fatal(err)
	}
}

// copyOf is a copy of a data directory, in whose database statements are executed.
func copyOf(t *testing.T, dir string, statements ...string) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(to, "trapeze.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	db.SetMaxOpenConns(1)
	for _, one := range statements {
		if _, err := db.ExecContext(t.Context(), one); err != nil {
			t.Fatalf("%s: %v", one, err)
		}
	}
	return to
}

// check runs the command on a data directory, and returns its exit code and all that it prints.
func check(t *testing.T, dir string) (exit int, printed string) {
	t.Helper()
	var out bytes.Buffer
	s := shell.New(shell.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }})
	cmd := Command(s, func(dir string, segments ...string) (File, error) { return server.OpenRecord(dir, segments...) })
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs([]string{dir})
	err := cmd.ExecuteContext(t.Context())
	if err != nil {
		s.PrintError(err)
	}
	return shell.ExitCode(err), out.String()
}

// refused returns why no server starts on a data directory; nothing if one does.
func refused(t *testing.T, dir string) string {
	t.Helper()
	s, err := server.Open(t.Context(), server.Config{DataDir: dir, Addr: "127.0.0.1:0"})
	if err != nil {
		return err.Error()
	}
	if err := s.Close(context.WithoutCancel(t.Context())); err != nil {
		t.Error(err)
	}
	return ""
}

const (
	setSchema = "PRAGMA writable_schema=on; PRAGMA ignore_check_constraints=on; UPDATE sqlite_schema SET sql = replace(sql, 'CHECK (schema = ', 'CHECK (-schema <> ') WHERE name = 'view_meta'; UPDATE view_meta SET schema = "
	lostWords = "the view view_memory_text, in which searches do not find all, was changed"
	evil      = "UPDATE view_task SET owner = 'evil'"
)

// TestWhatIsNoEntryIsVerifiedToo has damage of what the tree does not have.
func TestWhatIsNoEntryIsVerifiedToo(t *testing.T) {
	dir := written(t)
	for what, c := range map[string]struct {
		do     []string
		exit   int
		says   string
		starts string // what a server says that does not start
	}{
		"nothing is wrong": {says: "\n  the counts of exports, for which the entries are read once more: "},
		"an entry is damaged, and an export was counted": {do: []string{"UPDATE entries SET bytes = substr(bytes, 1, 40) WHERE position = 11"}, exit: 1, says: "Not compared: the counts of 1 exports, since what is found comes first."},
		"a view is changed":                             {do: []string{evil}, exit: 1, says: "the view view_task differs"},
		"and the record is called sealed":               {do: []string{evil, "PRAGMA user_version=1006"}, exit: 1, says: "the view view_task differs", starts: "keys"},
		"the record is called sealed":                   {do: []string{"PRAGMA user_version=1006"}, exit: 1, says: "says that content is sealed, and neither an entry nor its keys", starts: "keys"},
		"its number is twice that of sealed records":    {do: []string{"PRAGMA user_version=2006"}, exit: 1, says: "is 2006, which Trapeze never writes", starts: "is 2006, which Trapeze never writes"},
		"its number is negative":                        {do: []string{"PRAGMA user_version=-2147483642"}, exit: 1, says: "which Trapeze never writes", starts: "which Trapeze never writes"},
		"its number is none":                            {do: []string{"PRAGMA user_version=0"}, exit: 1, says: "is 0, which Trapeze never writes", starts: "is 0, which Trapeze never writes"},
		"the views are of an earlier version":           {do: []string{evil, setSchema + "3"}, says: "Not compared: the views, since an earlier version of Trapeze made them (schema 3,"},
		"the views have a number that no version wrote": {do: []string{evil, setSchema + "1000"}, exit: 1, says: "the schema of the views is 1000, by view_meta"},
		"an entry before all":                           {do: []string{"INSERT INTO entries SELECT -7, stream, bytes FROM entries WHERE position = 5"}, exit: 1, says: "the entries have a row at position -7", starts: "the entries have a row at position -7"},
		"a stream without an entry":                     {do: []string{"INSERT INTO streams VALUES('default/task/zzz', 99999)"}, exit: 1, says: "the index of streams has a row that no entry has", starts: "a row that no entry has"},
		"a constraint that refuses the next entry":      {do: []string{"PRAGMA writable_schema=on; UPDATE sqlite_schema SET sql = replace(sql, 'bytes BLOB NOT NULL)', 'bytes BLOB NOT NULL CHECK (position < 60))') WHERE name = 'entries'"}, exit: 1, says: "the table named \"entries\", which Trapeze does not make, or not so", starts: "not so"},
		"an index that refuses the next entry":          {do: []string{"CREATE UNIQUE INDEX later ON entries(stream) WHERE position > 60"}, exit: 1, says: "the index named \"later\"", starts: "not so"},
		"the index of words has lost its rows":          {do: []string{"DELETE FROM view_memory_text_idx"}, exit: 1, says: lostWords},
		"it has lost one":                               {do: []string{"DELETE FROM view_memory_text_idx WHERE term = (SELECT max(term) FROM view_memory_text_idx)"}, exit: 1, says: lostWords},
		"it has a word in another page":                 {do: []string{"UPDATE view_memory_text_idx SET term = CAST(x'3067' AS BLOB) WHERE term = (SELECT max(term) FROM view_memory_text_idx)"}, exit: 1, says: lostWords},
		"the format of the index is changed":            {do: []string{"UPDATE view_memory_title_config SET v = v + (1 << 40) WHERE k = 'version'"}, exit: 1, says: "the view view_memory_title_config differs"}, // SQLite reads its lower 32 bits
		"the structure of the index is changed":         {do: []string{"UPDATE view_memory_text_data SET block = x'00008001' || substr(block, 5) WHERE id = 10"}, exit: 1, says: "the view view_memory_text_data"},
		"the views are later than they say":             {do: []string{"UPDATE view_meta SET position = position - 3"}, exit: 1, says: "the view view_meta differs"},
		"there are no views":                            {do: []string{"DROP TABLE view_meta"}, says: "Not compared: the views, since there are none"},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			copied := copyOf(t, dir, c.do...)
			if exit, printed := check(t, copied); exit != c.exit || !strings.Contains(printed, c.says) {
				t.Errorf("the exit code is %d, want %d, and it says, without %q:\n%s", exit, c.exit, c.says, printed)
			}
			if said := refused(t, copied); c.starts == "" && said != "" || !strings.Contains(said, c.starts) {
				t.Errorf("a server says %q, want %q", said, c.starts)
			}
		})
	}
}

// TestAChangedBitOfAKeptTokenIsNamed also finds nothing in tokens of another record, and in those that are not valid any more.
func TestAChangedBitOfAKeptTokenIsNamed(t *testing.T) {
	dir := copyOf(t, written(t))
	name := filepath.Join(dir, "admin.token")
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	record, err := server.OpenRecord(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = record.Close() }()
	for bit := 0; bit < 8*len(text); bit += 5 {
		changed := bytes.Clone(text)
		changed[bit/8] ^= 1 << (bit % 8)
		write(t, name, string(changed))
		if found, err := record.CheckFiles(t.Context()); len(found) != 1 || !strings.Contains(found[0], "admin.token") {
			t.Errorf("%q in place of %q: %q, %v", changed, text, found, err)
		}
	}
	if exit, printed := check(t, dir); exit != 1 || !strings.Contains(printed, "admin.token is damaged") {
		t.Errorf("the exit code is %d, and it says:\n%s", exit, printed)
	}
	write(t, name, string(text)+"\n")
	if err := os.Mkdir(filepath.Join(dir, "agents"), 0o700); err != nil {
		t.Fatal(err)
	}
	of := identity.Mint([identity.RandomBytes]byte{1})
	write(t, filepath.Join(dir, "agents", "bob.token"), of.Text)
	if exit, printed := check(t, dir); exit != 0 {
		t.Errorf("a whole token and one of another record: the exit code is %d, and it says:\n%s", exit, printed)
	}
	write(t, filepath.Join(dir, "agents", "bob.token"), of.Text[:40])
	if exit, printed := check(t, dir); exit != 1 || !strings.Contains(printed, "agents/bob.token is damaged: it is no token") {
		t.Errorf("half a token: the exit code is %d, and it says:\n%s", exit, printed)
	}
}

// TestATokenThatCannotBeReadHidesNothingElse has a directory in its place, damage of another token, and no artifacts.
func TestATokenThatCannotBeReadHidesNothingElse(t *testing.T) {
	dir := t.TempDir()
	s, err := server.Open(t.Context(), server.Config{DataDir: dir, Addr: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	name := s.AdminTokenFile()
	token, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(s.URL(), string(token), client.Options{Retries: -1})
	if err != nil {
		t.Fatal(err)
	}
	a, err := c.PutArtifact(t.Context(), strings.NewReader("the contract"), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.RegisterAgent(t.Context(), "bob", client.AgentSpec{}); err != nil {
		t.Fatal(err)
	}
	if _, err := c.CreateTask(t.Context(), client.CreateInput{Intent: "sign it", Content: client.Content{Artifacts: []client.Artifact{{Digest: a.Digest}}}, Send: &client.SendInput{To: []string{"bob"}}}); err != nil {
		t.Fatal(err)
	}
	c.Close()
	agents := filepath.Join(dir, "agents")
	unread := filepath.Join(agents, "ann.token")
	if err := errors.Join(s.Close(context.WithoutCancel(t.Context())), os.Remove(name), os.Mkdir(name, 0o700), os.MkdirAll(unread, 0o700)); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(agents, "bob.token"), string(token)[:40])
	if err := os.RemoveAll(filepath.Join(dir, "artifacts", "data")); err != nil {
		t.Fatal(err)
	}
	exit, printed := check(t, dir)
	for _, want := range []string{"agents/ann.token: is a directory", "agents/bob.token is damaged", "admin.token: is a directory", a.Digest} {
		if exit != 1 || !strings.Contains(printed, want) {
			t.Errorf("the exit code is %d, and it says, without %q:\n%s", exit, want, printed)
		}
	}
}

// firstOf returns the first position that is printed, 0 for none.
func firstOf(printed string) (at int) {
	_, rest, _ := strings.Cut(printed, "position ")
	_, _ = fmt.Sscanf(rest, "%d:", &at)
	return at
}

func TestOfSeveralDamagesTheFirstPositionIsNamedFirst(t *testing.T) {
	dir := written(t)
	for _, do := range []string{
		"UPDATE entries SET bytes = substr(bytes, 1, 40) WHERE position = 11; UPDATE entries SET stream = 2 WHERE position = 23",
		"UPDATE entries SET bytes = substr(bytes, 1, 40) WHERE position = 23; UPDATE entries SET stream = 2 WHERE position = 11",
	} {
		if exit, printed := check(t, copyOf(t, dir, do)); exit != 1 || firstOf(printed) != 11 {
			t.Errorf("%s: the exit code is %d, and it says:\n%s", do, exit, printed)
		}
	}
}

func TestARollbackJournalThatWasPlantedIsNamed(t *testing.T) {
	dir := copyOf(t, written(t))
	write(t, filepath.Join(dir, "trapeze.db-journal"), "anything")
	const says = "there is a file trapeze.db-journal, which Trapeze does not make"
	if exit, printed := check(t, dir); exit != 1 || !strings.Contains(printed, says) {
		t.Errorf("the exit code is %d, and it says:\n%s", exit, printed)
	}
	if said := refused(t, dir); !strings.Contains(said, says) {
		t.Errorf("a server says %q", said)
	}
}

// TestAPageThatCannotBeReadIsDamage for the server, too.
func TestAPageThatCannotBeReadIsDamage(t *testing.T) {
	dir := written(t)
	file, page, first, _ := leaf(t, dir)
	file[page] ^= 1
	write(t, filepath.Join(dir, "trapeze.db"), string(file))
	s, err := server.Open(t.Context(), server.Config{DataDir: dir, Addr: "127.0.0.1:0"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close(context.WithoutCancel(t.Context())) }()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.URL()+"/readyz", http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if want := fmt.Sprintf("position %d", first); err != nil || res.StatusCode != http.StatusServiceUnavailable || !strings.Contains(string(text), want) {
		t.Errorf("%d, without %q: %s, %v", res.StatusCode, want, text, err)
	}
}

// leaf is a page of the entries in the middle of the file: where it begins, and its first and last position.
func leaf(t *testing.T, dir string) (file []byte, at, first, last int) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(dir, "trapeze.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var root int
	if err := db.QueryRowContext(t.Context(), "SELECT rootpage FROM sqlite_schema WHERE name = 'entries'").Scan(&root); err != nil {
		t.Fatal(err)
	}
	if file, err = os.ReadFile(filepath.Join(dir, "trapeze.db")); err != nil {
		t.Fatal(err)
	}
	size := int(binary.BigEndian.Uint16(file[16:]))
	page := file[(root-1)*size:][:size]
	if page[0] != 5 {
		t.Fatal("the entries have one page")
	}
	cell := func(n int) (child, key int) { // see https://www.sqlite.org/fileformat2.html, 1.6
		c := page[binary.BigEndian.Uint16(page[12+2*n:]):]
		key = int(c[4])
		if key > 127 {
			key = (key&127)<<7 | int(c[5])
		}
		return int(binary.BigEndian.Uint32(c)), key
	}
	middle := int(binary.BigEndian.Uint16(page[3:])) / 2
	_, before := cell(middle - 1)
	child, last := cell(middle)
	return file, (child - 1) * size, before + 1, last
}

// TestAFlippedBitInAPageOfEntriesIsNamedThere flips bits of what SQLite keeps about the entries of a page. Those of its free space change no entry, and none is named then. With too many cells,
// what cannot be read comes after the last one.
func TestAFlippedBitInAPageOfEntriesIsNamedThere(t *testing.T) {
	dir := written(t)
	file, page, first, last := leaf(t, dir)
	to := copyOf(t, dir)
	for at := page; at < page+8+2*(last-first+1); at += flipEvery { // its header, and where its cells are
		for _, bit := range []int{at % 8, (at + 4) % 8} {
			file[at] ^= 1 << bit
			if err := os.WriteFile(filepath.Join(to, "trapeze.db"), file, 0o600); err != nil {
				t.Fatal(err)
			}
			exit, printed := check(t, to)
			named := firstOf(printed)
			if held := strings.Contains(printed, " 1 checkpoints held"); exit != 1 || (named < first || named > last+1) && (named != 0 || !held) {
				t.Errorf("byte %d, bit %d of the page with positions %d to %d: the exit code is %d, and it says:\n%.900s", at-page, bit, first, last, exit, printed)
			}
			file[at] ^= 1 << bit
		}
	}
}

//go:build slow && !race

package scenario

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var (
	flipped    = flag.Int("flipped", 40, "how many bits TestEveryFlippedBitIsNamed changes, one after the other; 1000 take six minutes")
	flipSeed   = flag.Uint64("flipseed", 0, "the seed of the changes of these tests; 0: a random one, which is logged")
	structural = flag.Int("structural", 52, "how many changes TestEveryChangeOfTheStructureIsNamed makes, one after the other")
)

// evidence is a closed data directory that is changed and put back again.
type evidence struct {
	testing.TB
	program string
	dir     string
	random  *rand.Rand
	env     []string
	what    string // was changed
	options string // the options with which the database is read; empty: those of a file that nobody writes
}

// reproducible is a source of changes with the seed of the flag, or one that is logged.
func reproducible(t *testing.T, of uint64) *rand.Rand {
	t.Helper()
	seed := *flipSeed
	for seed == 0 {
		seed = rand.Uint64() //nolint:gosec // it is no secret
	}
	t.Logf("-flipseed %d", seed)
	return rand.New(rand.NewPCG(of, seed)) //nolint:gosec // as above
}

// protection says of each file of a data directory what shows that a bit of it was changed: a kind of [evidence.kinds], or why none needs to.
var protection = map[string]string{
	"trapeze.db":           "file",
	"trapeze.db-wal":       "log",
	"proof/tree":           "tree",
	"proof/checkpoint":     "tree",
	"proof/key":            "keys",
	"proof/keys":           "keys",
	"erasure/*":            "keys",
	"page.key":             "keys",
	"admin.token":          "tokens",
	"artifacts/data/*/*/*": "artifact",
	"trapeze.db-shm":       "SQLite makes it again from the log",
	"trapeze.db.lock":      "the number of a process, for people",
	"trapeze.db.reserve":   "room on the disk, which is not read",
	"serve.lock":           "how to reach the process that holds it, which writes it at its start",
	"policy.yaml":          "the operator's, who may change it: a server records the digest of the policy that it starts with",
}

// protected wants to know of each file what shows that it was changed.
func (e *evidence) protected() {
	e.Helper()
	for _, name := range e.files(func(string) bool { return true }) {
		known := false
		for pattern := range protection {
			ok, err := path.Match(pattern, name)
			known = known || ok && err == nil
		}
		if !known {
			e.Errorf("%s: nothing says what shows that a bit of it was changed", name)
		}
	}
}

// recordName is the file of the record.
const recordName = "trapeze.db"

// verify runs trapeze verify and returns what it prints, and whether it found something.
func (e *evidence) verify(args ...string) (said string, found bool) {
	e.Helper()
	ctx, cancel := context.WithTimeout(e.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, e.program, append([]string{"verify", e.dir}, args...)...) //nolint:gosec // ours
	cmd.Env = append(os.Environ(), e.env...)
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		e.Errorf("%s: verify ends with %v: %.2000s", e.what, err, out)
	}
	return string(out), err != nil
}

// named verifies the directory, which must name what was changed.
func (e *evidence) named(what string, names ...string) {
	e.Helper()
	e.Helper()
	e.what = what
	said, found := e.verify()
	if !found {
		e.Errorf("not found: %s", what)
		return
	}
	if len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool { return strings.Contains(said, name) }) {
		e.Errorf("%s: none of %q is named:\n%s", what, names, said)
	}
}

func (e *evidence) read(name string) []byte {
	e.Helper()
	b, err := os.ReadFile(filepath.Join(e.dir, name)) //nolint:gosec // ours
	if err != nil {
		e.Fatal(err)
	}
	return b
}

func (e *evidence) write(name string, b []byte) {
	e.Helper()
	if err := os.WriteFile(filepath.Join(e.dir, name), b, 0o600); err != nil {
		e.Fatal(err)
	}
}

// files are the files whose path, relative to the directory, passes a filter.
func (e *evidence) files(pass func(name string) bool) (list []string) {
	e.Helper()
	err := filepath.WalkDir(e.dir, func(path string, d fs.DirEntry, err error) error {
		name, rerr := filepath.Rel(e.dir, path)
		if err = errors.Join(err, rerr); err == nil && d.Type().IsRegular() && pass(filepath.ToSlash(name)) {
			list = append(list, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		e.Fatal(err)
	}
	return list
}

// db runs do on the database.
func (e *evidence) db(options string, do func(ctx context.Context, db *sql.DB) error) error {
	e.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(e.dir, recordName)+"?"+options)
	if err != nil {
		return err
	}
	db.SetMaxOpenConns(1)
	return errors.Join(do(e.Context(), db), db.Close())
}

// tables are the tables that SQLite stores: those of full-text indexes are, and virtual tables are not.
const tables = "SELECT name FROM pragma_table_list WHERE type IN ('table', 'shadow') AND name NOT LIKE 'sqlite_%' ORDER BY name"

// query returns all values of the rows of a query.
func query(ctx context.Context, db *sql.DB, text string, args ...any) (list [][]any, err error) {
	rows, err := db.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Err(), rows.Close()) }()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		values, into := make([]any, len(names)), make([]any, len(names))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			return nil, err
		}
		list = append(list, values)
	}
	return list, nil
}

// tableQuery selects all of a table that has a meaning: not, of the structure of an index of words, its seventh byte, how many pages were written, by which SQLite decides when to merge some.
func tableQuery(table string) string {
	if base := baseOf(table); base != table && strings.HasSuffix(table, "_data") {
		return "SELECT id, iif(id = 10, hex(substr(block, 1, 6)) || (substr(block, 7, 1) >= x'80') || hex(substr(block, 8)), block) FROM " + table
	}
	return "SELECT * FROM " + table
}

// content is all that can be read of the database: two contents differ if one bit of what has a meaning does.
func (e *evidence) content() (text string) {
	var b strings.Builder
	err := e.db(cmp.Or(e.options, "mode=ro&immutable=1"), func(ctx context.Context, db *sql.DB) error {
		list := []string{"PRAGMA user_version", "PRAGMA application_id", "PRAGMA encoding", "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name"}
		names, err := query(ctx, db, tables)
		if err != nil {
			return err
		}
		for _, row := range names {
			list = append(list, tableQuery(fmt.Sprint(row[0])))
		}
		for _, text := range list {
			rows, err := query(ctx, db, text)
			if err != nil {
				return err
			}
			_, _ = fmt.Fprintf(&b, "%s: %q\n", text, rows)
		}
		return nil
	})
	return fmt.Sprint(b.String(), err)
}

// flipFile changes a bit of a file, and puts it back.
func (e *evidence) flipFile(name string, names ...string) {
	e.Helper()
	b := e.read(name)
	changed, bit := bytes.Clone(b), e.random.IntN(len(b)*8)
	changed[bit/8] ^= 1 << (bit % 8)
	e.write(name, changed)
	e.named(fmt.Sprintf("bit %d of byte %d of %d of %s: %q in place of %q", bit%8, bit/8, len(b), name, changed[bit/8], b[bit/8]), names...)
	e.write(name, b)
}

// flipAnywhere changes a bit of the database's file, which may be in a place that nobody reads.
func (e *evidence) flipAnywhere() (meant bool) {
	e.Helper()
	b := e.read(recordName)
	changed, bit := bytes.Clone(b), e.random.IntN(len(b)*8)
	changed[bit/8] ^= 1 << (bit % 8)
	before := e.content()
	e.what = fmt.Sprintf("bit %d of byte %d of the database", bit%8, bit/8)
	e.write(recordName, changed)
	said, found := e.verify()
	after := e.content()
	meant = after != before
	if !found && meant {
		e.Errorf("bit %d of byte %d of the database is not found: %s\n%s", bit%8, bit/8, said, firstDifference(before, after))
	}
	e.write(recordName, b)
	return meant
}

// firstDifference is where two texts begin to differ.
func firstDifference(a, b string) string {
	i := 0
	for i < min(len(a), len(b)) && a[i] == b[i] {
		i++
	}
	from := max(0, i-300)
	return a[from:min(len(a), i+100)] + "\n" + b[from:min(len(b), i+100)]
}

// flipValue changes a bit of a value in a table.
func (e *evidence) flipValue(table string, names ...string) {
	e.Helper()
	b, before := e.read(recordName), e.content()
	defer e.write(recordName, b)
	what := ""
	err := e.db("", func(ctx context.Context, db *sql.DB) error {
		columns, err := query(ctx, db, "SELECT name, pk FROM pragma_table_info(?)", table)
		if err != nil {
			return err
		}
		rows, err := query(ctx, db, "SELECT * FROM "+table)
		if err != nil || len(rows) == 0 {
			return errors.Join(err, fmt.Errorf("%s has no row", table))
		}
		for {
			row, column := rows[e.random.IntN(len(rows))], e.random.IntN(len(columns))
			changed, ok := e.flip(row[column])
			if !ok {
				continue
			}
			var where []string
			args := []any{changed}
			for i, value := range row {
				if b, ok := value.([]byte); ok && len(b) == 0 {
					where = append(where, fmt.Sprintf("%v = x''", columns[i][0]))
					continue
				}
				where = append(where, fmt.Sprintf("%v IS ?", columns[i][0]))
				args = append(args, value)
			}
			if done, err := db.ExecContext(ctx, fmt.Sprintf("UPDATE %s SET %v = ? WHERE %s", table, columns[column][0], strings.Join(where, " AND ")), args...); err == nil { // else it may be there already
				if n, err := done.RowsAffected(); n != 1 {
					return fmt.Errorf("%d rows changed: %w", n, err)
				}
				what = fmt.Sprintf("%s.%v of %.300q is %.100q", table, columns[column][0], row, changed)
				if table == "entries" && column == 2 {
					names = []string{fmt.Sprintf("position %d:", row[0])}
				}
				return nil
			}
		}
	})
	if err != nil {
		e.Fatal(err)
	}
	if e.content() == before {
		e.Logf("no meaning: %s", what)
		return
	}
	e.named(what, names...)
}

// flip changes one bit of a value.
func (e *evidence) flip(value any) (changed any, ok bool) {
	switch v := value.(type) {
	case int64:
		return v ^ 1<<e.random.IntN(63), true
	case float64:
		f := math.Float64frombits(math.Float64bits(v) ^ 1<<e.random.IntN(64))
		return f, !math.IsNaN(f) && f != v
	case string:
		b, ok := e.flip([]byte(v))
		if !ok {
			return nil, false
		}
		return string(b.([]byte)), true
	case []byte:
		if len(v) == 0 {
			return nil, false
		}
		b, bit := bytes.Clone(v), e.random.IntN(len(v)*8)
		b[bit/8] ^= 1 << (bit % 8)
		return b, true
	}
	return nil, false
}

// kinds are what is flipped, in turn, and what has to be named.
func (e *evidence) kinds() map[string]func() {
	files := func(prefix string) []string {
		list := e.files(func(name string) bool { return strings.HasPrefix(name, prefix) })
		if len(list) == 0 {
			e.Fatalf("no file %s", prefix)
		}
		return list
	}
	one := func(list []string) string { return list[e.random.IntN(len(list))] }
	var all []string
	if err := e.db("mode=ro&immutable=1", func(ctx context.Context, db *sql.DB) error {
		rows, err := query(ctx, db, tables)
		for _, row := range rows {
			all = append(all, fmt.Sprint(row[0]))
		}
		return err
	}); err != nil {
		e.Fatal(err)
	}
	views := slices.DeleteFunc(slices.Clone(all), func(name string) bool { return name == "entries" || name == "streams" })
	keys := slices.Concat(files("proof/key"), e.files(func(name string) bool { return strings.HasPrefix(name, "erasure/") }), []string{"page.key"})
	artifacts := files("artifacts/data")
	return map[string]func(){
		"entries":  func() { e.flipValue("entries", "position", "index of streams") },
		"streams":  func() { e.flipValue("streams", "position", "index of streams") },
		"views":    func() { name := one(views); e.flipValue(name, baseOf(name)) },
		"artifact": func() { name := one(artifacts); e.flipFile(name, filepath.Base(name)) },
		"tree": func() {
			name := one([]string{"tree", "tree", "checkpoint"})
			e.flipFile("proof/"+name, name)
		},
		"tokens": func() { e.flipFile("admin.token", "admin.token") },
		"keys":   func() { name := one(keys); e.flipFile(name, name) },
		"file": func() {
			for range 20 {
				if e.flipAnywhere() {
					return
				}
			}
		},
	}
}

// baseOf is the name of the full-text index of which a table is a part.
func baseOf(table string) string {
	for _, base := range []string{"view_memory_text", "view_memory_title"} {
		if strings.HasPrefix(table, base) {
			return base
		}
	}
	return table
}

// TestEveryFlippedBitIsNamed changes one bit after the other of a data directory that has a little of everything.
func TestEveryFlippedBitIsNamed(t *testing.T) {
	embedded(t)
	for name, args := range map[string][]string{"in the clear": nil, "erasable": {"--erasable"}} {
		t.Run(name, func(t *testing.T) {
			program, dir := furnished(t, args...)
			e := &evidence{TB: t, program: program, dir: dir, random: reproducible(t, 11)}
			e.protected()
			if said, found := e.verify(); found {
				t.Fatalf("an untouched directory: %s", said)
			}
			kinds := e.kinds()
			list := slices.Sorted(maps.Keys(kinds))
			for i := range *flipped / 2 {
				kinds[list[i%len(list)]]()
			}
			if said, found := e.verify(); found {
				t.Errorf("put back as it was: %s", said)
			}
		})
	}
}

// TestEveryFlippedBitOfALogIsNamed changes bits of the log of a server that was killed, from which SQLite leaves out all that follows such a bit, without a word.
func TestEveryFlippedBitOfALogIsNamed(t *testing.T) {
	embedded(t)
	program, dir := furnishedUntil(t, (*rig).killed)
	e := &evidence{TB: t, program: program, dir: dir, random: reproducible(t, 17)}
	e.protected()
	db, log := e.read(recordName), e.read(recordName+"-wal")
	untouched := e.logged()
	if said, found := e.verify(); found || len(log) == 0 {
		t.Fatalf("an untouched directory with a log of %d bytes: %s", len(log), said)
	}
	lost, of := 0, max(1, *flipped/8)
	for range of {
		changed, bit := bytes.Clone(log), e.random.IntN(len(log)*8)
		changed[bit/8] ^= 1 << (bit % 8)
		e.write(recordName+"-wal", changed)
		e.what = fmt.Sprintf("bit %d of byte %d of %d of the log", bit%8, bit/8, len(log))
		after := e.logged()
		said, found := e.verify()
		gone := entryLine(after) != entryLine(untouched) // what only writes vectors leaves a whole, earlier state when it is lost: nothing to find
		if gone {
			lost++
		}
		if gone && !found {
			t.Errorf("%s is not found: %s\n%s", e.what, said, firstDifference(untouched, after))
		}
		e.write(recordName, db)
		e.write(recordName+"-wal", log)
		if err := os.Remove(filepath.Join(dir, recordName+"-shm")); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	t.Logf("%d of %d bits have lost entries", lost, of)
	if lost == 0 && of >= 20 {
		t.Errorf("none of %d bits has lost an entry: nothing was tried", of)
	}
}

// entryLine is the line of a content that has the entries.
func entryLine(content string) string {
	for line := range strings.Lines(content) {
		if strings.HasPrefix(line, "SELECT * FROM entries: ") {
			return line
		}
	}
	return ""
}

// logged is the content of a copy of the database with its log.
func (e *evidence) logged() string {
	e.Helper()
	of := &evidence{TB: e.TB, dir: e.TempDir(), options: "mode=rw"}
	for _, name := range []string{recordName, recordName + "-wal"} {
		of.write(name, e.read(name))
	}
	return of.content()
}

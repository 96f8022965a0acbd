package shell

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/trapezehq/trapeze/client"
)

// maxInput is the maximum size of a file or of standard input, in bytes: more than the server accepts.
const maxInput = 2 << 20

// Text resolves a text argument: "-" is standard input, "@name" is a file, and "@@text" is "@text".
func (s *Shell) Text(arg string) (string, error) {
	switch {
	case arg == "-":
		return readAll("standard input", s.Stdin)
	case strings.HasPrefix(arg, "@@"):
		return arg[1:], nil
	case strings.HasPrefix(arg, "@"):
		f, err := os.Open(arg[1:])
		if err != nil {
			return "", Usage(err)
		}
		defer f.Close()
		return readAll(arg[1:], f)
	}
	return arg, nil
}

func readAll(name string, r io.Reader) (string, error) {
	b, err := io.ReadAll(io.LimitReader(r, maxInput+1))
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	if len(b) > maxInput {
		return "", Usagef("%s is larger than %d bytes", name, maxInput)
	}
	if !utf8.Valid(b) {
		return "", Usagef("%s is not valid UTF-8", name)
	}
	return string(b), nil
}

// Document resolves an argument that is JSON, @FILE or -. An empty argument gives nil.
func (s *Shell) Document(what, arg string) (json.RawMessage, error) {
	if arg == "" {
		return nil, nil
	}
	text, err := s.Text(arg)
	if err != nil {
		return nil, err
	}
	if !json.Valid([]byte(text)) {
		return nil, Usagef("%s is not JSON", what)
	}
	return json.RawMessage(strings.TrimSpace(text)), nil
}

// Decode resolves an argument as Document does, and decodes it into v. It refuses unknown fields.
func (s *Shell) Decode(what, arg string, v any) error {
	doc, err := s.Document(what, arg)
	if err != nil || doc == nil {
		return err
	}
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return Usagef("%s: %w", what, err)
	}
	return nil
}

// Texts replaces each argument by its text: see Text.
func (s *Shell) Texts(args ...*string) error {
	for _, a := range args {
		text, err := s.Text(*a)
		if err != nil {
			return err
		}
		*a = text
	}
	return nil
}

// Duration is a flag like 30s or 1h30m.
type Duration client.Duration

// String is empty for none.
func (d *Duration) String() string {
	if *d == 0 {
		return ""
	}
	return client.Duration(*d).String()
}

// Set parses a duration, which must not be negative.
func (d *Duration) Set(text string) error {
	v, err := time.ParseDuration(text)
	if err != nil {
		return fmt.Errorf("%q is not a duration: write it like 15s or 1h30m", text)
	}
	if v < 0 {
		return fmt.Errorf("%s is negative", text)
	}
	*d = Duration(v)
	return nil
}

// Type is the name of the type in help pages.
func (*Duration) Type() string { return "duration" }

// WaitFlag defines the flag --wait of commands that wait for the end of a task.
func WaitFlag(f *pflag.FlagSet, wait *Duration) {
	f.Var(wait, "wait", "wait until the task has ended or is in the dead letters, at most this long")
	f.Lookup("wait").NoOptDefVal = "50s"
}

// Moment parses a flag that is a time, or a duration from now.
func (s *Shell) Moment(ctx context.Context, what, text string) (time.Time, error) {
	return moment(what, text, 1, func() (time.Time, error) { return s.now(ctx) })
}

// Past parses a flag that is a time, or a duration before now.
func (s *Shell) Past(ctx context.Context, what, text string) (time.Time, error) {
	return moment(what, text, -1, func() (time.Time, error) { return s.now(ctx) })
}

// now is the time of the server's clock, by which it judges times.
func (s *Shell) now(ctx context.Context) (time.Time, error) {
	c, err := s.Dial(ctx)
	if err != nil {
		return time.Time{}, err
	}
	me, err := c.Me(ctx)
	return me.Now, err
}

func moment(what, text string, way int, now func() (time.Time, error)) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		t, err := now()
		return t.Add(time.Duration(way) * d).UTC(), err
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, Usagef("%s: %q is neither a duration like 2h nor a time like 2030-01-31T17:00:00Z", what, text)
	}
	return t, nil
}

// PageFlags defines the flags that select a page of a list.
func PageFlags(f *pflag.FlagSet, limit *int, after *string) {
	f.IntVar(limit, "limit", 0, "maximum number of entries, up to 500 (default 50)")
	f.StringVar(after, "after", "", "continue after this entry, the last one of the previous page")
}

package shell

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/trapezehq/trapeze/client"
)

// maxInput is the most that is read from a file or standard input: more than the server takes.
const maxInput = 2 << 20

// Text is an argument that may stand elsewhere: "-" is standard input, "@name" a file, "@@…" text with one @ less.
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
		return "", Usagef("%s has more than %d bytes", name, maxInput)
	}
	return string(b), nil
}

// Document is an argument that is JSON, wherever it stands. Empty is none.
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

// Decode reads an argument that is JSON into v, and refuses fields that v does not have.
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

// Texts reads arguments that may stand elsewhere.
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
	return time.Duration(*d).String()
}

// Set reads a duration that is not negative.
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

// Type names what the flag takes.
func (*Duration) Type() string { return "duration" }

// Moment is a flag that is a time or how long from now.
func Moment(what, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return time.Now().Add(d).UTC(), nil
	}
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return t, Usagef("%s: %q is neither a duration like 2h nor a time like 2030-01-31T17:00:00Z", what, text)
	}
	return t, nil
}

// PageFlags defines which page of a list is wanted.
func PageFlags(f *pflag.FlagSet, limit *int, after *string) {
	f.IntVar(limit, "limit", 0, "at most so many, up to 500 (default 50)")
	f.StringVar(after, "after", "", "go on after this one, the last of the page before")
}

package server

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/trapezehq/trapeze/internal/delivery/alerting"
	"github.com/trapezehq/trapeze/internal/delivery/notify"
	"github.com/trapezehq/trapeze/internal/delivery/notify/service"
	"github.com/trapezehq/trapeze/internal/domain/alert"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// maxSinks is the greatest size of a file of sinks, in bytes.
const maxSinks = 64 << 10

// alertSinks returns the sinks for alerts.
func (c Config) alertSinks() ([]alerting.Sink, error) {
	var list []alerting.Sink
	add := func(spec string, private bool) error {
		s, err := c.alertSink(spec, private)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(list, func(o alerting.Sink) bool { return o.Name() == s.Name() }) {
			return refusal.New(refusal.Invalid, "name each sink once", "the sink %s is given twice", s.Name())
		}
		list = append(list, s)
		return nil
	}
	for _, spec := range c.Alerts {
		path, isFile := strings.CutPrefix(spec, "file:")
		if !isFile { // a severity before it is for each line to say
			if err := add(spec, false); err != nil {
				return nil, err
			}
			continue
		}
		lines, err := readSinks(path)
		if err != nil {
			return nil, err
		}
		for _, line := range lines {
			if err := add(line, true); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

// alertSink returns one sink. Private says that nobody else reads the text: only there it may be the URL of a service, which holds secrets.
func (c Config) alertSink(spec string, private bool) (alerting.Sink, error) {
	var s alerting.Sink
	if word, rest, ok := strings.Cut(spec, "="); ok && alert.Severities.Has(alert.Severity(word)) {
		s.Least, spec = alert.Severity(word), rest
	}
	var err error
	switch kind, _, _ := strings.Cut(spec, ":"); {
	case kind == "log" || kind == "webhook" || kind == "exec":
		s.Sink, err = notify.Parse(spec, c.Log)
	case !private && service.Is(spec):
		return s, refusal.New(refusal.Invalid, "write it into a file that only you can read (chmod 600), one sink in each line, and use file:PATH",
			"the URL of %s holds secrets, and others on this machine can read the arguments of programs", kind)
	default:
		s.Sink, err = service.Parse(spec)
	}
	return s, err
}

// readSinks reads a file of sinks: one in each line. Lines that begin with # do not count. It refuses a file that others can read.
func readSinks(path string) (lines []string, err error) {
	name := filepath.Base(path)
	f, err := os.Open(path)
	if err != nil {
		return nil, refusal.New(refusal.Invalid, "write file:PATH with the path of a file of sinks", "the file %s cannot be read: %s", name, plain(err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxSinks {
		return nil, refusal.New(refusal.Invalid, "use a regular file of at most 64 KiB", "the file %s cannot be used", name)
	}
	if !ownerOnly(info) {
		return nil, refusal.New(refusal.Invalid, "let only its owner read it: chmod 600", "others can read the file %s, which holds the secrets of URLs", name)
	}
	b, err := io.ReadAll(io.LimitReader(f, maxSinks))
	if err != nil {
		return nil, refusal.New(refusal.Unavailable, "see that the server may read it", "the file %s cannot be read: %s", name, plain(err))
	}
	for in := bufio.NewScanner(bytes.NewReader(b)); in.Scan(); {
		if line := strings.TrimSpace(in.Text()); line != "" && !strings.HasPrefix(line, "#") {
			lines = append(lines, line)
		}
	}
	return lines, nil
}

package expect

import (
	"encoding/csv"
	"encoding/xml"
	"errors"
	"io"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/event"
)

// format is a format that can be checked; empty for every other one.
type format string

const (
	formatJSON     format = "json"
	formatLines    format = "jsonl"
	formatCSV      format = "csv"
	formatXML      format = "xml"
	formatMarkdown format = "markdown"
	formatText     format = "text"
)

// formatNames are the names of formats, in lower case.
var formatNames = map[string]format{
	"json": formatJSON, "application/json": formatJSON,
	"jsonl": formatLines, "ndjson": formatLines, "application/jsonl": formatLines, "application/x-ndjson": formatLines,
	"csv": formatCSV, "text/csv": formatCSV,
	"xml": formatXML, "application/xml": formatXML, "text/xml": formatXML,
	"markdown": formatMarkdown, "md": formatMarkdown, "text/markdown": formatMarkdown,
	"text": formatText, "txt": formatText, "plain": formatText, "text/plain": formatText,
}

// formatOf returns the format of a name such as "JSON" or "text/markdown; charset=utf-8".
func formatOf(name string) format {
	name, _, _ = strings.Cut(name, ";")
	return formatNames[strings.ToLower(strings.TrimSpace(name))]
}

// check adds the faults in the form of a result. Every format but JSON is expected in the text.
func (f format) check(r event.Result, found *findings) {
	if f == formatJSON {
		where, raw := valueOf(r)
		if _, err := decode(raw); err != nil {
			found.add(where, "is not JSON: %v%s", err, fenced(r.Text))
		}
		return
	}
	if strings.TrimSpace(r.Text) == "" {
		found.add("text", "is empty, %s is expected in it", f)
		return
	}
	switch f {
	case formatLines:
		checkLines(r.Text, found)
	case formatCSV:
		checkCSV(r.Text, found)
	case formatXML:
		checkXML(r.Text, found)
	default: // any text is Markdown; whether it is good Markdown is for the reviewer
	}
}

// fenced returns the advice for the most common mistake.
func fenced(text string) string {
	if strings.HasPrefix(strings.TrimSpace(text), "```") {
		return "; omit the code fence"
	}
	return ""
}

func checkLines(text string, found *findings) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		if strings.TrimSpace(line) == "" {
			continue
		}
		if _, err := decode([]byte(line)); err != nil {
			found.add("text", "line %d is not JSON: %v", n, err)
		}
	}
}

func checkCSV(text string, found *findings) {
	r := csv.NewReader(strings.NewReader(text))
	r.ReuseRecord = true
	for {
		if _, err := r.Read(); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			found.add("text", "is not CSV: %v", err)
			return
		}
	}
}

func checkXML(text string, found *findings) {
	d := xml.NewDecoder(strings.NewReader(text))
	elements := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			found.add("text", "is not XML: %v", err)
			return
		}
		if _, ok := token.(xml.StartElement); ok {
			elements++
		}
	}
	if elements == 0 {
		found.add("text", "is not XML: it has no element")
	}
}

package resource

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/internal/api/mcpapi/fit"
	"github.com/trapezehq/trapeze/internal/domain/visible"
)

// MaxText is the maximum size of the content of one read, in bytes.
const MaxText = 128 << 10

// target is a parsed URI.
type target struct {
	uri   string
	id    string
	query url.Values

	reader func() (fit.Reader, error)
	packed bool // the content was packed for its reader
}

// maxID bounds an id, in bytes.
const maxID = 200

// isID reports whether a text can be the id of a task, a handoff, a share or a memory item, or a digest.
func isID(s string) bool {
	return s != "" && len(s) <= maxID && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_.:-", r)
	})
}

// locate parses a URI that has matched a template. A malformed id is not found; a parameter that the template does not have is refused.
func locate(uri, template string) (target, error) {
	if !strings.Contains(template, "{") {
		return target{uri: uri}, nil
	}
	u, err := url.Parse(uri)
	if err != nil {
		return target{}, notFound(uri, "")
	}
	first, _, _ := strings.Cut(strings.TrimPrefix(u.EscapedPath(), "/"), "/")
	id, err := url.PathUnescape(first) // an escaped slash is part of the id
	if err != nil || !isID(id) || strings.Trim(id, ".") == "" {
		return target{}, notFound(uri, "")
	}
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return target{}, notFound(uri, "")
	}
	_, takes, _ := strings.Cut(strings.TrimSuffix(template, "}"), "{?")
	for name := range query {
		if !strings.Contains(","+takes+",", ","+name+",") {
			return target{}, invalid("%.40q is not a parameter of %s", name, template)
		}
	}
	return target{uri: uri, id: id, query: query}, nil
}

// number returns a parameter that is a number; 0 if it is omitted.
func (p target) number(name string) (uint64, error) {
	text := p.query.Get(name)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.ParseUint(text, 10, 62)
	if err != nil {
		return 0, invalid("%s is %.40q; use a number from an earlier answer", name, text)
	}
	return n, nil
}

// json returns a value as JSON, or the error.
func (p target) json(v any, err error) (*mcp.ReadResourceResult, error) {
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return p.part(visible.JSON(string(b)), asJSON)
}

func (p target) whole(text, media string) *mcp.ReadResourceResult {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: p.uri, MIMEType: media, Text: text}}}
}

// list returns the JSON of the first n elements of a list, as many as fit the reader, and says how many more there are.
func (p target) list(count int, of func(n int) any, more string) (*mcp.ReadResourceResult, error) {
	var text string
	n := count
	note := func() string { return fmt.Sprintf("%d more %s.", count-n, more) }
	for {
		b, err := json.Marshal(of(n))
		if err != nil {
			return nil, err
		}
		if text = visible.JSON(string(b)); n == 0 || len(text) <= MaxText && p.reads(text+note()) {
			break
		}
		n = n * 3 / 4
	}
	r := p.whole(text, asJSON)
	if n < count {
		r.Contents = append(r.Contents, &mcp.ResourceContents{URI: p.uri, MIMEType: asText, Text: note()})
	}
	return r, nil
}

// reads reports whether a text is within half of the window of the reader; a reader whose window is not known reads any.
func (p target) reads(text string) bool {
	r, err := p.reader()
	return err != nil || r.Window() == 0 || r.Reads(text)
}

// noteTokens is more than the tokens of a line that says where the next part is.
const noteTokens = 150

// part returns a text. A text longer than MaxText, or than half of the window of the reader, is returned in parts: the part that begins at byte "from",
// and the URI of the next. A content that was packed for its reader may have all of its window.
func (p target) part(text, media string) (*mcp.ReadResourceResult, error) {
	from, err := p.number("from")
	if err != nil {
		return nil, err
	}
	if from > uint64(len(text)) {
		return nil, invalid("from is %d; the text has %d bytes", from, len(text))
	}
	if from == 0 && len(text) <= MaxText && (p.packed || p.reads(text)) {
		return p.whole(text, media), nil
	}
	begin, end := int(from), min(int(from)+MaxText, len(text))
	if r, err := p.reader(); err == nil && r.Window() > 0 {
		end = begin + len(r.Beginning(text[begin:end], noteTokens))
	}
	for begin < end && !utf8.RuneStart(text[begin]) {
		begin++
	}
	for end < len(text) && end > begin && !utf8.RuneStart(text[end]) {
		end--
	}
	r := p.whole(text[begin:end], asText)
	note := fmt.Sprintf("These were bytes %d to %d of %d, the last part.", begin, end, len(text))
	next := p.uri
	if end < len(text) {
		q := url.Values{"from": {strconv.Itoa(end)}}
		if task := p.query.Get("task"); task != "" {
			q.Set("task", task)
		}
		base, _, _ := strings.Cut(p.uri, "?")
		next = base + "?" + q.Encode()
		note = fmt.Sprintf("These were bytes %d to %d of %d. The next part is at %s", begin, end, len(text), next)
	}
	r.Contents = append(r.Contents, &mcp.ResourceContents{URI: next, MIMEType: asText, Text: note})
	return r, nil
}

//go:build slow && !race

package scenario

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	api "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/domain/help"
)

// hostileWords are values that a shell, or the program that it starts, could take for more than a value.
var hostileWords = []string{
	"$(touch x)", "`touch x`", "main;touch${IFS}x", "a\ntouch x\n", "a';touch x;'", `a";touch x;"`, "a|touch x", "a&touch x", "-oProxyCommand=touch x", "--upload-pack=touch x",
}

// commandsIn are the commands in a text: each begins with the name of a program, and ends with the text, with a line that the
// program's words are not quoted in, or with a word that punctuation follows.
func commandsIn(text string) (commands []string) {
	for _, program := range []string{"trapeze ", "git "} {
		for rest := text; ; {
			at := strings.Index(rest, program)
			if at < 0 {
				break
			}
			begins := at == 0 || strings.ContainsRune(" \n(`:", rune(rest[at-1]))
			command := rest[at : at+commandEnd(rest[at:])]
			rest = rest[at+len(program):]
			if fields := strings.Fields(command); begins && len(fields) > 1 && fields[1] != "" && fields[1][0] >= 'a' && fields[1][0] <= 'z' {
				commands = append(commands, command)
			}
		}
	}
	return commands
}

// commandEnd is where the command at the beginning of a text ends.
func commandEnd(text string) int {
	quoted, inside := false, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\'':
			quoted = !quoted
		case quoted:
		case c == '(':
			inside++
		case c == ')' && inside > 0:
			inside--
		case c == '\\':
			i++
		case strings.IndexByte(",;:)", c) >= 0 && (i+1 == len(text) || text[i+1] == ' ' || text[i+1] == '\n' || strings.IndexByte(".,;:", text[i+1]) >= 0), c == '\n':
			return i
		}
	}
	return len(text)
}

// shellRuns runs a command in a shell where each program only says that it was started, and returns what it and others said.
func shellRuns(t *testing.T, sh, bin, command string) []string {
	t.Helper()
	record := filepath.Join(t.TempDir(), "record")
	cmd := exec.CommandContext(t.Context(), sh, "-c", command)
	cmd.Env, cmd.Dir = []string{"PATH=" + bin, "RECORD=" + record}, t.TempDir()
	_ = cmd.Run() // a sentence after a command is not always one for a shell
	ran, _ := os.ReadFile(record)
	return strings.Fields(string(ran))
}

func stubs(t *testing.T, sh string) (bin string) {
	t.Helper()
	bin = t.TempDir()
	for _, name := range []string{"trapeze", "git", "touch"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!"+sh+"\necho "+name+" >>$RECORD\n"), 0o755); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
	}
	return bin
}

func TestCommandsAreFoundInHints(t *testing.T) {
	for text, want := range map[string][]string{
		"an operator can replay it: trapeze dead replay task_1":         {"trapeze dead replay task_1"},
		"stop it first: trapeze stop, or use another":                   {"trapeze stop"},
		"run trapeze task show 'a, b' --wait; then git fetch -- 'x\ny'": {"trapeze task show 'a, b' --wait", "git fetch -- 'x\ny'"},
		"the program trapeze is not there":                              {"trapeze is not there"},
		"git fetch -- $(touch x)":                                       {"git fetch -- $(touch x)"},
	} {
		if got := commandsIn(text); !slices.Equal(got, want) {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// Each call of the HTTP API and each tool of the MCP server gets hostile values in all its fields, also of tasks that are there. No
// command that an answer names runs anything else when it is pasted into a shell.
func TestNoCommandInAnAnswerOfTheServerRunsAnythingElse(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell here")
	}
	h, bin := handleStory(t), stubs(t, sh)
	found, tried := 0, map[string]bool{}
	paste := func(from, text string) {
		for _, command := range commandsIn(text) {
			if tried[command] {
				continue
			}
			tried[command] = true
			ran := shellRuns(t, sh, bin, command)
			if slices.Contains(ran, "touch") || len(ran) > 1 {
				t.Errorf("%s names %q, which runs %q", from, command, ran)
			}
			found++
		}
	}
	for _, value := range hostileWords {
		tasks := h.seed(value)
		for _, op := range operations(t) {
			paste(op.method+" "+op.path, h.try(h.token, op, value))
			for _, id := range tasks {
				paste(op.method+" "+op.path, h.once(h.tokens["lead"], op, value, id))
			}
		}
		for _, tool := range h.tools("lead") {
			for _, id := range append(slices.Clone(tasks), value) {
				arguments, _ := spoiled(tool.schema, nil, value, 0).(map[string]any)
				for _, name := range []string{"id", "task", "handoff"} {
					if _, has := arguments[name]; has {
						arguments[name] = id
					}
				}
				r := h.call("lead", tool.name, arguments)
				paste("tool "+tool.name, texts(r.Result)+texts(r.Error))
			}
		}
	}
	if found < 20 {
		t.Errorf("only %d commands were found", found)
	}
}

// seed makes tasks with a value in every text: one of lead, and one that is offered to it.
func (h *handles) seed(value string) (ids []string) {
	h.Helper()
	own := h.do("lead", api.CreateInput{Intent: value, Start: true, Content: api.Content{Ask: value, Notes: value}})
	sent := h.do("reviewer", api.CreateInput{Intent: value, Send: &api.SendInput{To: []string{"lead"}, Detail: value}})
	return []string{own.Task, sent.Task, sent.Handoff}
}

func (h *handles) do(name string, in api.CreateInput) api.Receipt {
	h.Helper()
	r, err := h.as(name).CreateTask(h.Context(), in)
	if err != nil {
		h.Fatal(err)
	}
	return r
}

// operation is one of the HTTP API.
type operation struct {
	method, path string
	query        []string
	body         map[string]any
	doc          map[string]any
}

// operations are those of the description that answer at once, but for the ones that stop agents of the test.
func operations(t *testing.T) (list []operation) {
	t.Helper()
	b, err := os.ReadFile("../../docs/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	var doc map[string]any
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	paths, _ := doc["paths"].(map[string]any)
	for path, methods := range paths {
		for method, o := range methods.(map[string]any) {
			op, is := o.(map[string]any)
			if !is || path == "/v1/events" || method == "options" || method == "parameters" {
				continue
			}
			one := operation{method: strings.ToUpper(method), path: path, doc: doc}
			params, _ := op["parameters"].([]any)
			for _, p := range params {
				if p := p.(map[string]any); p["in"] == "query" && p["name"] != "wait" {
					one.query = append(one.query, p["name"].(string))
				}
			}
			one.body, _ = at(op, "requestBody", "content", "application/json", "schema").(map[string]any)
			list = append(list, one)
		}
	}
	slices.SortFunc(list, func(x, y operation) int { return strings.Compare(x.path+x.method, y.path+y.method) })
	if len(list) < 40 {
		t.Fatalf("only %d operations", len(list))
	}
	return list
}

func at(v any, names ...string) any {
	for _, n := range names {
		m, _ := v.(map[string]any)
		v = m[n]
	}
	return v
}

// spoiled is a value of a JSON schema whose texts are all the same, but for those of closed sets.
func spoiled(schema any, doc map[string]any, value string, depth int) any {
	s, _ := schema.(map[string]any)
	if ref, is := s["$ref"].(string); is {
		return spoiled(at(doc, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...), doc, value, depth)
	}
	if list, is := s["enum"].([]any); is && len(list) > 0 {
		return list[0]
	}
	kind := s["type"]
	if kinds, is := kind.([]any); is && len(kinds) > 0 {
		kind = kinds[0]
	}
	switch kind {
	case "object":
		out, properties := map[string]any{}, map[string]any{}
		if p, is := s["properties"].(map[string]any); is && depth < 4 {
			properties = p
		}
		for name, p := range properties {
			if p, is := p.(map[string]any); is && p["format"] == nil && name != "wait" && name != "$schema" {
				out[name] = spoiled(p, doc, value, depth+1)
			}
		}
		return out
	case "array":
		return []any{spoiled(s["items"], doc, value, depth+1)}
	case "integer", "number":
		return 1
	case "boolean":
		return false
	}
	return value
}

// in is the path of an operation with an id.
func (op operation) in(id string) string {
	path := op.path
	for {
		from := strings.IndexByte(path, '{')
		if from < 0 {
			return path
		}
		path = path[:from] + url.PathEscape(id) + path[from+strings.IndexByte(path[from:], '}')+1:]
	}
}

// once calls an operation on an id, with a value everywhere else.
func (h *handles) once(token string, op operation, value, id string) string {
	h.Helper()
	if op.in("") == op.path {
		return ""
	}
	var body any
	if op.body != nil {
		body = spoiled(op.body, op.doc, value, 0)
	}
	return h.raw(token, op.method, op.in(id), body)
}

// try calls an operation with a value everywhere, and with each of the body's fields and parameters alone: a call is refused for its
// first fault.
func (h *handles) try(token string, op operation, value string) (answers string) {
	h.Helper()
	bodies := []any{nil}
	if op.body != nil {
		whole := spoiled(op.body, op.doc, value, 0)
		bodies = []any{whole, map[string]any{}}
		if fields, is := whole.(map[string]any); is {
			for name, v := range fields {
				bodies = append(bodies, map[string]any{name: v, "intent": value, "epoch": 1})
			}
		}
	}
	queries := []string{""}
	for _, name := range op.query {
		queries = append(queries, url.Values{name: {value}}.Encode())
	}
	for _, body := range bodies {
		answers += h.raw(token, op.method, op.in(value), body)
	}
	for _, query := range queries {
		answers += h.raw(token, op.method, op.in(value)+"?"+query, bodies[0])
	}
	return answers
}

func (h *handles) raw(token, method, path string, body any) string {
	h.Helper()
	text := ""
	if body != nil {
		b, err := json.Marshal(body)
		if err != nil {
			h.Fatal(err)
		}
		text = string(b)
	}
	req, err := http.NewRequestWithContext(h.Context(), method, h.url+path, strings.NewReader(text))
	if err != nil {
		h.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		h.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		h.Fatal(err)
	}
	var v any
	if json.Unmarshal(b, &v) != nil {
		return string(b) + "\n"
	}
	return texts(v) + atShell(b)
}

// atShell is the hint of a refusal with the commands that a shell makes of what helps, on a line of its own; empty if nothing does.
func atShell(answer []byte) string {
	var refusal struct {
		Hint  string
		Helps []help.Help
	}
	if json.Unmarshal(answer, &refusal) != nil || len(refusal.Helps) == 0 {
		return ""
	}
	return help.Explain(refusal.Hint, refusal.Helps, help.Help.Command) + "\n"
}

// texts are all texts within a JSON value, each on lines of its own.
func texts(v any) string {
	switch v := v.(type) {
	case string:
		return v + "\n"
	case []any:
		out := ""
		for _, x := range v {
			out += texts(x)
		}
		return out
	case map[string]any:
		out := ""
		for _, x := range v {
			out += texts(x)
		}
		return out
	case nil:
		return ""
	}
	return fmt.Sprintln(v)
}

type tool struct {
	name   string
	schema any
}

func (h *handles) tools(name string) (list []tool) {
	h.Helper()
	all, _ := h.ask(name, "tools/list", "", map[string]any{}).Result["tools"].([]any)
	for _, t := range all {
		n, _ := at(t, "name").(string)
		list = append(list, tool{n, at(t, "inputSchema")})
	}
	if len(list) < 5 {
		h.Fatalf("only %d tools", len(list))
	}
	return list
}

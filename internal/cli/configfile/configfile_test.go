package configfile_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/cli/configfile"
)

var entry = configfile.Object{{"type", "stdio"}, {"command", "trapeze"}, {"args", []string{"mcp", "--agent", "claude"}}}

func TestOnlyOurMemberChanges(t *testing.T) {
	for _, c := range []struct{ name, before, after string }{
		{
			"nothing yet", "",
			"{\n  \"mcpServers\": {\n    \"trapeze\": {\n      \"type\": \"stdio\",\n      \"command\": \"trapeze\",\n      \"args\": [\"mcp\", \"--agent\", \"claude\"]\n    }\n  }\n}\n",
		},
		{
			"an empty object", "{}",
			"{\n  \"mcpServers\": {\n    \"trapeze\": {\n      \"type\": \"stdio\",\n      \"command\": \"trapeze\",\n      \"args\": [\"mcp\", \"--agent\", \"claude\"]\n    }\n  }\n}",
		},
		{
			"comments, a trailing comma and another's entry",
			"// mine\n{\n\t\"mcpServers\": {\n\t\t\"other\": { \"command\": \"x\" }, // keep\n\t\t/* and this */\n\t},\n\t\"z\": [1,2 ,3],\n}\n",
			"// mine\n{\n\t\"mcpServers\": {\n\t\t\"other\": { \"command\": \"x\" }, // keep\n\t\t/* and this */\n\t\t\"trapeze\": {\n\t\t\t\"type\": \"stdio\",\n\t\t\t\"command\": \"trapeze\",\n\t\t\t\"args\": [\"mcp\", \"--agent\", \"claude\"]\n\t\t}\n\t},\n\t\"z\": [1,2 ,3],\n}\n",
		},
		{
			"a remark on the last one",
			"{\n  \"a\": 1 // one\n}\n",
			"{\n  \"a\": 1, // one\n  \"mcpServers\": {\n    \"trapeze\": {\n      \"type\": \"stdio\",\n      \"command\": \"trapeze\",\n      \"args\": [\"mcp\", \"--agent\", \"claude\"]\n    }\n  }\n}\n",
		},
		{
			"all on one line", `{"a":1,"mcpServers":{"o":{}}}`,
			`{"a":1,"mcpServers":{"o":{}, "trapeze": {"type": "stdio", "command": "trapeze", "args": ["mcp", "--agent", "claude"]}}}`,
		},
		{
			"an older entry of ours, with what its owner added",
			"{ \"mcpServers\": {\n    \"trapeze\": {\n      \"command\": \"/old/trapeze\", // here\n      \"timeout\": 600000,\n      \"args\": [ \"mcp\",\n        \"--agent\", \"claude\" ]\n    }\n} }",
			"{ \"mcpServers\": {\n    \"trapeze\": {\n      \"command\": \"trapeze\", // here\n      \"timeout\": 600000,\n      \"args\": [ \"mcp\",\n        \"--agent\", \"claude\" ],\n      \"type\": \"stdio\"\n    }\n} }",
		},
		{
			"other line ends, and a mark of the encoding",
			"\ufeff{\r\n    \"a\": {}\r\n}\r\n",
			"\ufeff{\r\n    \"a\": {},\r\n    \"mcpServers\": {\r\n        \"trapeze\": {\r\n            \"type\": \"stdio\",\r\n            \"command\": \"trapeze\",\r\n            \"args\": [\"mcp\", \"--agent\", \"claude\"]\r\n        }\r\n    }\r\n}\r\n",
		},
		{
			"a remark where there is nothing",
			"{\n  \"mcpServers\": { // none yet\n  }\n}\n",
			"{\n  \"mcpServers\": { // none yet\n    \"trapeze\": {\n      \"type\": \"stdio\",\n      \"command\": \"trapeze\",\n      \"args\": [\"mcp\", \"--agent\", \"claude\"]\n    }\n  }\n}\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := configfile.JSON(c.before, []string{"mcpServers", "trapeze"}, entry)
			if err != nil || got != c.after {
				t.Fatalf("%v\n%s\nwant\n%s", err, got, c.after)
			}
			again, err := configfile.JSON(got, []string{"mcpServers", "trapeze"}, entry)
			if err != nil || again != got {
				t.Errorf("the second time: %v\n%s", err, again)
			}
			if v, ok := configfile.JSONAt(got, "mcpServers", "trapeze", "command"); !ok || string(v) != `"trapeze"` {
				t.Errorf("read back: %s, %v", v, ok)
			}
		})
	}
}

func TestInvalidJSONIsRefused(t *testing.T) {
	for text, why := range map[string]string{
		"{":                       "line 1: missing name in quotation marks",
		"{\n\"a\" 1}":             "line 2: missing colon",
		`{"a": tru}`:              "invalid value",
		`{"a": 1 "b": 2}`:         "missing comma",
		`{"a": "x`:                "unterminated string",
		"{} {}":                   "unexpected text after",
		"/* ":                     "unterminated comment",
		`{"mcpServers": []}`:      "mcpServers is not an object",
		`[]`:                      "the file is not an object",
		strings.Repeat("[", 5000): "too deeply",
	} {
		got, err := configfile.JSON(text, []string{"mcpServers", "trapeze"}, entry)
		if err == nil || !strings.Contains(err.Error(), why) || got != "" {
			t.Errorf("%.40q: %v, %q", text, err, got)
		}
	}
}

func TestAHookStandsBesideOthers(t *testing.T) {
	const command = "trapeze hook --agent claude"
	element := configfile.Object{{"hooks", configfile.List{configfile.Object{{"type", "command"}, {"command", command}}}}}
	path := []string{"hooks", "Stop"}
	ours := func(command string) bool { return strings.Contains(command, "trapeze hook") }
	fresh, err := configfile.JSONHook("", path, ours, command, element)
	if err != nil || fresh != "{\n  \"hooks\": {\n    \"Stop\": [\n      {\n        \"hooks\": [\n          {\n            \"type\": \"command\",\n            \"command\": \"trapeze hook --agent claude\"\n          }\n        ]\n      }\n    ]\n  }\n}\n" {
		t.Errorf("%v\n%s", err, fresh)
	}
	for before, after := range map[string]string{
		fresh: fresh,
		`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine"}]}]}}`:                                      `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"mine"}]}, {"hooks": [{"type": "command", "command": "trapeze hook --agent claude"}]}]}}`,
		`{"hooks":{"Stop":[{"hooks":[{"command":"mine"},{"timeout":9,"command":"/old/trapeze hook --agent x"}]}]}}`: `{"hooks":{"Stop":[{"hooks":[{"command":"mine"},{"timeout":9,"command":"trapeze hook --agent claude"}]}]}}`,
	} {
		got, err := configfile.JSONHook(before, path, ours, command, element)
		if err != nil || got != after {
			t.Errorf("%v\n%s\nwant\n%s", err, got, after)
		}
		if said, found := configfile.JSONCommand(got, path, ours); !found || said != command {
			t.Errorf("read back: %q, %v", said, found)
		}
	}
	if _, err := configfile.JSONHook(`{"hooks":{"Stop":{}}}`, path, ours, command, element); err == nil {
		t.Error("a list was put where something else is")
	}
}

var table = configfile.Object{{"command", "trapeze"}, {"args", []string{"mcp", "--agent", "codex"}}}

const ours = "[mcp_servers.trapeze]\ncommand = \"trapeze\"\nargs = [\"mcp\", \"--agent\", \"codex\"]\n"

func TestOnlyOurTableChanges(t *testing.T) {
	for _, c := range []struct{ name, before, after string }{
		{"nothing yet", "", ours},
		{"other tables", "model = \"gpt-5\" # mine\n[projects.\"/a.b\"]\ntrust_level = 'trusted'", "model = \"gpt-5\" # mine\n[projects.\"/a.b\"]\ntrust_level = 'trusted'\n\n" + ours},
		{
			"an older table of ours, with what its owner added, before another",
			"[mcp_servers.trapeze] # here\ncommand = '/old/trapeze' # was there\ntool_timeout_sec = 300\n\n[mcp_servers.trapeze.env]\nA = \"b\"\n[tui]\nx = [\n  1, # one\n  { a = 'b]' },\n]\n",
			"[mcp_servers.trapeze] # here\ncommand = \"trapeze\" # was there\ntool_timeout_sec = 300\nargs = [\"mcp\", \"--agent\", \"codex\"]\n\n[mcp_servers.trapeze.env]\nA = \"b\"\n[tui]\nx = [\n  1, # one\n  { a = 'b]' },\n]\n",
		},
		{"the same, in other words", "[ mcp_servers . \"trapeze\" ]\nargs = [ 'mcp', \n \"--agent\", # who\n'codex', ]\ncommand = 'trapeze'\n", "[ mcp_servers . \"trapeze\" ]\nargs = [ 'mcp', \n \"--agent\", # who\n'codex', ]\ncommand = 'trapeze'\n"},
		{"other line ends", "a = \"\"\"\nx\n[mcp_servers.trapeze]\n\"\"\"\r\n", "a = \"\"\"\nx\n[mcp_servers.trapeze]\n\"\"\"\r\n\r\n" + strings.ReplaceAll(ours, "\n", "\r\n")},
		{"an empty table at the end", "[mcp_servers.trapeze]", "[mcp_servers.trapeze]\ncommand = \"trapeze\"\nargs = [\"mcp\", \"--agent\", \"codex\"]\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := configfile.TOML(c.before, []string{"mcp_servers", "trapeze"}, table)
			if err != nil || got != c.after {
				t.Fatalf("%v\n%s\nwant\n%s", err, got, c.after)
			}
			if again, err := configfile.TOML(got, []string{"mcp_servers", "trapeze"}, table); err != nil || again != got {
				t.Errorf("the second time: %v\n%s", err, again)
			}
			var args []string
			v, ok := configfile.TOMLAt(got, []string{"mcp_servers", "trapeze"}, "args")
			if !ok || json.Unmarshal(v, &args) != nil || !reflect.DeepEqual(args, []string{"mcp", "--agent", "codex"}) {
				t.Errorf("read back: %s, %v", v, ok)
			}
		})
	}
}

func TestTheEnvironmentOfAServerIsReadAsItIsWritten(t *testing.T) {
	for text, want := range map[string]string{
		"\n[mcp_servers.trapeze.env]\nA = \"b\"\n\"C.d\" = 'e'\nn = 1\n[tui]\nA = 'x'\n": `{"A": "b", "C.d": "e"}`,
		"env = { A = \"b\", \"C.d\" = 'e' } # ours\n[tui]\nenv = { A = 'x' }\n":          `{"A": "b", "C.d": "e"}`,
		"env.A = 'b'\nenv.\"C.d\" = \"e\"\n":                                             `{"A": "b", "C.d": "e"}`,
		"env = { A = 1 }\n":                                                              "", "env = {}\n": "{}", "environment = { A = 'b' }\n[[mcp_servers.trapeze.env]]\nA = 'b'\n": "",
	} {
		v, ok := configfile.TOMLAt(ours+text, []string{"mcp_servers", "trapeze"}, "env")
		if ok != (want != "") || ok && string(v) != want {
			t.Errorf("%q: %s, %v", text, v, ok)
		}
	}
}

func TestInvalidTOMLIsRefused(t *testing.T) {
	for text, why := range map[string]string{
		"a":                               "line 1: missing =",
		"x = 1\na = ":                     "line 2: missing value",
		"a = 1\nb = x\r# c":               "line 2: a carriage return without a line feed",
		"a = \"x":                         "unterminated string",
		"a = '''x":                        "unterminated string",
		"a = [1, 2":                       "unterminated array",
		"[a":                              "unterminated table header",
		"a = 'x' y":                       "unexpected text after",
		"mcp_servers = {}":                "is not written as a table [mcp_servers.trapeze]",
		"[mcp_servers]\ntrapeze.x = 1":    "line 2: mcp_servers.trapeze.x is not written as a table",
		"[[mcp_servers]]":                 "is an array of tables",
		ours + ours:                       "is defined twice",
		"a = " + strings.Repeat("[", 900): "too deeply",
	} {
		got, err := configfile.TOML(text, []string{"mcp_servers", "trapeze"}, table)
		if err == nil || !strings.Contains(err.Error(), why) || got != "" {
			t.Errorf("%.40q: %v, %q", text, err, got)
		}
	}
}

func TestASectionIsReplacedOnARerun(t *testing.T) {
	const begin, end = "<!-- begin -->", "<!-- end -->"
	for before, after := range map[string]string{
		"":                                     begin + "\nnew\n" + end + "\n",
		"# Mine":                               "# Mine\n\n" + begin + "\nnew\n" + end + "\n",
		"a\n" + begin + "\nold\n" + end + " b": "a\n" + begin + "\nnew\n" + end + " b",
	} {
		got, err := configfile.Section(before, begin, end, "\nnew\n")
		if err != nil || got != after {
			t.Errorf("%v %q, want %q", err, got, after)
		}
		if again, err := configfile.Section(got, begin, end, "new"); err != nil || again != got {
			t.Errorf("the second time: %v, %q", err, again)
		}
	}
	for _, text := range []string{begin, end, end + begin, begin + end + begin} {
		if got, err := configfile.Section(text, begin, end, "new"); err == nil {
			t.Errorf("%q became %q", text, got)
		}
	}
}

// The diffs are valid input for patch.
func TestADiffMakesTheOneFileOfTheOther(t *testing.T) {
	patch, err := exec.LookPath("patch")
	if err != nil {
		t.Skip("there is no patch here")
	}
	ten := "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"
	for _, c := range [][2]string{{ten, ten + "11\n"}, {ten, "0\n" + ten}, {ten, strings.Replace(ten, "5\n", "five\nand\n", 1)}, {"a", "a\nb"}, {"", "a\n"}, {"a\na\n", "a\n"}} {
		dir := t.TempDir()
		file := filepath.Join(dir, "f")
		if err := os.WriteFile(file, []byte(c[0]), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), patch, "-s", file)
		cmd.Stdin = strings.NewReader(configfile.Diff("f", c[0], c[1], false))
		out, err := cmd.CombinedOutput()
		got, _ := os.ReadFile(file)
		if err != nil || string(got) != c[1] {
			t.Errorf("%q to %q: %v %s %q\n%s", c[0], c[1], err, out, got, configfile.Diff("f", c[0], c[1], false))
		}
	}
	if configfile.Diff("f", "x", "x", false) != "" {
		t.Error("a file that stays has a diff")
	}
}

func FuzzJSON(f *testing.F) {
	for _, text := range []string{"", "{}", "// c\n{\"a\": [1, {\"b\": null},], /* d */ \"mcpServers\": {\"trapeze\": {\"command\": 1}}}", `{"mcpServers":{"x":1}}`, "\ufeff{\r\n\t\"a\": \"\\u00e9\"\r\n}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := configfile.JSON(text, []string{"mcpServers", "trapeze"}, entry)
		if err != nil {
			return
		}
		if again, err := configfile.JSON(got, []string{"mcpServers", "trapeze"}, entry); err != nil || again != got {
			t.Fatalf("%v\n%q\n%q", err, got, again)
		}
		var before, after map[string]any
		if json.Unmarshal([]byte(text), &before) != nil || json.Unmarshal([]byte(got), &after) != nil {
			return // it has comments, or was empty
		}
		delete(before, "mcpServers")
		delete(after, "mcpServers")
		if !reflect.DeepEqual(before, after) {
			t.Fatalf("%q became %q", text, got)
		}
	})
}

func FuzzTOML(f *testing.F) {
	for _, text := range []string{"", ours, "a = 1\n[b]\nc = '''x'''\n[[d]]\ne = {f = [1, \"]\"]}", "[mcp_servers.trapeze]\ncommand='x'#y\r\n", "[mcp_servers.trapeze]\ncommand=x\r#'"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := configfile.TOML(text, []string{"mcp_servers", "trapeze"}, table)
		if err != nil {
			return
		}
		if again, err := configfile.TOML(got, []string{"mcp_servers", "trapeze"}, table); err != nil || again != got {
			t.Fatalf("%v\n%q\n%q", err, got, again)
		}
	})
}

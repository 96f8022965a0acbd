package cli_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// flagsOf are the documented flags of coding agents that run without a terminal, and whether they take a value: "1" one,
// "+" one or more, "" none. Flags that such a run needs are marked with a !.
//
// claude: code.claude.com/docs/en/cli-reference and /headless. codex: developers.openai.com/codex/noninteractive.
// gemini: geminicli.com/docs/cli/headless. copilot: docs.github.com, "Running GitHub Copilot CLI programmatically".
// cursor-agent: cursor.com/docs/cli/headless. opencode: opencode.ai/docs/cli.
var flagsOf = map[string]map[string]string{
	"claude": {"-p": "!", "--permission-mode": "1", "--allowedTools": "+", "--output-format": "1", "--json-schema": "1"},
	"codex":  {"--sandbox": "1", "-c": "1", "--skip-git-repo-check": ""},
	"gemini": {"-p": "!1", "--approval-mode": "1"},
	"copilot": {
		"-s": "", "--no-ask-user": "!", "--allow-tool": "1",
	},
	"opencode":     {},
	"cursor-agent": {"-p": "!", "--trust": "!", "--force": ""},
}

// valuesOf are the values of flags with a closed set of values.
var valuesOf = map[string][]string{
	"--permission-mode": {"default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"},
	"--output-format":   {"text", "json", "stream-json"},
	"--sandbox":         {"read-only", "workspace-write", "danger-full-access"},
	"--approval-mode":   {"default", "auto_edit", "yolo", "plan"},
}

// codingAgent is a stand-in for a coding agent that runs without a terminal: it accepts the documented flags, reads its prompt from where
// the agent does, and prints what it was asked to do.
func codingAgent(name string, args []string, prompt string, say func(string, ...any)) int {
	flags, words, why := readFlags(name, args)
	if why != "" {
		say("%s: %s", name, why)
		return 64
	}
	said := strings.Join(words, " ")
	switch name {
	case "codex": // codex exec [flags] -
		if said != "exec -" {
			say("codex: %q does not read the prompt from standard input", said)
			return 64
		}
		say("thinking…")
	case "opencode": // opencode run
		if said != "run" {
			say("opencode: %q does not read the prompt from standard input", said)
			return 64
		}
	case "gemini": // what comes on standard input, then the flag's
		prompt += "\n" + flags["-p"]
	case "cursor-agent": // the prompt is an argument
		_, file, _ := strings.Cut(strings.TrimSuffix(said, "."), "asked in ")
		b, err := os.ReadFile(file)
		if err != nil {
			say("cursor-agent: %q: %v", said, err)
			return 64
		}
		prompt = string(b)
	default:
		if said != "" {
			say("%s: did not expect %q", name, said)
			return 64
		}
	}
	_, rest, found := strings.Cut(prompt, "## Request\n")
	lines := strings.Split(rest, "\n")
	if !found || len(lines) < 2 {
		say("%s: there is no prompt: %.200q", name, prompt)
		return 65
	}
	answer := name + " did: " + lines[1]
	if flags["--output-format"] == "json" {
		answer = fmt.Sprintf(`{"type":"result","result":"","structured_output":{"did":%q}}`, lines[1])
	}
	fmt.Println(answer)
	return 0
}

// readFlags parses a command line by the table above.
func readFlags(name string, args []string) (flags map[string]string, words []string, why string) {
	flags = map[string]string{}
	for i := 0; i < len(args); i++ {
		flag, value, inline := strings.Cut(args[i], "=")
		if !strings.HasPrefix(flag, "-") || flag == "-" {
			words = append(words, args[i])
			continue
		}
		takes, known := flagsOf[name][flag]
		takes = strings.TrimPrefix(takes, "!")
		switch {
		case !known:
			return nil, nil, "unknown option " + flag
		case takes != "" && !inline && i+1 == len(args):
			return nil, nil, flag + " needs a value"
		case takes != "" && !inline:
			i++
			value = args[i]
			for takes == "+" && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
				i++
			}
		}
		if set := valuesOf[flag]; set != nil && !slices.Contains(set, value) {
			return nil, nil, flag + " cannot be " + value
		}
		flags[flag] = value
	}
	for flag, takes := range flagsOf[name] {
		if _, given := flags[flag]; strings.HasPrefix(takes, "!") && !given {
			return nil, nil, "without " + flag + " it would wait for a person"
		}
	}
	return flags, words, ""
}

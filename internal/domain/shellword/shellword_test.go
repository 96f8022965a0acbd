package shellword_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

// hostile are values that another party could give, and that a shell or a program could take for more than a value.
var hostile = []string{
	"", " ", "$(touch x)", "`touch x`", "a;touch x", "main;touch${IFS}x", "${IFS}", "a&touch x", "a|touch x", "a\ntouch x\n", "'", `"`, `\`, `'"'`,
	"it's", `a'; touch x; '`, `a"; touch x; "`, "*", "?", "[a]", "{a,b}", "~", "~root", "#", "a#b", "!", "!!", "=ls", "a=b", "<x", ">x", "(x)",
	"-oProxyCommand=touch x", "--upload-pack=touch x", "-", "--", "\t", "\r", "ä", "\u202e", "\x1b[2J", "\xff",
}

func TestEachHostileValueIsOneWordForAShell(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell here")
	}
	cmd := exec.CommandContext(t.Context(), sh, "-c", `printf '<%s>\n' `+shellword.Quotes(hostile...))
	cmd.Dir = t.TempDir()
	got, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	for _, w := range hostile {
		want.WriteString("<" + w + ">\n")
	}
	if string(got) != want.String() {
		t.Errorf("the shell read\n%q, want\n%q", got, want.String())
	}
}

func TestUsualWordsNeedNoQuotes(t *testing.T) {
	for word, want := range map[string]string{
		"trapeze": "trapeze", "task_01.h1": "task_01.h1", "/a/b": "/a/b", "http://127.0.0.1:1": "http://127.0.0.1:1", "a=b": "a=b",
		"": "''", "/a b/c": "'/a b/c'", "it's": `'it'\''s'`, "$(x)": "'$(x)'", "=ls": "'=ls'", "a\x00b;": "'ab;'",
	} {
		if got := shellword.Quote(word); got != want {
			t.Errorf("%q became %s, want %s", word, got, want)
		}
	}
}

func TestNoArgumentIsAnOption(t *testing.T) {
	for _, word := range hostile {
		line := shellword.Command("git fetch", "host", word)
		if option := strings.HasPrefix(word, "-"); option != strings.HasPrefix(line, "git fetch -- ") {
			t.Errorf("%q: %s", word, line)
		}
	}
	if got := shellword.Command("trapeze task show --wait", "task_1"); got != "trapeze task show --wait task_1" {
		t.Error(got)
	}
	if got := shellword.Command("trapeze stop"); got != "trapeze stop" {
		t.Error(got)
	}
}

func TestAChoiceOfValuesIsQuotedToo(t *testing.T) {
	if got := shellword.Or([]string{"approve", "not yet", "$(touch x)"}); got != "approve, or 'not yet', or '$(touch x)'" {
		t.Error(got)
	}
}

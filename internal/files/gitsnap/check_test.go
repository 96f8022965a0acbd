package gitsnap

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

func TestARemoteTravelsWithoutCredentials(t *testing.T) {
	for remote, want := range map[string]string{
		"https://example.com/team/project.git":                     "https://example.com/team/project.git",
		"https://ann:secret@example.com/p":                         "https://example.com/p",
		"https://ghp_token@example.com/p":                          "https://example.com/p",
		"https://x-access-token:t@example.com:8443/p?token=t#frag": "https://example.com:8443/p",
		"ssh://git@example.com:2222/p":                             "ssh://git@example.com:2222/p",
		"ssh://git:secret@example.com/p":                           "ssh://git@example.com/p",
		"ssh://ann:secret@example.com/p":                           "ssh://example.com/p",
		"git@example.com:team/p.git":                               "git@example.com:team/p.git",
		"ann@example.com:p":                                        "example.com:p",
		"example.com:p":                                            "example.com:p",
		"ann:secret@example.com:p":                                 "",
		"/home/ann/p":                                              "",
		"../p":                                                     "",
		"file:///home/ann/p":                                       "",
		`C:\p`:                                                     "",
		"ext::sh -c evil":                                          "",
		"ext::evil":                                                "",
		"--upload-pack=evil":                                       "",
		"https://example.com/p\nx":                                 "",
		"":                                                         "",
		"ssh://git@[2001:db8::1]:2222/p":                           "ssh://git@[2001:db8::1]:2222/p",
		"https://example.com/~ann/project-1.0+x":                   "https://example.com/~ann/project-1.0+x",
		"https://example.com/$(touch x)":                           "",
		"https://example.com/p;touch${IFS}x":                       "",
		"https://example.com/p`touch`":                             "https://example.com/p%60touch%60",
		"https://exam$(x)ple.com/p":                                "",
		"ssh://-oProxyCommand=touch/p":                             "",
		"git@-oProxyCommand=touch:p":                               "",
		"-oProxyCommand=touch:p":                                   "",
		"example.com:-x":                                           "",
		"example.com:p;touch${IFS}x":                               "",
		"example.com:$(touch${IFS}x)":                              "",
		"exam'ple.com:p":                                           "",
	} {
		if got := cleanRemote(remote); got != want {
			t.Errorf("%q travels as %q, want %q", remote, got, want)
		}
	}
}

func TestTheNameOfABranchFollowsGitAndHasNoCharacterOfAShell(t *testing.T) {
	for _, name := range []string{"main", "feature/x-1.2", "fix/#12", "ann+bob@work", "größe", "a=b", "HEAD"} {
		if !branchName(name) {
			t.Errorf("%q is refused", name)
		}
	}
	for _, name := range []string{
		"", "-x", "--upload-pack=touch", "-oProxyCommand=touch", "main;touch${IFS}x", "$(touch)", "`touch`", "a b", "a\nb", "a'b", `a"b`, "a|b", "a&b",
		"a>b", "a<b", "(a)", "{a}", "a!b", "a*b", "a?b", "[a]b*", `a\b`, "a~b", "a^b", "a:b", "a..b", "a@{b", "@", "a.lock", "a.lock/b", ".a", "a/.b", "a//b",
		"/a", "a/", "a.", "a\x1bb", "a\u202eb",
	} {
		if branchName(name) {
			t.Errorf("%q is taken", name)
		}
	}
}

func TestLinksThatStayInTheTreeMayTravel(t *testing.T) {
	for _, c := range []struct {
		link, target string
		out          bool
	}{
		{"l", "README", false},
		{"a/l", "../README", false},
		{"a/b/l", "../../.github/x", false},
		{"l", ".gitignore", false},
		{"l", "..", true},
		{"a/l", "../..", true},
		{"a/l", "../../x", true},
		{"l", "/x", true},
		{"l", "", true},
		{"a/l", "../.git", true},
		{"l", ".GIT/config", true},
		{"l", `..\x`, true},
	} {
		if got := escapes(c.link, c.target); got != c.out {
			t.Errorf("%s -> %s leads out: %v", c.link, c.target, got)
		}
	}
}

// encode85 is the other direction of decode85.
func encode85(b []byte) string {
	line := string(rune('A' + len(b) - 1))
	if len(b) > 26 {
		line = string(rune('a' + len(b) - 27))
	}
	for len(b) > 0 {
		var group [4]byte
		n := copy(group[:], b)
		b = b[n:]
		v := binary.BigEndian.Uint32(group[:])
		var digits [5]byte
		for i := 4; i >= 0; i-- {
			digits[i] = alphabet[v%85]
			v /= 85
		}
		line += string(digits[:])
	}
	return line
}

func delta(t testing.TB, result uint64) string {
	t.Helper()
	var packed bytes.Buffer
	z := zlib.NewWriter(&packed)
	if _, err := z.Write(binary.AppendUvarint(binary.AppendUvarint(nil, 10), result)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("GIT binary patch\ndelta 12\n%s\n\n", encode85(packed.Bytes()))
}

func TestAPatchThatUnpacksToTooMuchIsRefusedBeforeGitSeesIt(t *testing.T) {
	for name, c := range map[string]struct {
		patch string
		code  refusal.Code
	}{
		"a small one":           {"GIT binary patch\nliteral 100\n" + delta(t, 1000), ""},
		"a large literal":       {fmt.Sprintf("literal %d\n", MaxTree+1), refusal.TooLarge},
		"a huge literal":        {"literal 18446744073709551615\n", refusal.TooLarge},
		"two that are too much": {fmt.Sprintf("literal %d\nliteral %d\n", MaxTree/2+1, MaxTree/2), refusal.TooLarge},
		"a large delta":         {delta(t, MaxTree+1), refusal.TooLarge},
		"a huge delta":          {delta(t, 1<<63), refusal.TooLarge},
		"a delta of nothing":    {"delta 5\n", refusal.Invalid},
		"a delta of rubbish":    {"delta 5\nE00000\n", refusal.Invalid},
	} {
		t.Run(name, func(t *testing.T) {
			if err := checkUnpackedSize([]byte(c.patch)); refusal.CodeOf(err) != c.code {
				t.Errorf("%v", err)
			}
		})
	}
}

func FuzzExpansion(f *testing.F) {
	f.Add([]byte(delta(f, 1000)))
	f.Add([]byte("literal 5\nMabcde\ndelta 7\nzzzzzz\n"))
	f.Fuzz(func(_ *testing.T, patch []byte) { _ = checkUnpackedSize(patch) })
}

func FuzzSnapshot(f *testing.F) {
	id := strings.Repeat("a", 40)
	f.Add([]byte(`{"remote":"https://example.com/p","branch":"main","commit":"` + id + `","pushed":true,"tree":"` + id + `"}`))
	f.Add([]byte(`{"commit":"` + id + `","tree":"` + id + `","patch":"sha256:` + strings.Repeat("0", 64) + `","size":7,"skipped":["m"]}`))
	f.Fuzz(func(t *testing.T, doc []byte) {
		s, err := Parse(doc)
		if err != nil {
			return
		}
		again, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Parse(again); err != nil {
			t.Errorf("%s is taken, and then refused: %v", doc, err)
		}
		if strings.HasPrefix(s.Remote, "-") || strings.HasPrefix(s.Branch, "-") || strings.Contains(s.Remote, "ext::") {
			t.Errorf("%+v would be taken for an option or a program", s)
		}
	})
}

func FuzzRemote(f *testing.F) {
	f.Add("https://ann:secret@example.com/p?x#y")
	f.Add("git@example.com:p")
	f.Fuzz(func(t *testing.T, remote string) {
		clean := cleanRemote(remote)
		if again := cleanRemote(clean); again != clean {
			t.Errorf("%q becomes %q, then %q", remote, clean, again)
		}
		if before, _, at := strings.Cut(clean, "@"); at && !strings.HasSuffix(before, "git") && !strings.Contains(before, "://") {
			t.Errorf("%q becomes %q", remote, clean)
		}
	})
}

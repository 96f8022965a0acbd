//go:build slow && !race

package envelope_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/trapezehq/trapeze/internal/content/envelope"
)

var randomEnvelopes = flag.Int("envelopes", 5000, "how many random envelopes are digested in both languages")

// TestDigestsAreTheSameInJavaScript gives documents in other spellings than the canonical one to an implementation in
// another language, which must come to the same bytes and digests.
func TestDigestsAreTheSameInJavaScript(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed (Debian package nodejs)")
	}
	var docs, want [][]byte
	files, err := filepath.Glob("testdata/frozen/*.json")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	for _, name := range append(files, "../canonical/testdata/rfc8785/values.input.json", "../canonical/testdata/rfc8785/sorting.input.json") {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		canon, err := envelope.Canonical(raw)
		if err != nil {
			t.Fatal(name, err)
		}
		docs, want = append(docs, raw), append(want, canon)
	}
	random := rapid.Custom(drawEnvelope)
	for i := range *randomEnvelopes {
		s := seal(t, random.Example(i))
		docs, want = append(docs, respelled(t, s.Bytes)), append(want, s.Bytes)
	}
	got := inNode(t, node, docs)
	if len(got) != len(want) {
		t.Fatalf("%d answers to %d documents", len(got), len(want))
	}
	for i, line := range got {
		digest, text, _ := strings.Cut(line, " ")
		if digest != envelope.DigestOf(want[i]) {
			t.Errorf("of %s\nwe make %s\nthe other makes %s", docs[i], want[i], text)
		}
	}
}

// respelled is the same document with blanks, and with everything outside ASCII escaped.
func respelled(t *testing.T, doc []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, doc, "", "\t"); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	for _, r := range b.String() {
		switch {
		case r < 0x7F:
			out.WriteRune(r)
		case r > 0xFFFF:
			out.WriteString(escaped(0xD800+(r-0x10000)>>10) + escaped(0xDC00+(r-0x10000)&0x3FF))
		default:
			out.WriteString(escaped(r))
		}
	}
	return out.Bytes()
}

func escaped(r rune) string {
	const hex = "0123456789ABCDEF"
	return `\u` + string([]byte{hex[r>>12&15], hex[r>>8&15], hex[r>>4&15], hex[r&15]})
}

func inNode(t *testing.T, node string, docs [][]byte) []string {
	t.Helper()
	var in bytes.Buffer
	for _, doc := range docs {
		line, err := json.Marshal(string(doc))
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	cmd := exec.CommandContext(t.Context(), node, "testdata/canonical.mjs")
	cmd.Stdin = &in
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("node: %v\n%s", err, stderr.Bytes())
	}
	var lines []string
	scan := bufio.NewScanner(bytes.NewReader(out))
	scan.Buffer(nil, 8<<20)
	for scan.Scan() {
		lines = append(lines, scan.Text())
	}
	return lines
}

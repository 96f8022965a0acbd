package extratool

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/argument"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/fit"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/show"
	"github.com/trapezehq/trapeze/internal/api/mcpapi/tool"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

type artifactInput struct {
	Text   string `json:"text,omitempty" jsonschema:"stores this as a file, and returns its digest for files of {send}"`
	Digest string `json:"digest,omitempty" jsonschema:"instead: returns the text of the file"`
	After  int    `json:"after,omitempty" jsonschema:"with digest: bytes to skip, as the previous answer says"`
	Key    string `json:"key,omitempty"`
}

type artifact struct {
	Digest string `json:"digest"`
	Bytes  int64  `json:"bytes"`
	Text   string `json:"text,omitempty"`
	Next   int    `json:"next,omitempty"`
}

// mostText is the maximum number of bytes of a file that one answer has.
const mostText = 32 << 10

var artifactTool = tool.Define[artifactInput, artifact]("artifact", "Store or read a file", tool.Changes,
	"Store a text as a file that envelopes can refer to by its digest, or read the text of such a file.",
	func(ctx context.Context, c *tool.Call, in artifactInput) (tool.Answer, error) {
		switch {
		case (in.Text == "") == (in.Digest == ""):
			return tool.Answer{}, c.Invalid("{artifact} needs either text (to store) or digest (of a file to read)")
		case in.After != 0 && in.Digest == "" || in.After < 0:
			return tool.Answer{}, argument.Invalid("after is for digest only, and not negative: omit it")
		case in.Key != "" && in.Digest != "":
			return tool.Answer{}, argument.Invalid("key is for changes, and digest only reads: omit key")
		case in.Digest != "":
			return readArtifact(ctx, c, in)
		}
		info, err := c.PutArtifact(tool.Keyed(ctx, in.Key), strings.NewReader(in.Text), "")
		return tool.Answer{
			Text: fmt.Sprintf("Stored %d bytes as %s.", info.Bytes, info.Digest) + c.Say("\nNext: name it in files of {send}; a file that no envelope refers to is removed after a day"),
			Data: artifact{Digest: info.Digest, Bytes: info.Bytes},
		}, err
	})

func readArtifact(ctx context.Context, c *tool.Call, in artifactInput) (tool.Answer, error) {
	w := window{skip: in.After}
	info, err := c.Artifact(ctx, in.Digest, &w)
	switch {
	case err != nil:
		return tool.Answer{}, err
	case !w.text():
		return tool.Answer{}, &client.Error{
			Code: client.Invalid, Message: fmt.Sprintf("%s is no text: %d bytes", in.Digest, info.Bytes),
			Hint: "have a program on your machine fetch it: " + shellword.Command("trapeze artifact get", in.Digest),
		}
	}
	return fit.Beginning(ctx, c.Client, string(w.kept), func(kept string) tool.Answer {
		out := artifact{Digest: in.Digest, Bytes: info.Bytes, Text: kept}
		text := fmt.Sprintf("%s, %d bytes:\n%s", in.Digest, info.Bytes, show.Quoted(kept))
		if end := in.After + len(kept); int64(end) < info.Bytes {
			out.Next = end
			text += c.Say("\nNext: {artifact} with digest=%s and after=%d has more", in.Digest, end)
		}
		return tool.Answer{Text: text, Data: out}
	})
}

// window keeps the first bytes that are written to it after some that it skips. All are written, since only then is the digest checked.
type window struct {
	skip int
	kept []byte
}

// Write never fails.
func (w *window) Write(b []byte) (int, error) {
	n := len(b)
	skipped := min(w.skip, n)
	w.skip -= skipped
	b = b[skipped:]
	w.kept = append(w.kept, b[:min(len(b), mostText-len(w.kept))]...)
	return n, nil
}

// text cuts what is kept at the end of a character, and reports whether it is text.
func (w *window) text() bool {
	for i := 1; i < utf8.UTFMax && i <= len(w.kept) && len(w.kept) == mostText; i++ {
		if tail := w.kept[len(w.kept)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				w.kept = w.kept[:len(w.kept)-i]
			}
			break
		}
	}
	return utf8.Valid(w.kept)
}

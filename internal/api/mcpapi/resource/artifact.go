package resource

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/domain/shellword"
)

// readArtifact reads an artifact of at most MaxText bytes.
func readArtifact(ctx context.Context, c *client.Client, p target) (*mcp.ReadResourceResult, error) {
	var b bytes.Buffer
	w := &bounded{to: &b, left: MaxText}
	info, err := c.Artifact(ctx, p.id, w)
	switch {
	case w.left < 0:
		return nil, invalid("too_large: the artifact has more than %d bytes; fetch it with: %s", MaxText, shellword.Command("trapeze artifact get", p.id)+" -o FILE")
	case err != nil:
		return nil, err
	}
	if text := b.String(); utf8.ValidString(text) && !strings.ContainsRune(text, 0) {
		return p.whole(text, asText), nil
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{
		URI: p.uri, MIMEType: asBytes, Blob: b.Bytes(), Meta: mcp.Meta{"trapeze/bytes": info.Bytes},
	}}}, nil
}

// bounded writes at most left bytes.
type bounded struct {
	to   io.Writer
	left int
}

var errEnough = errors.New("the content is too large")

func (w *bounded) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, errEnough
	}
	return w.to.Write(b)
}

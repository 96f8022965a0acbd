package resource

import (
	"bytes"
	"context"
	"encoding/base64"
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
		return p.part(text, asText)
	}
	if !p.reads(base64.StdEncoding.EncodeToString(b.Bytes())) {
		return nil, invalid("too_large: the artifact has %d bytes and is no text, which is too much for your context window; fetch it with: %s", info.Bytes, shellword.Command("trapeze artifact get", p.id)+" -o FILE")
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

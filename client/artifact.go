package client

import (
	"context"
	"io"
	"net/http"

	"github.com/trapezehq/trapeze/client/wire"
)

// ArtifactInfo is what there is to know of an artifact.
type ArtifactInfo struct {
	Digest string `json:"digest"` // of its content: "sha256:" and 64 hex digits
	Bytes  int64  `json:"bytes"`
}

// PutArtifact has the server keep what content yields, to be referred to by its digest. The same content again is the
// same artifact. If digest is not empty the content must have it. A content that can be rewound, such as a file, is sent
// again after failures that may pass; another is sent once. It may take long, but not stand still for Options.Timeout.
func (c *Client) PutArtifact(ctx context.Context, content io.Reader, digest string) (ArtifactInfo, error) {
	q := wire.Query{}
	q.Text("digest", digest)
	info, err := c.conn.Upload(ctx, wire.Call{Method: http.MethodPut, Path: path("artifacts"), Query: q, Key: keyFor(ctx)}, content)
	return ArtifactInfo(info), err
}

// Artifact writes an artifact's content to w. Nothing of it may be relied on unless the error is nil: only at the end
// is the content known to have the digest. Once something was written, a failure is not repeated.
func (c *Client) Artifact(ctx context.Context, digest string, w io.Writer) (ArtifactInfo, error) {
	r := wire.Call{Method: http.MethodGet, Path: path("artifacts", digest), Accept: "application/octet-stream"}
	n, err := c.conn.Download(ctx, r, digest, w)
	return ArtifactInfo{Digest: digest, Bytes: n}, err
}

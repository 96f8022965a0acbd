package sqlview

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"strings"

	"github.com/trapezehq/trapeze/internal/content/envelope"
	"github.com/trapezehq/trapeze/internal/record/ledger"
	"github.com/trapezehq/trapeze/internal/record/view"
)

// inEnvelope is how an envelope's canonical JSON begins if it has artifacts, unless it is of a newer version that has keys
// before that.
var inEnvelope = []byte(`{"artifacts":[`)

// mayHaveArtifacts goes by the order of the keys: few envelopes have artifacts, and only those are read.
func mayHaveArtifacts(doc []byte) bool {
	return bytes.HasPrefix(doc, inEnvelope) || bytes.Compare(doc, inEnvelope) < 0 && bytes.Contains(doc, inEnvelope[1:])
}

// artifacts are the digests that a sealed envelope refers to.
func artifacts(doc []byte) (digests []string) {
	if !mayHaveArtifacts(doc) {
		return nil
	}
	var e struct {
		Artifacts []struct {
			Digest string `json:"digest"`
		} `json:"artifacts"`
	}
	if json.Unmarshal(doc, &e) != nil {
		return nil // no envelope of a version that there is
	}
	for _, a := range e.Artifacts {
		if envelope.ValidDigest(a.Digest) {
			digests = append(digests, a.Digest)
		}
	}
	return digests
}

// Referring implements [view.References].
func (v *Views) Referring(ctx context.Context, workspace, digest string, f view.ReferenceFilter) ([]string, error) {
	query, args := "SELECT task FROM view_artifact AS a WHERE ws = ? AND digest = ?", []any{workspace, digest}
	if f.Involving != "" {
		query += " AND EXISTS(SELECT 1 FROM view_involved AS i WHERE i.ws = a.ws AND i.agent = ? AND i.task = a.task)"
		args = append(args, strings.TrimPrefix(f.Involving, "agent/"))
	}
	if f.After != "" {
		query += " AND task < ?"
		args = append(args, f.After)
	}
	return v.texts(ctx, query+" ORDER BY task DESC LIMIT ? | 0", append(args, view.PageSize(f.Limit))...)
}

// Referred implements [view.References]. One statement sees one moment.
func (v *Views) Referred(ctx context.Context, workspace, digest string) (referred bool, at ledger.Position, err error) {
	err = v.query(ctx, func(rows *sql.Rows) error {
		var position int64
		err := rows.Scan(&referred, &position)
		at = ledger.Position(position) //nolint:gosec // never negative
		return err
	}, "SELECT EXISTS(SELECT 1 FROM view_artifact WHERE ws = ? AND digest = ?), position FROM view_meta", workspace, digest)
	return referred, at, err
}

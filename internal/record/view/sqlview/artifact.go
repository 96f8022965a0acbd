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
	"github.com/trapezehq/trapeze/internal/record/view/sqlview/query"
)

// inEnvelope is the start of the canonical JSON of an envelope that has artifacts, unless a newer version has keys that
// sort before it.
var inEnvelope = []byte(`{"artifacts":[`)

// mayHaveArtifacts uses the order of the keys: few envelopes have artifacts, and only those are parsed.
func mayHaveArtifacts(doc []byte) bool {
	return bytes.HasPrefix(doc, inEnvelope) || bytes.Compare(doc, inEnvelope) < 0 && bytes.Contains(doc, inEnvelope[1:])
}

// artifacts returns the digests that a sealed envelope refers to.
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
		return nil // not an envelope of a known version
	}
	for _, a := range e.Artifacts {
		if envelope.ValidDigest(a.Digest) {
			digests = append(digests, a.Digest)
		}
	}
	return digests
}

// ReferringTasks implements [view.References].
func (v *Views) ReferringTasks(ctx context.Context, workspace, digest string, f view.ReferenceFilter) ([]string, error) {
	q, args := "SELECT task FROM view_artifact AS a WHERE ws = ? AND digest = ?", []any{workspace, digest}
	if f.Involving != "" {
		q += " AND EXISTS(SELECT 1 FROM view_involved AS i WHERE i.ws = a.ws AND i.agent = ? AND i.task = a.task)"
		args = append(args, strings.TrimPrefix(f.Involving, "agent/"))
	}
	if f.After != "" {
		q += " AND task < ?"
		args = append(args, f.After)
	}
	return query.Texts(ctx, v.db, q+" ORDER BY task DESC LIMIT ? | 0", append(args, view.PageSize(f.Limit))...)
}

// IsReferred implements [view.References]. One statement sees one state.
func (v *Views) IsReferred(ctx context.Context, workspace, digest string) (referred bool, at ledger.Position, err error) {
	err = v.db.Each(ctx, func(rows *sql.Rows) error {
		var position int64
		err := rows.Scan(&referred, &position)
		at = ledger.Position(position) //nolint:gosec // never negative
		return err
	}, "SELECT EXISTS(SELECT 1 FROM view_artifact WHERE ws = ? AND digest = ?), position FROM view_meta", workspace, digest)
	return referred, at, err
}

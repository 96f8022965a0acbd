package httpapi

import (
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/record/view"
	"github.com/trapezehq/trapeze/internal/usecase/history"
)

func (s *service) audit() {
	op := s.router.Operation(endpoint.Route{
		Method: http.MethodGet, Path: "/v1/audit/export", ID: "export", Summary: "Export the record",
		About: "One event per line or row; one task also as a single document. An export that is interrupted ends without the last chunk.", Tag: endpoint.TagRecord,
	})
	op.Parameters = []*huma.Param{
		endpoint.Query("format", "jsonl if omitted; json for one task only; proof: whole entries, each with the proof that it is in the record (c2sp.org/tlog-proof), with the hash alone of those of which something is withheld.", &huma.Schema{Type: huma.TypeString, Enum: []any{"jsonl", "csv", "json", "proof"}}),
		endpoint.Query("forgotten", "Whether to include the content of memory items that were forgotten; for operators.", &huma.Schema{Type: huma.TypeBoolean}),
		endpoint.Query("skip_damaged", "Whether to go on after entries that cannot be read, which are then listed in their places as entry-damaged, or as entry-put-away if their segment is not there; for operators and auditors.", &huma.Schema{Type: huma.TypeBoolean}),
		endpoint.Query("task", "Id of one task. If omitted: everything, for callers that may read the audit record.", &huma.Schema{Type: huma.TypeString}),
	}
	op.Responses = map[string]*huma.Response{"200": {Description: "The records", Content: map[string]*huma.MediaType{}}}
	for _, media := range exportMedia {
		op.Responses["200"].Content[media] = &huma.MediaType{Schema: &huma.Schema{Type: huma.TypeString}}
	}
	op.Responses["200"].Content[exportMedia[view.FormatJSON]].Schema = endpoint.SchemaOf[view.Trail](s.router)
	s.router.Raw(op, s.export)
}

var exportMedia = map[view.Format]string{
	view.FormatJSON: "application/json", view.FormatLines: "application/jsonl", view.FormatCSV: "text/csv; charset=utf-8",
	view.FormatProof: mediaText,
}

func (s *service) export(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	in := history.ExportInput{Task: q.Get("task"), Format: view.FormatLines}
	if f := q.Get("format"); f != "" {
		if err := in.Format.UnmarshalText([]byte(f)); err != nil {
			return err
		}
	}
	for field, to := range map[string]*bool{"forgotten": &in.Forgotten, "skip_damaged": &in.SkipDamaged} {
		switch f := q.Get(field); f {
		case "", "false":
		case "true":
			*to = true
		default:
			return refusal.New(refusal.Invalid, "use true or false", "%.40q is not a boolean", f).With("field", field)
		}
	}
	in.Skipped = func(at uint64, err error) { s.router.Skipped(r.Context(), at, err) }
	endpoint.Patient(r.Context())
	out := &lateWriter{w: w, control: http.NewResponseController(w), media: exportMedia[in.Format]}
	err := s.app.History.Export(r.Context(), endpoint.Caller(r.Context()), in, out)
	if err == nil && !out.begun {
		_, err = out.Write(nil) // an empty export is an answer too
	}
	if err != nil && out.begun {
		s.router.CutShort(r.Context(), "an export", err)
	}
	return err
}

// lateWriter sends the status with the first byte, so that an error before that can be a refusal.
type lateWriter struct {
	w       http.ResponseWriter
	control *http.ResponseController
	media   string
	begun   bool
}

func (l *lateWriter) Write(b []byte) (int, error) {
	if !l.begun {
		l.begun = true
		l.w.Header().Set("Content-Type", l.media)
		l.w.WriteHeader(http.StatusOK)
	}
	if err := l.control.SetWriteDeadline(time.Now().Add(endpoint.SendLimit)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	return l.w.Write(b)
}

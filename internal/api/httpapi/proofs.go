package httpapi

import (
	"net/http"
	"strconv"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/usecase/positions"
)

// proofs adds the routes by which others check the record: the layout of c2sp.org/tlog-tiles below /v1/proof, and receipts.
func (s *service) proofs() {
	get := func(path, id, summary, about, media string) huma.Operation {
		op := s.router.Operation(endpoint.Route{Method: http.MethodGet, Path: path, ID: id, Summary: summary, About: about, Tag: endpoint.TagRecord})
		schema := &huma.Schema{Type: huma.TypeString}
		if media == mediaBinary {
			schema.Format = "binary"
		}
		op.Responses = map[string]*huma.Response{"200": {Description: "The answer", Content: map[string]*huma.MediaType{media: {Schema: schema}}}}
		return op
	}
	s.router.Raw(get("/v1/proof/checkpoint", "get-checkpoint", "Get the last signed checkpoint of the record",
		"In the format of c2sp.org/tlog-checkpoint. For operators and auditors. docs/proofs.md says how to verify it.", mediaText),
		func(w http.ResponseWriter, r *http.Request) error {
			b, err := s.app.History.GetCheckpoint(r.Context(), endpoint.Caller(r.Context()))
			return send(w, mediaText, b, err)
		})
	s.router.Raw(get("/v1/proof/keys", "get-keys", "Get the public keys with which checkpoints are signed", "One in each line, the oldest first, in the form of c2sp.org/signed-note.", mediaText),
		func(w http.ResponseWriter, r *http.Request) error {
			keys, err := s.app.History.GetKeys(r.Context(), endpoint.Caller(r.Context()))
			return send(w, mediaText, []byte(keys), err)
		})
	endpoint.Create(s.router, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/proof/keys", ID: "rotate-key", Summary: "Give the record another key for its checkpoints", Tag: endpoint.TagRecord, Status: http.StatusCreated,
		About: "For administrators of the default workspace. The rotation is recorded, and the old key signs a checkpoint that has its entry before the new key signs. Old keys stay listed: what they signed still verifies.",
	}, s.app.History.RotateKey)
	endpoint.Create(s.router, endpoint.Route{
		Method: http.MethodPost, Path: "/v1/proof/check", ID: "check-record", Summary: "Compare the record with a checkpoint that was kept", Tag: endpoint.TagRecord, Status: http.StatusOK,
		About: "Says whether the record still has everything that a checkpoint signed: a server that was restored from an older backup, or whose record was changed, does not. Any token will do.",
	}, s.app.History.Check)
	tile := get("/v1/proof/tile/{level}/{index}", "get-tile", "Get hashes of the tree over the record",
		"A tile of c2sp.org/tlog-tiles: the index can have several parts, such as x001/x234/067 or 273.p/112. For operators and auditors.", mediaBinary)
	for _, p := range [][2]string{{"level", "Level of the tile: 0 has the leaves."}, {"index", "Index of the tile in its level, and .p/ with its width if it is not full."}} {
		tile.Parameters = append(tile.Parameters, &huma.Param{Name: p[0], In: "path", Required: true, Description: p[1], Schema: &huma.Schema{Type: huma.TypeString}})
	}
	s.router.RawBelow(tile, func(w http.ResponseWriter, r *http.Request) error {
		b, err := s.app.History.GetTile(r.Context(), endpoint.Caller(r.Context()), r.PathValue("level")+"/"+r.PathValue("index"))
		return send(w, mediaBinary, b, err)
	})
	receipt := get("/v1/handoffs/{id}/receipt", "get-receipt", "Get the receipt of a handoff",
		"The entries that request, accept and complete it, each with the proof that it is in the record (c2sp.org/tlog-proof): trapeze verify checks them without the server. "+
			"It holds whole entries, for callers that may read them. The read is recorded.", mediaText)
	receipt.Parameters = []*huma.Param{{Name: "id", In: "path", Required: true, Description: "Id of the handoff.", Schema: &huma.Schema{Type: huma.TypeString}}}
	s.router.Raw(receipt, func(w http.ResponseWriter, r *http.Request) error {
		b, err := s.app.History.GetReceipt(r.Context(), endpoint.Caller(r.Context()), r.PathValue("id"))
		return send(w, mediaText, b, err)
	})
	at := get("/v1/proof/receipts/{position}", "get-receipt-at", "Get the receipt of an entry of the record",
		"For the principal that made the entry, for those that read it whole in the trail of its task, and for operators and auditors. Prefer: receipt gives it in the answer of a call that changes something. The read is recorded.", mediaText)
	at.Parameters = []*huma.Param{{Name: "position", In: "path", Required: true, Description: "Position of the entry, as answers have it.", Schema: &huma.Schema{Type: huma.TypeInteger, Minimum: new(1.0)}}}
	s.router.Raw(at, func(w http.ResponseWriter, r *http.Request) error {
		p, err := position(r.PathValue("position"))
		if err != nil {
			return err
		}
		b, err := s.app.History.GetReceiptAt(r.Context(), endpoint.Caller(r.Context()), p)
		return send(w, mediaText, b, err)
	})
}

// position reads a position of the record.
func position(s string) (positions.Position, error) {
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil || n == 0 {
		return 0, refusal.New(refusal.Invalid, "use the position of an answer, such as 42", "%.40q is not a position of the record", s)
	}
	return positions.Position(n), nil
}

const (
	mediaText   = "text/plain; charset=utf-8"
	mediaBinary = "application/octet-stream"
)

// send writes an answer that is not JSON.
func send(w http.ResponseWriter, media string, b []byte, err error) error {
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", media)
	h["Cache-Control"] = endpoint.NoStore
	_, _ = w.Write(b) // the client is gone
	return nil
}

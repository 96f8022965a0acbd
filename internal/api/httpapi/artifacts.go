package httpapi

import (
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/trapezehq/trapeze/internal/api/httpapi/endpoint"
	"github.com/trapezehq/trapeze/internal/domain/refusal"
	"github.com/trapezehq/trapeze/internal/files/artifact"
)

const artifactsPath = "/v1/artifacts"

// ArtifactInfo describes an artifact.
type ArtifactInfo struct {
	Digest artifact.Digest `json:"digest" doc:"Digest of the content, which identifies the artifact."`
	Bytes  int64           `json:"bytes" doc:"Size of the content in bytes."`
}

// Minimum speed of a transfer: it ends if nothing arrives for idleLimit, or if its average rate falls below leastRate.
const (
	idleLimit = endpoint.SendLimit
	leastRate = 8 << 10 // bytes per second, after the first idleLimit
)

// pace returns the next deadline of a transfer that began at begun and has transferred n bytes.
func pace(begun time.Time, n int64) time.Time {
	soon := time.Now().Add(idleLimit)
	if last := begun.Add(idleLimit + time.Duration(n/leastRate)*time.Second); last.Before(soon) {
		return last
	}
	return soon
}

func (s *service) artifacts() {
	digest := &huma.Schema{Type: huma.TypeString, Pattern: "^sha256:[0-9a-f]{64}$"}
	content := map[string]*huma.MediaType{"application/octet-stream": {Schema: &huma.Schema{Type: huma.TypeString, Format: "binary"}}}
	info := endpoint.SchemaOf[ArtifactInfo](s.router)

	put := s.router.Operation(endpoint.Route{
		Method: http.MethodPut, Path: artifactsPath, ID: "put-artifact", Summary: "Store a file or patch as an artifact",
		About: "Any content type is accepted; it is not stored. The same content is the same artifact, so the call is safe to repeat. " +
			"An artifact that no envelope refers to is deleted after a while.", Tag: endpoint.TagArtifacts,
	})
	put.Parameters = []*huma.Param{endpoint.Query("digest", "Expected digest: other content is refused and not stored.", digest), endpoint.Prefer()}
	put.RequestBody = &huma.RequestBody{Content: content} // an empty file is one too
	put.Responses = map[string]*huma.Response{"200": {Description: "The artifact is stored on disk", Content: map[string]*huma.MediaType{"application/json": {Schema: info}}}}
	s.router.DescribeReceipt(&put)
	s.router.Raw(put, s.putArtifact)

	name := &huma.Param{Name: "digest", In: "path", Required: true, Schema: digest}
	get := s.router.Operation(endpoint.Route{
		Method: http.MethodGet, Path: artifactsPath + "/{digest}", ID: "get-artifact", Summary: "Fetch an artifact",
		About: "For the principal that stored it, and for those that may read an envelope that refers to it. The read is recorded first. The response for a damaged artifact ends before its length.",
		Tag:   endpoint.TagArtifacts,
	})
	get.Parameters = []*huma.Param{name}
	get.Responses = map[string]*huma.Response{"200": {Description: "The content", Content: content}}
	s.router.Raw(get, s.getArtifact)

	head := s.router.Operation(endpoint.Route{
		Method: http.MethodHead, Path: artifactsPath + "/{digest}", ID: "head-artifact", Summary: "Check whether an artifact exists, and its size", Tag: endpoint.TagArtifacts,
	})
	head.Parameters = []*huma.Param{name}
	head.Responses = map[string]*huma.Response{"200": {Description: "Content-Length is its size"}}
	s.router.Raw(head, s.headArtifact)
}

// isUpload reports whether a request uploads an artifact, which has its own limits.
func isUpload(r *http.Request) bool { return r.Method == http.MethodPut && r.URL.Path == artifactsPath }

func (s *service) putArtifact(w http.ResponseWriter, r *http.Request) error {
	body := &upload{body: r.Body, control: http.NewResponseController(w), since: time.Now()}
	proves := endpoint.Collect(r.Context())
	c := endpoint.Caller(r.Context()).WithKey(r.Header.Get("Idempotency-Key"))
	info, err := s.app.Artifacts.Put(r.Context(), c, body, artifact.Digest(r.URL.Query().Get("digest")))
	_ = body.control.SetWriteDeadline(time.Now().Add(endpoint.AnswerLimit)) // the upload may have used up the deadline
	if refusal.CodeOf(err) == refusal.TooLarge {
		linger(w, r)
	}
	if err != nil {
		return err
	}
	var answer any = ArtifactInfo{Digest: info.Digest, Bytes: info.Size}
	if proves {
		answer = s.router.WithReceipt(r.Context(), answer)
	}
	endpoint.Plain(w, answer)
	return nil
}

// linger makes the server close the connection with a delay, so that a client that is still sending gets the answer. Reading from a
// MaxBytesReader signals that to the server, which does not do it by itself after "Expect: 100-continue".
func linger(w http.ResponseWriter, r *http.Request) {
	_, _ = http.MaxBytesReader(w, r.Body, 0).Read(make([]byte, 1)) // fails by design
}

// upload reads the content of an artifact, with a minimum speed.
type upload struct {
	body    io.Reader
	control *http.ResponseController
	since   time.Time
	n       int64
}

func (u *upload) Read(b []byte) (int, error) {
	if err := u.control.SetReadDeadline(pace(u.since, u.n)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	n, err := u.body.Read(b)
	u.n += int64(n)
	switch {
	case err == nil || errors.Is(err, io.EOF):
		return n, err
	case errors.Is(err, os.ErrDeadlineExceeded):
		p := endpoint.ProblemOf(refusal.New(refusal.Expired, "use a faster connection, or split the file", "the upload is too slow: %d bytes in %s",
			u.n, time.Since(u.since).Round(time.Second)))
		p.Status = http.StatusRequestTimeout
		return n, p
	}
	return n, refusal.New(refusal.Invalid, "send the whole content again", "the upload was interrupted after %d bytes", u.n)
}

func (s *service) getArtifact(w http.ResponseWriter, r *http.Request) error {
	content, info, err := s.app.Artifacts.Get(r.Context(), endpoint.Caller(r.Context()), artifact.Digest(r.PathValue("digest")))
	if err != nil {
		return err
	}
	defer content.Close() // read only
	endpoint.Patient(r.Context())
	out := &download{w: w, control: http.NewResponseController(w), since: time.Now(), size: info.Size}
	err = lastWhenVerified(out, content)
	damaged := errors.Is(err, artifact.ErrCorrupt)
	if damaged {
		s.router.Log().ErrorContext(r.Context(), "an artifact is damaged", append([]any{"error", err}, endpoint.About(r.Context())...)...)
	}
	if err != nil && out.begun {
		s.router.CutShort(r.Context(), "an artifact", err)
	}
	if damaged {
		p := endpoint.ProblemOf(refusal.New(refusal.Unavailable, "store the same content again to repair it", "the stored content of %s is damaged", info.Digest))
		p.Status = http.StatusInternalServerError
		return p
	}
	return err
}

// download sends the content of an artifact, with a minimum speed. The status is sent with the first bytes.
type download struct {
	w       http.ResponseWriter
	control *http.ResponseController
	since   time.Time
	size    int64
	n       int64
	begun   bool
}

func (d *download) Write(b []byte) (int, error) {
	if !d.begun {
		d.begun = true
		describeArtifact(d.w, d.size)
		d.w.WriteHeader(http.StatusOK)
	}
	if err := d.control.SetWriteDeadline(pace(d.since, d.n)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	n, err := d.w.Write(b)
	d.n += int64(n)
	return n, err
}

// describeArtifact sets the headers of an artifact: a download that a browser never displays or executes.
func describeArtifact(w http.ResponseWriter, size int64) {
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", "attachment")
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Content-Length", strconv.FormatInt(size, 10))
}

// lastWhenVerified copies content and holds back its last bytes until all of it is verified.
func lastWhenVerified(w io.Writer, r io.Reader) error {
	const piece = 64 << 10
	now, next := make([]byte, 0, piece), make([]byte, piece)
	for {
		n, err := io.ReadFull(r, next)
		end := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !end {
			return err
		}
		if len(now) > 0 {
			if _, err := w.Write(now); err != nil {
				return err
			}
		}
		if end {
			_, err := w.Write(next[:n])
			return err
		}
		now, next = next[:n], now[:piece]
	}
}

func (s *service) headArtifact(w http.ResponseWriter, r *http.Request) error {
	info, err := s.app.Artifacts.Info(r.Context(), endpoint.Caller(r.Context()), artifact.Digest(r.PathValue("digest")))
	if err != nil {
		return err
	}
	describeArtifact(w, info.Size)
	return nil
}

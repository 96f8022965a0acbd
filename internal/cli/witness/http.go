package witness

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/trapezehq/trapeze/internal/record/proof"
)

const (
	maxRequest = 64 << 10 // bytes
	maxPath    = 63       // hashes of a consistency proof
)

// Handler serves the protocol of c2sp.org/tlog-witness, with the same prefix for submission and monitoring.
func (w *Witness) Handler(log *slog.Logger) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /add-checkpoint", func(rw http.ResponseWriter, r *http.Request) { w.add(rw, r, log) })
	mux.HandleFunc("GET /{log}/checkpoint", func(rw http.ResponseWriter, r *http.Request) {
		note := w.Latest(r.PathValue("log"))
		if note == nil {
			http.Error(rw, "no checkpoint of this log was cosigned", http.StatusNotFound)
			return
		}
		rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = rw.Write(note) // the client is gone
	})
	return mux
}

func (w *Witness) add(rw http.ResponseWriter, r *http.Request, log *slog.Logger) {
	body, err := io.ReadAll(http.MaxBytesReader(rw, r.Body, maxRequest))
	if err != nil {
		http.Error(rw, "the request cannot be read, or is too large", http.StatusBadRequest)
		return
	}
	old, path, msg, err := parse(body)
	var line []byte
	if err == nil {
		line, err = w.Add(old, path, msg)
	}
	if last, ok := errors.AsType[stale](err); ok {
		rw.Header().Set("Content-Type", "text/x.tlog.size")
		rw.WriteHeader(http.StatusConflict)
		_, _ = fmt.Fprintf(rw, "%d\n", last.size) // the client is gone
		return
	}
	status := map[error]int{errMalformed: http.StatusBadRequest, errSigner: http.StatusForbidden, errLog: http.StatusNotFound, errInconsistent: http.StatusUnprocessableEntity}
	for is, code := range status {
		if errors.Is(err, is) {
			if errors.Is(is, errInconsistent) { // the log signed it: it may prove a fork
				log.Error("A CHECKPOINT IS INCONSISTENT WITH THE LAST ONE", "old", old, "checkpoint", string(msg))
			}
			http.Error(rw, err.Error(), code)
			return
		}
	}
	if err != nil {
		log.Error("a checkpoint could not be kept", "error", err)
		http.Error(rw, "the checkpoint could not be kept", http.StatusInternalServerError)
		return
	}
	rw.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = rw.Write(line) // the client is gone
}

// parse takes the body of a request apart: the old size, the consistency proof, and the checkpoint. Error: errMalformed.
func parse(body []byte) (old int64, path []proof.Hash, msg []byte, err error) {
	head, msg, ok := bytes.Cut(body, []byte("\n\n"))
	lines := strings.Split(string(head), "\n")
	size, isOld := strings.CutPrefix(lines[0], "old ")
	if old, err = strconv.ParseInt(size, 10, 64); err != nil || !ok || !isOld || old < 0 || strconv.FormatInt(old, 10) != size {
		return 0, nil, nil, fmt.Errorf("%w: it does not begin with the old size", errMalformed)
	}
	if len(lines)-1 > maxPath {
		return 0, nil, nil, fmt.Errorf("%w: the proof has more than %d hashes", errMalformed, maxPath)
	}
	for _, line := range lines[1:] {
		h, err := tlog.ParseHash(line)
		if err != nil || h.String() != line {
			return 0, nil, nil, fmt.Errorf("%w: %.60q is not a hash", errMalformed, line)
		}
		path = append(path, h)
	}
	return old, path, msg, nil
}

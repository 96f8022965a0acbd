package envelope

import (
	"bytes"
	"sync"

	"github.com/trapezehq/trapeze/internal/content/canonical"
	"github.com/trapezehq/trapeze/internal/domain/fastjson"
)

// buffers is the memory in which one document is brought into canonical form. It is reused, because it is most of what
// sealing would allocate.
type buffers struct {
	raw    bytes.Buffer
	writer canonical.Writer
}

var bufferPool = sync.Pool{New: func() any { return new(buffers) }}

// maxPooled is the most bytes that are kept for the next document.
const maxPooled = 128 << 10

// release returns the buffers to the pool. The results of marshal are no longer valid.
func (b *buffers) release() {
	if b.raw.Cap()+b.writer.Kept() <= maxPooled {
		bufferPool.Put(b)
	}
}

// marshal returns the JSON of v, valid until release.
func (b *buffers) marshal(v any) ([]byte, error) {
	b.raw.Reset()
	err := fastjson.Encode(&b.raw, v) // the canonical form does not escape HTML either
	return b.raw.Bytes(), err
}

// canonical is [canonical.JSON] with these buffers. The result may be kept.
func (b *buffers) canonical(src []byte, maxDepth int) ([]byte, error) {
	return b.writer.JSON(src, maxDepth)
}

// canonicalJSON is [canonical.JSON] with buffers of the pool.
func canonicalJSON(src []byte, maxDepth int) ([]byte, error) {
	b, _ := bufferPool.Get().(*buffers)
	defer b.release()
	return b.canonical(src, maxDepth)
}

// canonicalText is [canonical.JSON] as a string, with buffers of the pool.
func canonicalText(src []byte, maxDepth int) (string, error) {
	b, _ := bufferPool.Get().(*buffers)
	defer b.release()
	out, err := b.writer.Temporary(src, maxDepth)
	return string(out), err
}

// checkCanonical returns the error of [canonical.JSON].
func checkCanonical(src []byte, maxDepth int) error {
	b, _ := bufferPool.Get().(*buffers)
	defer b.release()
	_, err := b.writer.Temporary(src, maxDepth)
	return err
}

// promptSize returns about the size of the prompt in bytes, so that it is rarely allocated twice.
func (e *Envelope) promptSize() int {
	const frame, perEntry = 1 << 10, 128
	h := &e.Handoff
	n := frame + len(h.Detail) + len(h.Notes) + len(e.Task.Intent) + len(e.Task.Ask) + len(e.Task.State) + len(e.ConversationSummary) + len(e.Task.Data)
	n += perEntry * (len(e.KeyFacts) + len(e.Decisions) + len(e.History) + len(e.Conversation))
	for i := range e.Memory {
		n += perEntry + len(e.Memory[i].Text)
	}
	return n
}

// Canonical returns the RFC 8785 form of one JSON value, nested at most two levels deeper than [MaxDepth]. It restores the
// bytes of a sealed envelope that was a JSON value in another document, whose writer may have escaped it differently.
// Errors are a [refusal.Error] with the code invalid that names the place of the fault.
func Canonical(src []byte) ([]byte, error) {
	out, err := canonicalJSON(src, MaxDepth+slack)
	if err != nil {
		return nil, badJSON("JSON", err)
	}
	return out, nil
}

// CheckData refuses JSON that [Seal] would refuse as an envelope's data: it has no canonical form, or is nested deeper than
// [MaxDepth]. Errors are a [refusal.Error] with the code invalid that names the place of the fault.
func CheckData(src []byte) error {
	if err := checkCanonical(src, MaxDepth); err != nil {
		return badJSON("data", err)
	}
	return nil
}

package envelope

import (
	"bytes"
	"encoding/json"
	"sync"
)

// room is where one document is written on its way to its canonical form. Rooms are used again: what they hold is most of
// what sealing would allocate.
type room struct {
	raw     bytes.Buffer
	json    *json.Encoder
	scratch []byte
}

var rooms = sync.Pool{New: func() any {
	r := new(room)
	r.json = json.NewEncoder(&r.raw)
	r.json.SetEscapeHTML(false) // the canonical form has it as it is
	return r
}}

// maxRoom is the most bytes that are kept for the next document.
const maxRoom = 128 << 10

// leave gives the room back. What was written in it is no longer there.
func (r *room) leave() {
	if r.raw.Cap()+cap(r.scratch) <= maxRoom {
		rooms.Put(r)
	}
}

// marshal returns the JSON of v, until the room is left.
func (r *room) marshal(v any) ([]byte, error) {
	r.raw.Reset()
	err := r.json.Encode(v)
	return r.raw.Bytes(), err
}

// canonical is the function of that name, in this room. The result may be kept.
func (r *room) canonical(src []byte, maxDepth int) ([]byte, error) {
	c := canonicalizer{scratch: r.scratch[:0]}
	out, err := c.run(src, maxDepth)
	r.scratch = c.scratch
	return out, err
}

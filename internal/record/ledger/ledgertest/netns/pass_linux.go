package netns

import (
	"math/rand/v2"
	"os"
	"time"

	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest/link"
)

// packet is one on its way.
type packet struct {
	due   time.Time
	bytes []byte
}

const (
	largest  = 64 << 10
	inFlight = 4096 // packets from one to another; what comes after is lost
)

// read takes the packets that a namespace sends.
func (n *Network) read(from int) {
	b := make([]byte, largest)
	for {
		size, err := n.ports[from].Read(b)
		if err != nil {
			return // it is closed
		}
		if size < 20 || b[0]>>4 != 4 { // not IPv4
			continue
		}
		if to := int(b[19]) - 1; to >= 0 && to < len(n.ports) && to != from {
			n.send(from, to, append([]byte(nil), b[:size]...))
		}
	}
}

// send does to a packet what happens on its way.
func (n *Network) send(from, to int, b []byte) {
	n.mu.Lock()
	way := n.ways[from][to]
	there, back := n.broken(b)
	n.mu.Unlock()
	if there != nil { // its connection ends at both sides
		n.queue(from, to, way, there)
		n.queue(to, from, way, back)
		return
	}
	if way.Held || way.Lost > 0 && rand.Float64() < way.Lost { //nolint:gosec // not a secret
		return
	}
	n.queue(from, to, way, b)
}

func (n *Network) queue(from, to int, way link.Way, b []byte) {
	select {
	case n.queues[from][to] <- packet{time.Now().Add(way.Delay), b}:
	default:
	}
}

// deliver gives a namespace the packets from another, each when it is due.
func (n *Network) deliver(queue <-chan packet, to *os.File) {
	for {
		select {
		case <-n.ctx.Done():
			return
		case p := <-queue:
			if wait := time.Until(p.due); wait > 0 {
				select {
				case <-time.After(wait):
				case <-n.ctx.Done():
					return
				}
			}
			_, _ = to.Write(p.bytes) // a device that is full loses it
		}
	}
}

// Set says what happens to all that one namespace sends to another.
func (n *Network) Set(from, to int, w link.Way) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.ways[from][to] = w
}

// Sends says what happens to all that a namespace sends, and Hears to all that is sent to it.
func (n *Network) Sends(one int, w link.Way) {
	for other := range n.ports {
		n.Set(one, other, w)
	}
}

// Hears says what happens to all that is sent to a namespace.
func (n *Network) Hears(one int, w link.Way) {
	for other := range n.ports {
		n.Set(other, one, w)
	}
}

// All says what happens to everything.
func (n *Network) All(w link.Way) {
	for one := range n.ports {
		n.Sends(one, w)
	}
}

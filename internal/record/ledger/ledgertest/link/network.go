package link

import "testing"

// Nowhere is an address at which nothing listens. Programs that tell each other how to reach a third tell this one, so that there is no way past the links.
const Nowhere = "127.0.0.1:1"

// Network is programs that each listen at an address, with a link from each to each other.
type Network struct {
	addrs []string
	links [][]*Link // from, to; nil to itself
}

// NewNetwork returns the network of the programs that listen at some addresses.
func NewNetwork(t testing.TB, addrs ...string) *Network {
	t.Helper()
	n := &Network{addrs: addrs, links: make([][]*Link, len(addrs))}
	for from := range addrs {
		n.links[from] = make([]*Link, len(addrs))
		for to, addr := range addrs {
			if from != to {
				n.links[from][to] = New(t, addr)
			}
		}
	}
	return n
}

// Addrs are the addresses at which one program reaches each, its own among them.
func (n *Network) Addrs(of int) (list []string) {
	for to, l := range n.links[of] {
		if l == nil {
			list = append(list, n.addrs[of])
		} else {
			list = append(list, n.links[of][to].Addr())
		}
	}
	return list
}

// Set says what happens to all that one program sends to another, also on a connection that the other has made.
func (n *Network) Set(from, to int, w Way) {
	n.links[from][to].SetThere(w)
	n.links[to][from].SetBack(w)
}

// Sends says what happens to all that a program sends, and Hears to all that is sent to it.
func (n *Network) Sends(one int, w Way) {
	for other := range n.addrs {
		if other != one {
			n.Set(one, other, w)
		}
	}
}

// Hears says what happens to all that is sent to a program.
func (n *Network) Hears(one int, w Way) {
	for other := range n.addrs {
		if other != one {
			n.Set(other, one, w)
		}
	}
}

// All says what happens to everything.
func (n *Network) All(w Way) {
	for one := range n.addrs {
		n.Sends(one, w)
	}
}

// Reset breaks about a share of all connections.
func (n *Network) Reset(share float64) (broken int) {
	for _, from := range n.links {
		for _, l := range from {
			if l != nil {
				broken += l.Reset(share)
			}
		}
	}
	return broken
}

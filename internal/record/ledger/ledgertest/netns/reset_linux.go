package netns

import (
	"encoding/binary"
	"math/rand/v2"
)

// flow is a connection: the addresses and ports of both sides, the smaller side first.
type flow [12]byte

const (
	tcp = 6
	fin = 1 << 0
	syn = 1 << 1
	rst = 1 << 2
	ack = 1 << 4
)

// Reset breaks about a share of the connections: each when its next packet is sent.
func (n *Network) Reset(share float64) (broken int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for f := range n.flows {
		if rand.Float64() < share { //nolint:gosec // not a secret
			n.doomed[f] = true
			broken++
		}
	}
	return broken
}

// broken keeps which connections there are, and returns what ends one that is to be broken at both sides, in the place of its packet. It needs n.mu.
func (n *Network) broken(b []byte) (there, back []byte) {
	header := int(b[0]&0xf) * 4
	if b[9] != tcp || len(b) < header+20 {
		return nil, nil
	}
	f, flags := flowOf(b[:header], b[header:]), b[header+13]
	if flags&(fin|rst) != 0 {
		delete(n.flows, f)
		delete(n.doomed, f)
		return nil, nil
	}
	n.flows[f] = true
	if !n.doomed[f] || flags&syn != 0 || flags&ack == 0 {
		return nil, nil
	}
	delete(n.flows, f)
	delete(n.doomed, f)
	seq, acked := b[header+4:header+8], b[header+8:header+12]
	return resets(b[12:16], b[16:20], b[header:header+2], b[header+2:header+4], seq, acked),
		resets(b[16:20], b[12:16], b[header+2:header+4], b[header:header+2], acked, seq)
}

func flowOf(ip, tcp []byte) (f flow) {
	from, to := [6]byte(append(append([]byte(nil), ip[12:16]...), tcp[0:2]...)), [6]byte(append(append([]byte(nil), ip[16:20]...), tcp[2:4]...))
	if string(from[:]) > string(to[:]) {
		from, to = to, from
	}
	copy(f[:6], from[:])
	copy(f[6:], to[:])
	return f
}

// resets is a packet that resets a connection, RFC 9293, 3.5.2.
func resets(from, to, fromPort, toPort, seq, acked []byte) []byte {
	b := make([]byte, 40)
	b[0], b[8], b[9] = 0x45, 64, tcp // IPv4 without options; its time to live
	binary.BigEndian.PutUint16(b[2:], uint16(len(b)))
	copy(b[12:], from)
	copy(b[16:], to)
	binary.BigEndian.PutUint16(b[10:], checksum(b[:20], 0))
	t := b[20:]
	copy(t[0:], fromPort)
	copy(t[2:], toPort)
	copy(t[4:], seq)
	copy(t[8:], acked)
	t[12], t[13] = 5<<4, rst|ack
	pseudo := uint32(tcp + len(t))
	for i := 12; i < 20; i += 2 {
		pseudo += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	binary.BigEndian.PutUint16(t[16:], checksum(t, pseudo))
	return b
}

// checksum is that of RFC 1071.
func checksum(b []byte, sum uint32) uint16 {
	for i := 0; i < len(b); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(b[i:]))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum) //nolint:gosec // it is folded
}

// Package netns gives programs of a test networks of their own, namespaces of Linux, and breaks what is between them packet by packet: TCP notices as it does between
// machines, sends again, and gives up when its time is over. It needs root, the program ip, and /dev/net/tun, and nothing else of the kernel: each namespace has a
// device whose packets this process passes on, late or not at all.
//
// Where to change what:
//   - network_linux.go: the namespaces, and how programs and connections get into them; pass_linux.go: what happens to a packet
//   - reset_linux.go: how a connection is broken; network_other.go: other systems have none of this
//
// Start reading at [New].
package netns

package netns

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest/link"
)

// Network is namespaces whose packets to each other pass through this process.
type Network struct {
	t      testing.TB
	names  []string
	ports  []*os.File // the devices
	queues [][]chan packet
	ctx    context.Context // ends with the test
	all    sync.WaitGroup

	mu     sync.Mutex
	ways   [][]link.Way // from, to
	flows  map[flow]bool
	doomed map[flow]bool
}

var networks atomic.Int64

// New returns a network of so many namespaces, and removes it after the test. Without the rights for it, or the program, it says why there is none.
func New(t testing.TB, size int) (*Network, error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	n := &Network{t: t, ctx: ctx, flows: map[flow]bool{}, doomed: map[flow]bool{}}
	t.Cleanup(func() {
		cancel()
		for _, p := range n.ports {
			_ = p.Close()
		}
		n.all.Wait()
		for _, name := range n.names {
			_ = ip("netns", "del", name)
		}
	})
	id := networks.Add(1)
	for i := range size {
		name := fmt.Sprintf("trapeze-%d-%d-%d", os.Getpid(), id, i)
		if err := ip("netns", "add", name); err != nil {
			return nil, err
		}
		n.names = append(n.names, name)
		var device *os.File
		err := inside(name, func() (err error) { device, err = newDevice(); return err })
		if err != nil {
			return nil, fmt.Errorf("netns: a device in a namespace: %w", err)
		}
		n.ports = append(n.ports, device)
		for _, args := range [][]string{
			{"-n", name, "link", "set", "lo", "up"},
			{"-n", name, "addr", "add", n.Host(i) + "/24", "dev", deviceName},
			{"-n", name, "link", "set", deviceName, "up"},
		} {
			if err := ip(args...); err != nil {
				return nil, err
			}
		}
	}
	n.begin()
	return n, nil
}

// begin passes on packets.
func (n *Network) begin() {
	size := len(n.ports)
	n.ways, n.queues = make([][]link.Way, size), make([][]chan packet, size)
	for from := range size {
		n.ways[from], n.queues[from] = make([]link.Way, size), make([]chan packet, size)
		for to := range size {
			n.queues[from][to] = make(chan packet, inFlight)
			n.all.Go(func() { n.deliver(n.queues[from][to], n.ports[to]) })
		}
	}
	for from := range size {
		n.all.Go(func() { n.read(from) })
	}
}

// Host is the address of a namespace, as all of them know it.
func (n *Network) Host(i int) string { return fmt.Sprintf("10.77.0.%d", i+1) }

// Wrap is what runs a program in a namespace. Unlike ip netns exec, it gives it no copies of the mounts, with which a file system that others unmount would live on.
func (n *Network) Wrap(i int) []string { return []string{"nsenter", "--net=/run/netns/" + n.names[i]} }

// Reach returns an address of this machine at which programs reach one of the loopback of a namespace. That way is never broken.
func (n *Network) Reach(i int, addr string) string {
	n.t.Helper()
	l, err := (&net.ListenConfig{}).Listen(n.ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		n.t.Fatal(err)
	}
	context.AfterFunc(n.ctx, func() { _ = l.Close() })
	n.all.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			n.all.Go(func() { n.forward(i, addr, c) })
		}
	})
	return l.Addr().String()
}

// Dial makes a connection from a namespace, and Listen listens in one.
func (n *Network) Dial(i int, addr string) (c net.Conn, err error) {
	err = inside(n.names[i], func() (err error) { c, err = (&net.Dialer{}).DialContext(n.ctx, "tcp", addr); return err })
	return c, err
}

// Listen listens in a namespace.
func (n *Network) Listen(i int, addr string) (l net.Listener, err error) {
	err = inside(n.names[i], func() (err error) { l, err = (&net.ListenConfig{}).Listen(n.ctx, "tcp", addr); return err })
	return l, err
}

// forward passes on a connection into a namespace.
func (n *Network) forward(i int, addr string, from net.Conn) {
	defer func() { _ = from.Close() }()
	to, err := n.Dial(i, addr)
	if err != nil {
		return
	}
	stop := context.AfterFunc(n.ctx, func() { _ = from.Close(); _ = to.Close() })
	defer stop()
	var back sync.WaitGroup
	back.Go(func() {
		_, _ = io.Copy(from, to)
		_ = from.Close()
	})
	_, _ = io.Copy(to, from)
	_ = to.Close()
	back.Wait()
}

// inside calls fn on a thread that is in a namespace.
func inside(name string, fn func() error) error {
	done := make(chan error)
	go func() {
		done <- func() error {
			runtime.LockOSThread() // and never unlocked: the thread ends with this goroutine
			if err := enter(name); err != nil {
				return err
			}
			return fn()
		}()
	}()
	return <-done
}

// Enter moves the thread of the caller into a namespace, and with it the programs that it starts. The caller has locked it, and never unlocks it.
func (n *Network) Enter(i int) error { return enter(n.names[i]) }

func enter(name string) error {
	f, err := os.Open("/run/netns/" + name) //nolint:gosec // of a test
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return unix.Setns(int(f.Fd()), unix.CLONE_NEWNET)
}

const deviceName = "nodes"

// newDevice makes a device of the namespace of this thread, whose packets are read and written here.
func newDevice() (*os.File, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	request, err := unix.NewIfreq(deviceName)
	if err == nil {
		request.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, request)
	}
	if err != nil {
		return nil, errors.Join(err, unix.Close(fd))
	}
	return os.NewFile(uintptr(fd), "tun "+strconv.Itoa(fd)), nil
}

// ip runs the program of that name.
func ip(args ...string) error {
	out, err := exec.CommandContext(context.Background(), "ip", args...).CombinedOutput() //nolint:gosec // of a test
	if err != nil {
		return fmt.Errorf("netns: ip %v: %w: %s", args, err, out)
	}
	return nil
}

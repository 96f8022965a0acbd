//go:build !linux

package netns

import (
	"errors"
	"testing"

	"github.com/trapezehq/trapeze/internal/record/ledger/ledgertest/link"
)

// Network is what only Linux has.
type Network struct{ link.Network }

// New says that there is none here.
func New(testing.TB, int) (*Network, error) {
	return nil, errors.New("netns: only Linux has network namespaces")
}

// Host is an address that nobody has.
func (n *Network) Host(int) string { return "" }

// Wrap is nothing.
func (n *Network) Wrap(int) []string { return nil }

// Enter does nothing.
func (n *Network) Enter(int) error { return nil }

// Reach is nowhere.
func (n *Network) Reach(int, string) string { return link.Nowhere }

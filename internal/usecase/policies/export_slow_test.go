//go:build slow

package policies

// Store is the store of the policies, for tests.
func (ps *Policies) Store() *Store { return ps.store }

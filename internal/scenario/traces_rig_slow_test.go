//go:build slow || outside

package scenario

// setDown makes the collector take no spans, or take them again.
func (c *otlp) setDown(down bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.down = down
}

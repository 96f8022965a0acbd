package figure

// Minutes is the number of minutes that are kept of a workspace.
func (t *Tally) Minutes(workspace string) int { return len(t.past[workspace].slots) }

package event

// Parent links a child task to the task it works for.
type Parent struct {
	Task  string `json:"task,omitempty"`
	Index int    `json:"index,omitempty"`
	Await bool   `json:"await,omitempty"` // the parent wants to hear how it ends
	// Requester is the principal that requested the root of the tree of tasks. Records from before trees had one lack it.
	Requester string `json:"requester,omitempty"`
}

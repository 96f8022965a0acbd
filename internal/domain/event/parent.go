package event

// Parent links a child task to the task it works for.
type Parent struct {
	Task  string `json:"task,omitempty"`
	Index int    `json:"index,omitempty"`
	Await bool   `json:"await,omitempty"` // the parent wants to hear how it ends
}

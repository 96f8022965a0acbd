package memory

// Command asks for a change of one item. The set is sealed.
type Command interface{ item() (string, Reader) }

// Content is the content of a version.
type Content struct {
	Title string
	Text  string
	Salt  string // 32 to 128 random hex digits, new for each version
}

// Remember begins an item. By is its author.
type Remember struct {
	By           Reader
	ID           string
	Scope        Scope
	Source       Source
	Task         string // required in scope task
	Conversation string
	Tags         []string
	Subject      string  // that it is about; optional
	Importance   float64 // 0 to 1
	Pinned       bool
	Content      Content
}

// Revise adds a version. One that says the same as the newest changes nothing.
type Revise struct {
	By      Reader
	ID      string
	Expect  int // the newest version as the caller knows it; 0 to overwrite whatever it is
	Content Content
}

// Pin puts the item into every envelope that may hold it, before others. Of an item for the whole workspace, a pin by an agent counts
// once an operator pins it, too.
type Pin struct {
	By Reader
	ID string
}

// Unpin undoes Pin.
type Unpin struct {
	By Reader
	ID string
}

// Tag replaces the item's tags.
type Tag struct {
	By   Reader
	ID   string
	Tags []string
}

// Weigh says how important the item is.
type Weigh struct {
	By         Reader
	ID         string
	Importance float64 // 0 to 1
}

// Forget ends the giving out of the item's content, for good.
type Forget struct {
	By Reader
	ID string
}

func (c Remember) item() (string, Reader) { return c.ID, c.By }
func (c Revise) item() (string, Reader)   { return c.ID, c.By }
func (c Pin) item() (string, Reader)      { return c.ID, c.By }
func (c Unpin) item() (string, Reader)    { return c.ID, c.By }
func (c Tag) item() (string, Reader)      { return c.ID, c.By }
func (c Weigh) item() (string, Reader)    { return c.ID, c.By }
func (c Forget) item() (string, Reader)   { return c.ID, c.By }

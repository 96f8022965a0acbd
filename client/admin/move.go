package admin

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/trapezehq/trapeze/client/wire"
)

// MoveInput has a workspace move to another server.
type MoveInput struct {
	To string `json:"to"` // its address, as clients are given it, such as https://b.example.org:8727
}

// ReceiveInput names a file to import.
type ReceiveInput struct {
	To    string   `json:"to"`             // the address at which this server is called, which the file must name
	Parts []string `json:"parts"`          // digests of the artifacts that are the file, one after the other
	Keys  string   `json:"keys,omitempty"` // public keys of the source, from elsewhere; empty: those in the file
}

// Move is how far a workspace has moved.
type Move struct {
	Name     string `json:"name"`
	To       string `json:"to"`
	Log      string `json:"log"`       // the name of the log from which it moves
	Entries  int64  `json:"entries"`   // that move, with those of its tokens
	Root     string `json:"root"`      // of the tree whose leaves are these entries alone
	Files    int    `json:"artifacts"` // that move
	Here     int64  `json:"here"`      // how many of the entries the other server has
	Whole    bool   `json:"whole"`     // the other server takes changes of it
	Position uint64 `json:"position,omitempty"`
}

// MoveWorkspace has every change in a workspace be refused from now on, for good, with the address of the server to which it moves. It may be repeated.
func (c Client) MoveWorkspace(ctx context.Context, name string, in MoveInput) (Move, error) {
	return call[Move](ctx, c, http.MethodPost, nil, in, "workspaces", name, "move")
}

// ExportWorkspace writes the file of a workspace that moves to w. A file that is cut short is not imported.
func (c Client) ExportWorkspace(ctx context.Context, name string, w io.Writer) error {
	return c.Fetch(ctx, wire.Path("workspaces", name, "file"), w)
}

// filePart is the size of the parts in which a file is sent.
const filePart = 8 << 20

// ImportWorkspace imports the file of a workspace that moves to the server at an address, and calls progress with how far it is, until all of it is there. keys are
// the public keys of the source from elsewhere; empty: those in the file. It may be repeated.
func (c Client) ImportWorkspace(ctx context.Context, to, keys string, file io.Reader, progress func(Move)) (Move, error) {
	in := ReceiveInput{To: to, Keys: keys}
	for {
		part, err := io.ReadAll(io.LimitReader(file, filePart))
		if err != nil {
			return Move{}, err
		}
		if len(part) == 0 {
			break
		}
		info, err := c.PutArtifact(ctx, bytes.NewReader(part), "")
		if err != nil {
			return Move{}, err
		}
		in.Parts = append(in.Parts, info.Digest)
	}
	if len(in.Parts) == 0 {
		return Move{}, errors.New("client: the file is empty")
	}
	for {
		m, err := call[Move](ctx, c, http.MethodPost, nil, in, "workspaces", "import")
		if err != nil || m.Whole {
			return m, err
		}
		progress(m)
	}
}

package argument

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
)

// maxAttachments is the maximum number of attachments of a call: each is a file of its own on the server.
const maxAttachments = 16

// Attachment is a text that becomes a file.
type Attachment struct {
	Name string `json:"name,omitempty"`
	Text string `json:"text"`
}

// Attachments are texts that become files. A string counts as a text without a name.
type Attachments []Attachment

// UnmarshalJSON accepts a list of objects or strings, or one of either.
func (a *Attachments) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] != '[' {
		b = slices.Concat([]byte("["), b, []byte("]"))
	}
	wrong := errors.New(`give each file to attach a name and its text: [{"name": "notes.md", "text": "..."}]`)
	var raw []json.RawMessage
	if err := json.Unmarshal(b, &raw); err != nil {
		return wrong
	}
	if len(raw) > maxAttachments {
		return fmt.Errorf("%d files are attached, at most %d go with one call: put further ones with the API and give their digests as files", len(raw), maxAttachments)
	}
	for _, item := range raw {
		var x Attachment
		if len(item) > 0 && item[0] == '"' {
			if err := json.Unmarshal(item, &x.Text); err != nil {
				return err
			}
		} else if strictly(item, &x) != nil {
			return wrong
		}
		if x.Text == "" {
			return wrong
		}
		*a = append(*a, x)
	}
	return nil
}

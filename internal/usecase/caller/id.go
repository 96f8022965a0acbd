package caller

import (
	"crypto/sha256"
	"fmt"

	"github.com/google/uuid"
)

// NewID numbers a new thing of a kind. It is derived from the caller and its idempotency key, so that a repeated call
// finds the first; without a key it is of its own. Where the key is a UUIDv7 (RFC 9562) the id keeps its time and the
// counter after it, so that ids whose keys one program made sort by creation within a millisecond, too.
func (c Caller) NewID(kind string) ([16]byte, error) {
	if c.Key == "" {
		id, err := uuid.NewV7()
		if err != nil {
			return id, fmt.Errorf("new id: %w", err)
		}
		return id, nil
	}
	var id uuid.UUID
	sum := sha256.Sum256([]byte(kind + "\x00" + c.Workspace + "\x00" + c.String() + "\x00" + c.Key))
	copy(id[:], sum[:])
	if key, err := uuid.Parse(c.Key); err == nil && key.Version() == 7 {
		copy(id[:8], key[:8])
	}
	return id, nil
}

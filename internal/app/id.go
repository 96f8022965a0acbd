package app

import (
	"crypto/sha256"
	"fmt"

	"github.com/google/uuid"

	"github.com/trapezehq/trapeze/internal/fact"
)

// newTaskID derives a task's id from the caller and its idempotency key, so that a repeated creation finds the
// first. Where the key is a UUIDv7 the id keeps its time, and ids sort by creation.
func (a *App) newTaskID(c Caller) (string, error) {
	if c.Key == "" {
		id, err := uuid.NewV7()
		if err != nil {
			return "", fmt.Errorf("new id: %w", err)
		}
		return fact.TaskID(id), nil
	}
	var id uuid.UUID
	sum := sha256.Sum256([]byte("task\x00" + c.Workspace + "\x00" + c.String() + "\x00" + c.Key))
	copy(id[:], sum[:])
	if key, err := uuid.Parse(c.Key); err == nil && key.Version() == 7 {
		copy(id[:6], key[:6])
	}
	return fact.TaskID(id), nil
}

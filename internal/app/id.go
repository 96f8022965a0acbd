package app

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/trapezehq/trapeze/internal/handoff"
	"github.com/trapezehq/trapeze/internal/refusal"
)

// newTaskID derives a task's id from the caller and its idempotency key, so that a repeated creation finds the
// first. Where the key is a UUIDv7 the id keeps its time, and ids sort by creation.
func (a *App) newTaskID(c Caller) (string, error) {
	if c.Key == "" {
		id, err := uuid.NewV7()
		if err != nil {
			return "", fmt.Errorf("new id: %w", err)
		}
		return handoff.TaskID(id), nil
	}
	var id uuid.UUID
	sum := sha256.Sum256([]byte("task\x00" + c.Workspace + "\x00" + c.String() + "\x00" + c.Key))
	copy(id[:], sum[:])
	if key, err := uuid.Parse(c.Key); err == nil && key.Version() == 7 {
		copy(id[:6], key[:6])
	}
	return handoff.TaskID(id), nil
}

// digestKey scopes a caller's key to its workspace and principal. Empty without a key.
func digestKey(c Caller) string {
	if c.Key == "" {
		return ""
	}
	sum := sha256.Sum256([]byte("key\x00" + c.Workspace + "\x00" + c.String() + "\x00" + c.Key))
	return hex.EncodeToString(sum[:16])
}

// digestRequest is what two requests under one key must have in common.
func digestRequest(c Caller, verb string, in any) (string, error) {
	if err := c.checkKey(); err != nil || c.Key == "" {
		return "", err
	}
	b, err := json.Marshal(in)
	if err != nil {
		return "", refusal.New(refusal.Invalid, "send valid JSON", "the request cannot be read: %s", err)
	}
	h := sha256.New()
	h.Write([]byte(verb + "\x00"))
	h.Write(b)
	return hex.EncodeToString(h.Sum(nil)[:16]), nil
}

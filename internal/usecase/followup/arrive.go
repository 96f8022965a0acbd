package followup

import "context"

// IsArriving reports whether a workspace moves here and has not arrived: nothing follows from its entries yet.
func (u *FollowUp) IsArriving(ctx context.Context, workspace string) (bool, error) {
	s, err := u.spaces.State(ctx, workspace)
	return s.IsArriving(), err
}

// LookAt has the server know how a workspace is now.
func (u *FollowUp) LookAt(ctx context.Context, workspace string) error {
	_, err := u.spaces.Find(ctx, workspace)
	return err
}

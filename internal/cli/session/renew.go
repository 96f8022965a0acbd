package session

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"golang.org/x/oauth2"
)

// early is how long before its expiry a token is renewed.
const early = 20 * time.Second

// Token returns the token of the session at a server, which the issuer renews where it is about to expire; "": there is no session. Errors: ErrOver.
func (s Store) Token(ctx context.Context, server string, now time.Time) (string, error) {
	in, err := s.Load(server)
	if err != nil || in == nil {
		return "", err
	}
	if now.Add(early).Before(in.Expires) {
		return in.Token, nil
	}
	fresh, err := in.renew(ctx)
	if err == nil {
		return fresh.Token, s.Save(fresh)
	}
	// Another command may have renewed it at the same time: a refresh token often counts once.
	if other, again := s.Load(server); again == nil && other != nil && other.Token != in.Token && now.Before(other.Expires) {
		return other.Token, nil
	}
	if now.Before(in.Expires) {
		return in.Token, nil // it still counts
	}
	return "", err
}

// renew has the issuer give a new token.
func (in Session) renew(ctx context.Context) (Session, error) {
	if in.Refresh == "" {
		return in, ErrOver
	}
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	e, err := find(ctx, in.Issuer)
	if err != nil {
		return in, err
	}
	asking := context.WithValue(ctx, oauth2.HTTPClient, toIssuer)
	got, err := e.config(in.Client, "").TokenSource(asking, &oauth2.Token{RefreshToken: in.Refresh}).Token()
	var said *oauth2.RetrieveError
	if errors.As(err, &said) && said.Response.StatusCode < http.StatusInternalServerError {
		return in, fmt.Errorf("%w (%s)", ErrOver, said.ErrorCode)
	}
	if err != nil {
		return in, refusedBy(in.Issuer, err)
	}
	return in.with(got)
}

// End tells the issuer that the session's refresh token counts no more (RFC 7009), if it can be told so.
func (in Session) End(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	e, err := find(ctx, in.Issuer)
	if err != nil || in.Refresh == "" || !private(e.Revoke) {
		return err
	}
	form := url.Values{"token": {in.Refresh}, "token_type_hint": {"refresh_token"}, "client_id": {in.Client}}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.Revoke, strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := toIssuer.Do(req)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the issuer %s answers %s", in.Issuer, res.Status)
	}
	return nil
}

// expiry reads when a token expires. The server, and not this program, verifies it.
func expiry(token string) (time.Time, error) {
	parts := strings.Split(token, ".")
	var said struct {
		Exp float64 `json:"exp"`
	}
	if len(parts) == 3 {
		if b, err := base64.RawURLEncoding.DecodeString(parts[1]); err == nil && json.Unmarshal(b, &said) == nil && said.Exp > 0 {
			return time.Unix(int64(said.Exp), 0).UTC(), nil
		}
	}
	return time.Time{}, errors.New("the issuer's ID token is no JSON Web Token")
}

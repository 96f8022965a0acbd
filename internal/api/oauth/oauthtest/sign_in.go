package oauthtest

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// The endpoints by which people sign in.
const (
	AuthorizePath = "/authorize"
	TokenPath     = "/token"
	DevicePath    = "/device"
	RevokePath    = "/revoke"
)

// Client is the id of the only client, a public one.
const Client = "trapeze"

// signIn is the issuer's session of a person, and what was begun in it.
type signIn struct {
	person   Claims // nil: nobody is signed in
	lasts    time.Duration
	codes    map[string]url.Values // the authorization requests by code
	refresh  string                // the only refresh token that counts
	approved bool                  // the device is
	pending  int                   // answers to a device that were "pending"
}

// SignIn begins the session of a person with claims, such as preferred_username and groups, and makes ID tokens last so long.
func (i *Issuer) SignIn(person Claims, lasts time.Duration) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.signIn = signIn{person: person, lasts: lasts, codes: map[string]url.Values{}}
}

// EndSession ends the session of the person: no refresh token counts any longer.
func (i *Issuer) EndSession() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.signIn = signIn{}
}

// ApproveDevice has the person type in the code of the device.
func (i *Issuer) ApproveDevice() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.signIn.approved = true
}

// authorize sends a browser back at once, with a code if the person is signed in.
func (i *Issuer) authorize(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	defer i.mu.Unlock()
	q := r.URL.Query()
	answer := url.Values{"state": {q.Get("state")}}
	switch {
	case q.Get("client_id") != Client || q.Get("response_type") != "code" || q.Get("code_challenge_method") != "S256" || q.Get("nonce") == "":
		http.Error(w, "the request is not one of this client with PKCE", http.StatusBadRequest)
		return
	case i.signIn.person == nil:
		answer.Set("error", "login_required")
	default:
		code := rand.Text()
		i.signIn.codes[code] = q
		answer.Set("code", code)
	}
	http.Redirect(w, r, q.Get("redirect_uri")+"?"+answer.Encode(), http.StatusFound)
}

// device begins the sign-in of a device (RFC 8628).
func (i *Issuer) device(w http.ResponseWriter, r *http.Request) {
	if r.PostFormValue("client_id") != Client {
		http.Error(w, "unknown client", http.StatusBadRequest)
		return
	}
	i.write(w, map[string]any{
		"device_code": "device", "user_code": "WDJB-MJHT", "verification_uri": i.URL + "/activate", "expires_in": 600, "interval": 1,
		"verification_uri_complete": i.URL + "/activate?user_code=WDJB-MJHT",
	})
}

// token answers a code, a device or a refresh token with an ID token.
func (i *Issuer) token(w http.ResponseWriter, r *http.Request) {
	form := func(name string) string { return r.PostFormValue(name) } // parses the form first
	kind, client := form("grant_type"), form("client_id")
	i.mu.Lock()
	problem, nonce := "invalid_grant", ""
	switch began, known := i.signIn.codes[form("code")]; {
	case client != Client:
		problem = "invalid_client"
	case i.signIn.person == nil:
	case kind == "authorization_code" && known:
		delete(i.signIn.codes, form("code"))
		sum := sha256.Sum256([]byte(form("code_verifier")))
		if base64.RawURLEncoding.EncodeToString(sum[:]) == began.Get("code_challenge") && form("redirect_uri") == began.Get("redirect_uri") {
			problem, nonce = "", began.Get("nonce")
		}
	case kind == "urn:ietf:params:oauth:grant-type:device_code" && form("device_code") == "device":
		if problem = ""; !i.signIn.approved {
			problem = "authorization_pending"
			i.signIn.pending++
		}
	case kind == "refresh_token" && form("refresh_token") == i.signIn.refresh:
		problem = ""
	}
	if problem != "" {
		i.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		i.write(w, map[string]any{"error": problem})
		return
	}
	i.signIn.refresh = rand.Text()
	refresh, person, lasts := i.signIn.refresh, i.signIn.person, i.signIn.lasts
	i.mu.Unlock()
	i.write(w, map[string]any{
		"access_token": "opaque", "token_type": "Bearer", "expires_in": int(lasts.Seconds()), "refresh_token": refresh,
		"id_token": i.IDToken(person, lasts, Claims{"nonce": nonce}),
	})
}

// IDToken signs an ID token of a person, which lasts so long; change replaces claims.
func (i *Issuer) IDToken(person Claims, lasts time.Duration, change Claims) string {
	i.t.Helper()
	i.mu.Lock()
	k := i.keys[len(i.keys)-1]
	i.mu.Unlock()
	now := time.Now()
	c := Claims{"iss": i.URL, "aud": Client, "sub": "subject", "iat": now.Unix(), "exp": now.Add(lasts).Unix(), "sid": strconv.FormatInt(now.UnixNano(), 36)}
	for _, some := range []Claims{person, change} {
		for name, v := range some {
			if c[name] = v; v == nil || v == "" {
				delete(c, name)
			}
		}
	}
	return Sign(i.t, k, map[string]any{"typ": "JWT"}, c)
}

package natslog

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// maxVarz is the greatest answer of a server's monitoring that is read, in bytes.
const maxVarz = 1 << 20

// checkSync refuses servers that acknowledge what they have not synced. Clients are not told; the servers' monitoring is asked.
func checkSync(ctx context.Context, o Options) error {
	if o.Synced || o.Unsafe {
		return nil
	}
	if len(o.Monitors) < minReplicas {
		return fmt.Errorf("natslog: whether the NATS servers sync each write is not known, and without it a loss of power takes acknowledged entries: "+
			"give the addresses of the monitoring of all servers, such as http://HOST:8222, at least %d", minReplicas)
	}
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	names := map[string]bool{}
	for _, url := range o.Monitors {
		name, err := checkMonitor(ctx, url)
		if err != nil {
			return fmt.Errorf("natslog: the monitoring at %s: %w", url, err)
		}
		if names[name] {
			return fmt.Errorf("natslog: the monitoring at %s is of the server %s, which another address was of, too: name each server once", url, name)
		}
		names[name] = true
	}
	return nil
}

// checkMonitor asks one server, and returns its name.
func checkMonitor(ctx context.Context, url string) (name string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(url, "/")+"/varz", nil)
	if err != nil {
		return "", errors.New("this is not a URL: use http://HOST:8222")
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return "", err
	}
	defer func() { _ = answer.Body.Close() }()
	var varz struct {
		Name      string `json:"server_name"`
		JetStream struct {
			Config *struct {
				SyncAlways bool `json:"sync_always"`
			} `json:"config"`
		} `json:"jetstream"`
	}
	err = json.NewDecoder(io.LimitReader(answer.Body, maxVarz)).Decode(&varz)
	switch {
	case err != nil || answer.StatusCode != http.StatusOK || varz.Name == "":
		return "", errors.New("it does not answer as that of a NATS server")
	case varz.JetStream.Config == nil:
		return "", errors.New("JetStream is not enabled there")
	case !varz.JetStream.Config.SyncAlways:
		return "", errors.New("the server acknowledges what it has not synced: set jetstream { sync_interval: always } in its configuration, and start it again")
	}
	return varz.Name, nil
}

package pglog

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// errURL does not say more: what cannot be read may contain a password in any place.
var errURL = errors.New("pglog: this is not the URL of a PostgreSQL database: " +
	"use postgres://USER@HOST:PORT/DATABASE?sslmode=verify-full, with special characters in a password written as %XX")

// sessionParams are what the server is asked for each session, unless the URL says otherwise. A front end whose machine or network is gone
// without a word loses its session, and the locks in it, within some ten seconds: https://www.postgresql.org/docs/current/runtime-config-connection.html
var sessionParams = map[string]string{
	"application_name":        "trapeze",
	"tcp_keepalives_idle":     "5", // seconds
	"tcp_keepalives_interval": "2",
	"tcp_keepalives_count":    "3",
	"tcp_user_timeout":        "11000", // milliseconds
}

// configure reads a URL. What it lacks comes from the environment variables and files of PostgreSQL's own programs, such as
// PGPASSWORD and ~/.pgpass.
func configure(url string) (*pgx.ConnConfig, error) {
	if url == "" {
		return nil, errURL
	}
	c, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, errURL
	}
	plain := func(host string, encrypted bool) error {
		if encrypted || isLocal(host) {
			return nil
		}
		return fmt.Errorf("pglog: the connection to %s could be made unencrypted, and it leaves this machine: add sslmode=verify-full to the URL", host)
	}
	if err := plain(c.Host, c.TLSConfig != nil); err != nil {
		return nil, err
	}
	for _, f := range c.Fallbacks {
		if err := plain(f.Host, f.TLSConfig != nil); err != nil {
			return nil, err
		}
	}
	for name, value := range sessionParams {
		if c.RuntimeParams[name] == "" {
			c.RuntimeParams[name] = value
		}
	}
	if c.ConnectTimeout == 0 || c.ConnectTimeout > connectTimeout {
		c.ConnectTimeout = connectTimeout
	}
	// A server that ends without a word, or whose network does, is noticed. A commit that waits for a standby is not cut short.
	dialer := &net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 5 * time.Second, Interval: 2 * time.Second, Count: 3},
		Control:         limitUnsent,
	}
	c.DialFunc = dialer.DialContext
	c.ValidateConnect = begin("")
	return c, nil
}

func isLocal(host string) bool {
	if strings.HasPrefix(host, "/") || strings.HasPrefix(host, "@") || host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// begin begins a session with some statements, and refuses a server that only reads, of several hosts, or on which entries would not be safe. It asks once:
// where each question takes long, a connection may be lost before it is of use.
func begin(statements string) pgconn.ValidateConnectFunc {
	return func(ctx context.Context, conn *pgconn.PgConn) error {
		results, err := conn.Exec(ctx, statements+"SELECT current_setting('transaction_read_only'), current_setting('server_version_num'), current_setting('server_encoding'), "+settingsColumns).ReadAll()
		if err != nil {
			return err
		}
		row := results[len(results)-1].Rows[0]
		reads, encoding := string(row[0]), string(row[2])
		version, err := strconv.Atoi(string(row[1]))
		switch {
		case err != nil:
			return err
		case reads == "on":
			return pgconn.ErrReadOnlyConnection
		case version < 150000:
			return fmt.Errorf("pglog: PostgreSQL has version %d, and 15 or newer is needed", version/10000)
		case encoding != "UTF8":
			return fmt.Errorf("pglog: the database has the encoding %s: create one with ENCODING 'UTF8'", encoding)
		}
		s := settings{string(row[3]), string(row[4]), string(row[5])}
		return s.check()
	}
}

// connect makes a connection.
func connect(ctx context.Context, c *pgx.ConnConfig) (*pgx.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*connectTimeout) // there may be several hosts
	defer cancel()
	return pgx.ConnectConfig(ctx, c.Copy())
}

// hangUp closes a connection without waiting for the server for long.
func hangUp(conn *pgx.Conn) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = conn.Close(ctx)
}

// settings are those of the server on which the durability of a commit depends.
type settings struct{ fsync, fullPages, commit string }

const settingsColumns = "current_setting('fsync'), current_setting('full_page_writes'), current_setting('synchronous_commit')"

func (s *settings) check() error {
	for _, p := range []struct{ name, value string }{{"fsync", s.fsync}, {"full_page_writes", s.fullPages}, {"synchronous_commit", s.commit}} {
		if p.value == "off" {
			return fmt.Errorf("pglog: %s is off at the PostgreSQL server, which would confirm entries and then lose them: "+
				"set %[1]s = on in postgresql.conf, and for the role and the database, and reload the configuration", p.name)
		}
	}
	return nil
}

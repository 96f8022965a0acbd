//go:build slow || outside

package pglog

import (
	"strings"
	"testing"
)

const secret = "s3cret"

func TestAnUnencryptedConnectionToAnotherMachineIsRefused(t *testing.T) {
	t.Setenv("PGSSLMODE", "")
	for url, ok := range map[string]bool{
		"postgres://u:s3cret@db.example.org/trapeze":                                false, // prefer, which falls back to plain text
		"postgres://u:s3cret@db.example.org/trapeze?sslmode=disable":                false,
		"postgres://u:s3cret@db.example.org/trapeze?sslmode=allow":                  false,
		"postgres://u:s3cret@10.0.0.1/trapeze?sslmode=prefer":                       false,
		"postgres://u:s3cret@127.0.0.1,db.example.org/trapeze?sslmode=disable":      false,
		"host=db.example.org user=u password=s3cret sslmode=disable":                false,
		"postgres://u:s3cret@db.example.org/trapeze?sslmode=require":                true,
		"postgres://u:s3cret@db.example.org/trapeze?sslmode=verify-full":            true,
		"postgres://u:s3cret@a.example.org,b.example.org/trapeze?sslmode=verify-ca": true,
		"postgres://u:s3cret@127.0.0.1:5433/trapeze":                                true,
		"postgres://u:s3cret@[::1]/trapeze?sslmode=disable":                         true,
		"postgres://u:s3cret@localhost/trapeze?sslmode=disable":                     true,
		"postgres:///trapeze?host=/var/run/postgresql":                              true,
	} {
		_, err := configure(url)
		if (err == nil) != ok {
			t.Errorf("%s: %v", url, err)
		}
		if err != nil && (strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), "sslmode=verify-full")) {
			t.Errorf("%s: the error has the password, or no hint: %v", url, err)
		}
	}
}

func TestAURLThatCannotBeReadIsNotShown(t *testing.T) {
	for _, url := range []string{
		"", "postgres://u:s3cret@host:port/x", "postgres://u:x/s3cret@127.0.0.1/x", "postgres://u:s3cret@127.0.0.1/x?sslmode=s3cret",
		"postgres://u:s3cret%zz@127.0.0.1/x", "password=s3cret host", "postgres://u@127.0.0.1/x?sslmode=require&sslrootcert=/s3cret",
		"\x7fs3cret", "postgres://u@127.0.0.1/x?connect_timeout=s3cret",
	} {
		_, err := Open(t.Context(), url, Options{})
		if err == nil || strings.Contains(err.Error(), secret) || !strings.Contains(err.Error(), "use postgres://") {
			t.Errorf("%q: %v", url, err)
		}
	}
}

func TestASchemaHasAPlainName(t *testing.T) {
	for _, name := range []string{"Trapeze", "a b", `a"b`, "a;b", "1a", "ä", strings.Repeat("a", maxSchema+1)} {
		if _, err := Open(t.Context(), "postgres://u@127.0.0.1/x", Options{Schema: name}); err == nil || !strings.Contains(err.Error(), "want at most") {
			t.Errorf("%q: %v", name, err)
		}
	}
}

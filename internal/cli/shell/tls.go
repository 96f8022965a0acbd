package shell

import (
	"cmp"
	"crypto/tls"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/trapezehq/trapeze/client/wire"
	"github.com/trapezehq/trapeze/internal/cli/daemon"
	"github.com/trapezehq/trapeze/internal/cli/trust"
)

// trustFiles returns the files that the caller gave. For the server on the data directory, its own certificate takes the place of a
// CA: who can read the directory need not be told whom to trust.
func (s *Shell) trustFiles() trust.Files {
	t := trust.Files{
		CA:   cmp.Or(s.Flags.CA, s.Getenv("TRAPEZE_CA")),
		Cert: cmp.Or(s.Flags.ClientCert, s.Getenv("TRAPEZE_CLIENT_CERT")),
		Key:  cmp.Or(s.Flags.ClientKey, s.Getenv("TRAPEZE_CLIENT_KEY")),
	}
	if dir, err := s.DataDir(); err == nil && t.CA == "" {
		if at, _, found := daemon.Serving(dir); found && at == s.URL() {
			t.CA = daemon.Certificate(dir)
		}
	}
	for _, name := range []*string{&t.CA, &t.Cert, &t.Key} {
		if whole, err := filepath.Abs(*name); err == nil && *name != "" {
			*name = whole
		}
	}
	return t
}

// TLS is how this client knows the server; nil means the CAs of the system. The files are read again for each connection.
func (s *Shell) TLS() (*tls.Config, error) {
	files := s.trustFiles()
	switch {
	case (files.Cert == "") != (files.Key == ""):
		return nil, Hinted(Usagef("a client certificate needs its private key"), "give both: --client-cert FILE --client-key FILE")
	case files == trust.Files{}:
		return nil, nil //nolint:nilnil // as crypto/tls has it
	}
	var hosts []string
	for one := range strings.SplitSeq(s.URLs(), ",") {
		u, err := url.Parse(one)
		if err != nil {
			return nil, Usage(err)
		}
		hosts = append(hosts, u.Hostname())
	}
	c, err := files.Config(hosts)
	if err != nil {
		return nil, Usage(err)
	}
	return c, nil
}

// TrustEnv are the environment variables by which another program of this machine knows the server as this one does.
func (s *Shell) TrustEnv() []string {
	files := s.trustFiles()
	var env []string
	for _, v := range [][2]string{{"TRAPEZE_CA", files.CA}, {"TRAPEZE_CLIENT_CERT", files.Cert}, {"TRAPEZE_CLIENT_KEY", files.Key}} {
		if v[1] != "" {
			env = append(env, v[0]+"="+v[1])
		}
	}
	return env
}

// TrustArgs are the arguments that do the same. The certificate of a server on the data directory is not among them: commands find it.
func (s *Shell) TrustArgs() []string {
	files := s.trustFiles()
	if s.Flags.CA == "" && s.Getenv("TRAPEZE_CA") == "" {
		files.CA = ""
	}
	var args []string
	for _, v := range [][2]string{{"--ca", files.CA}, {"--client-cert", files.Cert}, {"--client-key", files.Key}} {
		if v[1] != "" {
			args = append(args, v[0], v[1])
		}
	}
	return args
}

// HTTP is an HTTP client that knows the server as the other clients do.
func (s *Shell) HTTP() (*http.Client, error) {
	known, err := s.TLS()
	if err != nil {
		return nil, err
	}
	return wire.HTTP(1, known), nil
}

// TLSHint is what to do about an error of TLS; otherwise usual.
func TLSHint(err error, usual string) string {
	if p, ok := wire.Unsafe(err, ""); ok {
		return p.Hint
	}
	return usual
}

package otelapi

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net/url"
	"os"
	"strconv"
	"strings"

	"github.com/trapezehq/trapeze/internal/domain/refusal"
)

// prefix begins the names of the variables about a collector.
const prefix = "OTEL_EXPORTER_OTLP_"

// Configured reports whether the environment names a collector of OpenTelemetry for metrics. An environment that asks for what the server
// does not have, or has a value that the SDK would skip, is refused (invalid).
func Configured() (bool, error) { return configured("metrics", "METRICS") }

// TracesConfigured reports whether the environment names a collector of OpenTelemetry for traces. An environment that asks for what the
// server does not have, or has a value that the SDK would skip, is refused (invalid).
func TracesConfigured() (bool, error) {
	on, err := configured("traces", "TRACES")
	if on && err == nil {
		_, err = samplerOf()
	}
	return on, err
}

// CheckEnvironment refuses (invalid) what [Configured] and [TracesConfigured] refuse.
func CheckEnvironment() error {
	if _, err := Configured(); err != nil {
		return err
	}
	_, err := TracesConfigured()
	return err
}

// configured reports whether the environment names a collector for a signal.
func configured(signal, variable string) (bool, error) {
	_, endpoint := setting(variable, "ENDPOINT")
	exporter := os.Getenv("OTEL_" + variable + "_EXPORTER")
	switch {
	case strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true") || exporter == "none" || exporter == "" && endpoint == "",
		signal == "metrics" && exporter == "prometheus": // /metrics is always there
		return false, nil
	case exporter != "" && exporter != "otlp":
		return false, refusal.New(refusal.Invalid, "set it to otlp or none", "the environment variable OTEL_%s_EXPORTER is %.40q, which is not supported", variable, exporter)
	}
	for _, s := range settings {
		name, v := setting(variable, s.name)
		if v == "" || s.ok(v) {
			continue
		}
		if s.secret {
			return false, refusal.New(refusal.Invalid, s.hint, "the environment variable %s is not supported for %s as it is", name, signal)
		}
		return false, refusal.New(refusal.Invalid, s.hint, "the environment variable %s is %.80q, which is not supported for %s", name, v, signal)
	}
	for _, s := range others {
		if v := strings.TrimSpace(os.Getenv(s.name)); v != "" && (s.signal == "" || s.signal == signal) && !s.ok(v) {
			return false, refusal.New(refusal.Invalid, s.hint, "the environment variable %s is %.80q, which is not supported for %s", s.name, v, signal)
		}
	}
	return true, checkClientCertificate(variable)
}

// setting returns the variable that is in force for a signal, and its value: the one of the signal, or else the one of all signals.
func setting(variable, what string) (name, value string) {
	for _, name := range []string{prefix + variable + "_" + what, prefix + what} {
		if v := strings.TrimSpace(os.Getenv(name)); v != "" {
			return name, v
		}
	}
	return "", ""
}

// collectorURL returns where a signal is sent to: without an endpoint, to the collector on this machine. The scheme alone says whether by TLS.
func collectorURL(variable, path string) string {
	name, v := setting(variable, "ENDPOINT")
	u, err := url.Parse(cmp.Or(v, "http://localhost:4318"))
	if err != nil {
		return v // it is refused
	}
	u.Scheme = strings.ToLower(u.Scheme)
	if name != prefix+variable+"_ENDPOINT" {
		u = u.JoinPath(path)
	}
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String()
}

// settings are the settings that the SDK replaces by a default, with no error, when it cannot read their values.
var settings = []struct {
	name, hint string
	ok         func(string) bool
	secret     bool // the value is not shown
}{
	{name: "PROTOCOL", hint: "set it to http/protobuf, and use the collector's port for HTTP, usually 4318", ok: func(v string) bool { return v == "http/protobuf" }},
	{name: "ENDPOINT", hint: "write a URL with its scheme and without user, query and fragment, such as http://127.0.0.1:4318; a password goes into OTEL_EXPORTER_OTLP_HEADERS", ok: isCollector, secret: true}, // it may have a password
	{name: "TIMEOUT", hint: "set it to milliseconds, such as 10000", ok: isPositive},
	{name: "COMPRESSION", hint: "set it to gzip or none", ok: func(v string) bool { return v == "gzip" || v == "none" }},
	{name: "HEADERS", hint: "write NAME=VALUE, with commas between several, and characters of values such as commas as %2C; there are no line ends in a header", ok: areHeaders, secret: true},
	{name: "CERTIFICATE", hint: "name a file that the server can read, with certificates in PEM", ok: isCertificate},
}

// others are such settings that are not about a collector.
var others = []struct {
	name, signal, hint string // signal: empty for all
	ok                 func(string) bool
}{
	{"OTEL_METRIC_EXPORT_INTERVAL", "metrics", "set it to milliseconds, such as 60000", isPositive},
	{"OTEL_METRIC_EXPORT_TIMEOUT", "metrics", "set it to milliseconds, such as 30000", isPositive},
	{"OTEL_BSP_SCHEDULE_DELAY", "traces", "set it to milliseconds, such as 5000", isPositive},
	{"OTEL_SDK_DISABLED", "", "set it to true, and nothing is sent, or to false", isSwitch},
	{"OTEL_RESOURCE_ATTRIBUTES", "", "write NAME=VALUE, with commas between several, and characters of values such as commas as %2C", areAttributes},
}

func isCollector(v string) bool {
	u, err := url.Parse(v)
	if err != nil || !strings.EqualFold(u.Scheme, "http") && !strings.EqualFold(u.Scheme, "https") || u.Hostname() == "" {
		return false
	}
	if u.User != nil || strings.ContainsAny(v, "?#") { // they would not be sent
		return false
	}
	port, err := strconv.ParseUint(cmp.Or(u.Port(), "80"), 10, 16)
	return err == nil && port > 0
}

func isPositive(v string) bool {
	n, err := strconv.ParseInt(v, 10, 32)
	return err == nil && n > 0
}

func isSwitch(v string) bool { return strings.EqualFold(v, "true") || strings.EqualFold(v, "false") }

func areHeaders(v string) bool { return arePairs(v, isToken, isLine) }

func areAttributes(v string) bool {
	return arePairs(v, func(name string) bool { return name != "" }, func(string) bool { return true })
}

// isLine reports whether a value can be that of a header of HTTP.
func isLine(value string) bool {
	return !strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}

// arePairs reports whether a value has names, each with a value that can be unescaped.
func arePairs(v string, isName, isValue func(string) bool) bool {
	for pair := range strings.SplitSeq(v, ",") {
		name, value, ok := strings.Cut(pair, "=")
		value, err := url.PathUnescape(value)
		if !ok || err != nil || !isName(strings.TrimSpace(name)) || !isValue(value) {
			return false
		}
	}
	return true
}

// isToken reports whether a name can be that of a header of HTTP.
func isToken(name string) bool {
	const marks = "!#$%&'*+-.^_`|~"
	return name != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < '0' || r > '9') && (r|0x20 < 'a' || r|0x20 > 'z') && !strings.ContainsRune(marks, r)
	})
}

func isCertificate(path string) bool {
	b, err := os.ReadFile(path) //nolint:gosec // the operator names the file
	return err == nil && x509.NewCertPool().AppendCertsFromPEM(b)
}

// checkClientCertificate refuses (invalid) a client certificate that cannot be used: the SDK would connect without.
func checkClientCertificate(variable string) error {
	certName, cert := setting(variable, "CLIENT_CERTIFICATE")
	keyName, key := setting(variable, "CLIENT_KEY")
	if cert == "" && key == "" {
		return nil
	}
	_, err := tls.LoadX509KeyPair(cert, key)
	switch {
	case key == "":
		certName, err = prefix+"CLIENT_KEY", errors.New("it is not set")
	case cert == "":
		certName, err = prefix+"CLIENT_CERTIFICATE", errors.New("it is not set")
	case err == nil:
		return nil
	default:
		certName += " and " + keyName
	}
	return refusal.New(refusal.Invalid, "name the files of a certificate and of its key, in PEM", "the client certificate of the environment variables %s cannot be used: %v", certName, err)
}

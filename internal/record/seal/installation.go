package seal

import (
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The files of keys in the data directory: the keys of the content, and the key of the installation, unless the environment has that.
const (
	ContentKeys      = "erasure/keys"
	InstallationFile = "erasure/key"
)

// InstallationKey is the variable of the environment with the key of the installation: 32 bytes in base64.
const InstallationKey = "TRAPEZE_INSTALLATION_KEY"

// Installation returns the key of the installation.
func Installation(dir string) (Wrapper, error) {
	if text := os.Getenv(InstallationKey); text != "" {
		w, err := wrapperOf(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", InstallationKey, err)
		}
		return w, nil
	}
	path := filepath.Join(dir, InstallationFile)
	text, err := os.ReadFile(path) //nolint:gosec // the operator's directory
	if err != nil {
		return nil, err
	}
	w, err := wrapperOf(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return w, nil
}

func wrapperOf(text string) (Wrapper, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return nil, errors.New("want 32 bytes in base64, such as from: openssl rand -base64 32")
	}
	return NewWrapper(key)
}

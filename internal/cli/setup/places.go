package setup

import (
	"os"
	"path/filepath"
	"runtime"
)

// places are the directories of clients' files.
type places struct {
	root   string // of the project
	home   string
	getenv func(string) string
}

// currentPlaces finds the project's root, which is the nearest directory with a .git or else the current one, and the home directory.
func currentPlaces(getenv func(string) string) (places, error) {
	p := places{getenv: getenv, home: getenv("HOME")}
	var err error
	if p.home == "" {
		if p.home, err = os.UserHomeDir(); err != nil {
			return p, err
		}
	}
	if p.root, err = os.Getwd(); err != nil {
		return p, err
	}
	for dir := p.root; ; dir = filepath.Dir(dir) {
		if exists(filepath.Join(dir, ".git")) {
			p.root = dir
			return p, nil
		}
		if dir == p.home || dir == filepath.Dir(dir) {
			return p, nil
		}
	}
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (p places) claude() string {
	if dir := p.getenv("CLAUDE_CONFIG_DIR"); dir != "" {
		return dir
	}
	return filepath.Join(p.home, ".claude")
}

func (p places) codex() string {
	if dir := p.getenv("CODEX_HOME"); dir != "" {
		return dir
	}
	return filepath.Join(p.home, ".codex")
}

// code is VS Code's default user profile.
func (p places) code() string {
	switch config := p.getenv("XDG_CONFIG_HOME"); {
	case runtime.GOOS == "windows":
		return filepath.Join(p.getenv("APPDATA"), "Code", "User")
	case runtime.GOOS == "darwin":
		return filepath.Join(p.home, "Library", "Application Support", "Code", "User")
	case config != "":
		return filepath.Join(config, "Code", "User")
	}
	return filepath.Join(p.home, ".config", "Code", "User")
}

// opencode is opencode's directory of the user.
func (p places) opencode() string {
	if dir := p.getenv("OPENCODE_CONFIG_DIR"); dir != "" {
		return dir
	}
	if config := p.getenv("XDG_CONFIG_HOME"); config != "" {
		return filepath.Join(config, "opencode")
	}
	return filepath.Join(p.home, ".config", "opencode")
}

func (p places) copilot() string {
	if dir := p.getenv("COPILOT_HOME"); dir != "" {
		return dir
	}
	return filepath.Join(p.home, ".copilot")
}

package gitsnap

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"
)

// Runs is a file of a snapshot that a program runs, or obeys, without being asked to: on entering the directory, on opening it, at the next
// commit, build or push.
type Runs struct {
	Path string `json:"path"`
	By   string `json:"by"` // the program, and when
}

// runsNames are such files, by name in lower case; runsDirs are directories with such files, by their path from the top or, if they
// begin with "/", anywhere.
var (
	runsNames = map[string]string{
		".envrc": "direnv, on entering the directory", ".env": "programs that load it when they start", ".mise.toml": "mise, on entering the directory",
		"mise.toml": "mise, on entering the directory", ".autoenv": "autoenv, on entering the directory", ".gitmodules": "git, for submodules",
		".gitattributes": "git, which filters and merges as it says", ".gitconfig": "git, if it is included", ".lfsconfig": "git-lfs",
		".pre-commit-config.yaml": "pre-commit, at a commit", "lefthook.yml": "lefthook, at a commit", "lefthook.yaml": "lefthook, at a commit",
		".lefthook.yml": "lefthook, at a commit", ".huskyrc": "husky, at a commit", ".lintstagedrc": "lint-staged, at a commit",
		".mcp.json": "agents, which start its servers", "mcp.json": "agents, which start its servers", "claude.md": "agents, as instructions",
		"agents.md": "agents, as instructions", "gemini.md": "agents, as instructions", ".cursorrules": "agents, as instructions",
		".windsurfrules": "agents, as instructions", ".clinerules": "agents, as instructions", ".aider.conf.yml": "aider",
		".gitlab-ci.yml": "CI, at a push", ".travis.yml": "CI, at a push", ".drone.yml": "CI, at a push", "jenkinsfile": "CI, at a push",
		"azure-pipelines.yml": "CI, at a push", "bitbucket-pipelines.yml": "CI, at a push", ".woodpecker.yml": "CI, at a push", "appveyor.yml": "CI, at a push",
		"makefile": "make", "gnumakefile": "make", "bsdmakefile": "make", "justfile": "just", ".justfile": "just", "taskfile.yml": "task",
		"taskfile.yaml": "task", "rakefile": "rake", "package.json": "npm, which runs its scripts at an install", ".npmrc": "npm", ".yarnrc": "yarn",
		".yarnrc.yml": "yarn", ".pnpmfile.cjs": "pnpm, at an install", "setup.py": "pip, at an install", "conftest.py": "pytest", "noxfile.py": "nox",
		"tox.ini": "tox", "sitecustomize.py": "python, when it starts", "build.rs": "cargo, at a build", "build.gradle": "gradle",
		"build.gradle.kts": "gradle", "settings.gradle": "gradle", "gradlew": "gradle", "mvnw": "maven", ".bazelrc": "bazel", "flake.nix": "nix",
		"shell.nix": "nix", "default.nix": "nix", ".exrc": "vi, on opening it", ".vimrc": "vim, on opening it", ".nvim.lua": "neovim, on opening it",
		".dir-locals.el": "emacs, on opening it", ".tmuxinator.yml": "tmuxinator", "dockerfile": "docker, at a build",
		"docker-compose.yml": "docker", "compose.yaml": "docker", "vagrantfile": "vagrant",
		"opencode.json": "agents: settings, and servers that they start", "opencode.jsonc": "agents: settings, and servers that they start",
		"claude.local.md": "agents, as instructions", "agents.override.md": "agents, as instructions", "copilot-instructions.md": "agents, as instructions",
		"qwen.md": "agents, as instructions", ".goosehints": "agents, as instructions", ".roorules": "agents, as instructions", ".rules": "agents, as instructions",
		".devcontainer.json": "the editor, which builds a container", ".mise.local.toml": "mise, on entering the directory",
		"mise.local.toml": "mise, on entering the directory", ".gdbinit": "gdb, when it starts", ".lldbinit": "lldb, when it starts",
		"usercustomize.py": "python, when it starts", "pyproject.toml": "pip, which runs its build backend", "setup.cfg": "pip, at an install",
		"composer.json": "composer, at an install", "gemfile": "bundler", "bunfig.toml": "bun, when it starts", "pom.xml": "maven",
		"settings.gradle.kts": "gradle", "init.gradle": "gradle", "cmakelists.txt": "cmake, at a build", "containerfile": "podman, at a build",
		"docker-compose.yaml": "docker", "compose.yml": "docker", "procfile": "programs that start what it names", "devenv.nix": "nix",
		".pdbrc": "the debugger of python, when it starts", ".rprofile": "R, when it starts", ".rdata": "R, when it starts", ".ghci": "ghci, when it starts",
		".ocamlinit": "ocaml, when it starts", ".irbrc": "irb, when it starts", ".pryrc": "pry, when it starts", ".octaverc": "octave, when it starts",
		".iex.exs": "iex, when it starts", ".lvimrc": "vim, on opening it", ".nvimrc": "neovim, on opening it", "_vimrc": "vim, on opening it",
		".pnp.cjs": "yarn, when it starts", "rust-toolchain": "cargo, which runs the compiler that it names", "rust-toolchain.toml": "cargo, which runs the compiler that it names",
		".tool-versions": "asdf or mise, on entering the directory", "directory.build.props": "msbuild, at a build", "directory.build.targets": "msbuild, at a build",
		".eslintrc.js": "the editor, which checks with it", ".eslintrc.cjs": "the editor, which checks with it", "eslint.config.js": "the editor, which checks with it",
		"eslint.config.mjs": "the editor, which checks with it", "eslint.config.cjs": "the editor, which checks with it", "eslint.config.ts": "the editor, which checks with it",
		".prettierrc.js": "the editor, which formats with it", ".prettierrc.cjs": "the editor, which formats with it", "prettier.config.js": "the editor, which formats with it",
		"mix.exs": "mix, when it starts", "build.sbt": "sbt, when it starts",
	}
	runsDirs = map[string]string{
		"/.claude": "agents: settings, hooks and commands", "/.cursor": "agents: settings and rules", "/.codex": "agents: settings",
		"/.gemini": "agents: settings", "/.continue": "agents: settings", "/.roo": "agents: settings", "/.kiro": "agents: settings and hooks",
		"/.agents": "agents: skills", "/.vscode": "the editor, on opening it", "/.idea": "the editor, on opening it", "/.zed": "the editor, on opening it",
		"/.fleet": "the editor, on opening it", "/.devcontainer": "the editor, which builds a container", "/.githooks": "git, as hooks",
		"/.hooks": "git, as hooks", "/.husky": "git, as hooks", "/.direnv": "direnv", "/.mise": "mise",
		".github/workflows": "CI, at a push", ".github/actions": "CI, at a push", ".gitlab": "CI, at a push", ".gitea/workflows": "CI, at a push",
		".forgejo/workflows": "CI, at a push", "/.circleci": "CI, at a push", "/.buildkite": "CI, at a push", "/.woodpecker": "CI, at a push",
		"/.tekton": "CI, at a push", "/.cargo": "cargo, which runs what it names", "/.opencode": "agents: settings and plugins",
		".github/instructions": "agents, as instructions", ".github/prompts": "agents, as instructions", ".github/agents": "agents, as instructions",
		".github/chatmodes": "agents, as instructions", ".github/hooks": "agents: hooks", "/.windsurf": "agents: rules", "/.clinerules": "agents, as instructions",
		"/.amazonq": "agents: rules", "/.augment": "agents: rules", "/.junie": "agents: rules", "/.qwen": "agents: settings", "/.trae": "agents: rules",
		"/.mvn": "maven, which loads its extensions", "/.config/mise": "mise, on entering the directory",
		"/.yarn": "yarn, which runs its releases and plugins", "/.helix": "the editor, which starts its servers", "/.run": "the editor, as a configuration",
	}
)

// gitHooks are the names of the hooks that run at usual commands (githooks(5)).
var gitHooks = map[string]bool{
	"pre-commit": true, "prepare-commit-msg": true, "commit-msg": true, "post-commit": true, "pre-merge-commit": true, "pre-rebase": true,
	"post-checkout": true, "post-merge": true, "pre-push": true, "post-rewrite": true, "applypatch-msg": true, "pre-applypatch": true,
	"post-applypatch": true, "reference-transaction": true, "fsmonitor-watchman": true, "post-index-change": true,
}

// runsBy returns the program that runs or obeys a file by itself; empty if none is known. Names count in any case, as on the file systems
// of macOS and Windows.
func runsBy(name string) string {
	name = strings.ToLower(name)
	if by := runsNames[path.Base(name)]; by != "" {
		return by
	}
	switch path.Ext(name) {
	case ".mk":
		return "make"
	case ".code-workspace":
		return "the editor, on opening it"
	}
	if path.Base(path.Dir(name)) == "hooks" && gitHooks[path.Base(name)] {
		return "git, as a hook"
	}
	for dir := name; dir != "."; dir = path.Dir(dir) {
		base := path.Base(dir)
		if by := cmp.Or(runsDirs[dir], runsDirs["/"+base], runsDirs["/"+path.Base(path.Dir(dir))+"/"+base]); by != "" {
			return by
		}
	}
	return ""
}

// runs lists the files that differ between what is checked out and the tree in the index of scratch, and that programs run by
// themselves, by path. Files that the snapshot removes are none.
func (r *repo) runs(ctx context.Context) (list []Runs, err error) {
	changes, err := r.changes(ctx, "HEAD")
	if err != nil {
		return nil, err
	}
	for _, c := range changes {
		if by := runsBy(c.path); by != "" && c.newMode != absent {
			list = append(list, Runs{strings.ToValidUTF8(c.path, "?"), by})
		}
	}
	slices.SortFunc(list, func(a, b Runs) int { return strings.Compare(a.Path, b.Path) })
	return list, nil
}

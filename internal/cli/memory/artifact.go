package memory

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/cli/shell"
)

func artifacts(s *shell.Shell) *cobra.Command {
	return shell.Group("artifact", "Files and patches that envelopes refer to, by the hash of their content", artifactPut(s), artifactGet(s))
}

func artifactPut(s *shell.Shell) *cobra.Command {
	var digest string
	cmd := s.Call("put FILE", "Have the server keep a file (- is standard input), and print its digest", cobra.ExactArgs(1),
		func(ctx context.Context, c *client.Client, args []string) error {
			content := s.Stdin
			if args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return shell.Usage(err)
				}
				defer f.Close() // nothing was written
				content = f
			}
			info, err := c.PutArtifact(ctx, content, digest)
			return emitArtifact(s, info, err)
		})
	cmd.Long = `Have the server keep a file, and print its digest. The same content again is the same artifact. It is there for you, and
for whoever gets an envelope that refers to it; what no envelope refers to is deleted after a day.`
	cmd.Flags().StringVar(&digest, "digest", "", "refuse the content if it does not have this digest")
	return example(cmd, "trapeze artifact put report.pdf")
}

func artifactGet(s *shell.Shell) *cobra.Command {
	var output string
	cmd := s.Call("get DIGEST", "Fetch an artifact; the read is on record", cobra.ExactArgs(1),
		func(ctx context.Context, c *client.Client, args []string) error {
			if output == "" || output == "-" {
				return printArtifact(ctx, s, c, args[0], output == "-")
			}
			info, err := saveArtifact(ctx, c, args[0], output)
			return emitArtifact(s, info, err)
		})
	cmd.Long = `Fetch an artifact. With -o it is in the file only when all of it has come and has the digest; without, it goes to standard
output as it comes, and only the exit code 0 says that it is whole.`
	cmd.Flags().StringVarP(&output, "output", "o", "", "the file to write (default: standard output)")
	return example(cmd, "trapeze artifact get sha256:e3b0…b855 -o report.pdf")
}

// printArtifact writes an artifact to standard output, but to a terminal only if that was asked for: what others have
// put could change how it looks and what it does.
func printArtifact(ctx context.Context, s *shell.Shell, c *client.Client, digest string, asked bool) error {
	if s.Terminal() && !asked {
		return shell.Hinted(shell.Usagef("an artifact is not for a terminal"), "name a file with -o, or say -o - if you know what it is")
	}
	_, err := c.Artifact(ctx, digest, s.Stdout)
	return err
}

// saveArtifact writes an artifact to a file, whole or not at all.
func saveArtifact(ctx context.Context, c *client.Client, digest, name string) (info client.ArtifactInfo, err error) {
	f, err := os.CreateTemp(filepath.Dir(name), ".artifact-*")
	if err != nil {
		return info, shell.Usage(err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	info, err = c.Artifact(ctx, digest, f)
	if err := errors.Join(err, f.Close()); err != nil {
		return info, err
	}
	return info, os.Rename(f.Name(), name)
}

func emitArtifact(s *shell.Shell, info client.ArtifactInfo, err error) error {
	if err != nil {
		return err
	}
	return s.Emit(info, func(p *shell.Page) {
		p.Fields([]shell.Field{{"artifact", info.Digest}, {"bytes", strconv.FormatInt(info.Bytes, 10)}})
	})
}

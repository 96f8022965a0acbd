package envelope

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

// Artifact is the command group trapeze artifact.
func Artifact(s *shell.Shell) *cobra.Command {
	return shell.Group("artifact", "Upload and fetch the files and patches that envelopes refer to", artifactPut(s), artifactGet(s))
}

func artifactPut(s *shell.Shell) *cobra.Command {
	var digest string
	cmd := s.Call("put FILE", "Upload a file (- for standard input), and print its digest", cobra.ExactArgs(1),
		func(ctx context.Context, c *client.Client, args []string) error {
			content := s.Stdin
			if args[0] != "-" {
				f, err := os.Open(args[0])
				if err != nil {
					return shell.Usage(err)
				}
				defer f.Close() // only read
				content = f
			}
			info, err := c.PutArtifact(ctx, content, digest)
			return emitArtifact(s, info, err)
		})
	cmd.Long = `Upload a file, and print its digest. Uploading the same content again gives the same artifact. You and every receiver of an
envelope that refers to the artifact can fetch it. An artifact that no envelope refers to is deleted after a day.`
	cmd.Flags().StringVar(&digest, "digest", "", "digest that the content must have")
	return shell.Example(cmd, "trapeze artifact put report.pdf")
}

func artifactGet(s *shell.Shell) *cobra.Command {
	var output string
	cmd := s.Call("get DIGEST", "Fetch an artifact; the read is recorded", cobra.ExactArgs(1),
		func(ctx context.Context, c *client.Client, args []string) error {
			if output == "" || output == "-" {
				return printArtifact(ctx, s, c, args[0], output == "-")
			}
			info, err := saveArtifact(ctx, c, args[0], output)
			return emitArtifact(s, info, err)
		})
	cmd.Long = `Fetch an artifact. With -o the file is only created once the whole content has arrived and matches the digest. Without -o the
content is written to standard output as it arrives, and is complete only if the exit code is 0.`
	cmd.Flags().StringVarP(&output, "output", "o", "", "file to write (default: standard output)")
	return shell.Example(cmd, "trapeze artifact get sha256:e3b0…b855 -o report.pdf")
}

// printArtifact writes an artifact to standard output, but to a terminal only if asked to: a terminal does not show the bytes as they are.
func printArtifact(ctx context.Context, s *shell.Shell, c *client.Client, digest string, asked bool) error {
	if s.Terminal && !asked {
		return shell.Hinted(shell.Usagef("an artifact is not printed to a terminal"), "write it to a file with -o FILE, or print it with -o -, control characters by their number")
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
	return s.Answer(info, err, func(p *shell.Page) {
		p.Fields([]shell.Field{{"artifact", info.Digest}, {"bytes", strconv.FormatInt(info.Bytes, 10)}})
	})
}

//go:build (slow && !race) || outside

package scenario

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	api "github.com/trapezehq/trapeze/client"
	"github.com/trapezehq/trapeze/internal/files/artifact"
)

// patchOf returns a patch of so many bytes, different for each n.
func patchOf(kind, size int) []byte {
	b := bytes.Repeat(fmt.Appendf(nil, "line of patch %d\n", kind), size/16+1)
	return b[:size]
}

// storedFiles returns the files in a server's store of artifacts, by digest, and the number of unfinished ones. Each must have the
// digest that it is named by.
func storedFiles(t *testing.T, dir string) (whole map[string]int64, unfinished int) {
	t.Helper()
	whole = map[string]int64{}
	err := filepath.WalkDir(filepath.Join(dir, "artifacts"), func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if filepath.Base(filepath.Dir(name)) == "new" {
			unfinished++
			return nil
		}
		b, err := os.ReadFile(name) //nolint:gosec // ours
		if err != nil {
			return err
		}
		digest := artifact.DigestOf(b)
		if digest.Hex() != filepath.Base(name) {
			t.Errorf("%s holds %d bytes of %s", name, len(b), digest)
		}
		whole[string(digest)] = int64(len(b))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return whole, unfinished
}

// fetched checks that an artifact is returned as it was stored.
func fetched(t *testing.T, c *api.Client, want []byte) {
	t.Helper()
	var got bytes.Buffer
	if _, err := c.Artifact(t.Context(), string(artifact.DigestOf(want)), &got); err != nil || !bytes.Equal(got.Bytes(), want) {
		t.Errorf("%d of %d bytes, %v", got.Len(), len(want), err)
	}
}

func TestAnUploadThatTheServerDoesNotSurviveLeavesNothing(t *testing.T) {
	embedded(t)
	t.Parallel()
	r := newRig(t, t.TempDir(), modeServe)
	r.program = crashProgram(t)
	c := r.client(r.start(), r.token)
	kept := patchOf(0, 100_000)
	if _, err := c.PutArtifact(t.Context(), bytes.NewReader(kept), ""); err != nil {
		t.Fatal(err)
	}
	in, out := io.Pipe()
	ended := make(chan error, 1)
	go func() {
		_, err := c.PutArtifact(context.WithoutCancel(t.Context()), in, "")
		ended <- err
	}()
	half := patchOf(1, 1<<20)
	if _, err := out.Write(half); err != nil { // and then it waits for more
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); ; <-time.After(time.Millisecond) {
		if _, unfinished := storedFiles(t, r.dir); unfinished == 1 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the upload does not begin")
		}
	}
	r.kill()
	if err := out.CloseWithError(errors.New("nobody reads")); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Error("half an upload was taken")
	}
	c = r.client(r.start(), r.token)
	if whole, unfinished := storedFiles(t, r.dir); unfinished != 0 || len(whole) != 1 {
		t.Errorf("%d unfinished, %d whole", unfinished, len(whole))
	}
	fetched(t, c, kept)
	if _, err := c.Artifact(t.Context(), string(artifact.DigestOf(half)), io.Discard); !errors.Is(err, api.NotFound) {
		t.Errorf("half an upload is there: %v", err)
	}
}

func TestNoAcknowledgedArtifactIsLostWhenTheServerIsKilled(t *testing.T) {
	embedded(t)
	t.Parallel()
	r := newRig(t, t.TempDir(), modeServe)
	r.program = crashProgram(t)
	const rounds, uploaders, acknowledgements = 4, 4, 12
	var mu sync.Mutex
	var kept [][]byte
	for round := range rounds {
		c := r.client(r.start(), r.token)
		enough := make(chan struct{})
		var wg sync.WaitGroup
		count := 0
		for u := range uploaders {
			wg.Go(func() {
				for n := 0; ; n++ {
					content := patchOf(1000*round+100*u+n, 1<<(10+(n+u)%11))
					if _, err := c.PutArtifact(context.WithoutCancel(t.Context()), bytes.NewReader(content), ""); err != nil {
						return // the server is gone
					}
					mu.Lock()
					kept = append(kept, content)
					if count++; count == acknowledgements {
						close(enough)
					}
					mu.Unlock()
				}
			})
		}
		<-enough
		r.kill()
		wg.Wait()
		c.Close()
	}
	c := r.client(r.start(), r.token)
	defer c.Close()
	whole, unfinished := storedFiles(t, r.dir)
	if unfinished != 0 || len(whole) < len(kept) {
		t.Errorf("%d unfinished, %d whole of %d acknowledged", unfinished, len(whole), len(kept))
	}
	for _, content := range kept {
		fetched(t, c, content)
	}
	if err := r.term(); err != nil {
		t.Error(err)
	}
}

func TestTheSameContentFromManySidesIsOneArtifact(t *testing.T) {
	embedded(t)
	t.Parallel()
	r := newRig(t, t.TempDir(), modeServe)
	r.program = crashProgram(t)
	url := r.start()
	admin := r.client(url, r.token)
	content := patchOf(7, 1<<20)
	var wg sync.WaitGroup
	for n := range 4 {
		name := fmt.Sprintf("agent-%d", n)
		if _, err := admin.RegisterAgent(t.Context(), name, api.AgentSpec{}); err != nil {
			t.Fatal(err)
		}
		token, err := admin.CreateToken(t.Context(), api.TokenInput{Role: api.RoleAgent, Name: name})
		if err != nil {
			t.Fatal(err)
		}
		c := r.client(url, token.Text)
		for range 4 {
			wg.Go(func() {
				if info, err := c.PutArtifact(t.Context(), bytes.NewReader(content), string(artifact.DigestOf(content))); err != nil || info.Bytes != 1<<20 {
					t.Errorf("%+v, %v", info, err)
				}
				fetched(t, c, content)
			})
		}
	}
	wg.Wait()
	if whole, unfinished := storedFiles(t, r.dir); unfinished != 0 || len(whole) != 1 {
		t.Errorf("%d unfinished, %d whole", unfinished, len(whole))
	}
	var record bytes.Buffer
	if err := admin.Export(t.Context(), api.ExportOptions{}, &record); err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(record.Bytes(), []byte(`"event":"artifact-stored"`)); n != 4 {
		t.Errorf("recorded %d times, want once for each agent", n)
	}
	if err := r.term(); err != nil {
		t.Error(err)
	}
}

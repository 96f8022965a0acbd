//go:build slow

package httpapi_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestADownloadIsGivenAsLongAsItIsRead(t *testing.T) {
	inBubble(t, func(b *bubble) {
		const size = 10 << 20
		status, answer, err := b.request("PUT", "/v1/artifacts", strings.NewReader(strings.Repeat("x", size)))
		if err != nil || status != 200 {
			b.Fatalf("%d %s, %v", status, answer, err)
		}
		for every, ends := range map[time.Duration]bool{time.Second: true, time.Hour: false, 10 * time.Second: false} {
			req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, "http://127.0.0.1/v1/artifacts/"+digestOf(strings.Repeat("x", size)), nil)
			if err != nil {
				b.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+b.token)
			res, err := b.http.Do(req)
			if err != nil {
				b.Fatal(err)
			}
			n, piece := 0, make([]byte, 16<<10)
			for err == nil {
				time.Sleep(every)
				var m int
				m, err = io.ReadFull(res.Body, piece)
				n += m
			}
			res.Body.Close()
			if whole := n == size; whole != ends {
				b.Errorf("a piece every %s: %d bytes, %v", every, n, err)
			}
		}
	})
}

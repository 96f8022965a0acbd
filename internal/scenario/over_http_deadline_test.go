package scenario

import "time"

// waits has an agent wait for its inbox, again and again, and answer nothing.
func waits(w *town, worker string, _ townTask) {
	for range 20 {
		w.must(worker, "GET /v1/inbox?wait=50s", "", nil)
		time.Sleep(3 * time.Second)
	}
}

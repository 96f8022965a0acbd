package sqlitelog

import "testing"

func TestEveryAppendOfABatchIsAnswered(t *testing.T) {
	for _, n := range []int{1, wakeChunk, wakeChunk + 1, 10*wakeChunk + 3} {
		batch := make([]*request, n)
		for i := range batch {
			batch[i] = newRequest()
		}
		asked := append([]*request(nil), batch...)
		a := newResponder()
		a.answer(batch)
		clear(batch) // the caller may reuse it
		for _, r := range asked {
			<-r.done
		}
		a.close()
	}
}

func TestCloseAnswersEveryAppend(t *testing.T) {
	batch := make([]*request, 10*wakeChunk)
	for i := range batch {
		batch[i] = newRequest()
	}
	a := newResponder()
	a.answer(batch)
	a.close()
	for i, r := range batch {
		select {
		case <-r.done:
		default:
			t.Fatalf("append %d was not answered", i)
		}
	}
}

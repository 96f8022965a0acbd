package sqlitelog

import "testing"

func TestEveryoneInABatchIsAnswered(t *testing.T) {
	for _, n := range []int{1, lot, lot + 1, 10*lot + 3} {
		batch := make([]*request, n)
		for i := range batch {
			batch[i] = newRequest()
		}
		asked := append([]*request(nil), batch...)
		a := newAnswers()
		a.give(batch)
		clear(batch) // it stays the caller's
		for _, r := range asked {
			<-r.done
		}
		a.close()
	}
}

func TestNoAnswerIsLeftWhenTheyAreClosed(t *testing.T) {
	batch := make([]*request, 10*lot)
	for i := range batch {
		batch[i] = newRequest()
	}
	a := newAnswers()
	a.give(batch)
	a.close()
	for i, r := range batch {
		select {
		case <-r.done:
		default:
			t.Fatalf("answer %d was not given", i)
		}
	}
}

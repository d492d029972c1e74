package vector

import (
	"math/rand/v2"
	"testing"
)

func TestRecallIsSampledAgainstExactVectors(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	batch := make([][]float32, 64)
	for i := range batch {
		batch[i] = make([]float32, 256)
		for j := range batch[i] {
			batch[i][j] = float32(r.NormFloat64())
		}
	}
	if share, ok := sampleRecall(batch); !ok || share < 0.9 || share > 1 {
		t.Errorf("recall %v %t", share, ok)
	}
	for i := range batch { // one component hides all others from the stored vectors
		batch[i][0] = 1e6
	}
	if share, ok := sampleRecall(batch); !ok || share > 0.9 {
		t.Errorf("recall %v of vectors that are stored as one", share)
	}
	if _, ok := sampleRecall(batch[:recallDepth]); ok {
		t.Error("a batch of ten tells the recall at ten")
	}
}

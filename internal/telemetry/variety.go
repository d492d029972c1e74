package telemetry

import (
	"hash/fnv"
	"strings"
	"sync"
)

// varietyTexts is the number of latest texts whose variety is measured.
const varietyTexts = 200

// maxRun is the greatest number of words in a run.
const maxRun = 3

// variety measures how varied the latest texts are: the share of different runs of one, two and three words among
// all such runs (Li et al., A Diversity-Promoting Objective Function for Neural Conversation Models, 2016). It keeps
// hashes, no words.
type variety struct {
	mu    sync.Mutex // guards the fields below
	texts [][]uint64 // of the runs of each text; a ring
	next  int
	count [maxRun]map[uint64]int
	total [maxRun]int
}

// HashWords returns a hash of each word of a text.
func HashWords(text string) (list []uint32) {
	for word := range strings.FieldsSeq(strings.ToLower(text)) {
		h := fnv.New32a()
		_, _ = h.Write([]byte(strings.Trim(word, ".,;:!?\"'“”()")))
		list = append(list, h.Sum32())
	}
	return list
}

// add adds a text, and forgets the oldest one.
func (v *variety) add(words []uint32) {
	v.mu.Lock()
	defer v.mu.Unlock()
	runs := runsOf(words)
	if len(v.texts) < varietyTexts {
		v.texts = append(v.texts, runs)
	} else {
		v.countRuns(v.texts[v.next], -1)
		v.texts[v.next] = runs
	}
	v.next = (v.next + 1) % varietyTexts
	v.countRuns(runs, 1)
}

func (v *variety) countRuns(runs []uint64, by int) {
	for _, r := range runs {
		n := r % maxRun
		if v.count[n] == nil {
			v.count[n] = map[uint64]int{}
		}
		v.total[n] += by
		if v.count[n][r] += by; v.count[n][r] == 0 {
			delete(v.count[n], r)
		}
	}
}

// share returns the share of different runs of n words, and 0 if there are none.
func (v *variety) share(n int) float64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.total[n-1] == 0 {
		return 0
	}
	return float64(len(v.count[n-1])) / float64(v.total[n-1])
}

// runsOf returns a hash of each run of one to three words. The remainder by maxRun is its length less one.
func runsOf(words []uint32) (runs []uint64) {
	for i := range words {
		h := uint64(0)
		for n := range min(maxRun, len(words)-i) {
			h = h*1_099_511_628_211 + uint64(words[i+n]) + 1
			runs = append(runs, h-h%maxRun+uint64(n))
		}
	}
	return runs
}

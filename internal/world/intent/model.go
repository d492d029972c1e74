package intent

import (
	_ "embed"
	"encoding/binary"
	"math"
	"slices"
	"sort"

	"loregate/internal/world/command"
)

// Classes is the number of answers: the verbs of commands, in their order, and last that nothing is to be done.
const Classes = 15

// None is the class of an utterance that asks for no act.
const None = Classes - 1

// leastSure is the probability of an answer from which on it is sure. It was chosen by the share of texts that a model
// is asked for: 23% of those of the latest author, whom neither reading knew.
const leastSure = 0.88

// Scores are logarithms of odds, or probabilities, of the classes.
type Scores [Classes]float32

// An Answer is the verb of the first act, "" if nothing is to be done.
type Answer struct {
	Verb       command.Verb
	Confidence float64 // the probability that it is right
	Unsure     bool    // another reader should be asked
}

// Classify reads an utterance, which the rules have read.
func Classify(rules command.Parsed) Answer {
	verb, confidence := rules.First()
	p := model.factors.Blend(model.score(TraitsOf(rules.RawText)), verb, confidence)
	best := p.Best()
	a := Answer{Confidence: float64(p[best]), Unsure: p[best] < leastSure}
	if best != None {
		a.Verb = command.Verbs[best]
	}
	return a
}

// confidenceSteps is the number of steps of confidence in a reading by the rules.
const confidenceSteps = 6

// Factors are the weights of the two readings. A reading of the rules counts by its step of confidence.
type Factors struct {
	Learned, None float32
	Rules         [confidenceSteps]float32
}

// Blend returns the probabilities of the classes from the scores of the learned model, and from the verb and the
// confidence of the rules.
func (f Factors) Blend(learned Scores, verb command.Verb, confidence float64) Scores {
	p := Terms(learned)
	for class := range p {
		p[class] *= f.Learned
	}
	p[None] += f.None
	p[ClassOf(verb)] += f.Rules[StepOf(verb, confidence)]
	return p.Probabilities()
}

// Terms returns the logarithms of the probabilities that the learned model gives the classes.
func Terms(learned Scores) Scores {
	p := learned.Probabilities()
	for class := range p {
		p[class] = float32(math.Log(float64(p[class]) + leastProbability))
	}
	return p
}

// leastProbability bounds the influence of a class that the learned model rules out.
const leastProbability = 1e-6

// ClassOf returns the class of a verb.
func ClassOf(verb command.Verb) int {
	if i := slices.Index(command.Verbs, verb); i >= 0 {
		return i
	}
	return None
}

// StepOf returns the step of confidence in a reading by the rules: 0 if it is that nothing is to be done.
func StepOf(verb command.Verb, confidence float64) int {
	if verb == "" {
		return 0
	}
	step := 1
	for _, least := range [...]float64{0.8, 0.87, 0.92, 0.97} {
		if confidence >= least {
			step++
		}
	}
	return step
}

// Best returns the class with the greatest score.
func (s Scores) Best() (best int) {
	for class := range s {
		if s[class] > s[best] {
			best = class
		}
	}
	return best
}

// Probabilities returns the probabilities of scores.
func (s Scores) Probabilities() Scores {
	most, sum := slices.Max(s[:]), float32(0)
	for class := range s {
		s[class] = float32(math.Exp(float64(s[class] - most)))
		sum += s[class]
	}
	for class := range s {
		s[class] /= sum
	}
	return s
}

// weightFile has, all numbers little-endian: Factors, and the scale of the weights, as float32; the number of slots, as
// uint32; the slots, sorted, as uint32; and for each slot a weight for each class, as int8. Weights are the logarithms
// of odds of a multinomial logistic model. The file is read in place.
//
//go:embed weights.bin
var weightFile string

// weights are those of the learned model.
type weights struct {
	factors       Factors
	scale         float32
	slots, values string
}

var model = openWeights(weightFile)

func openWeights(file string) (m weights) {
	next := func() uint32 {
		v := uint32At(file, 0)
		file = file[4:]
		return v
	}
	float := func() float32 { return math.Float32frombits(next()) }
	m.factors.Learned, m.factors.None = float(), float()
	for i := range m.factors.Rules {
		m.factors.Rules[i] = float()
	}
	m.scale = float()
	count := int(next())
	m.slots, m.values = file[:4*count], file[4*count:]
	return m
}

func uint32At(s string, i int) uint32 {
	s = s[4*i:]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// score returns the scores of an utterance with some traits.
func (m weights) score(traits []Trait) (s Scores) {
	count := len(m.slots) / 4
	for _, t := range traits {
		i := sort.Search(count, func(i int) bool { return uint32At(m.slots, i) >= t.Slot })
		if i == count || uint32At(m.slots, i) != t.Slot {
			continue
		}
		values := m.values[i*Classes:][:Classes]
		for class := range s {
			s[class] += t.Strength * m.scale * float32(int8(values[class]))
		}
	}
	return s
}

// AppendWeights appends the content of weightFile: a weight of each class for each slot.
func AppendWeights(file []byte, f Factors, weights map[uint32]Scores) []byte {
	most := float32(0)
	slots := make([]uint32, 0, len(weights))
	for slot, w := range weights {
		slots = append(slots, slot)
		most = max(most, slices.Max(w[:]), -slices.Min(w[:]))
	}
	slices.Sort(slots)
	scale := most / math.MaxInt8
	for _, v := range slices.Concat([]float32{f.Learned, f.None}, f.Rules[:], []float32{scale}) {
		file = binary.LittleEndian.AppendUint32(file, math.Float32bits(v))
	}
	file = binary.LittleEndian.AppendUint32(file, uint32(len(slots)))
	for _, slot := range slots {
		file = binary.LittleEndian.AppendUint32(file, slot)
	}
	for _, slot := range slots {
		for _, w := range weights[slot] {
			file = append(file, byte(int8(math.Round(float64(w/max(scale, math.SmallestNonzeroFloat32))))))
		}
	}
	return file
}

func sqrt(x float32) float32 { return float32(math.Sqrt(float64(x))) }

// Command moderation fits the scales of a moderation policy: moderation POLICY.json EXAMPLES.jsonl. It replaces the
// scales in the file. An example is a text with its category, which is "allow" for a harmless one. An example of a
// category is harmless for the others if it is marked as pure.
package main

import (
	"bufio"
	"encoding/json"
	"hash/fnv"
	"log"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"unicode"

	"loregate/internal/safety"
	"loregate/internal/stem"
)

// Constants of the fit, chosen by the recall on held back examples.
const (
	minTexts  = 4    // texts that have a feature
	rounds    = 10   // over all examples
	rate      = 0.8  // of learning
	sparse    = 0.5  // L1
	ridge     = 0.2  // L2
	clear     = 3.0  // weight of examples of the category, and of pure ones
	minWeight = 0.35 // of weights that are kept
	missed    = 0.05 // share of examples of the category that are missed at least
	parts     = 5    // of the cross-validation
	harmless  = "allow"
	precision = 100 // weights have two decimals
)

// allowed are the shares of harmless examples that may be flagged. Prose of rules resembles instructions and wounds; a
// speaker in danger is answered with care, and not blocked.
var allowed = map[string]float64{"abuse": 0.006, "gore": 0.0035, "illicit": 0.0065, "instructions": 0.0012,
	"real_people": 0.002, "self_harm": 0.006}

// A doubt is the score of a category below which the terms of another, or of itself, do not count.
type doubt struct {
	By    string  `json:"by"`
	Below float64 `json:"below"`
}

// doubts by category. Prompts in other languages than English have low scores: they are never doubted.
var doubts = map[string]doubt{"abuse": {"abuse", -3.5}, "hate": {"abuse", -1.5}, "gore": {"gore", -2.1},
	"illicit": {"illicit", -2.8}, "real_people": {"real_people", -4}, "self_harm": {"self_harm", -3.3}}

// spoken are the categories for which quoted speech in a narration counts.
var spoken = []string{"gore", "instructions", "real_people", "self_harm"}

type example struct {
	Text     string
	Category string
	Pure     bool
	Noisy    bool   // written elsewhere than in a game: it does not count in the cross-validation
	Group    string // examples of a group are held back together

	features []int
	scale    float64
}

func main() {
	if len(os.Args) != 3 {
		log.Fatal("usage: moderation POLICY.json EXAMPLES.jsonl")
	}
	file, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	examples := readExamples(os.Args[2])
	forms := formsOf(examples)
	file = putScales(file, map[string]any{"forms": forms})
	policy, err := safety.Load(file)
	if err != nil {
		log.Fatal(err)
	}
	names := extractFeatures(policy, examples)
	log.Printf("%d examples, %d words, %d features", len(examples), len(forms), len(names))
	bias, weight, used := map[string]float64{}, map[string]map[string]float64{}, map[string]string{}
	for _, category := range categoriesOf(examples) {
		b, w := fit(examples, category, len(names))
		bias[category], weight[category] = round(b), map[string]float64{}
		for i, v := range w {
			if v = round(v); math.Abs(v) < minWeight {
				continue
			}
			weight[category][names[i]] = v
			for word := range strings.FieldsSeq(names[i]) {
				if f, ok := forms[word]; ok {
					used[word] = f
				}
			}
		}
		log.Printf("%s: %d weights", category, len(weight[category]))
	}
	file = putScales(file, map[string]any{"forms": used, "bias": bias, "doubt": doubts, "spoken": spoken, "weight": weight})
	if _, err := safety.Load(file); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(os.Args[1], file, 0o644); err != nil {
		log.Fatal(err)
	}
}

func readExamples(name string) (list []*example) {
	f, err := os.Open(name)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		e := &example{}
		if err := json.Unmarshal(lines.Bytes(), e); err != nil {
			log.Fatal(err)
		}
		list = append(list, e)
	}
	if err := lines.Err(); err != nil {
		log.Fatal(err)
	}
	return list
}

// formsOf returns the forms of the words that are in enough examples, by stem.
func formsOf(examples []*example) map[string]string {
	texts, forms := map[string]int{}, map[string]map[string]bool{}
	for _, e := range examples {
		seen := map[string]bool{}
		for _, word := range safety.Words(e.Text) {
			if strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsLetter(r) }) {
				continue
			}
			s := stem.Of("en", word)
			if forms[s] == nil {
				forms[s] = map[string]bool{}
			}
			forms[s][word] = true
			if !seen[s] {
				texts[s]++
				seen[s] = true
			}
		}
	}
	list := map[string]string{}
	for s, words := range forms {
		if texts[s] >= minTexts {
			list[s] = strings.Join(slices.Sorted(maps.Keys(words)), " ")
		}
	}
	return list
}

// extractFeatures gives the examples their features, and returns the names of those that are in enough of them.
func extractFeatures(p *safety.Policy, examples []*example) (names []string) {
	texts := map[string]int{}
	found := make([][]string, len(examples))
	for i, e := range examples {
		features, words := p.Features(e.Text)
		found[i], e.scale = features, safety.Share(words)
		for _, f := range features {
			texts[f]++
		}
	}
	numbers := map[string]int{}
	for _, f := range slices.Sorted(maps.Keys(texts)) {
		if texts[f] >= minTexts {
			numbers[f] = len(names)
			names = append(names, f)
		}
	}
	for i, e := range examples {
		for _, f := range found[i] {
			if n, ok := numbers[f]; ok {
				e.features = append(e.features, n)
			}
		}
	}
	return names
}

func categoriesOf(examples []*example) []string {
	list := map[string]bool{}
	for _, e := range examples {
		if e.Category != harmless {
			list[e.Category] = true
		}
	}
	return slices.Sorted(maps.Keys(list))
}

// fit returns the bias and weights for a category. Cross-validation chooses the bias at which the allowed share of
// harmless examples is flagged.
func fit(examples []*example, category string, features int) (bias float64, weights []float64) {
	var own []*example
	for _, e := range examples {
		if e.Category == category || e.Category == harmless || e.Pure {
			own = append(own, e)
		}
	}
	var wrong, right []float64
	for part := range parts {
		var train []*example
		for _, e := range own {
			if e.part() != part {
				train = append(train, e)
			}
		}
		b, w := learn(train, category, features)
		for _, e := range own {
			switch s := e.score(b, w); {
			case e.part() != part:
			case e.Category == category:
				right = append(right, s)
			case e.Category == harmless && !e.Noisy:
				wrong = append(wrong, s)
			}
		}
	}
	slices.Sort(right)
	slices.Sort(wrong)
	limit := max(wrong[len(wrong)-1-int(allowed[category]*float64(len(wrong)))], right[int(missed*float64(len(right)))])
	hit := 0
	for _, s := range right {
		if s > limit {
			hit++
		}
	}
	log.Printf("%s: held back recall %.3f of %d, limit %.2f", category, float64(hit)/float64(len(right)), len(right), limit)
	bias, weights = learn(own, category, features)
	return bias - limit, weights
}

// learn fits a logistic regression by FTRL-Proximal (McMahan et al. 2013), which leaves most weights at 0.
func learn(examples []*example, category string, features int) (bias float64, weights []float64) {
	weights = make([]float64, features)
	z, n := make([]float64, features), make([]float64, features)
	biasSquare := 0.0
	random := rand.New(rand.NewPCG(3, 4))
	order := random.Perm(len(examples))
	for range rounds {
		random.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, at := range order {
			e := examples[at]
			target, importance := 0.0, 1.0
			if e.Category == category {
				target = 1
			}
			if e.Category == category || e.Pure {
				importance = clear
			}
			gradient := importance * (1/(1+math.Exp(-e.score(bias, weights))) - target)
			biasSquare += gradient * gradient
			bias -= rate * gradient / (1 + math.Sqrt(biasSquare))
			for _, f := range e.features {
				g := gradient * e.scale
				z[f] += g - (math.Sqrt(n[f]+g*g)-math.Sqrt(n[f]))/rate*weights[f]
				n[f] += g * g
				weights[f] = 0
				if math.Abs(z[f]) > sparse {
					weights[f] = (math.Copysign(sparse, z[f]) - z[f]) / ((1+math.Sqrt(n[f]))/rate + ridge)
				}
			}
		}
	}
	return bias, weights
}

func (e *example) score(bias float64, weights []float64) float64 {
	sum := 0.0
	for _, f := range e.features {
		sum += weights[f]
	}
	return bias + sum*e.scale
}

// part returns the part of the cross-validation that holds an example back.
func (e *example) part() int {
	h := fnv.New32a()
	h.Write([]byte(e.Group))
	return int(h.Sum32() % parts)
}

func round(v float64) float64 { return math.Round(v*precision) / precision }

// putScales replaces the scales of a policy's file, which are its last member.
func putScales(file []byte, scales any) []byte {
	head, _, ok := strings.Cut(string(file), ",\n  \"scales\":")
	if !ok {
		head = strings.TrimRight(strings.TrimSuffix(strings.TrimSpace(string(file)), "}"), "\n")
	}
	b, err := json.Marshal(scales)
	if err != nil {
		log.Fatal(err)
	}
	return []byte(head + ",\n  \"scales\": " + string(b) + "\n}\n")
}

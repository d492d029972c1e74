package meaning

import (
	"math"
	"strings"
	"testing"
)

func TestCloseness(t *testing.T) {
	const said = "The smith sold his hammer to the innkeeper."
	for _, pair := range [][2]string{
		{"His hammer was sold to the innkeeper by the smith.", "The smith repaired his hammer for the innkeeper."},
		{"The blacksmith's mallet was bought by the landlord of the tavern.", "The smith broke the innkeeper's window."},
		{"The smith sold his hammer to the innkeeper.", "Rain fell on the hills for a week."},
	} {
		same, other := Closeness(said, pair[0]), Closeness(said, pair[1])
		if same <= other {
			t.Errorf("%q: %.2f, not closer than %q: %.2f", pair[0], same, pair[1], other)
		}
		if back := Closeness(pair[0], said); math.Abs(back-same) > 1e-9 {
			t.Errorf("%q: %.4f in one direction, %.4f in the other", pair[0], same, back)
		}
	}
	for _, other := range []string{"The innkeeper sold his hammer to the smith.",
		"The smith never sold his hammer to the innkeeper.",
		"The smith sold nine hammers to the innkeeper."} {
		const counted = "The smith sold two hammers to the innkeeper."
		got, plain := Closeness(said, other), Closeness(said, "To the innkeeper, the smith sold his hammer.")
		if got >= plain {
			t.Errorf("%q: %.2f, in another order %.2f", other, got, plain)
		}
		if got := Closeness(counted, other); got > 0.8 {
			t.Errorf("%q: %.2f", other, got)
		}
	}
	if got := Closeness(said, said); got != 1 {
		t.Errorf("a sentence and itself: %v, want 1", got)
	}
	if got := Closeness("Ask.", "He was asked how people got in."); got != 0 {
		t.Errorf("a lone word and a sentence with it: %v, want 0", got)
	}
	for _, text := range []string{"", "the of and", "\x00 \xff", "ß"} {
		if got := Closeness(said, text); got < 0 || got > 0.5 || math.IsNaN(got) {
			t.Errorf("%q: %v", text, got)
		}
	}
	if n := len(Prepare(strings.Repeat("word ", 1000)).tokens); n != maxTokens {
		t.Errorf("%d words of a long text count, want %d", n, maxTokens)
	}
}

// The same words may say something else: then two sentences are less close than paraphrases in other words.
func TestContrast(t *testing.T) {
	const least = 0.5
	if got := Closeness("The smith sold his hammer to the innkeeper.",
		"The blacksmith's mallet was bought by the landlord of the tavern."); got < least {
		t.Errorf("a paraphrase in other words has a closeness of %.2f", got)
	}
	for _, row := range []struct {
		a, b string
		same bool
	}{
		{"The shepherd fears the wolf at night.", "The wolf fears the shepherd at night.", false},
		{"The shepherd fears the wolf at night.", "At night the shepherd fears the wolf.", true},
		{"The wolf chased the shepherd.", "The shepherd was chased by the wolf.", true},
		{"The wolf chased the shepherd.", "The wolf was chased by the shepherd.", false},
		{"The shepherd eats cheese, not bread.", "The shepherd eats bread, not cheese.", false},
		{"The shepherd never sings and the miller sings.", "The shepherd sings and the miller never sings.", false},
		{"Her fourth son is a miller.", "Her fifth son is a miller.", false},
		{"The miller doesn't sell flour to the smith.", "The miller sells flour to the smith.", false},
		{"Most of the millers sell flour.", "Few of the millers sell flour.", false},
		{"The miller found a purse in the ditch.", "The miller found a purse in the church.", false},
		{"The miller found a purse in the ditch.", "The miller discovered a purse in the ditch.", true},
	} {
		if got := Closeness(row.a, row.b); got > least != row.same {
			t.Errorf("%q, %q: %.2f", row.a, row.b, got)
		}
	}
}

func TestVectorOf(t *testing.T) {
	near := VectorOf("a ship in a storm", nil).Dot(VectorOf("The sailors' boat met heavy winds", nil))
	far := VectorOf("a ship in a storm", nil).Dot(VectorOf("Flour, butter and sugar", nil))
	if near < far+0.2 {
		t.Errorf("near texts have a cosine of %.2f, far ones %.2f", near, far)
	}
	if v := VectorOf("a ship", nil); math.Abs(float64(v.Dot(v))-1) > 1e-5 {
		t.Errorf("the length of a vector is %v", v.Dot(v))
	}
	zero := VectorOf("xyzzy 123", nil)
	if zero.Dot(zero) != 0 || zero.Dot(Vector{1}) != 0 {
		t.Errorf("an unknown word has the vector %v", zero)
	}
	plain := VectorOf("ship storm", func(string) float64 { return 1 })
	weighted := VectorOf("ship storm", func(w string) float64 { return float64(len(w) - 4) })
	if weighted.Dot(VectorOf("storm", nil)) <= plain.Dot(VectorOf("storm", nil)) {
		t.Error("a greater weight of a word does not bring the vector nearer to it")
	}
}

func BenchmarkVectorOf(b *testing.B) {
	text := strings.Repeat("The harbour master takes bribes from the smugglers of the coast. ", 7)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		VectorOf(text, nil)
	}
}

func BenchmarkCloseness(b *testing.B) {
	one := Prepare("The harbour master takes bribes from the smugglers.")
	b.ReportAllocs()
	for b.Loop() {
		one.Closeness(Prepare("Those who bring in goods illegally pay off the official in charge of the port."))
	}
}

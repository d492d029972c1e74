package agent

import (
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"unicode/utf8"
)

// maxAmbience is the longest ambience that the gates accept, in characters.
const maxAmbience = 180

// setting is a place as the composer sees it.
type setting struct {
	Place     string
	Terrain   string
	TimeOfDay string
	Weather   string
	Tags      []string
	Also      []string // phrases of which one is told first
	Layer     string   // kind of the layer
	ToTick    int64    // the last tick of the layer; 0 for no end
}

// Compose writes ambience for a place without a model: phrases that fit the hour, the terrain and
// the weather. For one setting, only the seed determines the choice. The phrases describe light,
// sound and smell, and so claim nothing that the canon might not have.
func Compose(s setting, seed string) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(seed))
	r := rand.New(rand.NewPCG(h.Sum64(), uint64(len(seed))))
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	light := pick(nonEmptyOf(lightPhrases[s.TimeOfDay], lightPhrases["afternoon"]))
	sound := pick(nonEmptyOf(terrainPhrases[s.Terrain], terrainPhrases[""]))
	parts := []string{light, sound}
	if more := weatherPhrases[strings.ToLower(s.Weather)]; len(more) > 0 {
		parts = append(parts, pick(more))
	} else if len(s.Tags) > 0 && r.IntN(2) == 0 {
		parts = append(parts, pick(closingPhrases))
	}
	if r.IntN(2) == 0 {
		parts[0], parts[1] = parts[1], parts[0]
	}
	if len(s.Also) > 0 {
		parts = append([]string{pick(s.Also)}, parts...)
	}
	for len(parts) > 1 && utf8.RuneCountInString(strings.Join(parts, " ")) > maxAmbience {
		parts = parts[:len(parts)-1]
	}
	return strings.Join(parts, " ")
}

func nonEmptyOf(list, or []string) []string {
	if len(list) > 0 {
		return list
	}
	return or
}

var lightPhrases = map[string][]string{
	"dawn": {
		"The first light is thin and undecided.", "Grey loosens from the edges of things.",
		"Everything wears the colour of cold ash, and waits.", "The dark withdraws by a finger's breadth at a time.",
		"Dew has made a second skin on whatever stands still.",
	},
	"morning": {
		"The light is young and gets into everything.", "Shadows lie long and clean, as if freshly cut.",
		"The air still tastes of the night's rinsing.", "Every edge is sharp this early.",
		"The morning goes about its business without a word.",
	},
	"afternoon": {
		"The light stands high and gives nothing away.", "The hour has gone slack, like a rope nobody pulls.",
		"Heat or habit has made all things slow.", "Shadows keep close to what casts them.",
		"The day is at its widest, and a little bored.",
	},
	"dusk": {
		"The light leaves by inches and looks back.", "Colours sink first, and shapes hold out a while.",
		"What was plain an hour ago keeps something to itself.", "A last gold lies along whatever faces west.",
		"The evening settles like dust that has thought it over.",
	},
	"night": {
		"The dark is thick enough to lean on.", "Only near things have a shape; the rest is rumour.",
		"The night has turned all corners into one.", "A little starlight, and it is spent on nothing.",
		"It is late enough for small sounds to grow.",
	},
}

var terrainPhrases = map[string][]string{
	"": {
		"Somewhere wood ticks as it cools.", "A loose thing taps, stops, and taps again.",
		"The quiet has a grain to it, like old boards.", "It smells of dust and of something kept too long.",
		"Nothing moves that does not have to.",
		"A draught tries the corners one by one.", "There is a smell of cold iron and rinsed stone.",
		"The silence here has been in use for years.",
	},
	"open-plain": {
		"The grass leans all one way, and then all the other.", "The wind has a long way to go and does not stop to talk.",
		"Far off is very far off here.", "A smell of dry seed and distance.", "The sky takes up more than its share.",
	},
	"dense-forest": {
		"Leaves talk over your head, and not to you.", "Light falls in coins and is not picked up.",
		"It smells of bark and patient rot.", "Something small turns over under the leaves.",
		"The trunks stand about as though they had been asked to.",
	},
	"hilltop": {
		"The wind has opinions up here.", "Below, all is small and tidy and somebody else's.",
		"The grass is combed flat on the weather side.", "Every sound arrives late and out of breath.",
		"The height makes the air taste of tin.",
	},
	"riverbank": {
		"The water goes by with the air of having told you already.", "Reeds nod to each other across the mud.",
		"It smells of silt and green rope.", "Ripples count themselves against the bank.",
		"The river mutters, loses its thread, and begins again.",
	},
	"narrow-corridor": {
		"Your own steps come back to you, a little late.", "The walls sweat where hands have worn them.",
		"Sound has nowhere to sit down here.", "It smells of damp mortar and lamp smoke.",
		"The stone keeps the cold of some other season.",
	},
}

var weatherPhrases = map[string][]string{
	"rain": {"Rain writes the same line over and over.", "Water drips from everything that has an edge."},
	"fog":  {"Fog has rubbed out whatever lay beyond.", "The fog holds every sound in its sleeve."},
	"mist": {"Mist lies low and will not be hurried.", "The mist has put its hand over the distance."},
	"snow": {"Snow has taken the corners off.", "The snow makes a room of wherever you stand."},
	"wind": {"The wind goes through its pockets and finds dust.", "Wind worries at the loose ends of things."},
	"storm": {
		"The air is tight as a drumhead.", "Thunder moves its furniture about, a good way off.",
	},
	"clear": nil,
}

var closingPhrases = []string{
	"It feels like a place that is used to being looked at.", "One has the sense of an hour that has been here before.",
	"Whatever this place was told, it has kept.", "Time seems to be kept here by something other than a clock.",
}

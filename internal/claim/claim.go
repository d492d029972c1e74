package claim

import (
	"fmt"
	"slices"
)

// Version names the rules by which claims are read and judged.
const Version = "claims-11"

// Predicate is what a claim says of its subject.
type Predicate string

// The predicates.
const (
	Holds    Predicate = "holds"
	Gives    Predicate = "gives"
	Dead     Predicate = "dead"
	Acts     Predicate = "acts" // does something that only the living do
	Here     Predicate = "here" // is at Object
	Arrives  Predicate = "arrives"
	Leads    Predicate = "leads"
	Open     Predicate = "open"
	Speaks   Predicate = "speaks"
	Weather  Predicate = "weather"
	Counts   Predicate = "counts"
	Kin      Predicate = "kin" // Subject is Word of Object
	Office   Predicate = "office"
	Exists   Predicate = "exists" // a thing or room of the name Word
	Happened Predicate = "happened"
)

// Truth is the verdict on a claim.
type Truth int

// The verdicts, from the mildest to the gravest.
const (
	True   Truth = iota
	Unsure       // the canon neither says nor denies it
	New          // it adds to the structure of the world: an exit, a person, a death
	False        // the canon denies it
)

// A Claim is a triple with its place in the text. Subject and Object are entities, or None.
type Claim struct {
	Predicate Predicate
	Subject   int
	Object    int
	Word      string // a direction, a state, or a noun that stands for an unknown subject
	Number    int
	Bound     int // 1 if Subject has more than Number, -1 if less
	Denied    bool
	Asked     bool // Number is of goods that the text asks for or offers, and does not state
	Past      bool
	Text      string // the sentence
}

// A Verdict is a claim with its truth.
type Verdict struct {
	Claim
	Truth  Truth
	Source string // what the canon says, for a claim that is false
}

// Check returns the verdicts on all claims of a text, in their order.
func Check(text string, w *World) (list []Verdict) {
	if v, ok := checkSpeaker(w); ok {
		list = append(list, v)
	}
	claims := Read(text, w)
	for _, c := range claims {
		v := Verdict{Claim: c}
		v.Truth, v.Source = judges[c.Predicate](c, w)
		if v.Truth == Unsure && c.Predicate == Happened && (c.Word == "be" || hasOther(claims, c) &&
			(eventOf(c.Word) != "death" || len(mannerIn(tokensOf(c.Text))) == 0)) {
			v.Truth = True // the sentence is judged by what it says otherwise
		}
		list = append(list, v)
	}
	return list
}

// hasOther reports whether a sentence has claims of another kind.
func hasOther(claims []Claim, c Claim) bool {
	return slices.ContainsFunc(claims, func(o Claim) bool {
		return o.Text == c.Text && o.Predicate != c.Predicate &&
			o.Predicate != Acts
	})
}

// Worst returns the gravest verdict, the first of several. ok is false if no claim is worse than true.
func Worst(list []Verdict) (worst Verdict, ok bool) {
	for _, v := range list {
		if v.Truth > worst.Truth {
			worst = v
		}
	}
	return worst, worst.Truth != True
}

// Read returns the claims of a text. One that repeats another is left out.
func Read(text string, w *World) (list []Claim) {
	for _, s := range newReader(w).statements(text) {
		for _, read := range []func(*statement, *World) []Claim{readLeads, readOpen, readWeather, readNumber, readAges,
			readPast, readOffices, readGifts} {
			list = append(list, read(&s, w)...)
		}
		for i := range s.clauses {
			for _, read := range []func(*clause, *World) []Claim{readDead, readHolds, readGives, readFinds, readHere,
				readArrives, readKin, readOffice, readThing, readActs} {
				for _, c := range read(&s.clauses[i], w) {
					c.Text = s.text
					list = append(list, c)
				}
			}
		}
		for i := range list {
			if list[i].Text == "" {
				list[i].Text = s.text
			}
		}
	}
	seen := map[Claim]bool{}
	return slices.DeleteFunc(list, func(c Claim) bool {
		known := seen[c]
		seen[c] = true
		return known
	})
}

// checkSpeaker judges whether the speaker can speak: alive, and where the listener is.
func checkSpeaker(w *World) (Verdict, bool) {
	if w.Speaker == None {
		return Verdict{}, false
	}
	v := Verdict{Claim: Claim{Predicate: Speaks, Subject: w.Speaker, Object: w.Listener}}
	at, placed := w.At[w.Speaker]
	ear, heard := w.At[w.Listener]
	switch {
	case w.dead(w.Speaker):
		v.Truth, v.Source = False, w.name(w.Speaker)+" is dead"
	case placed && heard && at != ear:
		v.Truth, v.Source = False, fmt.Sprintf("%s is at %s", w.name(w.Speaker), w.name(at))
	case !placed && heard:
		v.Truth = Unsure
	}
	return v, true
}

// judges has the judge of each predicate. It returns the truth of a claim, and its source if it is false.
var judges = map[Predicate]func(Claim, *World) (Truth, string){
	Holds: judgeHolds, Gives: judgeHolds, Dead: judgeDead, Acts: judgeActs, Here: judgeHere, Arrives: judgeHere,
	Leads: judgeLeads, Open: judgeOpen, Weather: judgeWeather, Counts: judgeNumber, Kin: judgeKin, Office: judgeOffice,
	Happened: judgePast, Exists: func(Claim, *World) (Truth, string) { return Unsure, "" },
}

// judgeActs judges whether somebody lives who acts.
func judgeActs(c Claim, w *World) (Truth, string) {
	if w.dead(c.Subject) {
		return False, w.name(c.Subject) + " is dead"
	}
	return True, ""
}

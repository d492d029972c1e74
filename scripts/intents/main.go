// Command intents fits the model of internal/world/intent: intents LINES READINGS CASES WEIGHTS. It learns from the
// lines written for this purpose and from the development cases of intents and commands in a folder. READINGS has what
// the rules read in the cases of an author before they had seen any of them: the two readings are blended as they are
// right for an unknown author. It prints how often each is right for an author who was left out, and how often another
// reader would be asked, before it writes the model that knows all authors. To make it again:
//
//	cd scripts/intents; go run . lines.txt readings.txt ../../internal/app/judgetest/cases/development \
//		../../internal/world/intent/weights.bin
//
// A new author's cases are first read by the present rules, for READINGS, and then added to CASES.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"loregate/internal/world/command"
	"loregate/internal/world/intent"
)

// Weights of examples. Lines are shorter than cases and more alike; commands are often generated.
const (
	ofIntent  = 1.0
	ofCommand = 0.3
	ofLine    = 0.6
)

// example is a text with the classes that a referee would accept.
type example struct {
	id, text, author string // id and author are "" for lines
	isIntent         bool
	want             [intent.Classes]bool
	weight           float32
	traits           []trait
}

// reading is a reading of a case by the rules.
type reading struct {
	verb       command.Verb
	confidence float64
}

func main() {
	if len(os.Args) != 5 {
		log.Fatal("usage: intents LINES READINGS CASES WEIGHTS")
	}
	var t trainer
	list := slices.Concat(readIntents(filepath.Join(os.Args[3], "intents.jsonl")),
		readCommands(filepath.Join(os.Args[3], "commands.jsonl")), readLines(os.Args[1]))
	t.prepare(list)
	scored := crossValidate(&t, list, readReadings(os.Args[2]))
	for _, author := range authorsOf(scored) {
		report(author, fitFactors(leaveOut(scored, author)), only(scored, author))
	}
	all := fitFactors(scored)
	report("all, fitted on them", all, scored)
	t.fit(list)
	file := intent.AppendWeights(nil, all, t.pruned())
	if err := os.WriteFile(os.Args[4], file, 0o644); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d examples, %d bytes\n", len(list), len(file))
}

// author matches the prefix of an id that names an author.
var author = regexp.MustCompile(`^[a-z]+\d?-|^[a-z]+`)

func eachLine(path string, read func(line []byte)) {
	f, err := os.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	for s.Scan() {
		read(s.Bytes())
	}
	if err := s.Err(); err != nil {
		log.Fatal(err)
	}
}

// addWanted adds the class of a verb. It ends the program if there is none.
func (e *example) addWanted(verb string) {
	class := intent.ClassOf(command.Verb(verb))
	if class == intent.None && verb != "unknown" {
		log.Fatalf("%s: %q is no verb", e.id+e.text, verb)
	}
	e.want[class] = true
}

func readIntents(path string) (list []*example) {
	eachLine(path, func(line []byte) {
		var c struct {
			ID, Text string
			Want     []string
		}
		if err := json.Unmarshal(line, &c); err != nil {
			log.Fatal(err)
		}
		e := &example{id: c.ID, text: c.Text, author: author.FindString(c.ID), isIntent: true, weight: ofIntent}
		for _, verb := range c.Want {
			e.addWanted(verb)
		}
		list = append(list, e)
	})
	return list
}

// readCommands reads the first acts of commands. Those that are only asked about are left out, unless they have no
// sense.
func readCommands(path string) (list []*example) {
	eachLine(path, func(line []byte) {
		var c struct {
			ID, Text, Kind string
			Want           [][]struct{ Verb string }
		}
		if err := json.Unmarshal(line, &c); err != nil {
			log.Fatal(err)
		}
		e := &example{id: c.ID, text: c.Text, author: author.FindString(c.ID), weight: ofCommand}
		for _, acts := range c.Want {
			if len(acts) == 0 {
				e.addWanted("unknown")
				continue
			}
			for verb := range strings.SplitSeq(acts[0].Verb, "|") {
				e.addWanted(verb)
			}
		}
		if len(c.Want) == 0 && c.Kind == "nonsense" {
			e.addWanted("unknown")
		} else if len(c.Want) == 0 {
			return
		}
		list = append(list, e)
	})
	return list
}

// header matches the line that names the verbs of the lines behind it.
var header = regexp.MustCompile(`^\[([a-z|]+)\]$`)

func readLines(path string) (list []*example) {
	var verbs []string
	eachLine(path, func(line []byte) {
		text := string(line)
		switch m := header.FindStringSubmatch(text); {
		case text == "" || text[0] == '#':
		case m != nil:
			verbs = strings.Split(m[1], "|")
		default:
			e := &example{text: text, weight: ofLine}
			for _, verb := range verbs {
				e.addWanted(verb)
			}
			list = append(list, e)
		}
	})
	return list
}

// readReadings reads lines of an id, a verb and a confidence.
func readReadings(path string) map[string]reading {
	all := map[string]reading{}
	eachLine(path, func(line []byte) {
		fields := strings.Fields(string(line))
		if fields[0] == "#" {
			return
		}
		confidence, err := strconv.ParseFloat(fields[len(fields)-1], 64)
		if err != nil {
			log.Fatal(err)
		}
		r := reading{confidence: confidence}
		if len(fields) == 3 {
			r.verb = command.Verb(fields[1])
		}
		all[fields[0]] = r
	})
	return all
}

package meaning

import (
	"bytes"
	"compress/flate"
	_ "embed"
	"encoding/binary"
	"io"
	"sort"
	"strings"
	"sync"
)

// Part is a part of speech.
type Part int

// The parts of speech that WordNet has.
const (
	Noun Part = iota
	Verb
	Adjective
	Adverb
	partCount
)

// wordNetFile is the file of relations: its size as a little-endian uint32, and deflated, in this order:
//
//	the words, sorted, each followed by '\n', and an empty line
//	for each word and part of speech: the number of senses, and for each sense, the most frequent first, 0 for the
//	  synset with the next unused number, or the distance from that number back to the synset's
//	for each word: the number of words derived from it, and their distances from the word's own number
//	for each word: its opposites in the same form
//	the number of synsets
//	for each synset: the number of broader synsets, and their distances from the synset's own number
//	for each part of speech: lines of an irregular form, a space and its word, and an empty line
//
// Distances from an own number are varints, other numbers are uvarints.
//
//go:embed data/wordnet.bin
var wordNetFile []byte

// network is the file of relations in memory. It never changes.
type network struct {
	words    []byte
	starts   []uint32         // of each word in words, and the end
	heads    []uint32         // the first word whose first two bytes are at least a number, by this number
	synsets  [partCount]lists // of each word, by part of speech
	members  [partCount]lists // words of each synset
	derived  lists            // words by word
	opposite lists            // words by word
	broader  lists            // synsets by synset
	narrower lists            // synsets by synset
	forms    [partCount]map[string]string
}

// lists has a list of numbers for each of several things.
type lists struct {
	ends []uint32 // where each list ends in all
	all  []uint32
}

func (l lists) at(i uint32) []uint32 {
	if i == 0 {
		return l.all[:l.ends[0]]
	}
	return l.all[l.ends[i-1]:l.ends[i]]
}

// loadNetwork reads the file of relations at the first use.
var loadNetwork = sync.OnceValue(readNetwork)

func readNetwork() *network {
	data := make([]byte, binary.LittleEndian.Uint32(wordNetFile))
	if _, err := io.ReadFull(flate.NewReader(bytes.NewReader(wordNetFile[4:])), data); err != nil {
		panic("meaning: the relations in this program are damaged: " + err.Error())
	}
	return decodeNetwork(data)
}

// decodeNetwork decodes the file of relations, which is part of the program.
func decodeNetwork(data []byte) *network {
	n := &network{}
	n.words, data = cutBlock(data)
	n.starts = make([]uint32, 1, bytes.Count(n.words, []byte{'\n'})+1)
	for i, b := range n.words {
		if b == '\n' {
			n.starts = append(n.starts, uint32(i+1))
		}
	}
	n.indexHeads()
	words := len(n.starts) - 1
	d := &decoder{data}
	n.decodeSenses(d, words)
	n.derived = d.decodeLists(words)
	n.opposite = d.decodeLists(words)
	n.broader = d.decodeLists(int(d.uvarint()))
	n.narrower = n.broader.inverse(len(n.broader.ends))
	for part := range n.forms {
		var block []byte
		block, d.left = cutBlock(d.left)
		n.forms[part] = map[string]string{}
		for line := range strings.Lines(string(block)) {
			form, of, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			n.forms[part][form] = of
		}
	}
	return n
}

// indexHeads fills heads.
func (n *network) indexHeads() {
	n.heads = make([]uint32, 1<<16+1)
	next := 0
	for i := range len(n.starts) - 1 {
		for head := firstBytes(n.wordBytes(i)); next <= head; next++ {
			n.heads[next] = uint32(i)
		}
	}
	for ; next < len(n.heads); next++ {
		n.heads[next] = uint32(len(n.starts) - 1)
	}
}

// firstBytes returns the first two bytes of a word as a number.
func firstBytes[T string | []byte](word T) int {
	switch len(word) {
	case 0:
		return 0
	case 1:
		return int(word[0]) << 8
	}
	return int(word[0])<<8 | int(word[1])
}

// wordBytes returns a word as the file has it.
func (n *network) wordBytes(i int) []byte { return n.words[n.starts[i] : n.starts[i+1]-1] }

// cutBlock cuts data behind the first empty line.
func cutBlock(data []byte) (block, rest []byte) {
	at := bytes.Index(data, []byte("\n\n"))
	return data[:at+1], data[at+2:]
}

// decodeSenses reads the synsets of all words, and turns them around into the words of all synsets.
func (n *network) decodeSenses(d *decoder, words int) {
	var next uint32
	for part := range n.synsets {
		n.synsets[part] = lists{make([]uint32, 0, words), make([]uint32, 0, words)}
	}
	for range words {
		for part := range n.synsets {
			l := &n.synsets[part]
			for range d.uvarint() {
				back := d.uvarint()
				if back == 0 {
					next, back = next+1, 1
				}
				l.all = append(l.all, next-back)
			}
			l.ends = append(l.ends, uint32(len(l.all)))
		}
	}
	for part, l := range n.synsets {
		n.members[part] = l.inverse(int(next))
	}
}

// inverse returns for each of count members the numbers of the lists that have it.
func (l lists) inverse(count int) lists {
	out := lists{make([]uint32, count), make([]uint32, len(l.all))}
	for _, v := range l.all {
		out.ends[v]++
	}
	var sum uint32
	for v, c := range out.ends {
		out.ends[v] = sum // where the list begins, until it is filled
		sum += c
	}
	for i := range l.ends {
		for _, v := range l.at(uint32(i)) {
			out.all[out.ends[v]] = uint32(i)
			out.ends[v]++
		}
	}
	return out
}

// decoder reads numbers from data.
type decoder struct{ left []byte }

func (d *decoder) uvarint() uint32 {
	v, size := binary.Uvarint(d.left)
	d.left = d.left[size:]
	return uint32(v)
}

// decodeLists reads the lists of count things. Each member is written as its distance from the thing.
func (d *decoder) decodeLists(count int) lists {
	l := lists{make([]uint32, 0, count), make([]uint32, 0, count)}
	for i := range count {
		for range d.uvarint() {
			distance, size := binary.Varint(d.left)
			d.left = d.left[size:]
			l.all = append(l.all, uint32(int64(i)+distance))
		}
		l.ends = append(l.ends, uint32(len(l.all)))
	}
	return l
}

// word returns the word with a number. WordNet writes the spaces of a compound as underscores.
func (n *network) word(i uint32) string {
	return strings.ReplaceAll(string(n.words[n.starts[i]:n.starts[i+1]-1]), "_", " ")
}

// number returns the number of a word.
func (n *network) number(word string) (uint32, bool) {
	word = strings.ReplaceAll(word, " ", "_")
	head := firstBytes(word)
	from, to := int(n.heads[head]), int(n.heads[head+1])
	i := from + sort.Search(to-from, func(i int) bool { return string(n.wordBytes(from+i)) >= word })
	return uint32(i), i < to && string(n.wordBytes(i)) == word
}

// has returns the number of a word that has a sense as a part of speech.
func (n *network) has(word string, part Part) (uint32, bool) {
	i, ok := n.number(word)
	return i, ok && len(n.synsets[part].at(i)) > 0
}

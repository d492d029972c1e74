package transfer

import (
	"loregate/internal/access"
	"loregate/internal/exchange"
)

// maxShown is the greatest length of each list of a report.
const maxShown = 100

// report is the result of an import or of its dry run.
type report struct {
	Format    string `json:"format,omitzero" jsonschema:"The format that was recognized, and why."`
	Files     int    `json:"files"`
	Created   int    `json:"created"`
	Updated   int    `json:"updated"`
	Unchanged int    `json:"unchanged"`
	Links     int    `json:"links"`
	Versions  int    `json:"versions"`
	Attached  int    `json:"attached"`
	Moved     int    `json:"moved" jsonschema:"Secrets that move out of readable cards into cards of the GM."`
	ForAll    int    `json:"for_all" jsonschema:"Cards that players see."`
	ForGM     int    `json:"for_gm"`
	ForAdmin  int    `json:"for_admin"`
	Starter   string `json:"starter,omitzero" jsonschema:"Where players begin."`

	Said     []string  `json:"said"`
	Doubts   []hide    `json:"doubts" jsonschema:"Looks secret and is hidden until it is opened or confirmed."`
	Hides    []hide    `json:"hides" jsonschema:"Hidden by marks."`
	Asked    []asked   `json:"asked,omitzero" jsonschema:"Links that fit several notes which are equally near."`
	Mentions []mention `json:"mentions" jsonschema:"Texts for players that name or link hidden cards."`
	Problems []problem `json:"problems" jsonschema:"Parts that are left out or changed."`
	More     more      `json:"more" jsonschema:"How many entries the lists leave out."`
}

type hide struct {
	Rule  string   `json:"rule"`
	Mark  string   `json:"mark,omitzero"`
	Notes int      `json:"notes"`
	Parts int      `json:"parts"`
	Files []string `json:"files"`
}

type asked struct {
	Target   string   `json:"target" jsonschema:"As the link writes it."`
	Notes    []string `json:"notes" jsonschema:"Those that it fits; it leads to the first."`
	Answered bool     `json:"answered,omitzero"`
}

type mention struct {
	File string `json:"file"`
	Of   string `json:"of"`
	Link bool   `json:"link,omitzero"`
}

type problem struct {
	File string `json:"file"`
	Line int    `json:"line,omitzero"`
	Why  string `json:"why"`
}

type more struct {
	Doubts   int `json:"doubts,omitzero"`
	Hides    int `json:"hides,omitzero"`
	Asked    int `json:"asked,omitzero"`
	Mentions int `json:"mentions,omitzero"`
	Problems int `json:"problems,omitzero"`
}

// reportOf returns the report of a summary.
func reportOf(s exchange.Summary) report {
	r := report{Format: s.Format, Files: s.Files, Created: s.Created, Updated: s.Updated, Unchanged: s.Unchanged,
		Links: s.Links, Versions: s.Versions, Attached: s.Attached, Moved: s.Hidden, Starter: s.Starter,
		ForAll: s.Levels[access.LevelUser], ForGM: s.Levels[access.LevelGM], ForAdmin: s.Levels[access.LevelAdmin]}
	r.Said, _ = firstOf(s.Said)
	for _, h := range s.Hides {
		shown := hide{Rule: h.Rule, Mark: h.What, Notes: h.Notes, Parts: h.Parts}
		shown.Files, _ = firstOf(h.Files)
		if h.Doubt {
			r.Doubts = append(r.Doubts, shown)
		} else {
			r.Hides = append(r.Hides, shown)
		}
	}
	r.Doubts, r.More.Doubts = firstOf(r.Doubts)
	r.Hides, r.More.Hides = firstOf(r.Hides)
	links, left := firstOf(s.Asked)
	for _, a := range links {
		r.Asked = append(r.Asked, asked{a.Target, append([]string{a.To}, a.Others...), a.Answered})
	}
	r.More.Asked = left
	mentions, left := firstOf(s.Mentions)
	for _, m := range mentions {
		r.Mentions = append(r.Mentions, mention(m))
	}
	r.More.Mentions = left
	problems, left := firstOf(s.Problems)
	for _, p := range problems {
		r.Problems = append(r.Problems, problem(p))
	}
	r.More.Problems = left
	return r
}

// firstOf returns the beginning of a list and the number of entries that it leaves out.
func firstOf[T any](list []T) ([]T, int) {
	n := min(len(list), maxShown)
	return list[:n], len(list) - n
}

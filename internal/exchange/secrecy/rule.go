package secrecy

import (
	"regexp"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"loregate/internal/exchange"
	"loregate/internal/markup"
)

// Names of the rules.
const (
	ruleLevel       = "level"
	ruleBroken      = "unreadable front matter"
	RuleFrontMatter = "front matter"
	ruleTag         = "tag"
	rulePlusGM      = "+GM in a name"
	ruleName        = "name"
	ruleCallout     = "callout"
	ruleComment     = "comment"
	ruleElement     = "HTML element"
	ruleBlock       = "block"
	ruleHeading     = "heading"
	ruleLabel       = "label"
)

// exact returns a mark that can only mean a secret.
func exact(rule, what string) exchange.Mark { return exchange.Mark{Rule: rule, What: what} }

// Rule describes one way in which an import recognises secrets.
type Rule struct{ Name, Exact, Suspicious string }

// Rules returns the table of marks that an import of a vault treats as secret. Exact marks hide.
// Suspicious marks hide until the user confirms or opens them.
func Rules() []Rule {
	return []Rule{
		{ruleLevel, "level: gm or admin; --level for the whole import", ""},
		{RuleFrontMatter, "visibility, audience, visible_to, who_can_see: anything but a word for everybody; publish, published, dg-publish, public, shared, visible, " +
			"player_visible, revealed, players, player: false (no, off, 0); hidden, secret, private, gm, dm …: true; status: hidden; secrets, gm notes, dm-notes … with a text, and gm with a name, hide that field alone; the same as Dataview fields in the text (hidden:: true)",
			"a secret word in a key with a text, or in title, status, class and cssclasses; draft: true; published: a word or date; access, share, permission only with a secret word"},
		{ruleTag, "#gm, #dm, #secret, #hidden, #private, #spoiler, #gm-only … and tags below these, as #gm/plot, in front matter and text", "another tag with a secret word"},
		{rulePlusGM, "a part +GM or +DM in a file's name", ""},
		{exchange.RuleSetting, "folders named by import.gm_folders; folders and notes named by --confirm", ""},
		{exchange.RuleFolder, "", "a secret word in the name of a folder, at any depth"},
		{ruleName, "", "a secret word in the name of a note or file"},
		{ruleBroken, "front matter that is not YAML or does not end", ""},
		{ruleCallout, "[!secret], [!gm], [!dm-only], [!spoiler], [!hidden] … with or without a fold mark, however nested",
			"another callout with a secret word in its title or options"},
		{ruleComment, "%% … %% and <!-- … -->, to the end of the note where they do not end; [//]: # (…)", ""},
		{ruleElement, "elements of a secret class, hidden, or display:none; <secret>, <gm>",
			"<details> whose summary has a secret word"},
		{ruleBlock, "code blocks ad-secret, ad-gm …; ::: secret containers; !!! secret and ??? secret with the indented lines below; [spoiler]…[/spoiler], [secret]…[/secret]; >!…!<", "another !!! block with a secret word"},
		{ruleHeading, "GM notes, DM only, Secrets, For the GM, Spoilers … with the text below, to the next heading of the same or a higher level",
			"another heading with a secret word"},
		{ruleLabel, "a Dataview field in brackets with a text, as [gm:: …] or (dm notes:: …)",
			"a paragraph or list item that begins with Secret:, **GM notes:** … or Secret::"},
	}
}

// wordLists are the words that make a name suspicious, by language: patterns over the texts that
// spellings returns. The weak ones are titles of the game's leader that also have other meanings,
// so they count only in names, not in keys.
var wordLists = []struct{ language, strong, weak string }{
	{"English", `(?:top ?)?secrets?|secretly|gms?|dms?|(?:gm|dm|mj|sl|dj)s?(?:only|notes?|secrets?|infos?|eyes|prep|stuff|screen|section)|` +
		`(?:game|dungeon) ?masters?|spoilers?|spoilery|hidden|private|confidential|classified|undisclosed|unrevealed|` +
		`behind (?:the )?(?:\w+ )?screen|(?:my|your|gms?|dms?|keepers?) ?eyes(?: ?only)?|eyes only|(?:not|no|never) (?:for|to) (?:the |any )?players?|(?:hide|hidden|keep) from (?:the )?players?|` +
		`(?:unknown|unbeknownst|invisible|concealed|hidden) (?:to|from) (?:the |my |your )?(?:players?|pcs?|party)|` +
		`what (?:\w+ )?(?:players?|pcs?|party|characters?) (?:\w+ )?(?:not|cannot|dont|didnt|cant|mustnt|shouldnt|wont|never) (?:\w+ ){0,2}(?:know|see|learn|realise|realize|notice|suspect)|` +
		`players? (?:keep out|do not|dont|must not|stay out)|no players|do not (?:read|share|show|open)|dont (?:read|share|show)|keep out|` +
		`(?:keeper|storyteller|referee|warden|narrator|judge|mc|director|facilitator)s? ?(?:only|notes?|secrets?|info|eyes|section|screen)|behindthescreen|formyeyes(?:only)?`,
		`keepers?|story ?tellers?|referees?`},
	{"German", `\w*geheim\w*|\w*spielleit\w*|spielmeister\w*|\w*meister ?(?:infos?|informationen|wissen|notiz\w*|teil|bereich)|(?:nur )?fur (?:den |die )?(?:meister|sl|erzahler|huter)(?:in)?|sl|sl ?(?:infos?|notiz\w*|wissen)|` +
		`verborgen\w*|versteckt\w*|verdeckt\w*|vertraulich\w*|privat(?:e[nrs]?)?|hinter (?:dem|den) (?:\w*schirm|kulissen)|(?:nur )?fur (?:meine augen|mich)|nicht fur (?:die )?spieler\w*|unter verschluss|` +
		`was (?:die |meine )?(?:spieler\w*|gruppe) (?:noch )?nicht (?:wissen|weiss|sehen|ahnen)|spieler\w* (?:noch )?(?:unbekannt|nicht bekannt)|` +
		`(?:erzahler|huter)(?:in)? ?(?:infos?|notiz\w*|wissen|nur)`,
		`(?:das |der |die )?erzahler(?:in|innen)?|spielhuter`},
	{"French", `secrètes?|ce que (?:les |mes )?joueu\w* (?:ne savent pas|ne voient pas|ignorent)|inconnue?s? (?:des|aux) joueu\w*|mjs?|mdj|maitres? ?d[eu] ?(?:jeu|donjon)|meneu(?:rs?|ses?)|cachés?|cachees?|derriere (?:l |le )?(?:ecran|paravent)|pour mes yeux|` +
		`interdits? aux joueu\w*|pas pour les joueu\w*|confidentiel\w*|privee?s?|divulgach\w*|(?:notes?|secrets?|reserve\w*) (?:du |au |de la )?(?:mj|gardien|conteur|narrateur)`,
		`conteu(?:rs?|ses?)|gardiens? des arcanes`},
	{"Spanish", `secret[oa]s?|lo que (?:los |mis )?jugador\w* no (?:saben|ven)|desconocid[oa]s? para (?:los )?jugador\w*|ocult[oa]s?|escondid[oa]s?|privad[oa]s?|confidencial(?:es)?|director[ae]?s? de(?:l)? juego|dj|master de(?:l)? juego|` +
		`(?:notas?|solo|para|informacion) (?:para |del |de la |el )*(?:master|director[ae]?|narrador[ae]?|guardian[ae]?)|solo (?:el )?master|detras de (?:la )?pantalla|para mis ojos|solo para mi|no (?:es )?para (?:los )?jugador\w*`,
		`narrador(?:as?|es)?|guardian de los arcanos|cuentacuentos`},
	{"others", `segret[oi]|nascost[oiae]|segredos?|spelleid\w*`, ``},
}

// WordList are the secret words of a language.
type WordList struct{ Language, Patterns string }

// WordLists returns the table of words that make a name suspicious.
func WordLists() (all []WordList) {
	for _, w := range wordLists {
		all = append(all, WordList{w.language, strings.ReplaceAll(strings.Trim(w.strong+"|"+w.weak, "|"), "|", " | ")})
	}
	return all
}

// exactForms match names that can only mean a secret: of callouts, headings, tags and keys.
const exactForms = `(?:gm|dm|sl|mj|game ?master|dungeon ?master|keeper|storyteller|spielleiter|maitre du jeu)s?(?: ?(?:only|notes?|secrets?|infos?|eyes only|section|notizen))?|` +
	`(?:gm|dm|secret|private|hidden|spoiler) (?:notes?|infos?|information|elements?|secrets?)|(?:my |top )?secrets?|hidden|private|spoilers?|for (?:the |my )?(?:gm|dm|game master|dungeon master|keeper)s?(?: only| eyes only)?|(?:for )?my eyes only|` +
	`notes? (?:for the |du |pour le )?(?:gm|dm|mj)s?|not for players|behind the screen|geheim(?:nis(?:se)?|es)?|secret[oa]s?|notas? (?:del |para el )?(?:master|dm|dj|director de juego)`

var (
	strongWords, allWords = wordForms()
	exactForm             = regexp.MustCompile(`^(?:` + exactForms + `)$`)
	// wholeForm matches words too common to be suspicious unless they are the whole text.
	wholeForm = regexp.MustCompile(`^(?:the |das |der |el |le |los |les )?(?:masters?|meister(?:in)?|guardian(?:es)?|gardiens?|huter(?:in)?|narrators?|narrateurs?|wardens?)$`)
)

func wordForms() (strong, all *regexp.Regexp) {
	var s, a []string
	for _, w := range wordLists {
		s = append(s, w.strong)
		if a = append(a, w.strong); w.weak != "" {
			a = append(a, w.weak)
		}
	}
	return regexp.MustCompile(` (` + strings.Join(s, "|") + `) `), regexp.MustCompile(` (` + strings.Join(a, "|") + `) `)
}

// Spellings returns three forms of a text in which secret words are searched. All are lower-case
// letters with one space between words and around them. parted has no accents and separates words
// joined by camel case or digits. joined has no accents and keeps such words joined. accented keeps
// both the words and their accents.
func Spellings(text string) (parted, joined, accented string) {
	text = norm.NFC.String(strings.NewReplacer("'s", "", "’s", "", "n't", "nt", "n’t",
		"nt").Replace(text[:min(len(text), 1000)]))
	var b strings.Builder
	runes := []rune(text)
	for i, r := range runes {
		if i > 0 {
			before := runes[i-1]
			after := i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if unicode.IsUpper(r) && (unicode.IsLower(before) || unicode.IsUpper(before) && after) ||
				unicode.IsDigit(r) != unicode.IsDigit(before) {
				b.WriteByte(' ')
			}
		}
		b.WriteRune(r)
	}
	return Letters(markup.Fold(b.String())), Letters(markup.Fold(text)), Letters(strings.ToLower(text))
}

// Letters replaces each run of characters that are not letters by one space.
func Letters(text string) string {
	return " " + strings.Join(strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) }), " ") + " "
}

// FindWord returns the first secret word in a text, or "". strict leaves out the words that also
// have other meanings.
func FindWord(text string, strict bool) string {
	form := allWords
	if strict {
		form = strongWords
	}
	parted, joined, accented := Spellings(text)
	for _, reading := range slices.Compact([]string{parted, joined, accented}) {
		if m := form.FindStringSubmatch(reading); m != nil {
			return m[1]
		}
	}
	if !strict && wholeForm.MatchString(strings.TrimSpace(parted)) {
		return strings.TrimSpace(parted)
	}
	return ""
}

// isExact reports whether a text as a whole is a mark for the GM's secrets.
func isExact(text string) bool {
	parted, joined, _ := Spellings(text)
	return exactForm.MatchString(strings.TrimSpace(parted)) || exactForm.MatchString(strings.TrimSpace(joined))
}

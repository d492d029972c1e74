package safety

import (
	"strings"
	"unicode"

	"loregate/internal/lazyregexp"
)

// namedChecks are the checks that a policy can use beside patterns.
var namedChecks = map[string]func(string) bool{"card_number": hasCardNumber, "iban": hasIBAN,
	"credential": hasCredential, "password": hasPassword, "random_token": hasRandomToken}

var (
	digitRun = lazyregexp.New(`\b\d(?:[ -]?\d){12,18}\b`)
	ibanForm = lazyregexp.New(`\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b`)
)

// hasCardNumber reports whether a text has 13 to 19 digits with a valid check digit (ISO/IEC 7812,
// Luhn).
func hasCardNumber(s string) bool {
	for _, run := range digitRun.FindAllString(s, -1) {
		if passesLuhn(strings.NewReplacer(" ", "", "-", "").Replace(run)) {
			return true
		}
	}
	return false
}

func passesLuhn(digits string) bool {
	sum, same := 0, true
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		same = same && digits[i] == digits[0]
		if i%2 == 1 {
			if d *= 2; d > 9 {
				d -= 9
			}
		}
		sum += d
	}
	return sum%10 == 0 && !same
}

// hasIBAN reports whether a text has an account number with valid check digits (ISO 13616, mod 97).
func hasIBAN(s string) bool {
	for _, found := range ibanForm.FindAllString(s, -1) {
		iban := strings.ReplaceAll(found, " ", "")
		rest := 0
		for _, r := range iban[4:] + iban[:4] {
			if r >= 'A' {
				rest = (rest*100 + int(r-'A') + 10) % 97
			} else {
				rest = (rest*10 + int(r-'0')) % 97
			}
		}
		if rest == 1 {
			return true
		}
	}
	return false
}

// credentialForm is a name of a secret with its value: "api_key = …", "the password of the server is …".
var credentialForm = lazyregexp.New(`(?i)(?:\b|_)(?:p[a@4][s$5]{2}(?:w[o0]rd|wd|phrase|code)?s?|pwd|pin|login|` +
	`(?:\w+[_-])*(?:secret|token|api|access|private|auth|signing|encryption|client|master|license|licence|webhook)` +
	`[_ -]?(?:access[_ -]?)?(?:key|token|secret|password|id)?|credentials?)\b` +
	`[^.\n=:]{0,40}?(?:=|:|\bis\b|\bto\b|->|→)\s*["'` + "`" + `]?([^\s"'` + "`" + `,]{4,})`)

// hasCredential reports whether a text has the name of a secret, followed by a value that is no word.
func hasCredential(s string) bool {
	for _, found := range credentialForm.FindAllStringSubmatch(s, -1) {
		if looksSecret(strings.TrimRight(found[1], ".,;:!?)")) {
			return true
		}
	}
	return false
}

// looksSecret reports whether a value mixes letters with digits or signs, as words do not.
func looksSecret(value string) bool {
	var letters, digits, signs int
	for _, r := range value {
		switch {
		case unicode.IsLetter(r):
			letters++
		case unicode.IsDigit(r):
			digits++
		default:
			signs++
		}
	}
	return len(value) >= 6 && digits > 0 && letters > 0 || digits >= 4 && digits == len(value) ||
		len(value) >= 8 && signs > 0 && letters > 0 && strings.ContainsAny(value, "!#$%&*+=?^~")
}

// passwordForm is a password's name with its value: "root pw changed to …", "log in as … with …".
var passwordForm = lazyregexp.New(`(?i)\b(?:p[a@4][s$5]{2}(?:w[o0]r[dt]|wd|phrase|code)?|pwd?|pin|log-?ins?|credentials?)\b` +
	`[^.\n]{0,40}?(?:=|:|\bis\b|\bto\b|\bwith\b|\bas\b|->|→|/| )\s*["'` + "`" + `]?([^\s"'` + "`" + `,/]{4,})`)

// hasPassword reports whether a text has the name of a password, followed by a value that is no word.
func hasPassword(s string) bool {
	for _, found := range passwordForm.FindAllStringSubmatch(s, -1) {
		if value := strings.TrimRight(found[1], ".,;:?)"); looksSecret(value) || mixesWords(value) {
			return true
		}
	}
	return false
}

// mixesWords reports whether a value joins words and digits by signs: zebra-Quilt-19.
func mixesWords(value string) bool {
	return strings.ContainsFunc(value, unicode.IsDigit) && strings.ContainsFunc(value, unicode.IsUpper) &&
		strings.ContainsFunc(value, unicode.IsLower)
}

// tokenForm is a word as long as a key.
var tokenForm = lazyregexp.New(`[A-Za-z0-9_-]{24,}`)

// minMixed is the least number of small letters, capitals and digits in a random token.
const minMixed = 4

// hasRandomToken reports whether a text has a long word in which small letters, capitals and digits are mixed. A text
// that is nothing but this word is an identifier, such as the tag of a read.
func hasRandomToken(s string) bool {
	if !strings.ContainsFunc(strings.TrimSpace(s), unicode.IsSpace) {
		return false
	}
	for _, at := range tokenForm.FindAllStringIndex(s, -1) {
		if at[0] > 0 && s[at[0]-1] == '/' { // a part of an address
			continue
		}
		found := s[at[0]:at[1]]
		var small, capital, digit, changes int
		last := ' '
		for _, r := range found {
			class := 'd'
			switch {
			case r >= 'a' && r <= 'z':
				class, small = 'a', small+1
			case r >= 'A' && r <= 'Z':
				class, capital = 'A', capital+1
			default:
				digit++
			}
			if class != last {
				changes++
			}
			last = class
		}
		if small >= minMixed && capital >= minMixed && digit >= minMixed && changes*3 >= len(found) {
			return true
		}
	}
	return false
}

package safety

import (
	"regexp"
	"strings"
)

// checks are what a policy may ask for that no pattern says.
var checks = map[string]func(string) bool{"card_number": holdsCardNumber, "iban": holdsIBAN}

var (
	digitRun = regexp.MustCompile(`\b\d(?:[ -]?\d){12,18}\b`)
	ibanForm = regexp.MustCompile(`\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b`)
)

// holdsCardNumber reports 13 to 19 digits whose check digit is right (ISO/IEC 7812, Luhn).
func holdsCardNumber(s string) bool {
	for _, run := range digitRun.FindAllString(s, -1) {
		if luhn(strings.NewReplacer(" ", "", "-", "").Replace(run)) {
			return true
		}
	}
	return false
}

func luhn(digits string) bool {
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

// holdsIBAN reports an account number whose check digits are right (ISO 13616, mod 97).
func holdsIBAN(s string) bool {
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

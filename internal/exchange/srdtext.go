package exchange

import (
	"fmt"
	"strings"
)

// leadLine returns the line that a rule book prints above the description of a record.
func (r srdRecord) leadLine() string {
	switch r.kind {
	case "monster":
		return r.monsterLead()
	case "spell":
		return r.spellLead()
	case "equipment", "magic-item":
		return r.itemLead()
	case "language":
		return formatSentence("A %s language", strings.ToLower(r.memberText("type"))) +
			formatSentence("Spoken by %s", strings.Join(r.memberTexts("typical_speakers"), ", ")) + formatSentence("Script: %s",
			r.memberText("script"))
	case srdFeature, "subclass":
		return formatSentence("%s", strings.TrimSpace(strings.Join(nonEmpty(textOf(r.memberObject("subclass")["name"]),
			textOf(r.memberObject("class")["name"]),
			r.memberText("subclass_flavor")), ", ")+levelSuffix(r.memberText("level"))))
	case srdLevel:
		return formatSentence("Proficiency bonus +%s", r.memberText("prof_bonus")) + formatSentence("Features: %s",
			strings.Join(namesOf(r.data["features"]), ", "))
	case "class":
		return formatSentence("Hit die: d%s", r.memberText("hit_die")) + formatSentence("Saving throws: %s",
			strings.Join(namesOf(r.data["saving_throws"]), ", "))
	case "race":
		return strings.Join(nonEmpty(r.memberText("age"), r.memberText("alignment"), r.memberText("size_description"),
			r.memberText("language_desc")), " ")
	case "proficiency":
		return formatSentence("A proficiency: %s", strings.ToLower(r.memberText("type")))
	case "skill":
		return formatSentence("A skill of %s", textOf(r.memberObject("ability_score")["name"]))
	}
	return ""
}

// formatSentence returns a sentence with the given value, or "" if the value is empty.
func formatSentence(format, value string) string {
	if strings.TrimSpace(value) == "" {
		return ""
	}
	return strings.TrimSuffix(fmt.Sprintf(format, value), ".") + ". "
}

func levelSuffix(n string) string {
	if n == "" {
		return ""
	}
	return ", level " + n
}

func namesOf(v any) []string {
	var out []string
	for _, m := range objectsOf(v) {
		if name := textOf(m["name"]); name != "" {
			out = append(out, name)
		}
	}
	return out
}

func (r srdRecord) monsterLead() string {
	var speed []string
	for _, how := range sortedKeys(r.memberObject("speed")) {
		speed = append(speed, how+" "+textOf(r.memberObject("speed")[how]))
	}
	armour := ""
	for _, m := range objectsOf(r.data["armor_class"]) {
		armour = textOf(m["value"])
		break
	}
	return formatSentence("*%s*", strings.Join(nonEmpty(r.memberText("size")+" "+r.memberText("type"),
		r.memberText("subtype"), r.memberText("alignment")), ", ")) + "\n\n" +
		formatSentence("Armor class %s", armour) + formatSentence("Hit points %s", r.memberText("hit_points")+" ("+
		r.memberText("hit_points_roll")+")") +
		formatSentence("Speed: %s", strings.Join(speed, ", ")) + formatSentence("Languages: %s", r.memberText("languages")) +
		formatSentence("Challenge %s", r.memberText("challenge_rating"))
}

func (r srdRecord) spellLead() string {
	kind := "Cantrip"
	if n := r.memberText("level"); n != "0" && n != "" {
		kind = "Spell of level " + n
	}
	notes := ""
	if r.isTrue("ritual") {
		notes += ", ritual"
	}
	if r.isTrue("concentration") {
		notes += ", concentration"
	}
	return formatSentence("*%s*", kind+", "+strings.ToLower(textOf(r.memberObject("school")["name"]))+notes) + "\n\n" +
		formatSentence("Casting time: %s", r.memberText("casting_time")) + formatSentence("Range: %s",
		r.memberText("range")) +
		formatSentence("Components: %s", strings.Join(r.memberTexts("components"), ", ")) + formatSentence("Material: %s",
		strings.TrimRight(r.memberText("material"), ".")) +
		formatSentence("Duration: %s", r.memberText("duration"))
}

func (r srdRecord) itemLead() string {
	cost := strings.TrimSpace(textOf(r.memberObject("cost")["quantity"]) + " " + textOf(r.memberObject("cost")["unit"]))
	damage := strings.TrimSpace(textOf(r.memberObject("damage")["damage_dice"]))
	if t, _ := r.memberObject("damage")["damage_type"].(map[string]any); t != nil {
		damage += " " + strings.ToLower(textOf(t["name"]))
	}
	return formatSentence("*%s*", strings.Join(nonEmpty(textOf(r.memberObject("equipment_category")["name"]),
		textOf(r.memberObject("rarity")["name"]),
		textOf(r.memberObject("gear_category")["name"]), r.memberText("category_range"), r.memberText("tool_category"),
		r.memberText("vehicle_category")), ", ")) + "\n\n" +
		formatSentence("Cost: %s", cost) + formatSentence("Weight: %s lb",
		r.memberText("weight")) + formatSentence("Damage: %s", damage) +
		formatSentence("Properties: %s", strings.Join(namesOf(r.data["properties"]), ", "))
}

// namedSections returns the parts of a record that have their own names.
func (r srdRecord) namedSections() string {
	var out []string
	for _, part := range []struct{ key, title string }{
		{"special_abilities", ""}, {"actions", "Actions"}, {"reactions", "Reactions"},
		{"legendary_actions", "Legendary actions"},
		{"feature", ""},
	} {
		list := objectsOf(r.data[part.key])
		if m := r.memberObject(part.key); m != nil {
			list = append(list, m)
		}
		if len(list) > 0 && part.title != "" {
			out = append(out, "### "+part.title)
		}
		for _, m := range list {
			out = append(out, fmt.Sprintf("**%s.** %s", textOf(m["name"]), blockOf(m["desc"])))
		}
	}
	if higher := r.memberText("higher_level"); higher != "" {
		out = append(out, "**At higher levels.** "+higher)
	}
	return strings.Join(out, "\n\n")
}

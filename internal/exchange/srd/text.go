package srd

import (
	"fmt"
	"strings"

	"loregate/internal/decoded"
	"loregate/internal/exchange/record"
)

// leadLine returns the line that a rule book prints above the description of a record.
func (r ruleEntry) leadLine() string {
	switch r.kind {
	case "monster":
		return r.monsterLead()
	case "spell":
		return r.spellLead()
	case "equipment", "magic-item":
		return r.itemLead()
	case "language":
		return formatSentence("A %s language", strings.ToLower(r.Text("type"))) +
			formatSentence("Spoken by %s", strings.Join(r.Texts("typical_speakers"), ", ")) + formatSentence("Script: %s",
			r.Text("script"))
	case kindFeature, "subclass":
		return formatSentence("%s", strings.TrimSpace(strings.Join(decoded.NonEmpty(decoded.TextOf(r.Object("subclass")["name"]),
			decoded.TextOf(r.Object("class")["name"]),
			r.Text("subclass_flavor")), ", ")+levelSuffix(r.Text("level"))))
	case kindLevel:
		return formatSentence("Proficiency bonus +%s", r.Text("prof_bonus")) + formatSentence("Features: %s",
			strings.Join(namesOf(r.Data["features"]), ", "))
	case "class":
		return formatSentence("Hit die: d%s", r.Text("hit_die")) + formatSentence("Saving throws: %s",
			strings.Join(namesOf(r.Data["saving_throws"]), ", "))
	case "race":
		return strings.Join(decoded.NonEmpty(r.Text("age"), r.Text("alignment"), r.Text("size_description"),
			r.Text("language_desc")), " ")
	case "proficiency":
		return formatSentence("A proficiency: %s", strings.ToLower(r.Text("type")))
	case "skill":
		return formatSentence("A skill of %s", decoded.TextOf(r.Object("ability_score")["name"]))
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
	for _, m := range decoded.ObjectsOf(v) {
		if name := decoded.TextOf(m["name"]); name != "" {
			out = append(out, name)
		}
	}
	return out
}

func (r ruleEntry) monsterLead() string {
	var speed []string
	for _, how := range decoded.SortedKeys(r.Object("speed")) {
		speed = append(speed, how+" "+decoded.TextOf(r.Object("speed")[how]))
	}
	armour := ""
	for _, m := range decoded.ObjectsOf(r.Data["armor_class"]) {
		armour = decoded.TextOf(m["value"])
		break
	}
	return formatSentence("*%s*", strings.Join(decoded.NonEmpty(r.Text("size")+" "+r.Text("type"),
		r.Text("subtype"), r.Text("alignment")), ", ")) + "\n\n" +
		formatSentence("Armor class %s", armour) + formatSentence("Hit points %s", r.Text("hit_points")+" ("+
		r.Text("hit_points_roll")+")") +
		formatSentence("Speed: %s", strings.Join(speed, ", ")) + formatSentence("Languages: %s", r.Text("languages")) +
		formatSentence("Challenge %s", r.Text("challenge_rating"))
}

func (r ruleEntry) spellLead() string {
	kind := "Cantrip"
	if n := r.Text("level"); n != "0" && n != "" {
		kind = "Spell of level " + n
	}
	notes := ""
	if r.IsTrue("ritual") {
		notes += ", ritual"
	}
	if r.IsTrue("concentration") {
		notes += ", concentration"
	}
	return formatSentence("*%s*", kind+", "+strings.ToLower(decoded.TextOf(r.Object("school")["name"]))+notes) + "\n\n" +
		formatSentence("Casting time: %s", r.Text("casting_time")) + formatSentence("Range: %s",
		r.Text("range")) +
		formatSentence("Components: %s", strings.Join(r.Texts("components"), ", ")) + formatSentence("Material: %s",
		strings.TrimRight(r.Text("material"), ".")) +
		formatSentence("Duration: %s", r.Text("duration"))
}

func (r ruleEntry) itemLead() string {
	cost := strings.TrimSpace(decoded.TextOf(r.Object("cost")["quantity"]) + " " +
		decoded.TextOf(r.Object("cost")["unit"]))
	damage := strings.TrimSpace(decoded.TextOf(r.Object("damage")["damage_dice"]))
	if t, _ := r.Object("damage")["damage_type"].(map[string]any); t != nil {
		damage += " " + strings.ToLower(decoded.TextOf(t["name"]))
	}
	return formatSentence("*%s*", strings.Join(decoded.NonEmpty(decoded.TextOf(r.Object("equipment_category")["name"]),
		decoded.TextOf(r.Object("rarity")["name"]),
		decoded.TextOf(r.Object("gear_category")["name"]), r.Text("category_range"), r.Text("tool_category"),
		r.Text("vehicle_category")), ", ")) + "\n\n" +
		formatSentence("Cost: %s", cost) + formatSentence("Weight: %s lb",
		r.Text("weight")) + formatSentence("Damage: %s", damage) +
		formatSentence("Properties: %s", strings.Join(namesOf(r.Data["properties"]), ", "))
}

// namedSections returns the parts of a record that have their own names.
func (r ruleEntry) namedSections() string {
	var out []string
	for _, part := range []struct{ key, title string }{
		{"special_abilities", ""}, {"actions", "Actions"}, {"reactions", "Reactions"},
		{"legendary_actions", "Legendary actions"},
		{"feature", ""},
	} {
		list := decoded.ObjectsOf(r.Data[part.key])
		if m := r.Object(part.key); m != nil {
			list = append(list, m)
		}
		if len(list) > 0 && part.title != "" {
			out = append(out, "### "+part.title)
		}
		for _, m := range list {
			out = append(out, fmt.Sprintf("**%s.** %s", decoded.TextOf(m["name"]), record.Lines(m["desc"])))
		}
	}
	if higher := r.Text("higher_level"); higher != "" {
		out = append(out, "**At higher levels.** "+higher)
	}
	return strings.Join(out, "\n\n")
}

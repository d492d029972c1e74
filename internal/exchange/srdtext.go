package exchange

import (
	"fmt"
	"strings"
)

// lead is the line that a record of the rules begins with: what a rule book prints above
// the description.
func (r srdRecord) lead() string {
	switch r.kind {
	case "monster":
		return r.monster()
	case "spell":
		return r.spell()
	case "equipment", "magic-item":
		return r.item()
	case "language":
		return sentence("A %s language", strings.ToLower(r.text("type"))) +
			sentence("Spoken by %s", strings.Join(r.texts("typical_speakers"), ", ")) + sentence("Script: %s", r.text("script"))
	case srdFeature, "subclass":
		return sentence("%s", strings.TrimSpace(strings.Join(nonEmpty(textOf(r.object("subclass")["name"]), textOf(r.object("class")["name"]),
			r.text("subclass_flavor")), ", ")+level(r.text("level"))))
	case srdLevel:
		return sentence("Proficiency bonus +%s", r.text("prof_bonus")) + sentence("Features: %s", strings.Join(names(r.data["features"]), ", "))
	case "class":
		return sentence("Hit die: d%s", r.text("hit_die")) + sentence("Saving throws: %s", strings.Join(names(r.data["saving_throws"]), ", "))
	case "race":
		return strings.Join(nonEmpty(r.text("age"), r.text("alignment"), r.text("size_description"), r.text("language_desc")), " ")
	case "proficiency":
		return sentence("A proficiency: %s", strings.ToLower(r.text("type")))
	case "skill":
		return sentence("A skill of %s", textOf(r.object("ability_score")["name"]))
	}
	return ""
}

// sentence is a line with a value, or nothing where there is none.
func sentence(format, value string) string {
	if strings.TrimSpace(value) == "" {
		return ""
	}
	return strings.TrimSuffix(fmt.Sprintf(format, value), ".") + ". "
}

func level(n string) string {
	if n == "" {
		return ""
	}
	return ", level " + n
}

func names(v any) []string {
	var out []string
	for _, m := range objects(v) {
		if name := textOf(m["name"]); name != "" {
			out = append(out, name)
		}
	}
	return out
}

func (r srdRecord) monster() string {
	var speed []string
	for _, how := range sorted(r.object("speed")) {
		speed = append(speed, how+" "+textOf(r.object("speed")[how]))
	}
	armour := ""
	for _, m := range objects(r.data["armor_class"]) {
		armour = textOf(m["value"])
		break
	}
	return sentence("*%s*", strings.Join(nonEmpty(r.text("size")+" "+r.text("type"), r.text("subtype"), r.text("alignment")), ", ")) + "\n\n" +
		sentence("Armor class %s", armour) + sentence("Hit points %s", r.text("hit_points")+" ("+r.text("hit_points_roll")+")") +
		sentence("Speed: %s", strings.Join(speed, ", ")) + sentence("Languages: %s", r.text("languages")) +
		sentence("Challenge %s", r.text("challenge_rating"))
}

func (r srdRecord) spell() string {
	kind := "Cantrip"
	if n := r.text("level"); n != "0" && n != "" {
		kind = "Spell of level " + n
	}
	notes := ""
	if r.flag("ritual") {
		notes += ", ritual"
	}
	if r.flag("concentration") {
		notes += ", concentration"
	}
	return sentence("*%s*", kind+", "+strings.ToLower(textOf(r.object("school")["name"]))+notes) + "\n\n" +
		sentence("Casting time: %s", r.text("casting_time")) + sentence("Range: %s", r.text("range")) +
		sentence("Components: %s", strings.Join(r.texts("components"), ", ")) + sentence("Material: %s", strings.TrimRight(r.text("material"), ".")) +
		sentence("Duration: %s", r.text("duration"))
}

func (r srdRecord) item() string {
	cost := strings.TrimSpace(textOf(r.object("cost")["quantity"]) + " " + textOf(r.object("cost")["unit"]))
	damage := strings.TrimSpace(textOf(r.object("damage")["damage_dice"]))
	if t, _ := r.object("damage")["damage_type"].(map[string]any); t != nil {
		damage += " " + strings.ToLower(textOf(t["name"]))
	}
	return sentence("*%s*", strings.Join(nonEmpty(textOf(r.object("equipment_category")["name"]), textOf(r.object("rarity")["name"]),
		textOf(r.object("gear_category")["name"]), r.text("category_range"), r.text("tool_category"), r.text("vehicle_category")), ", ")) + "\n\n" +
		sentence("Cost: %s", cost) + sentence("Weight: %s lb", r.text("weight")) + sentence("Damage: %s", damage) +
		sentence("Properties: %s", strings.Join(names(r.data["properties"]), ", "))
}

// sections are the parts of a record that have names of their own.
func (r srdRecord) sections() string {
	var out []string
	for _, part := range []struct{ key, title string }{
		{"special_abilities", ""}, {"actions", "Actions"}, {"reactions", "Reactions"}, {"legendary_actions", "Legendary actions"},
		{"feature", ""},
	} {
		list := objects(r.data[part.key])
		if m := r.object(part.key); m != nil {
			list = append(list, m)
		}
		if len(list) > 0 && part.title != "" {
			out = append(out, "### "+part.title)
		}
		for _, m := range list {
			out = append(out, fmt.Sprintf("**%s.** %s", textOf(m["name"]), blockOf(m["desc"])))
		}
	}
	if higher := r.text("higher_level"); higher != "" {
		out = append(out, "**At higher levels.** "+higher)
	}
	return strings.Join(out, "\n\n")
}

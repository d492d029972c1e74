package phrase

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// show writes a reading on one line.
func show(r Reading) string {
	var parts []string
	for _, a := range r.Acts {
		part := a.Tool + fmt.Sprint(a.With)[3:]
		if a.Words != "" {
			part += " " + a.Words
		}
		parts = append(parts, part)
	}
	for _, q := range r.Asks {
		parts = append(parts, "ask "+q.About)
	}
	if len(r.Ignored) > 0 {
		parts = append(parts, fmt.Sprintf("ignored %q", r.Ignored))
	}
	if r.DryRun {
		parts = append(parts, "dry")
	}
	if r.Replace {
		parts = append(parts, "replace")
	}
	if r.Unsure {
		parts = append(parts, "unsure")
	}
	return strings.Join(parts, "; ")
}

func TestParse(t *testing.T) {
	for _, row := range []struct{ text, want string }{
		{"design a throne room with a long carpet", "generate_scene[] a throne room with a long carpet"},
		{"add two cubes at 0,0,1 and 4,0,1",
			"add_object[location:[0 0 1] object_type:cube]; add_object[location:[4 0 1] object_type:cube]"},
		{"add a cube of 4 m, 3 m north and 2 m up", "add_object[location:[0 3 2] object_type:cube scale:[2 2 2]]"},
		{"put a cone 5 metres tall at 100 cm, 0, 0", "add_object[location:[1 0 0] object_type:cone scale:[1 1 2.5]]"},
		{"create a red cube at 0,0,1", `add_object[location:[0 0 1] object_type:cube]; ignored ["red"]`},
		{"build a castle, then add a cube at 0,0,1 and paint it with stone", "generate_scene[] a castle; " +
			"add_object[location:[0 0 1] name:Cube 1 object_type:cube]; generate_texture[object_name:Cube 1 texture_type:stone]"},
		{"paint Door blue", "ask task"},
		{"create a 500 x 400 m landscape, low detail", "generate_terrain[detail_level:low height:400 width:500]"},
		{"sprinkle 30 copies of Bush on Terrain",
			"populate_level[asset:Bush budget_max_instances:30 density:0.075 ground:Terrain]"},
		{"write everything to exports/all.obj", "export_asset[format:obj path:exports/all.obj]"},
		{"export it as stl", "ask task"},
		{"render a wide picture, 1920 pixels wide and 1080 pixels high", "render_preview[height:1080 width:1920]"},
		{"before exporting as glb, render a picture", "render_preview[]; export_asset[format:glb]"},
		{"render it, but first list the objects", "list_objects[]; render_preview[]"},
		{"render it without exporting", "render_preview[]"},
		{"do not apply it, just tell me what building a mill would do", "generate_scene[] a mill; dry"},
		{"build a mill in place of the old scene", "generate_scene[] a mill; replace"},
		{"build a mill and keep the old scene", "generate_scene[] a mill"},
		{"on leaving, hide Gate", "generate_blueprint[logic_description:When it is left, hide Gate]"},
		{"land of two hundred and fifty by seventy-five metres", "generate_terrain[detail_level:low height:75 width:250]"},
		{"Gelände, zweihundertfünfzig mal fünfundsiebzig Meter, grob", "generate_terrain[detail_level:low height:75 width:250]"},
		{"un terreno de ciento cincuenta por treinta y cinco metros, bajo", "generate_terrain[detail_level:low height:35 width:150]"},
		{"add a cone at minus two, 0, 1", "add_object[location:[-2 0 1] object_type:cone]"},
		{"add a sphere with a diameter of 3 m at 0,0,2", "add_object[location:[0 0 2] object_type:sphere scale:[1.5 1.5 1.5]]"},
		{"add a cube at apple, 2, 3", "add_object[location:[2 3 0] object_type:cube]; ask task; ignored [\"apple\"]; unsure"},
		{"make land 0 m by 100 m", "generate_terrain[detail_level:low height:100 width:100]; ask task"},
		{"land of 90 m by 80 m in monstrous detail", "generate_terrain[detail_level:low height:80 width:90]; ask task"},
		{"ground 90 m by 80 m, hills of up to 6 m", "generate_terrain[amplitude:6 detail_level:low height:80 width:90]"},
		{"add a cube at 0,0,1. Name it Chest.", "add_object[location:[0 0 1] name:Chest object_type:cube]"},
		{"once a mill is built, I want a picture and an obj", "generate_scene[] a mill; render_preview[]; export_asset[format:obj]"},
		{"1) add a cone at 0,0,0 2) render", "add_object[location:[0 0 0] object_type:cone]; render_preview[]"},
		{"I want Roof to be painted with metal", "generate_texture[object_name:Roof texture_type:metal]"},
		{"give the guard a sword", "ask task"},
		{"rebuild a mill and render it", "generate_scene[] a mill; render_preview[]; replace"},
		{"build a mill anew", "generate_scene[] a mill; replace"},
		{"clear away the present scene and build a mill", "generate_scene[] a mill; replace"},
		{"a mill, but do not actually change anything", "generate_scene[] a mill; dry"},
		{"export it to gltf. Leave the textures out.", "export_asset[format:gltf include_textures:false]"},
		{"make something spooky", "generate_scene[]; ask scene"},
		{"make the sky blue", "ask task"},
		{"delete the cube", "ask task"},
		{"sing a song", `ignored ["sing a song"]`},
		{"Baue ein Dorf mit acht Häusern bei Nacht", "generate_scene[style:night] ein village with 8 houses"},
		{"peins Mur avec de la pierre", "generate_texture[object_name:Mur texture_type:stone]"},
		{"show me the plan for building a mill, without running it", "generate_scene[] a mill; dry"},
		{"as a test, build a mill, but make no changes", "generate_scene[] a mill; dry"},
		{"preview what exporting everything as glb would do", "export_asset[format:glb]; dry"},
		{"name all objects starting with rock", "list_objects[prefix:rock]"},
		{"test the performance of main over 60 frames", "profile_performance[frames:60 level_name:main]"},
		{"cover the ground with Bush, at most 25", "populate_level[asset:Bush budget_max_instances:25 density:0.0625]"},
		{"render a video of the harbour", "ask task"},
		{"Füge eine Kugel an der Stelle 1, 2, 3 ein", "add_object[location:[1 2 3] object_type:sphere]"},
		{"Exportiere die Szene nach exports/x.fbx", "export_asset[format:fbx path:exports/x.fbx]"},
		{"montre tous les objets", "list_objects[]"},
		{"construis un moulin, mais n'applique rien", "generate_scene[] un mill; dry"},
		{"crea un terreno de 100 por 100 metros", "generate_terrain[detail_level:low height:100 width:100]"},
		{"make the barrels explode", "ask task"},
		{"fais exploser les tonneaux", "ask task"},
		{"blow up the lighthouse", `ignored ["blow up the lighthouse"]`},
		{"knock together a chapel", "generate_scene[] a chapel"},
		{"how about a lighthouse on a cliff?", "generate_scene[] a lighthouse on a cliff"},
		{"park a cone at 1, 2, 0", "add_object[location:[1 2 0] object_type:cone]; unsure"},
		{"make Wall of stone", "generate_texture[object_name:Wall texture_type:stone]"},
		{"use sand for Floor", `generate_texture[object_name:Floor texture_type:sand]; ignored ["use"]; unsure`},
		{"take a 2k picture", "render_preview[height:1080 width:1920]"},
		{"send Chair to disk as fbx", `export_asset[format:fbx object_name:Chair]; ignored ["disk"]; unsure`},
		{"make an stl for my printer", "ask task"},
		{"which objects start with Rock?", "list_objects[prefix:Rock]"},
		{"how many cubes are there?", "list_objects[]"},
		{"add a cube four metres wide, deep and high", "add_object[location:[0 0 1] object_type:cube scale:[2 2 2]]"},
		{"add a box half a metre on each side at the origin", "add_object[location:[0 0 0] object_type:cube scale:[0.25 0.25 0.25]]"},
		{"add a cube at 1,2,3 and a light at the same spot", "add_object[location:[1 2 3] object_type:cube]; " +
			"add_object[location:[1 2 3] object_type:light]"},
		{"land of 60 by 60 metres, sand on it", "generate_terrain[detail_level:low height:60 width:60]; " +
			"generate_texture[object_name:Terrain texture_type:sand]"},
		{"a flat piece of land, 100 m square", "generate_terrain[amplitude:0 detail_level:low height:100 width:100]"},
		{"fill the square from 0,0 to 10,10 with Flower", "populate_level[area:[0 0 10 10] asset:Flower density:0.01]"},
		{"throw everything away and build a mill", "generate_scene[] a mill; replace"},
		{"show me what would happen if you built a mill", "generate_scene[] a mill; dry"},
		{"zeig mir, was passieren würde, wenn du eine Mühle baust", "generate_scene[] eine mill; dry"},
		{"baue eine Steinbrücke über einen Fluss", "generate_scene[] eine stone bridge over einen river"},
		{"pose une sphère d'un rayon de 50 cm à 0, 0, 3", "add_object[location:[0 0 3] object_type:sphere scale:[0.5 0.5 0.5]]"},
		{"pon una esfera de 50 cm de radio en 0, 0, 3", "add_object[location:[0 0 3] object_type:sphere scale:[0.5 0.5 0.5]]"},
		{"half a dozen barrels around a well", "generate_scene[] half a dozen barrels around a well"},
		{"terrain a mile long and 500 m wide", "generate_terrain[detail_level:low height:1609.344 width:500]"},
		{"a plane of twelve metres by eight metres", "add_object[location:[0 0 1] object_type:plane scale:[6 4 1]]"},
		{"a torus 250 cm above the ground at x 4, y 4", "add_object[location:[4 4 2.5] object_type:torus]"},
		{"at 9,9,0 I want a cone", "add_object[location:[9 9 0] object_type:cone]"},
		{"two cones: North at 0,5,0 and South at 0,-5,0", "add_object[location:[0 5 0] name:North object_type:cone]; " +
			"add_object[location:[0 -5 0] name:South object_type:cone]"},
		{"spread Reed over Terrain, one to every two square metres", "populate_level[asset:Reed density:0.5 ground:Terrain]"},
		{"siembra tres Seta por metro cuadrado", "populate_level[asset:Seta density:3]"},
		{"build a mill, then add ten crates", "generate_scene[] a mill, ten crates"},
		{"export everything. Use obj.", "export_asset[format:obj]"},
		{"export as glb, but build a mill first", "generate_scene[] a mill; export_asset[format:glb]"},
		{"bevor du als glb exportierst, mach ein Bild", "render_preview[]; export_asset[format:glb]"},
		{"load it in godot", "import_asset[]"},
		{"snap it in 720p", "render_preview[height:720 width:1280]"},
		{"écris le texte \"Halte\" à 1, 0, 2", "add_object[location:[1 0 2] object_type:text text:Halte]"},
		{"tira la escena vieja y exporta un obj", "export_asset[format:obj]; replace"},
		{"make the sea calmer", "ask task"},
		{"make the lighthouse blink", "ask task"},
		{"make the guards chase the players", "ask task"},
		{"camera at (7; -7; 4)", "add_object[location:[7 -7 4] object_type:camera]"},
		{"ein Kegel bei 2,5 m; 0 m; 1 m", "add_object[location:[2.5 0 1] object_type:cone]"},
		{"80 by 60 metres of land", "generate_terrain[detail_level:low height:60 width:80]"},
		{"We need land. 70 m by 50 m, medium detail. Call it Moor.", "generate_terrain[detail_level:medium height:50 name:Moor width:70]"},
		{"scatter Rock between 0,0 and 9,9; never more than two dozen", "populate_level[area:[0 0 9 9] asset:Rock " +
			"budget_max_instances:24 density:0.01]"},
		{"sprinkle a few things here and there", "ask task"},
		{"a stone circle on a hilltop", "generate_scene[] a stone circle on a hilltop"},
		{"ship it as glb", "export_asset[format:glb]"},
		{"scrap what is there and build a mill", "generate_scene[] a mill; replace"},
		{"show me how it looks", "render_preview[]"},
		{"no hagas nada, dime solo qué cambiaría construir un molino", "generate_scene[] un mill; dry"},
		{"what is the weather?", `ignored ["what is the weather"]`},
	} {
		if got := show(Parse(row.text, nil)); got != row.want {
			t.Errorf("%q\n got %s\nwant %s", row.text, got, row.want)
		}
	}
}

// Each line of the vocabulary has a class and phrases that can be found again.
func TestVocabulary(t *testing.T) {
	for line := range strings.Lines(lexiconText) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		head, list, _ := strings.Cut(line, ":")
		class, value, ok := strings.Cut(head, " ")
		if !ok || list == "" {
			t.Errorf("%q is no line CLASS VALUE: PHRASES", line)
		}
		for phrase := range strings.SplitSeq(list, ",") {
			if words().phrases[strings.Join(strings.Fields(fold(phrase)), " ")][class] != value &&
				!slices.Contains([]string{"det", "prep"}, class) {
				t.Errorf("%q stands in two lines of class %s", phrase, class)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"build an inn, render it at 640x360; export to exports/a.glb", "add 3 cubes at (1, 2",
		`"'„“«`,
		"scatter 1e9 of of of over x x x", "x 1 y 2 z", "when it is entered, say", "before after first not then and"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 1000 {
			return
		}
		r := Parse(s, []Name{{Start: 0, End: len(s) / 2, Card: "Inn"}})
		if again := Parse(s, []Name{{Start: 0, End: len(s) / 2, Card: "Inn"}}); show(again) != show(r) {
			t.Errorf("%q is read in two ways", s)
		}
	})
}

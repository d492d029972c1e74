package mapgen

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"loregate/internal/exchange"
	"loregate/internal/exchange/exchangetest"
	"loregate/internal/store/memory"
	"loregate/internal/store/sqlite/sqlitetest"
)

func scene(t testing.TB) *exchangetest.Scene { return exchangetest.NewOn(t, memory.New()) }

func file(name string, data []byte) fstest.MapFS { return fstest.MapFS{name: {Data: data}} }

// TestRealMaps imports the maps of others, twice.
func TestRealMaps(t *testing.T) {
	for _, tc := range []struct {
		file   string
		cards  int
		exits  bool
		says   string
		begins string
	}{
		{"v1.106.7---Via_(Small_Map)_2025-01-24-16-47.map", 150, true, "", "Players begin at"},
		{"v1.95.05---Pres_2024-02-17-18-36.map", 500, false, "the map has no routes (version 1.95.05", ""},
	} {
		s, files := exchangetest.NewOn(t, sqlitetest.Open(t)), os.DirFS(exchangetest.RealData(t, "azgaar-maps"))
		sum := s.Import(ImportAzgaar, files, exchange.Options{Label: "x", File: tc.file})
		t.Log(exchangetest.FirstLine(sum))
		if sum.Created < tc.cards || !strings.Contains(sum.String(), tc.says) || !strings.Contains(sum.String(),
			tc.begins) {
			t.Errorf("%s", sum)
		}
		if again := s.Import(ImportAzgaar, files, exchange.Options{Label: "y",
			File: tc.file}); again.Created+again.Updated+again.Links > 0 {
			t.Errorf("importing again: %s", again)
		}
		if !tc.exits {
			continue
		}
		reached := s.Walk("user", sum.Starter)
		times := s.Linked("user", sum.Starter, "exit", "travelDurationMs")
		if len(reached) < 96 || len(times) == 0 {
			t.Errorf("%d places are reached from %s, at once %v", len(reached), sum.Starter, times)
		}
		for to, ms := range times {
			if n, err := strconv.Atoi(ms); err != nil || n < 60_000 || n > 120*24*3_600_000 {
				t.Errorf("the way to %s takes %s ms", to, ms)
			}
		}
	}
	s := scene(t)
	sum := s.Import(ImportAzgaar, os.DirFS(exchangetest.RealData(t, "azgaar-json/example")),
		exchange.Options{Label: "lists"})
	if sum.Created < 550 {
		t.Errorf("lists: %s", sum)
	}
}

// smallMap is a map with two burgs on a road, a removed burg, and a marker with a note.
func smallMap(version string) string {
	lines := make([]string, 39)
	lines[0] = version + "|File can be loaded in azgaar.github.io/Fantasy-Map-Generator|2025-1-24|1|100|100|777"
	lines[1] = `km|2|square|ft|2|C|||||||500|1|||||||{"year":1}|Lendwater|1`
	lines[4] = `[{"id":"marker0","name":"Drowned Bell","legend":"It rings.\r\nAt night."},{"id":"regiment1-0","name":"First","legend":"Old."}]`
	lines[5] = "<svg>\n<g>\r\n</g></svg>"
	lines[13] = `[{"i":0,"name":"Wildlands"},{"i":1,"name":"River folk","type":"River"}]`
	lines[14] = `[{"i":0,"name":"Neutrals"},{"i":1,"name":"Lend","fullName":"County of Lend","culture":1,"neighbors":[2],"diplomacy":["x","x","Enemy"]},{"i":2,"name":"Weir","diplomacy":["x","Enemy","x"]}]`
	lines[15] = `[{},{"i":1,"name":"Puya","cell":1,"x":0,"y":0,"state":1,"capital":1,"port":1,"population":2},{"i":2,"name":"Puya","cell":3,"x":20,"y":0,"state":2,"population":1},{"i":3,"name":"Gone","cell":4,"removed":true}]`
	lines[27] = "0,1,0,0,0"
	lines[29] = `[{"i":0,"name":"None"}]`
	lines[30] = `[0,{"i":1,"name":"Shore","fullName":"Shore County","state":1}]`
	lines[32] = `[{"i":1,"name":"Lend","type":"River","length":10,"parent":0}]`
	lines[35] = `[{"i":0,"type":"dungeons","cell":2,"x":1,"y":1}]`
	lines[37] = `[{"i":0,"group":"roads","points":[[0,0,1],[10,0,2],[20,0,3]]}]`
	return strings.Join(lines, "\r\n")
}

func TestFormsOfAMap(t *testing.T) {
	crlf := []byte(smallMap("1.106"))
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	w.Write(crlf)
	w.Close()
	for name, data := range map[string][]byte{
		"CRLF": crlf, "LF": []byte(strings.ReplaceAll(string(crlf), "\r\n", "\n")), "gzip": zipped.Bytes(),
		"base64": []byte(base64.StdEncoding.EncodeToString(crlf)), "a date first": []byte(strings.Replace(string(crlf),
			"1.106|File", "2025-01-02|File", 1)),
	} {
		s := scene(t)
		sum := s.Import(ImportAzgaar, file("w.map", data), exchange.Options{})
		if got := s.Linked("user", "Puya", "exit", "travelDurationMs"); got["Puya (burg)"] != "28800000" {
			t.Errorf("%s: from Puya: %v, want 40 km in 8 hours", name, got)
		}
		if got := s.Linked("user", "Puya", "exit", "direction"); got["Puya (burg)"] != "east" {
			t.Errorf("%s: from Puya: %v", name, got)
		}
		for card, want := range map[string]string{"Puya": "Location user <p>A capital of 1000 inhabitants. It has a port.</p>\n",
			"Drowned Bell": "Location user <p>It rings.<br/>At night.</p>\n", "First": "Lore user <p>Old.</p>\n",
			"Gone": "-"} {
			if got := s.See("user", card); got != want {
				t.Errorf("%s: %s is %q", name, card, got)
			}
		}
		if got := s.Linked("user", "County of Lend", "at_war_with", ""); len(got) != 1 {
			t.Errorf("%s: the county is at war with %v", name, got)
		}
		if got := s.Linked("user", "Puya", "within", ""); len(got) != 1 {
			t.Errorf("%s: Puya lies within %v", name, got)
		} else if _, ok := got["Shore County"]; !ok {
			t.Errorf("%s: Puya lies within %v", name, got)
		}
		if c, _, ok := s.Content("user", "Lendwater+map"); !ok || c.Type != "Image" || !strings.Contains(string(c.Fields),
			`"x":20`) {
			t.Errorf("%s: no picture: %s", name, sum)
		}
		if why := recognizeAzgaar(exchange.NewPeek(file("w.map", data), "")); why == "" {
			t.Errorf("%s: not recognized", name)
		}
	}
}

func TestFullJSON(t *testing.T) {
	s := scene(t)
	files := file("w.json",
		[]byte(`{"info": {"version": "1.108", "mapName": "Lendwater", "mapId": 5}, "settings": {"distanceUnit": "mi", "distanceScale": "3", "populationRate": 1000},
		"pack": {"burgs": [{}, {"i": 1, "name": "Puya", "cell": 0, "state": 1, "population": 1}], "states": [{"i": 0}, {"i": 1, "name": "Lend"}], "cells": [{"i": 0, "province": 0}]}, "notes": []}`))
	sum := s.Import(ImportAzgaar, files, exchange.Options{})
	if sum.Created != 3 || s.See("user", "Puya") != "Location user <p>1000 inhabitants.</p>\n" {
		t.Errorf("%s %s", sum, s.See("user", "Puya"))
	}
	if why := recognizeAzgaar(exchange.NewPeek(files, "")); why == "" {
		t.Error("not recognized")
	}
}

func TestBrokenMapsChangeNothing(t *testing.T) {
	whole := smallMap("1.106")
	for name, data := range map[string]string{
		"no map": "hello", "cut off": whole[:200], "a damaged record": strings.Replace(whole, `[{},{"i":1`, `[{},{"i":`, 1),
		"JSON of another kind": `{"x": 1}`, "half a gzip": "\x1f\x8b\x08",
	} {
		s := scene(t)
		if _, err := ImportAzgaar(t.Context(), s.Canon, s.As("admin"), file("w.map", []byte(data)),
			exchange.Options{File: "w.map"}); err == nil || len(s.Listing("admin")) > 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWatabou(t *testing.T) {
	files := os.DirFS(exchangetest.RealData(t, "watabou"))
	s := scene(t)
	sum := s.Import(ImportWatabou, files, exchange.Options{Label: "w"})
	t.Log(sum)
	if got := s.Walk("user", "Pale Forge"); len(got) != 3 {
		t.Errorf("from the forge: %v", got)
	}
	if got := s.Walk("user", "Hall"); len(got) < 18 {
		t.Errorf("%d rooms are reached: %v", len(got), got)
	}
	if again := s.Import(ImportWatabou, files,
		exchange.Options{Label: "w"}); again.Created+again.Updated+again.Links > 0 {
		t.Errorf("importing again: %s", again)
	}
	for _, name := range []string{"mfcg.json", "dwellings.json"} {
		if recognizeWatabou(exchange.NewPeek(files, name)) == "" || recognizeAzgaar(exchange.NewPeek(files, name)) != "" {
			t.Errorf("%s is not recognized", name)
		}
	}
}

// FuzzMaps checks that no bytes cause a panic, or cards that players see against the level.
func FuzzMaps(f *testing.F) {
	f.Add([]byte(smallMap("1.106")))
	f.Add([]byte(`{"features": [{"id": "districts", "geometries": [{"name": "A", "coordinates": [[[0, 1], [1, 1]]]}]}]}`))
	f.Add([]byte(`{"floors": [{"level": 0, "rooms": [{"cells": [{"i": 1, "j": 1}]}], "doors": [{"edge": {"cell": {"i": 1}, "dir": "w"}}]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		exchangetest.CheckHostile(t, memory.New(), fstest.MapFS{"w.map": {Data: data}, "w.json": {Data: data}},
			ImportAzgaar, ImportWatabou)
	})
}

package main

import (
	"debug/buildinfo"
	"fmt"
	"io"
	"runtime/debug"
	"time"

	cyclonedx "github.com/CycloneDX/cyclonedx-go"
)

// writeBillOfMaterials writes the modules that are compiled into a target's program, as CycloneDX
// 1.6 in JSON. The program itself is the source: the Go linker records its modules and their hashes.
func (r release) writeBillOfMaterials(t target, program string) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	bom := cyclonedx.NewBOM()
	main := module("loregate", r.version)
	main.Type = cyclonedx.ComponentTypeApplication
	bom.Metadata = &cyclonedx.Metadata{Timestamp: r.time.Format(time.RFC3339), Component: &main}
	components := []cyclonedx.Component{module("std", info.GoVersion)}
	for _, d := range info.Deps {
		components = append(components, module(effective(d).Path, effective(d).Version))
	}
	bom.Components = &components
	name := fmt.Sprintf("loregate_%s_%s_%s.cdx.json", r.version, t.os, t.arch)
	return r.create(name, func(w io.Writer) error {
		return cyclonedx.NewBOMEncoder(w, cyclonedx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom,
			cyclonedx.SpecVersion1_6)
	})
}

// effective returns the module that was compiled in place of a replaced one.
func effective(m *debug.Module) *debug.Module {
	if m.Replace != nil {
		return m.Replace
	}
	return m
}

func module(path, version string) cyclonedx.Component {
	url := "pkg:golang/" + path + "@" + version
	return cyclonedx.Component{BOMRef: url, Type: cyclonedx.ComponentTypeLibrary, Name: path, Version: version,
		PackageURL: url}
}

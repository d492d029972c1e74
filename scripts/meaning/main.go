// Command meaning writes the data of package internal/meaning: meaning VECTORS.json WORDNET-FOLDER TO-FOLDER.
// Package meaning describes the formats.
package main

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"log"
	"os"
	"path/filepath"
)

func main() {
	if len(os.Args) != 4 {
		log.Fatal("usage: meaning VECTORS.json WORDNET-FOLDER TO-FOLDER")
	}
	vectors, err := makeVectors(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	relations, err := makeWordNet(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	glosses, err := makeGlosses(os.Args[2])
	if err != nil {
		log.Fatal(err)
	}
	for name, data := range map[string][]byte{"vectors.bin": vectors, "wordnet.bin": deflate(relations),
		"glosses.bin": glosses} {
		if err := os.WriteFile(filepath.Join(os.Args[3], name), data, 0o644); err != nil {
			log.Fatal(err)
		}
		log.Printf("%s: %d bytes", name, len(data))
	}
}

// deflate returns the size of data, and data deflated.
func deflate(data []byte) []byte {
	var out bytes.Buffer
	out.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(data))))
	w, _ := flate.NewWriter(&out, flate.BestCompression) // fails only for an unknown level
	if _, err := w.Write(data); err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	return out.Bytes()
}

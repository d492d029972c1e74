package archive

import (
	"bytes"
	"context"
	"encoding/xml"
	"image"
	_ "image/gif"  // to measure pictures
	_ "image/jpeg" // to measure pictures
	_ "image/png"  // to measure pictures
	"strconv"
	"strings"

	"github.com/maypok86/otter/v2"

	"loregate/internal/canon"
)

// pictureSize is the size of a picture; zero for other files, and for formats that are not measured.
type pictureSize struct {
	Width  float64 `json:"width,omitzero" jsonschema:"Width of a PNG, JPEG or GIF in pixels, of an SVG in the units of its coordinates."`
	Height float64 `json:"height,omitzero" jsonschema:"Height, in the same units."`
}

// sizeCache caches the sizes of pictures by their content, so that the bytes of a picture are read once.
type sizeCache struct {
	sizes *otter.Cache[canon.Hash, pictureSize]
}

// sizeCacheEntries bounds the sizes of a sizeCache, of about 100 bytes each.
const sizeCacheEntries = 20_000

func newSizeCache() (*sizeCache, error) {
	sizes, err := otter.New(&otter.Options[canon.Hash, pictureSize]{MaximumSize: sizeCacheEntries})
	return &sizeCache{sizes}, err
}

// findSize returns the size of the picture of a card.
func (s *sizeCache) findSize(ctx context.Context, l *canon.Snapshot, c canon.Card) (pictureSize, error) {
	if size, ok := s.sizes.GetIfPresent(c.Content); ok {
		return size, nil
	}
	data, err := l.Bytes(ctx, c.Content)
	if err != nil {
		return pictureSize{}, err
	}
	return s.noteSize(c.Content, data), nil
}

// noteSize measures a picture and keeps its size.
func (s *sizeCache) noteSize(content canon.Hash, data []byte) pictureSize {
	size := measurePicture(data)
	s.sizes.Set(content, size)
	return size
}

// maxSVGHead is the part of an SVG that is searched for its root element, in bytes.
const maxSVGHead = 64 << 10

// measurePicture reads the size of a picture from the beginning of its file.
func measurePicture(data []byte) (size pictureSize) {
	if c, _, err := image.DecodeConfig(bytes.NewReader(data)); err == nil {
		return pictureSize{float64(c.Width), float64(c.Height)}
	}
	tokens := xml.NewDecoder(bytes.NewReader(data[:min(len(data), maxSVGHead)]))
	for {
		t, err := tokens.RawToken()
		if err != nil {
			return pictureSize{}
		}
		if root, ok := t.(xml.StartElement); ok {
			return sizeOfSVG(root)
		}
	}
}

// sizeOfSVG returns the size of the viewBox of an SVG, else that of its width and height.
func sizeOfSVG(root xml.StartElement) (size pictureSize) {
	for _, a := range root.Attr {
		n, err := strconv.ParseFloat(strings.TrimSuffix(a.Value, "px"), 64)
		switch box := strings.Fields(a.Value); {
		case a.Name.Local == "viewBox" && len(box) == 4:
			size.Width, _ = strconv.ParseFloat(box[2], 64) // no number: no size
			size.Height, _ = strconv.ParseFloat(box[3], 64)
			return pictureSize{max(size.Width, 0), max(size.Height, 0)}
		case err == nil && a.Name.Local == "width":
			size.Width = max(n, 0)
		case err == nil && a.Name.Local == "height":
			size.Height = max(n, 0)
		}
	}
	return size
}

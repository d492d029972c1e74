package exchange

import (
	"path"
	"slices"
	"strings"
)

var pictureExtensions = []string{".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg", ".bmp", ".avif"}

// IsPicture reports whether a file's name is that of a picture.
func IsPicture(name string) bool {
	return slices.Contains(pictureExtensions, strings.ToLower(path.Ext(name)))
}

package archive

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"

	"loregate/internal/canon"
	"loregate/internal/op"
)

// heldCard describes a card for the read tags.
func heldCard(l *canon.Snapshot, c canon.Card) op.Held {
	args, err := json.Marshal(map[string]any{"name": c.Name, "full": true})
	if err != nil {
		args = nil // a name always has a JSON form
	}
	return op.Held{Name: c.Name, Version: c.Version(l.View()), Length: c.Length, Read: "get_card " + string(args),
		Instead: "send a patch, which changes only part of the content", Marks: marksOf(l, c)}
}

// heldText describes a card with a text. isTold reports whether the reader is told hidden parts of it; then the text is
// one of the values that identify it.
func heldText(ctx context.Context, l *canon.Snapshot, c canon.Card) (h op.Held, isTold bool, err error) {
	h = heldCard(l, c)
	if isTold, err = l.IsTold(ctx, c); err != nil || !isTold {
		return h, false, err
	}
	text, err := contentOf(ctx, l, c)
	sum := sha256.Sum256([]byte(text))
	h.Marks = append(h.Marks, sum[:])
	return h, true, err
}

// marksOf returns the values that identify a card in its current version.
func marksOf(l *canon.Snapshot, c canon.Card) [][]byte {
	world := l.World().ID
	return [][]byte{[]byte("card"), world[:], c.ID[:], binary.BigEndian.AppendUint32(nil, c.Version(l.View()))}
}

// heldFile describes an attached file for the read tags.
func heldFile(l *canon.Snapshot, c canon.Card) op.Held {
	h := heldCard(l, c)
	args, err := json.Marshal(map[string]any{"name": c.Name, "max_bytes": 0})
	if err != nil {
		args = nil
	}
	h.Length, h.Read, h.Instead = c.Size, "get_attachment "+string(args), "upload the file under another name"
	return h
}

// contentLimit returns the number of characters of content to return. If the caller asks for no
// number, MCP returns a part and the other transports return all.
func contentLimit(c *op.Call, asked int, full bool, content string) int {
	switch {
	case full || asked == 0 && (c.Transport == "rest" || c.Transport == "cli"):
		return max(len(content), 1)
	case asked == 0:
		return defaultContent
	}
	return asked
}

package safety

import "context"

// Moderator is somebody else who judges text: an endpoint, a model. An error means that it
// did not answer, and then nothing may pass.
type Moderator interface {
	Moderate(ctx context.Context, texts []string) (categories []string, err error)
}

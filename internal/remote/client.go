package remote

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/access"
	"loregate/internal/fault"
	"loregate/internal/op"
)

// Client is an MCP client of the server of a Bridge. It implements op.Invoker: the caller of each call is the key of the
// Bridge, so that the server decides what it may do.
type Client struct {
	session *mcp.ClientSession
	served  chan error
	stop    context.CancelFunc
}

// Connect starts an MCP session that ends by Close.
func (b *Bridge) Connect(ctx context.Context) (*Client, error) {
	theirs, out := io.Pipe()
	in, ours := io.Pipe()
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	c := &Client{served: make(chan error, 1), stop: stop}
	go func() {
		err := b.Serve(serving, theirs, ours)
		_ = ours.CloseWithError(err) // the session reads it
		c.served <- err
	}()
	var err error
	c.session, err = mcp.NewClient(&mcp.Implementation{Name: "loregate-agent", Version: "1"}, nil).
		Connect(ctx, &mcp.IOTransport{Reader: in, Writer: out}, nil)
	if err != nil {
		_ = out.Close() // ends Serve
		stop()
		<-c.served
		return nil, err
	}
	return c, nil
}

// Close ends the session.
func (c *Client) Close() error {
	err := c.session.Close()
	c.stop()
	return errors.Join(err, <-c.served)
}

// Invoke calls a tool. The world is that of the Bridge. An error of the tool is a *fault.Error of the kind that the
// server named.
func (c *Client) Invoke(ctx context.Context, _ access.Caller, r op.Request) (*op.Answer, error) {
	got, err := c.session.CallTool(ctx, &mcp.CallToolParams{Name: r.Operation, Arguments: r.Input})
	if err != nil {
		return nil, err
	}
	output, err := json.Marshal(got.StructuredContent)
	if err != nil {
		return nil, err
	}
	if got.IsError {
		return nil, toolFault(got, output)
	}
	return &op.Answer{Output: output, Reply: op.Reply{Meta: got.Meta}}, nil
}

// toolFault returns the error that a tool answered with.
func toolFault(got *mcp.CallToolResult, output []byte) error {
	var e fault.Envelope
	if json.Unmarshal(output, &e) != nil || e.Error.Message == "" {
		for _, part := range got.Content {
			if text, ok := part.(*mcp.TextContent); ok && (json.Unmarshal([]byte(text.Text), &e) != nil || e.Error.Message == "") {
				e.Error.Message = text.Text
			}
		}
	}
	kind := fault.Invalid
	for k := fault.Invalid; k <= fault.Unavailable; k++ {
		if strings.EqualFold(k.Code(), e.Error.Code) {
			kind = k
			break
		}
	}
	return fault.New(kind, "%s", e.Error.Message)
}

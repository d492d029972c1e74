package player

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"loregate/internal/game/view"
)

// Client reads a game over MCP: it subscribes to one resource. Close it.
type Client struct {
	uri     string
	session *mcp.ClientSession

	mu    sync.Mutex
	copy  view.Table // guarded by mu
	fresh bool       // copy is up to date as far as the server has said. Guarded by mu
	notes int        // number of update notices so far. Guarded by mu
}

// Dial connects over a transport and subscribes to the resource.
func Dial(ctx context.Context, t mcp.Transport, uri string) (*Client, error) {
	c := &Client{uri: uri}
	client := mcp.NewClient(&mcp.Implementation{Name: "alignment-player", Version: "1"},
		&mcp.ClientOptions{ResourceUpdatedHandler: func(context.Context, *mcp.ResourceUpdatedNotificationRequest) { c.markStale() }})
	var err error
	if c.session, err = client.Connect(ctx, t, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"}); err != nil {
		return nil, fmt.Errorf("player: connect: %w", err)
	}
	if err := c.session.Subscribe(ctx, &mcp.SubscribeParams{URI: uri}); err != nil {
		return nil, errors.Join(fmt.Errorf("player: subscribe: %w", err), c.session.Close())
	}
	return c, nil
}

// Close ends the connection.
func (c *Client) Close() { _ = c.session.Close() } // it may have ended already

func (c *Client) markStale() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fresh = false
	c.notes++
}

// Read returns the cached table, and reads it again if a notice marked it as stale.
func (c *Client) Read(ctx context.Context) (view.Table, error) {
	c.mu.Lock()
	t, fresh, notes := c.copy, c.fresh, c.notes
	c.mu.Unlock()
	if fresh {
		return t, nil
	}
	res, err := c.session.ReadResource(ctx, &mcp.ReadResourceParams{URI: c.uri})
	if err != nil {
		return view.Table{}, fmt.Errorf("player: read: %w", err)
	}
	if len(res.Contents) != 1 {
		return view.Table{}, fmt.Errorf("player: read: %d contents", len(res.Contents))
	}
	t = view.Table{}
	if err := json.Unmarshal([]byte(res.Contents[0].Text), &t); err != nil {
		return view.Table{}, fmt.Errorf("player: read: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.copy, c.fresh = t, notes == c.notes // a notice that came meanwhile may be about a later state
	return t, nil
}

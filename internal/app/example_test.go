package app_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"

	"loregate/internal/access"
	"loregate/internal/app"
	"loregate/internal/op"
)

// The whole product on an empty data folder: a game master writes a card, and a player reads it.
func Example() {
	ctx := context.Background()
	data, err := os.MkdirTemp("", "loregate")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(data)
	config, err := app.LoadConfig("", []string{"LOREGATE_DATA=" + data})
	if err != nil {
		fmt.Println(err)
		return
	}
	a, err := app.Open(ctx, config, app.Options{Version: "1.0.0", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer a.Close(ctx)
	if err := a.EnsureWorld(ctx); err != nil {
		fmt.Println(err)
		return
	}
	_, err = a.Ops.Invoke(ctx, app.Local(access.RoleGM), op.Request{Operation: "create_card", World: app.FirstWorld,
		Input: []byte(`{"name": "Ferry", "content": "<p>It crosses at dusk.</p>"}`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, err := a.Ops.Invoke(ctx, app.Local(access.RoleUser), op.Request{Operation: "get_card", World: app.FirstWorld,
		Input: []byte(`{"name": "ferry"}`)})
	if err != nil {
		fmt.Println(err)
		return
	}
	var card struct{ Name, Content string }
	err = json.Unmarshal(answer.Output, &card)
	fmt.Println(card.Name, card.Content, err)
	// Output: Ferry <p>It crosses at dusk.</p> <nil>
}

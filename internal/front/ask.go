package front

import (
	"context"

	"loregate/internal/access"
	"loregate/internal/op"
)

type askIn struct {
	Claim string `json:"claim" minlen:"2" maxlen:"500" alias:"question" jsonschema:"One statement or question about the world."`
	Limit int    `json:"limit,omitzero" default:"5" min:"1" max:"20" jsonschema:"Largest number of facts, and of pages."`
}

// askOut holds the places of the canon that speak of a claim. It gives no verdict.
type askOut struct {
	Facts []factFound `json:"facts,omitempty"`
	Pages []pageFound `json:"pages,omitempty"`
	Note  string      `json:"note"`
}

type factFound struct {
	Fact string `json:"fact" jsonschema:"Id of the fact, the source to cite."`
	Type string `json:"type,omitzero"`
	Text string `json:"text"`
}

type pageFound struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Text  string `json:"text,omitzero"`
}

func (f *Front) askOp() *op.Operation {
	return define(op.Spec{
		Name: "ask_canon", Title: "What the canon says", Effect: access.Read,
		Asked: []string{"is it true that", "how much does it cost", "how old is she", "which law or custom forbids it",
			"who founded, owns or guards it", "where is that written", "why did it happen"},
		Doc: "Check whether a statement is true in this world, or get the answer to a question of fact, before " +
			"you say it: " +
			"who, what, why, how many, how much, how old, how far, what it costs, what a law, custom or legend " +
			"says, where it is " +
			"written. Gives the facts and pages that speak of it, with sources to quote; " +
			"it finds evidence and leaves the verdict, right or wrong, to you.",
		Examples: []op.Example{{Title: "A claim", Input: `{"claim": "The rent of Lendwater is paid to the sea."}`}},
	}, f.ask)
}

func (f *Front) ask(ctx context.Context, c *op.Call, in askIn) (out askOut, err error) {
	facts, err := invoke[struct {
		Items []struct {
			ID      string `json:"factId"`
			Type    string `json:"type"`
			Snippet string `json:"snippet"`
		} `json:"items"`
	}](ctx, f, c, "search-lore", args{"query": in.Claim, "k": in.Limit})
	if err != nil {
		return out, err
	}
	for _, x := range facts.Items {
		text, err := f.readPassage(ctx, c, ":"+x.ID, in.Claim, x.Snippet)
		if err != nil {
			return out, err
		}
		out.Facts = append(out.Facts, factFound{x.ID, x.Type, text})
	}
	pages, err := invoke[struct {
		Results []pageFound `json:"results"`
	}](ctx, f, c, "search", args{"query": in.Claim})
	if err != nil {
		return out, err
	}
	for _, p := range pages.Results[:min(len(pages.Results), in.Limit)] {
		if p.Text, err = f.readPassage(ctx, c, p.ID, in.Claim, ""); err != nil {
			return out, err
		}
		out.Pages = append(out.Pages, p)
	}
	out.Note = "Found, not judged: compare the claim with these sources. Read one whole with fetch."
	if len(out.Facts)+len(out.Pages) == 0 {
		out.Note = "Nothing that you may see speaks of it. The canon neither confirms nor denies it; try other " +
			"words with " +
			"search."
	}
	return out, nil
}

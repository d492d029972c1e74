// Package model sends prompts to language models over the network: to any endpoint that implements
// OpenAI's chat completions, and to Anthropic's messages. It is the [agent.Provider] of a program
// with a configured model; without one nothing here runs.
//
// Its invariant: prompts are sent to the configured endpoint and nowhere else, and no error
// contains any part of a prompt, an answer or the key. An answer is bounded and complete, and fits
// its schema if the request had one; otherwise it is an error. Nothing that an endpoint claims is
// trusted. The caller decides which texts to send to which model, and how to use the answer.
package model

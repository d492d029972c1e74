// Package tasktest measures whether a model that has only the default list of tools can work in a
// world. A Task is put in words that no tool's name has. The Picker is a scripted model: it picks tools
// by the words of their descriptions. judgetest counts the tasks that it solves over plain MCP,
// clienttest those that it solves as the model of real clients.
//
// The package leaves files of tasks, their halves and the figures to those tests.
package tasktest

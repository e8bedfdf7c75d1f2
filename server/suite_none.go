//go:build !conformance

package server

import (
	"context"

	library "github.com/mark3labs/mcp-go/server"
)

// suite is what the official conformance suite wants of a server beside what this one is for: nothing. The program is
// built with more for its test alone, with the tag conformance.
type suite struct{}

// has tells whether a tool is one of the suite's.
func (suite) has(string) bool { return false }

func (suite) tools() []Definition             { return nil }
func (suite) options() []library.ServerOption { return nil }

// answers answers a request, if it is one of the suite's own.
func (suite) answers(context.Context, *post, introduction, string) bool { return false }

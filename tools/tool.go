// Package tools holds the tools, one a file: the contract, then the function that keeps it. ls tools/ is the table of
// contents.
//
// To add a tool, add one file that declares it with [reads] or [writes]. The effect that a contract claims is the type
// of the function's parameter: a reading tool is handed a [Reader], on which there is nothing to call that writes.
// Tools return what they did and the cause that stopped them; they build no envelopes and never speak of policy.
//
// Text of files is shown as [workspace.Reader.Lines], [workspace.Reader.Decode] and [workspace.Reader.Diff] give it, which
// keep secrets back. Each field of an output that holds some has the tag text:"file", or text:"line" where a field Line
// beside it names the line that it starts with.
package tools

import (
	"cmp"
	"context"
	"reflect"
	"slices"

	"writ/contract"
	"writ/envelope"
	"writ/workspace"
)

// Tool is a contract with the function that keeps it.
type Tool struct {
	*contract.Contract
	output reflect.Type
	run    func(ctx context.Context, env Env, args contract.Args) (any, error)
}

// Env is what the gate hands to a tool for one call.
type Env struct {
	Files     workspace.Writer
	Notes     NoteFinder
	Log       ChangeLog
	Artifacts Artifacts
	Scope     func() Scope
	Checks    Checks
	Programs  Programs
	Limits    Limits
}

// Limits bound an answer.
type Limits struct {
	ResultBytes int // text in one answer
	Lines       int // of read_file
	Entries     int // of list_directory and find_files
	Matches     int // of search_text
	Notes       int // of search_notes
	FileBytes   int64

	ArtifactBytes int // of one artifact
}

// Reader is what a reading tool may do.
type Reader struct {
	Files  workspace.Reader
	Notes  NoteFinder
	Log    ChangeLog
	Limits Limits
	Scope  func() Scope

	Artifacts Artifacts
	Checks    Checks
}

// Writer is what a writing tool may do, beside reading.
type Writer struct {
	Reader
	Files    workspace.Writer
	Programs Programs
}

func (e Env) reader() Reader {
	return Reader{Files: e.Files.Reader, Notes: e.Notes, Log: e.Log, Limits: e.Limits, Scope: e.Scope, Artifacts: e.Artifacts, Checks: e.Checks}
}

// registry holds every tool; each file of this package adds its own when the program starts.
var registry []*Tool

// All returns every tool, sorted by name.
func All() []*Tool {
	return slices.SortedFunc(slices.Values(registry), func(a, b *Tool) int { return cmp.Compare(a.Name, b.Name) })
}

// inner holds what is carried out like a call of a tool, but is none that a model is offered.
var inner []*Tool

// Inner returns what a server offers beside tools, sorted by name. It walks through the same doors.
func Inner() []*Tool {
	return slices.SortedFunc(slices.Values(inner), func(a, b *Tool) int { return cmp.Compare(a.Name, b.Name) })
}

// reads declares a tool that changes nothing.
func reads[In, Out any](c contract.Contract, run func(context.Context, Reader, In) (Out, error)) *Tool {
	t := declare(c, func(ctx context.Context, env Env, in In) (Out, error) { return run(ctx, env.reader(), in) })
	registry = append(registry, t)
	return t
}

// serves declares what is no tool, and changes nothing.
func serves[In, Out any](c contract.Contract, run func(context.Context, Reader, In) (Out, error)) *Tool {
	t := declare(c, func(ctx context.Context, env Env, in In) (Out, error) { return run(ctx, env.reader(), in) })
	inner = append(inner, t)
	return t
}

// writes declares a tool that may change the disk.
func writes[In, Out any](c contract.Contract, run func(context.Context, Writer, In) (Out, error)) *Tool {
	c.Effect.Writes = true
	t := declare(c, func(ctx context.Context, env Env, in In) (Out, error) {
		return run(ctx, Writer{env.reader(), env.Files, env.Programs}, in)
	})
	registry = append(registry, t)
	return t
}

func declare[In, Out any](c contract.Contract, run func(context.Context, Env, In) (Out, error)) *Tool {
	c.Bind(reflect.TypeFor[In](), reflect.TypeFor[Out]())
	t := &Tool{Contract: &c, output: reflect.TypeFor[Out]()}
	t.run = func(ctx context.Context, env Env, args contract.Args) (any, error) {
		var in In
		if err := args.Into(&in); err != nil {
			return nil, err
		}
		out, err := run(ctx, env, in)
		if k, ok := any(&out).(diffKeeper); ok {
			k.keepDiff(ctx, env.reader())
		}
		if err != nil && !c.Effect.Writes && reflect.ValueOf(&out).Elem().IsZero() {
			return nil, err // a read that was refused has nothing of its own to say
		}
		return &out, err
	}
	return t
}

// Blank returns a pointer to the output of a call that was stopped before the tool began.
func (t *Tool) Blank() any { return reflect.New(t.output).Interface() }

// Run carries out the tool with arguments that were checked against its contract. It returns a pointer to the tool's
// output, or nil, and the cause that stopped it.
func (t *Tool) Run(ctx context.Context, env Env, args contract.Args) (any, error) {
	out, err := t.run(ctx, env, args)
	if envelope.CodeOf(err) == envelope.PathNotFound {
		err = withNearNames(ctx, env.Files.Reader, args, err)
	}
	return out, err
}

package tools

import (
	"context"
	"time"

	"writ/contract"
	"writ/envelope"
	"writ/workspace"
)

var findFiles = reads(contract.Contract{
	Name:  "find_files",
	Title: "Find files by name",
	Core:  true,
	Doc: "Find files whose path matches a glob, sorted by path. * and ? stay within a name, ** crosses directories, also [a-z] and {a,b}: " +
		"**/*.md is every Markdown file. By content: search_text, search_notes.",
	Codes: append([]envelope.Code{envelope.BadPattern, envelope.NotARegularFile}, placeCodes...),
}, runFindFiles)

type findFilesIn struct {
	Glob   contract.Glob `json:"glob" min:"1" doc:"pattern, relative to path"`
	Path   contract.Path `json:"path,omitzero" doc:"directory; the root if absent"`
	Offset int           `json:"offset,omitempty" min:"0" doc:"files to skip"`
}

type foundFile struct {
	Path     contract.Path `json:"path"`
	Size     int64         `json:"size"`
	Modified time.Time     `json:"modified"`
}

type findFilesOut struct {
	envelope.Notes
	Files     []foundFile `json:"files"`
	Total     int         `json:"total"`
	Truncated *truncated  `json:"truncated,omitempty"`
}

// onlyPath is a file of a list that is kept.
type onlyPath struct {
	Path contract.Path `json:"path"`
}

func (p onlyPath) path() contract.Path { return p.Path }

func onlyPaths(paths []contract.Path) []onlyPath {
	list := make([]onlyPath, min(len(paths), keptEntries))
	for i := range list {
		list[i] = onlyPath{paths[i]}
	}
	return list
}

func runFindFiles(ctx context.Context, r Reader, in findFilesIn) (findFilesOut, error) {
	p := page{offset: in.Offset, limit: r.Limits.Entries}
	found, err := r.Files.Find(ctx, in.Path, in.Glob, workspace.Window{Offset: p.offset, Limit: p.limit})
	if err != nil {
		return findFilesOut{}, err
	}
	out := findFilesOut{Files: make([]foundFile, 0, len(found.Files)), Total: found.Total}
	budget := r.Limits.ResultBytes
	for _, f := range found.Files {
		if budget -= len(f.Path.String()) + 70; budget < 0 {
			break
		}
		out.Files = append(out.Files, foundFile{f.Path, f.Size, f.Modified.UTC().Truncate(time.Second)})
	}
	out.Truncated = p.rest(&out.Notes, len(out.Files), out.Total, "files")
	if in.Offset == 0 {
		keepList(ctx, r, &out.Notes, out.Truncated, keptList[onlyPath]{entries: onlyPaths(found.Paths), about: onlyPath.path, names: true})
	}
	warnSkipped(&out.Notes, found.Skipped)
	return out, nil
}

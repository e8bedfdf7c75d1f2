package tools

import (
	"context"
	"time"

	"writ/contract"
	"writ/envelope"
	"writ/workspace"
)

var listDirectory = reads(contract.Contract{
	Name:  "list_directory",
	Title: "List a directory",
	Core:  true,
	Doc:   "List one directory, sorted by name: kind, size in bytes, time of change, where a link leads. Not recursive (find_files is). What you may not read is not shown.",
	Codes: placeCodes,
}, runListDirectory)

type listDirectoryIn struct {
	Path   contract.Path `json:"path,omitzero" doc:"directory; the root if absent"`
	Offset int           `json:"offset,omitempty" min:"0" doc:"entries to skip"`
}

type listedEntry struct {
	Name       string    `json:"name"`
	Kind       string    `json:"kind" enum:"file,directory,link,other"`
	Size       int64     `json:"size"`
	Modified   time.Time `json:"modified"`
	LinkTarget string    `json:"link_target,omitempty"`
}

type listDirectoryOut struct {
	envelope.Notes
	Entries   []listedEntry `json:"entries"`
	Total     int           `json:"total"`
	Truncated *truncated    `json:"truncated,omitempty"`
}

func children(dir contract.Path, names []string) []contract.Path {
	paths := make([]contract.Path, len(names))
	for i, name := range names {
		paths[i] = dir.Join(name)
	}
	return paths
}

func runListDirectory(ctx context.Context, r Reader, in listDirectoryIn) (listDirectoryOut, error) {
	p := page{offset: in.Offset, limit: r.Limits.Entries}
	listing, err := r.Files.List(ctx, in.Path, workspace.Window{Offset: p.offset, Limit: p.limit})
	if err != nil {
		return listDirectoryOut{}, err
	}
	out := listDirectoryOut{Entries: make([]listedEntry, 0, len(listing.Entries)), Total: listing.Total}
	budget := r.Limits.ResultBytes
	for _, e := range listing.Entries {
		if budget -= len(e.Name) + len(e.LinkTarget) + 80; budget < 0 {
			break
		}
		out.Entries = append(out.Entries, listedEntry{e.Name, string(e.Kind), e.Size, e.Modified.UTC().Truncate(time.Second), e.LinkTarget})
	}
	out.Truncated = p.rest(&out.Notes, len(out.Entries), out.Total, "entries")
	if in.Offset == 0 && out.Truncated != nil {
		keepList(ctx, r, &out.Notes, out.Truncated, keptList[onlyPath]{entries: onlyPaths(children(listing.Path, listing.Names)), about: onlyPath.path, names: true})
	}
	warnSkipped(&out.Notes, listing.Skipped)
	return out, nil
}

package tools

import (
	"context"
	"fmt"
	"time"

	"writ/contract"
	"writ/envelope"
	"writ/workspace"
)

var getFileInfo = reads(contract.Contract{
	Name:  "get_file_info",
	Title: "Facts about a file or directory",
	Doc: "Tell what is at a path: kind, size in bytes, time of change, mode, and of a file its version, of a text file also encoding, line endings and lines; " +
		"where a link leads; and what you may do there (access). Cheaper than reading when you only need the version.",
	Codes: append([]envelope.Code{envelope.PrivateNote}, placeCodes...),
}, runGetFileInfo)

type getFileInfoIn struct {
	Path contract.Path `json:"path" doc:"file or directory, relative to the root"`
}

type access struct {
	Read  string `json:"read" enum:"allow,never"`
	Write string `json:"write" enum:"allow,ask,never"`
}

type getFileInfoOut struct {
	envelope.Notes
	Path         contract.Path    `json:"path"`
	ResolvedPath contract.Path    `json:"resolved_path" doc:"the place itself, after links"`
	Kind         string           `json:"kind" enum:"file,directory,link,other"`
	Size         int64            `json:"size" doc:"bytes"`
	Modified     time.Time        `json:"modified"`
	Mode         string           `json:"mode" doc:"permission bits, octal"`
	HardLinks    int              `json:"hard_links,omitempty" doc:"names of the file, where it has more than one"`
	Version      contract.Version `json:"version,omitzero"`
	Encoding     string           `json:"encoding,omitempty" doc:"of a text file"`
	BOM          *bool            `json:"bom,omitempty"`
	LineEndings  string           `json:"line_endings,omitempty"`
	FinalNewline *bool            `json:"final_newline,omitempty"`
	TotalLines   *int             `json:"total_lines,omitempty"`
	Access       access           `json:"access"`
}

func runGetFileInfo(ctx context.Context, r Reader, in getFileInfoIn) (getFileInfoOut, error) {
	facts, err := r.Files.Facts(ctx, in.Path)
	switch envelope.CodeOf(err) {
	case envelope.IsDirectory, envelope.NotARegularFile, envelope.TooLarge:
		// There are no bytes to tell of, or none that are read: then there is no version.
		if facts.Info, err = r.Files.Stat(ctx, in.Path); err != nil {
			return getFileInfoOut{}, err
		}
	default:
		if err != nil {
			return getFileInfoOut{}, err
		}
	}
	out := getFileInfoOut{
		Path: in.Path, ResolvedPath: facts.Resolved, Kind: string(facts.Kind), Size: facts.Size,
		Modified: facts.Modified.UTC().Truncate(time.Second), Mode: fmt.Sprintf("%04o", facts.Mode.Perm()),
		Version: facts.Version, Access: r.access(facts.Resolved),
	}
	if facts.Links > 1 && facts.Kind == workspace.KindFile {
		out.HardLinks = int(facts.Links)
	}
	if facts.IsText() {
		out.Encoding, out.LineEndings = facts.Encoding, facts.LineEndings
		out.BOM, out.FinalNewline, out.TotalLines = &facts.BOM, &facts.FinalNewline, &facts.Lines
	}
	return out, nil
}

// access tells what the caller may do with a place that it can see.
func (r Reader) access(p contract.Path) access {
	a := access{Read: "allow", Write: "allow"}
	read, write := r.Files.Rights(p)
	if read != nil {
		a.Read = "never"
	}
	switch {
	case write == nil:
	case envelope.CodeOf(write) == envelope.ApprovalRequired:
		a.Write = "ask"
	default:
		a.Write = "never"
	}
	return a
}

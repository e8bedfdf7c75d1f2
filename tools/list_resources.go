package tools

import (
	"context"
	"time"

	"writ/contract"
	"writ/workspace"
)

// What a list of resources holds at most of each kind.
const (
	listedFiles     = 200
	listedArtifacts = 50
	listedEdits     = 20
)

var _ = serves(contract.Contract{
	Name:  "list_resources",
	Title: "List resources",
	Doc:   "List the files and notes at the top of each root, the caller's artifacts and the latest changes, as MCP resources. There are many more; the templates name them.",
	Codes: placeCodes,
}, runListResources)

type listResourcesIn struct{}

// ListedResource is an entry of a list of resources.
type ListedResource struct {
	Kind      string        `json:"kind"`
	Path      contract.Path `json:"path,omitzero"`
	Name      string        `json:"name,omitempty"` // of what has no path
	Title     string        `json:"title,omitempty"`
	MediaType string        `json:"media_type"`
	Size      int64         `json:"size,omitempty"`
	Modified  time.Time     `json:"modified,omitzero"`
}

// ResourceList is the answer of list_resources.
type ResourceList struct {
	Resources []ListedResource `json:"resources"`
}

func runListResources(ctx context.Context, r Reader, _ listResourcesIn) (ResourceList, error) {
	list := ResourceList{Resources: []ListedResource{}}
	top, err := r.Files.List(ctx, contract.Path{}, workspace.Window{Limit: listedFiles})
	if err != nil {
		return list, err
	}
	list.addFiles(r, contract.Path{}, top)
	if mounts := r.Files.Mounts(); len(mounts) > 1 {
		for _, e := range top.Entries {
			if below, err := r.Files.List(ctx, contract.Path{}.Join(e.Name), workspace.Window{Limit: listedFiles}); err == nil {
				list.addFiles(r, contract.Path{}.Join(e.Name), below)
			}
		}
	}
	for _, name := range r.Artifacts.Names(listedArtifacts) {
		list.Resources = append(list.Resources, ListedResource{Kind: KindArtifact, Name: name, Title: "A result that was too large for an answer", MediaType: plainText})
	}
	changes, _, err := r.Log.Changes(ctx, contract.Path{}, 0, listedEdits)
	if err != nil {
		return list, err
	}
	for _, c := range changes {
		list.Resources = append(list.Resources, ListedResource{
			Kind: KindChange, Name: c.ID, Title: c.Tool + " " + c.Path.String(), MediaType: "text/x-diff", Modified: c.Time.UTC().Truncate(time.Second),
		})
	}
	return list, nil
}

func (l *ResourceList) addFiles(r Reader, dir contract.Path, listing workspace.Listing) {
	for _, e := range listing.Entries {
		if e.Kind != workspace.KindFile || len(l.Resources) == listedFiles {
			continue
		}
		f := ListedResource{Kind: KindFile, Path: dir.Join(e.Name), Size: e.Size, Modified: e.Modified.UTC().Truncate(time.Second)}
		if r.Notes.IsNote(f.Path) {
			f.Kind = KindNote
		}
		f.MediaType = textType(f.Path)
		l.Resources = append(l.Resources, f)
	}
}

package tools

import (
	"context"

	"writ/contract"
	"writ/envelope"
	"writ/workspace"
)

// maxMedia is the largest picture or sound that is sent, in bytes: clients refuse more.
const maxMedia = 5 << 20

var readMedia = reads(contract.Contract{
	Name:  "read_media",
	Title: "Look at a picture or hear a sound",
	Doc: "Return one picture (PNG, JPEG, GIF, WebP) or sound (WAV, MP3, Ogg, AIFF) of at most 5 MiB as a block that you can see or hear. " +
		"Not for text (read_file).",
	Codes: append([]envelope.Code{envelope.NotARegularFile, envelope.PrivateNote, envelope.NotEncodable, envelope.TooLarge, envelope.IsDirectory}, placeCodes...),
}, runReadMedia)

type readMediaIn struct {
	Path contract.Path `json:"path" doc:"file, relative to the root"`
}

type readMediaOut struct {
	envelope.Notes
	Version   contract.Version `json:"version"`
	MediaType string           `json:"media_type"`
	Size      int64            `json:"size" doc:"bytes"`
	Untrusted bool             `json:"untrusted"`
}

func runReadMedia(ctx context.Context, r Reader, in readMediaIn) (readMediaOut, error) {
	var out readMediaOut
	info, err := r.Files.Stat(ctx, in.Path)
	if err != nil {
		return out, err
	}
	if info.Kind == workspace.KindFile && info.Size > maxMedia {
		return out, envelope.Errorf(envelope.TooLarge, "%s has %d bytes; pictures and sounds are sent up to %d.", contract.Quote(in.Path.String()), info.Size, maxMedia)
	}
	file, err := r.Files.Load(ctx, in.Path)
	if err != nil {
		return out, err
	}
	kind := workspace.MediaType(file.Data)
	if kind == "" {
		return out, envelope.Errorf(envelope.NotEncodable, "%s is neither a picture nor a sound of a kind that can be shown. Use read_file for text.", contract.Quote(in.Path.String()))
	}
	out = readMediaOut{Version: file.Version, MediaType: kind, Size: int64(len(file.Data)), Untrusted: true}
	out.Media = &envelope.Media{Type: kind, Data: file.Data}
	return out, nil
}

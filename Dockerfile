# An image that holds the program and nothing else: no shell, no libraries, no packages, and nobody's rights.
#
#   docker build -t writ .
#   docker run -i --rm --read-only --network none --cap-drop all --user "$(id -u):$(id -g)" \
#     -v writ-notes:/state -v ~/notes:/data writ serve --write 'journal/**' /data
#
# What undoes changes is kept in /state. Every directory is /data to the program, so each wants a volume of its own there.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG TARGETOS TARGETARCH
RUN CGO_ENABLED=0 GOOS=$TARGETOS GOARCH=$TARGETARCH go build -trimpath -ldflags='-s -w' -o /out/writ .
# Whoever runs it may keep state there, each in a directory that only they can read.
RUN mkdir /out/state /out/data && chmod 1777 /out/state

FROM scratch
# The registry of MCP servers wants the name under which the image is entered: io.github.OWNER/writ.
ARG SERVER_NAME=writ
ARG SOURCE=
ARG VERSION=
LABEL io.modelcontextprotocol.server.name=$SERVER_NAME \
      org.opencontainers.image.title=writ \
      org.opencontainers.image.description="File and note tools for AI agents that keep their word" \
      org.opencontainers.image.source=$SOURCE \
      org.opencontainers.image.version=$VERSION
COPY --from=build /out /
ENV HOME=/state XDG_STATE_HOME=/state XDG_CACHE_HOME=/state/cache
USER 65532:65532
VOLUME /state
ENTRYPOINT ["/writ"]
CMD ["serve", "/data"]

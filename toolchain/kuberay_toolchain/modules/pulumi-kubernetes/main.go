// Command pulumi-resource-kubernetes is the Pulumi Kubernetes provider.
//
// The two JSON files are not kept here: the build lays the copies that the
// provider's own module ships over this folder (go build -overlay).
package main

import (
	_ "embed"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
)

// version is set by the linker to the release that the pinned module equals.
var version string

//go:embed schema.json
var schema []byte

//go:embed terraform-mapping.json
var mapping []byte

func main() {
	provider.Serve("kubernetes", version, schema, mapping)
}

module github.com/pulumi-kuberay/toolchain/pause

go 1.26.0

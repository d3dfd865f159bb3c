module github.com/holdfast-go/holdfast/mutants

go 1.26.0

replace github.com/holdfast-go/holdfast => ../

require (
	github.com/holdfast-go/holdfast v0.0.0-00010101000000-000000000000
	github.com/stretchr/testify v1.12.1
)

require go.yaml.in/yaml/v3 v3.0.5 // indirect

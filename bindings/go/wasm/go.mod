module aside.example/bindings/go/wasm

go 1.23.0

require github.com/tetratelabs/wazero v1.10.1

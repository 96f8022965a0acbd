// Image builds a container image of the program, without a registry and without a container engine.
//
//	go run ./deploy/image -o trapeze.tar
//	podman load -i trapeze.tar    # or docker load, from Docker 25 on
//
// Contract:
//   - The image is a tar in the OCI image layout, for one or more processors. The same commit, compiler and CA file give the same bytes.
//   - It holds the program, which is static, the CAs of the machine that builds it, and the directory /data; there is no shell and no other program.
//   - It runs as the user 65532, and writes to /data alone, so that its root file system can be read-only.
//   - It listens on the loopback unless its arguments say otherwise, as trapeze serve does.
//   - Beside it, with the extension .cdx.json, is what the program is made of (CycloneDX 1.6), read from the program itself. With -bill PROGRAM only that is written, of a program that is there.
//
// Start reading at [main], then at [image].
package main

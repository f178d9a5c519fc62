// A Go file with functions that have no body is compiled only beside an assembly file.

module github.com/trapezehq/trapeze

go 1.26

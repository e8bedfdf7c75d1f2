module writ

go 1.26.5

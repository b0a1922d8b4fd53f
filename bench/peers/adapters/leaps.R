# Called by leaps.py: file, rows, columns, offset, k, ridge. Prints the version, the seconds and index:coefficient pairs.
arguments <- commandArgs(trailingOnly = TRUE)
rows <- as.integer(arguments[2])
columns <- as.integer(arguments[3])
k <- as.integer(arguments[5])
ridge <- as.numeric(arguments[6])
file <- file(arguments[1], "rb")
invisible(readBin(file, "raw", as.integer(arguments[4])))
table <- matrix(readBin(file, "double", rows * columns), rows, columns)
close(file)
d <- columns - 1
x <- rbind(table[, 1:d], diag(sqrt(rows * ridge), d))
y <- c(table[, columns], rep(0, d))
suppressPackageStartupMessages(library(leaps))
seconds <- system.time(
  found <- regsubsets(x, y, nvmax = k, nbest = 1, intercept = FALSE, method = "exhaustive", really.big = TRUE)
)[["elapsed"]]
best <- which(summary(found)$which[k, ])
fit <- qr.solve(x[, best, drop = FALSE], y)
cat(as.character(packageVersion("leaps")), seconds, paste0(best - 1, ":", format(fit, digits = 17, trim = TRUE)), "\n")

# The front door. The build itself is CMake's: see CMakePresets.json.
PREFIX ?= /usr/local
DESTDIR ?=
JOBS ?= $(shell nproc)

.DEFAULT_GOAL := help
.PHONY: help deps build web test demo bench bench-store bench-catalog bench-growth bench-access bench-crawl format install clean

help: ## Say what each target does
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

deps: ## Install the Debian packages that are missing (root or sudo)
	@tools/deps

build: deps ## Build the program; it is then at build/stele
	@mkdir -p build
	@cmake --preset release >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@cmake --build build/release --target program -j $(JOBS)
	@tools/build_web

web: ## Build the pages to build/web, where npm can be had (build does it, too)
	@tools/build_web

test: build ## Build everything, run all tests, then again under sanitizers with the fuzzers
	@tools/run_tests $(JOBS)

demo: build ## Show what Stele does, on the example site
	@tools/demo.sh

bench: build ## Measure against other tools (ARGS=--quick); writes bench/results/
	@bench/run $(ARGS)

bench-store: build ## Measure the store against NFS (ARGS=--quick); writes bench/results/
	@tools/deps tools/packages-bench-store.txt || echo "bench-store: goes on without what is missing"
	@cmake --preset release >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@cmake --build build/release --target store_load sync_unlink -j $(JOBS)
	@bench/store_run $(ARGS)

bench-catalog: build ## Measure the catalog against others (ARGS=--quick); writes bench/results/
	@tools/deps tools/packages-bench-catalog.txt || echo "bench-catalog: goes on without what is missing"
	@cmake --preset release >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@cmake --build build/release --target catalog_load -j $(JOBS)
	@bench/catalog_run $(ARGS)

bench-growth: build ## Measure imports into an archive of 12 million captures (ARGS=--quick); writes bench/results/
	@bench/growth_run $(ARGS)

bench-access: build ## Measure stele serve against pywb (ARGS=--quick); writes bench/results/
	@tools/deps tools/packages-bench-access.txt
	@bench/access_run $(ARGS)

bench-crawl: build ## Measure stele crawl against wget, httrack and Heritrix (ARGS=--quick); writes bench/results/
	@tools/deps tools/packages-bench-crawl.txt || echo "bench-crawl: goes on without what is missing"
	@bench/crawl_run $(ARGS)

format: deps ## Format all C++ with clang-format
	@find src tests bench -name '*.h' -o -name '*.cc' | xargs clang-format-16 -i

install: build ## Install to PREFIX (/usr/local), below DESTDIR when given
	@DESTDIR="$(DESTDIR)" cmake --install build/release --prefix "$(PREFIX)"

clean: ## Remove everything that was built
	@rm -rf build

# chatbot's tasks. `make` alone lists them. All build in the same way, so that none builds again what another has built.

SWIFT ?= swift
SOAK_MINUTES ?= 30
CRASHES ?= 100
HOSTILE_SECONDS ?= 1000
CALLS ?= 20
FUZZ_MINUTES ?= 10
USERS ?= 1 10 50 100
PREFIX ?= /usr/local
DESTDIR ?=
PROGRAM = .build/release/chatbot
PACKAGES = scripts/install-debian-packages.sh

export SWIFT

.DEFAULT_GOAL := help
.PHONY: help demo test unit end-to-end interop soak crashes hostile network service compositions sanitize fuzz bench bench-service bench-compose overload build install deb lint docs reference format sample clean

help: ## list the tasks
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: ## watch it: one bot plays, one records for 10 s, ffmpeg checks the recording
	@$(PACKAGES) build demo
	@echo "Building the program (the first time takes some minutes)."
	@scripts/build.sh programs build
	@scripts/demo.sh $(PROGRAM)

test: ## install what tests need, lint, build, run all tests, those with browsers too; STRICT=1 excuses none
	@scripts/test.sh

unit: ## build and run the tests that need no browser, no real time and no privileges; ONLY=SegmentTests picks some by name
	@scripts/test.sh unit $(ONLY)

end-to-end: ## run only the tests with browsers; ONLY=Firefox picks some by name
	@scripts/test.sh end-to-end $(ONLY)

interop: ## CALLS=20 calls with aiortc, GStreamer's webrtcbin and Pion each, in both roles
	@scripts/test.sh interop $(CALLS)

soak: ## a recorder's long day: joins, leaves and a bad network for SOAK_MINUTES=30; memory and descriptors must be back
	@scripts/test.sh soak $(SOAK_MINUTES)

crashes: ## kill CRASHES=100 recorders at random moments, of VP8 and of H.264; every file must be readable and be repaired
	@scripts/test.sh crashes $(CRASHES)

hostile: ## 8 honest bots and one attacker in a room for HOSTILE_SECONDS=1000; no frame may be lost
	@scripts/test.sh hostile $(HOSTILE_SECONDS)

network: ## calls through every pair of NATs and firewalls, direct and relayed, between network namespaces
	@scripts/test.sh network

service: ## all tests of the service of jobs, with thousands of requests and many kills; ONLY=ServiceAPI picks some by name
	@scripts/service.sh $(ONLY)

compositions: ## all tests of composed files in their whole form; ONLY=Resume picks some by name
	@scripts/test.sh compositions $(ONLY)

sanitize: ## run the tests without browsers under the address and the thread sanitizer; takes an hour
	@scripts/sanitize.sh

fuzz: ## coverage-guided fuzzing of all parsers for FUZZ_MINUTES=10; crashes are kept in Tests/Fuzz/Crashes
	@$(PACKAGES) build
	@scripts/fuzz.sh $(FUZZ_MINUTES)

bench: ## CPU time and memory per user at USERS="1 10 50 100", beside a floor in C; kept in Benchmarks/results.md
	@scripts/bench.sh $(USERS)

bench-service: ## what the service of jobs costs and how fast it answers; BINDIR=FOLDER measures built programs; kept in Benchmarks/service.md
	@BINDIR="$(BINDIR)" scripts/bench-service.sh

bench-compose: ## how fast calls are composed and what that costs, beside ffmpeg; BINDIR=FOLDER measures built programs; kept in Benchmarks/compositions.md
	@BINDIR="$(BINDIR)" scripts/bench-compose.sh

overload: ## what a recorder of 60 users does with half of the CPU time that it needs; USERS="250 300": what these cost it
	@scripts/overload.sh $(USERS)

build: ## build chatbot, chatbot-media, which decodes and encodes for it, and chatbot-service
	@$(PACKAGES) build
	@scripts/build.sh programs build
	@scripts/build.sh service build
	@echo "Built $(PROGRAM) and $(PROGRAM)-service"

install: ## build programs that need no Swift toolchain and put them into DESTDIR= PREFIX=/usr/local, folders bin and libexec; manual pages and completions into folder share
	@$(PACKAGES) build
	@scripts/build.sh programs install
	@scripts/build.sh service install
	@install -D -m 755 .build/install/release/chatbot "$(DESTDIR)$(PREFIX)/bin/chatbot"
	@install -D -m 755 .build/install/release/chatbot-media "$(DESTDIR)$(PREFIX)/libexec/chatbot/chatbot-media"
	@install -D -m 755 .build/install/release/chatbot-service "$(DESTDIR)$(PREFIX)/bin/chatbot-service"
	@strip --strip-debug "$(DESTDIR)$(PREFIX)/bin/chatbot" "$(DESTDIR)$(PREFIX)/bin/chatbot-service" "$(DESTDIR)$(PREFIX)/libexec/chatbot/chatbot-media"
	@install -D -m 644 LICENSE "$(DESTDIR)$(PREFIX)/share/doc/chatbot/LICENSE"
	@install -D -m 644 NOTICE "$(DESTDIR)$(PREFIX)/share/doc/chatbot/NOTICE"
	@scripts/install-documents.sh .build/install/release/chatbot "$(DESTDIR)$(PREFIX)/share"
	@scripts/install-documents.sh .build/install/release/chatbot-service "$(DESTDIR)$(PREFIX)/share"
	@echo "Installed $(DESTDIR)$(PREFIX)/bin/chatbot and chatbot-service, chatbot-media in libexec, manual pages and completions of bash, zsh and fish"

deb: ## make a Debian package of all programs with a systemd unit in out/; PROGRAMS=FOLDER packs programs that were built before
	@$(PACKAGES) build deb
	@scripts/deb.sh out

lint: ## check format, style, the dependencies between folders, the handling of text from outside, and where codecs are named
	@scripts/test.sh lint

docs: ## build the documentation of the libraries into out/documentation; warnings are errors
	@$(PACKAGES) build
	@scripts/docs.sh out/documentation

reference: ## write docs/cli.md and the files of the public interfaces, after a build with `make test`
	@CHATBOT_UPDATE_REFERENCE=1 scripts/build.sh test --skip-build --filter DocumentationTests --skip RealTime

format: ## format all Swift files
	@$(SWIFT) format --in-place --parallel --recursive Package.swift Sources Tests Benchmarks Examples

sample: ## make samples/test.webm again
	@$(PACKAGES) sample
	@samples/make-test.sh

clean: ## remove what was built and recorded
	rm -rf .build out

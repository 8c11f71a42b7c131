# A thin face on Meson. `make demo` and `make test` work from a bare clone: tools/setup installs what is missing first.
BUILD ?= build
PREFIX ?= /usr/local

.PHONY: all demo test test-long test-gpu fuzz bench peers install format clean setup

all: $(BUILD)/build.ninja
	@ninja -C $(BUILD) --quiet
	@echo "built $(BUILD)/mercer"

$(BUILD)/build.ninja:
	@tools/setup build
	@meson setup $(BUILD) --prefix=$(abspath $(PREFIX)) > $(BUILD).log 2>&1 || { cat $(BUILD).log; rm -f $(BUILD).log; exit 1; }
	@rm -f $(BUILD).log

setup:
	@tools/setup build test

demo: all
	@tools/setup demo
	@tools/demo $(BUILD)/mercer

test:
	@tools/setup build test
	@python3 tools/test.py

# What is too slow for every commit: the slow tests under every compiler and sanitizer, every small data set against LIBSVM, instruction counts.
test-long:
	@tools/setup build test long
	@python3 tools/test.py --long

# On a machine with a card: the oracles of products and of dense algebra on a device, run there.
test-gpu: all
	@for t in gram_device gram_lowrank linalg_dense_device iterative_precondition learn_device learn_svm_device; do MERCER_TEST_DEVICE=cuda $(BUILD)/tests/$$t || exit 1; done

# FUZZ_SECONDS=600 make fuzz: ten minutes for each parser.
fuzz:
	@tools/setup build test
	@tools/fuzz

# QUICK=1 make bench: the main rows in under ten minutes.
bench: all
	@tools/setup build bench
	@python3 bench/run.py --build $(BUILD)

# What bench compares with beyond Debian's main packages: dlib, GPyTorch, KeOps, ThunderSVM, the newest scikit-learn; under build/peers.
peers:
	@tools/peers $(BUILD)

# A PREFIX that is given counts, whatever the folder was set up with; DESTDIR is Meson's.
install: all
ifneq ($(filter command% environment%,$(firstword $(origin PREFIX))),)
	@meson configure $(BUILD) --prefix=$(abspath $(PREFIX))
	@ninja -C $(BUILD) --quiet
endif
	@meson install -C $(BUILD) --no-rebuild

format:
	@git ls-files '*.c' '*.h' | xargs clang-format -i

clean:
	@rm -rf $(BUILD) build-*

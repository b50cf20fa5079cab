# damo: `make help` lists the targets. Settings that a user may give on the command line come first.

LUA     = 5.4
GPL     = 1
# 0 leaves the second definitions of Op classes out, by which DEBUG mode checks results (src/graph/op_check.h).
CHECKS  = 1
# 0 leaves machine code out (src/jit): loops over scalars then run as kernels.
JIT     = 1
PREFIX  = /usr/local
DESTDIR =
MODE    = release
WERROR  = -Werror
PEERS   = pytensor jax
AESARA  = aesara 'numpy<2' 'scipy<1.13' 'setuptools<70'
# Extra compiler and linker flags of the user's own.
CFLAGS  =
LDFLAGS =
ifeq ($(origin CC),default)
CC = gcc
endif

# ---- What follows from them ------------------------------------------------------------------------------------------

# Builds that must not mix have folders of their own: one for each mode, with and without GPL code and checks, and in it
# one for the binding to each Lua but 5.4. The core's objects are the same for every Lua.
B       := build/$(MODE)$(if $(filter 0,$(GPL)),-free)$(if $(filter 0,$(CHECKS)),-unchecked)$(if $(filter 0,$(JIT)),-nojit)
LB      := $(B)$(if $(filter-out 5.4,$(LUA)),/lua-$(LUA))
ARCH    := $(shell uname -m)
LUA_EXE  = $(if $(filter jit,$(LUA)),luajit,lua$(LUA))
LUA_VER  = $(if $(filter jit,$(LUA)),5.1,$(LUA))
$(if $(filter 5.4 5.3 5.1 jit,$(LUA)),,$(error LUA is 5.4, 5.3, 5.1 or jit, not '$(LUA)'))
$(if $(filter 0 1,$(GPL)),,$(error GPL is 0 or 1, not '$(GPL)'))
$(if $(filter 0 1,$(CHECKS)),,$(error CHECKS is 0 or 1, not '$(CHECKS)'))
$(if $(filter 0 1,$(JIT)),,$(error JIT is 0 or 1, not '$(JIT)'))

OPT_release = -O2 -g
OPT_debug   = -O0 -g3 -DDAMO_DEBUG
SANITIZE    = -fsanitize=address,undefined -fno-sanitize-recover=undefined
OPT_asan    = -O1 -g -fno-omit-frame-pointer $(SANITIZE) -DDAMO_DEBUG
OPT_tsan    = -O1 -g -fsanitize=thread
OPT         = $(or $(OPT_$(MODE)),$(error MODE is release, debug, asan or tsan, not '$(MODE)'))
LINK_asan   = $(SANITIZE) -Wl,-z,nodelete
LINK_tsan   = -fsanitize=thread

# pkg-config may be one of the things that `make setup` has yet to install: ask it when a recipe needs it, and once.
once       = $(eval $(1) := $(2))$($(1))
LUA_CFLAGS = $(call once,LUA_CFLAGS,$(if $(LUA_INCDIR),-I$(LUA_INCDIR),$(shell pkg-config --cflags $(LUA_EXE))))
LUA_LIBS   = $(call once,LUA_LIBS,$(shell pkg-config --libs $(LUA_EXE)))
BLAS_LIBS  = $(call once,BLAS_LIBS,$(shell pkg-config --libs openblas 2>/dev/null || echo -lopenblas))

# The solvers' libraries: the free ones always; CHOLMOD (Debian ships its GPL modules in it), UMFPACK, SPQR with GPL=1.
SUITESPARSE_LIBS = $(if $(filter 0,$(GPL)),,-lcholmod -lumfpack -lspqr) -lklu -lcxsparse -lldl -lamd
LIBS = $(SUITESPARSE_LIBS) $(BLAS_LIBS) -lsleef -lz -lm -pthread

WARN = -Wall -Wextra -Wshadow -Wvla -Wswitch-enum -Wstrict-prototypes -Wmissing-prototypes
BASE_FLAGS = -std=c11 -D_POSIX_C_SOURCE=200809L $(OPT) -DDAMO_GPL=$(GPL) $(WARN) -fPIC -fvisibility=hidden \
  -ffp-contract=off -pthread -Isrc $(if $(filter 0,$(CHECKS)),-DDAMO_NO_CHECKS )$(if $(filter 0,$(JIT)),-DDAMO_JIT=0 )$(CFLAGS)
LINK = $(CC) $(LINK_$(MODE)) -Wl,--as-needed $(LDFLAGS)

# Sources lie at most three folders deep: src/op/sparse/solve/lstsq.c.
levels    = $(wildcard $(1)/*/$(2) $(1)/*/*/$(2) $(1)/*/*/*/$(2))
SRC      := $(filter-out $(if $(filter 0,$(CHECKS)),src/op/%_check.c),$(call levels,src,*.c))
LUA_SRC  := $(filter src/lua/%,$(SRC))
LUA_OBJ  := $(LUA_SRC:src/%.c=$(LB)/%.o)
CORE_OBJ := $(patsubst src/%.c,$(B)/%.o,$(filter-out $(LUA_SRC),$(SRC)))
OBJ      := $(CORE_OBJ) $(LUA_OBJ)
HOST_SRC := $(addprefix spec/c/,host_test.c recursion_test.c sandbox_test.c out_test.c view_test.c token_states_test.c)
HOSTS    := $(HOST_SRC:spec/c/%.c=$(LB)/spec/%)
INSIDERS := $(LB)/spec/check_test
TESTS    := $(patsubst spec/c/%.c,$(B)/spec/%,$(filter-out $(HOST_SRC) $(INSIDERS:$(LB)/spec/%=spec/c/%.c),\
  $(wildcard spec/c/*_test.c))) $(HOSTS) $(INSIDERS)
LUA_DIRS := $(wildcard lua spec examples bench make)
MODULE   := $(LB)/lua/damo/core.so
ARCHIVE  := $(LB)/libdamo.a

# Programs run on the tree that was just built, whatever the caller's environment says about Lua.
LUA_PATH  := $(CURDIR)/lua/?.lua;$(CURDIR)/lua/?/init.lua;;
LUA_CPATH := $(CURDIR)/$(LB)/lua/?.so;;
OPENBLAS_NUM_THREADS ?= 1
DAMO_BUILT_CORE := $(CURDIR)/$(MODULE)
DAMO_MODE := $(MODE)
# Under the sanitizers, too, an allocation that no memory holds fails as malloc does.
ASAN_OPTIONS ?= allocator_may_return_null=1
export LUA_PATH LUA_CPATH OPENBLAS_NUM_THREADS DAMO_BUILT_CORE DAMO_MODE ASAN_OPTIONS
unexport LUA_INIT LUA_INIT_5_4 LUA_PATH_5_4 LUA_CPATH_5_4 LUA_INIT_5_3 LUA_PATH_5_3 LUA_CPATH_5_3
RUN_LUA = sh make/blas-coretype $(LUA_EXE)
PRELOAD_asan = $(shell $(CC) -print-file-name=libasan.so) $(shell $(CC) -print-file-name=libubsan.so)

# A target that runs something installs what is missing first; a plain `make` or `make install` never does.
RUNNERS := demo unity stress test test-free test-hosts smoke reference bench debug asan tsan lint rock setup
SETUP   := $(if $(filter $(RUNNERS),$(MAKECMDGOALS)),setup)
Q       := $(if $(V),,@)

.DELETE_ON_ERROR:
.PHONY: all demo test test-free test-hosts smoke mutants reference bench debug asan tsan lint check-layers check-gates \
  check-exports check-header unity stress docs install install-lua install-dirs uninstall rock rock-all print-lua-env \
  print-libs clean setup help FORCE

all: $(ARCHIVE) $(MODULE) ## build libdamo.a and the Lua module damo.core under build/release

demo: all ## set up, build, and run the main job, examples/digits.lua; its results go to build/demo
	$(Q)echo "demo: $(LUA_EXE) examples/digits.lua build/demo"
	$(Q)mkdir -p build/demo
	$(Q)$(RUN_LUA) examples/digits.lua build/demo

test: all $(TESTS) check-layers check-gates check-exports check-header ## set up, build, and run every test; the last line is the total
	$(Q)LUA="$(LUA_EXE)" PRELOAD="$(PRELOAD_$(MODE))" sh make/blas-coretype sh make/run-tests $(LB) $(TESTS)

# A build without GPL code has other solvers: the tests that reach them.
FREE_TESTS = $(filter %/factor_test %/factor_data_test %/factor_wide_test,$(TESTS))
FREE_SPECS = spec/sparse $(wildcard spec/*_spec.lua)
test-free: ## test the solvers of a build without GPL code (GPL=0), under build/release-free
ifeq ($(GPL),0)
test-free: all $(FREE_TESTS)
	$(Q)LUA="$(LUA_EXE)" PRELOAD="$(PRELOAD_$(MODE))" SPECS="$(FREE_SPECS)" \
	  sh make/blas-coretype sh make/run-tests $(LB) $(FREE_TESTS)
else
test-free:
	$(Q)$(MAKE) --no-print-directory GPL=0 test-free
endif

# Specs that make and drop much, for each switch of DAMO_STRESS (stress_switch in src/base/base.h). A full collection at
# each object takes 10 ms under busted, so there are fewer for it.
STRESS_collect = $(patsubst %,spec/graph_op/%_spec.lua,feature host_op member op_from_graph perform thunk)
STRESS_move    = spec/graph_op $(patsubst %,spec/lua/%_spec.lua,array function identity index random save)
STRESS_block   = spec/op
STRESS_share   = spec/op spec/sparse
stress: ## build with internal checks, and run a part of the specs under each switch of DAMO_STRESS
ifeq ($(MODE),release)
stress:
	$(Q)$(MAKE) --no-print-directory MODE=debug stress
else
stress: all
	$(Q)$(foreach s,collect move block share,echo "stress: $s" && DAMO_STRESS=$s LUA="$(LUA_EXE)" PRELOAD="$(PRELOAD_$(MODE))" \
	  SPECS="$(STRESS_$s)" sh make/blas-coretype sh make/run-tests $(LB) &&) true
endif

smoke: all ## build for the Lua named, and run the pages' snippets and the examples on it: make smoke LUA=jit
	$(Q)$(RUN_LUA) spec/smoke.lua

test-hosts: all ## build and run the hosts of examples/hosts: make test-hosts HOST=server for one of them
	$(Q)CC="$(CC)" LUA="$(LUA_EXE)" LUA_CFLAGS="$(LUA_CFLAGS)" LUA_LIBS="$(LUA_LIBS)" \
	  ARCHIVE="$(ARCHIVE)" LIBS="$(LIBS)" HOST="$(HOST)" \
	  sh make/blas-coretype sh make/test-hosts

mutants: all ## break a line at a time and tell what the tests let pass: make mutants IN=src/grad (see make/mutants.lua)
	$(Q)$(foreach v,IN LINES MAX SEED TESTS SPECS LIMIT,$v="$(if $(filter command,$(origin $v)),$($v))") \
	  sh make/blas-coretype lua5.4 make/mutants.lua

reference: all ## run the reference cases alone (folder: DAMO_REFERENCE, default spec/data/reference)
	$(Q)$(RUN_LUA) spec/reference_runner.lua

bench: all $(addprefix $(LB)/bench/,$(addsuffix .so,floor dense_floor loops_floor networks_floor solve_floor threads_floor)) ## time damo, and its peers where Python can be had
	$(Q)$(RUN_LUA) bench/run.lua
	$(Q)$(RUN_LUA) bench/frames.lua
	$(Q)export LUA_CPATH="$(CURDIR)/$(LB)/bench/?.so;$$LUA_CPATH"; $(RUN_LUA) bench/dense.lua && \
	  $(RUN_LUA) bench/loops.lua && $(RUN_LUA) bench/networks.lua && $(RUN_LUA) bench/library.lua && \
	  $(RUN_LUA) bench/threads.lua
	$(Q)[ -f build/peers/ready ] || { echo "bench: installing $(PEERS) in build/peers" && mkdir -p build && \
	  python3 -m venv build/peers && build/peers/bin/pip -q install $(PEERS) && touch build/peers/ready; } || true
	$(Q)[ -f build/aesara/ready ] || { echo "bench: installing aesara in build/aesara" && mkdir -p build && \
	  python3 -m venv build/aesara && build/aesara/bin/pip -q install $(AESARA) && touch build/aesara/ready; } || true
	$(Q)[ ! -f build/peers/ready ] || [ -f build/peers/casadi ] || \
	  { build/peers/bin/pip -q install casadi && touch build/peers/casadi; } || true
	$(Q)if [ -f build/peers/ready ]; then sh make/blas-coretype build/peers/bin/python bench/peers.py; \
	  else echo "bench: the peers are left out: no Python with venv, or no network for pip install $(PEERS)"; fi
	$(Q)export LUA_CPATH="$(CURDIR)/$(LB)/bench/?.so;$$LUA_CPATH"; if [ -f build/peers/ready ]; then \
	  sh make/blas-coretype build/peers/bin/python bench/sparse_peers.py \
	  $$([ ! -f build/aesara/ready ] || echo build/aesara/bin/python) && \
	  sh make/blas-coretype build/peers/bin/python bench/solve_peers.py && \
	  sh make/blas-coretype build/peers/bin/python bench/loops_peers.py && \
	  sh make/blas-coretype build/peers/bin/python bench/networks_peers.py && \
	  sh make/blas-coretype build/peers/bin/python bench/library_peers.py; \
	  else $(RUN_LUA) bench/sparse.lua && $(RUN_LUA) bench/sparse.lua alone solve_cases; fi

debug: ## build with -O0 -g3 and internal checks under build/debug
	$(Q)$(MAKE) --no-print-directory MODE=debug all

asan: ## build with AddressSanitizer and UBSan under build/asan, and run every test on that
	$(Q)$(MAKE) --no-print-directory MODE=asan test

# What runs on threads at once; OpenBLAS is not instrumented, and runs on one thread each.
TSAN_TESTS = $(filter %/frame_test %/token_test %/token_states_test %/threads_test %/pool_test,$(TESTS))
tsan: ## build with ThreadSanitizer under build/tsan, and run the tests of threads on that
ifeq ($(MODE),tsan)
tsan: $(TSAN_TESTS)
	$(Q)for test in $(TSAN_TESTS); do TSAN_OPTIONS=halt_on_error=1 sh make/blas-coretype $$test || exit 1; done
else
tsan:
	$(Q)$(MAKE) --no-print-directory MODE=tsan tsan
endif

lint: all check-layers check-gates check-exports check-header ## luacheck, clang-format, layers, gates, exported names, header
	$(Q)LUA_PATH="/usr/share/lua/5.1/?.lua;/usr/share/lua/5.1/?/init.lua;;" $(LUA_EXE) /usr/bin/luacheck -q --no-color $(LUA_DIRS)
	$(Q)clang-format --dry-run -Werror $(wildcard src/*.h spec/c/*.[ch]) $(call levels,src,*.[ch])

check-layers: ## fail on an #include that the table of layers in make/check-layers does not allow
	$(Q)sh make/check-layers

check-gates: ## fail on a call to the outside that is not listed with the gate of a sandbox behind which it stands
	$(Q)sh make/check-gates

check-exports: $(MODULE) ## fail when core.so exports more than luaopen_*, or the core prints, exits or aborts
	$(Q)sh make/check-exports $(MODULE) $(if $(filter release,$(MODE)),$(CORE_OBJ))

check-header: $(ARCHIVE) ## fail when damo.h is not clean C99, C11 and C++, or a program in one of them does not run
	$(Q)CC="$(CC)" CXX="$(CXX)" SANITIZE="$(if $(filter asan,$(MODE)),$(SANITIZE))" \
	  sh make/check-header $(B)/spec $(ARCHIVE) "$(LIBS)"

unity: | $(SETUP) ## compile the core as one translation unit and the binding as another, and test what that gives
	$(Q)CC="$(CC)" LUA="$(LUA_EXE)" LUA_CFLAGS="$(LUA_CFLAGS)" LIBS="$(LIBS)" GPL="$(GPL)" \
	  sh make/unity '$(CURDIR)/build/unity'

docs: all ## write the pages and annotations that are made from the op registry
	$(Q)if [ -f docs/generate.lua ]; then $(LUA_EXE) docs/generate.lua; else echo "docs: nothing to generate"; fi

LUADIR = $(PREFIX)/share/lua/$(LUA_VER)
LIBDIR = $(PREFIX)/lib/lua/$(LUA_VER)
STRIP  = strip
TO_LUADIR = $(DESTDIR)$(abspath $(LUADIR))
TO_LIBDIR = $(DESTDIR)$(abspath $(LIBDIR))
TO_PREFIX = $(DESTDIR)$(PREFIX)

install: install-dirs all install-lua ## install header, library, damo.pc and the Lua modules under PREFIX
	$(Q)install -d '$(TO_PREFIX)/include' '$(TO_PREFIX)/lib/pkgconfig'
	$(Q)install -m 644 src/damo.h '$(TO_PREFIX)/include/damo.h'
	$(Q)install -m 644 $(ARCHIVE) '$(TO_PREFIX)/lib/libdamo.a'
	$(Q)$(STRIP) --strip-debug '$(TO_PREFIX)/lib/libdamo.a'
	$(Q)version=$$(sed -n 's/^#define DAMO_VERSION "\(.*\)"/\1/p' src/damo.h); \
	  sed "s|@PREFIX@|$(PREFIX)|; s|@VERSION@|$$version|; s|@LIBS@|$(strip $(LIBS))|" make/damo.pc.in \
	  >'$(TO_PREFIX)/lib/pkgconfig/damo.pc'

install-lua: install-dirs all ## install the Lua modules alone, in LUADIR and LIBDIR (the rock does this)
	$(Q)cd lua && find damo -name '*.lua' -exec install -D -m 644 '{}' '$(TO_LUADIR)/{}' ';'
	$(Q)install -D -m 755 $(MODULE) '$(TO_LIBDIR)/damo/core.so'
	$(Q)$(STRIP) --strip-unneeded '$(TO_LIBDIR)/damo/core.so'

# Before anything is built, so that nobody waits for a build that can't be installed.
install-dirs:
	$(Q)sh make/check-writable '$(TO_LUADIR)' '$(TO_LIBDIR)' \
	  $(if $(filter install,$(MAKECMDGOALS)),'$(TO_PREFIX)/include' '$(TO_PREFIX)/lib/pkgconfig')

uninstall: ## remove what `make install` with the same PREFIX, DESTDIR and LUA has put there
	$(Q)rm -f '$(TO_PREFIX)/include/damo.h' '$(TO_PREFIX)/lib/libdamo.a' '$(TO_PREFIX)/lib/pkgconfig/damo.pc' \
	  '$(TO_LIBDIR)/damo/core.so'
	$(Q)cd lua && find damo -name '*.lua' -exec rm -f '$(TO_LUADIR)/{}' ';'
	$(Q)for folder in '$(TO_LUADIR)' '$(TO_LIBDIR)'; do [ ! -d "$$folder/damo" ] || \
	  find "$$folder/damo" -depth -type d -empty -delete; done

ROCK      = damo$(if $(filter 0,$(GPL)),-free)
ROCK_TREE = build/rock$(if $(filter 0,$(GPL)),-free)
rock: all ## build the rock into build/rock through luarocks make, and load it from there
	$(Q)env -u MAKEFLAGS -u MAKELEVEL -u LUA_PATH -u LUA_CPATH luarocks --lua-version $(LUA_VER) --tree $(ROCK_TREE) \
	  make rocks/$(ROCK)-scm-1.rockspec
	$(Q)cd $(ROCK_TREE) && LUA_PATH="./share/lua/$(LUA_VER)/?.lua;./share/lua/$(LUA_VER)/?/init.lua" \
	  LUA_CPATH="./lib/lua/$(LUA_VER)/?.so" $(LUA_EXE) -e 'require "damo"; print("rock: $(ROCK_TREE) loads")'

# luarocks runs make without -j.
rock-all:
	$(Q)$(MAKE) --no-print-directory -j"$$(nproc)" all

print-lua-env: ## print LUA_PATH and LUA_CPATH of the built tree: eval "$(make -s print-lua-env)"
	@echo "export LUA_PATH='$(LUA_PATH)'"
	@echo "export LUA_CPATH='$(LUA_CPATH)'"

print-libs: ## print the libraries that a program with libdamo.a links
	@echo '$(LIBS)'

clean: ## remove build/
	rm -rf build

setup: ## check for the Debian packages, and install what is missing where that is allowed
	$(Q)sh make/setup $(LUA) $(if $(filter lint,$(MAKECMDGOALS)),clang-format:clang-format)

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' Makefile

# ---- Rules -----------------------------------------------------------------------------------------------------------

# Each changes only when the flags in it do, and then what was made with them is made anew.
FLAG_FILES := $(B)/flags $(B)/link-flags $(LB)/lua/flags
$(B)/flags: FLAGS = $(CC) $(BASE_FLAGS)
$(B)/link-flags: FLAGS = $(LINK) $(LIBS)
$(LB)/lua/flags: FLAGS = $(CC) $(BASE_FLAGS) $(LUA_CFLAGS)
$(FLAG_FILES): FORCE | $(SETUP)
	@mkdir -p $(@D)
	@echo '$(FLAGS)' | cmp -s - $@ || echo '$(FLAGS)' >$@

$(LB)/bench/%.so: bench/%.c $(LB)/lua/flags
	@mkdir -p $(@D)
	@$(if $(V),,echo "  CC    $<")
	$(Q)$(CC) -std=c11 -D_POSIX_C_SOURCE=200809L -O3 $(if $(filter x86_64,$(ARCH)),-march=native) $(WARN) $(if $(filter 0,$(GPL)),-DDAMO_GPL=0) -fPIC -shared $(LUA_CFLAGS) -o $@ $< $(BENCH_LIBS) -lm
$(LB)/bench/solve_floor.so: BENCH_LIBS = $(SUITESPARSE_LIBS)
$(LB)/bench/dense_floor.so $(LB)/bench/loops_floor.so $(LB)/bench/threads_floor.so: BENCH_LIBS = -lsleef -pthread
$(LB)/bench/networks_floor.so: BENCH_LIBS = -lsleef $(BLAS_LIBS)
$(LB)/bench/dense_floor.so $(LB)/bench/loops_floor.so $(LB)/bench/networks_floor.so: bench/floor_case.h
$(LB)/bench/networks_floor.so: bench/mlp_step.h

# What is private does not reach the flags' files, which are made on the way to an object.
$(B)/kernel/%.o: private OPT_release = -O3 -g -falign-loops=64 -fno-math-errno -fno-trapping-math
ifeq ($(ARCH),x86_64)
$(B)/kernel/%avx2.o: private ISA_FLAGS = -mavx2 -mfma
$(B)/kernel/%avx512.o: private ISA_FLAGS = -mavx512f -mavx512dq -mavx512bw -mavx512vl -mavx2 -mfma
endif

define compile
	@mkdir -p $(@D)
	@$(if $(V),,echo "  CC    $<")
	$(Q)$(CC) $(BASE_FLAGS) $(WERROR) $(ISA_FLAGS) $(LAYER_FLAGS) -MMD -MP -c -o $@ $<
endef

$(B)/%.o: src/%.c $(B)/flags
	$(compile)

$(LB)/lua/%.o: private LAYER_FLAGS = $(LUA_CFLAGS)
$(LB)/lua/%.o: src/lua/%.c $(LB)/lua/flags
	$(compile)

$(MODULE): $(OBJ) make/core.map $(B)/link-flags
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LINK  $@")
	$(Q)$(LINK) -shared -Wl,-z,relro,-z,now -Wl,--version-script=make/core.map -o $@ $(OBJ) $(LIBS)

$(ARCHIVE): $(OBJ) make/archive
	@$(if $(V),,echo "  AR    $@")
	$(Q)CC="$(CC)" sh make/archive $@ "$(CORE_OBJ)" "$(LUA_OBJ)"

# C tests may use internal names, so they link the objects themselves; the host sees what a user's program sees.
$(B)/internal.a: $(CORE_OBJ)
	@rm -f $@ && ar rcsT $@ $^

define link-test
	@mkdir -p $(@D)
	@$(if $(V),,echo "  TEST  $<")
	$(Q)$(LINK) $(BASE_FLAGS) $(WERROR) $(TEST_FLAGS) -Ispec/c -MMD -MP -MF $@.d -o $@ $< $(filter %.a,$^) \
	  $(TEST_LIBS) $(LIBS)
endef

$(B)/spec/%: spec/c/%.c $(B)/internal.a $(B)/link-flags
	$(link-test)

$(HOSTS) $(INSIDERS): private TEST_FLAGS = $(LUA_CFLAGS)
$(HOSTS) $(INSIDERS): private TEST_LIBS = $(LUA_LIBS)
$(HOSTS): $(LB)/spec/%: spec/c/%.c $(ARCHIVE) $(B)/link-flags
	$(link-test)

# With Lua and with internal names, the binding's too.
$(LB)/inside.a: $(OBJ)
	@rm -f $@ && ar rcsT $@ $^

$(INSIDERS): $(LB)/spec/%: spec/c/%.c $(LB)/inside.a $(B)/link-flags
	$(link-test)

-include $(OBJ:.o=.d) $(TESTS:=.d)

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
# The collector's mode while specs run, `aggressive` (pause 0) or `generational`, and the specs to run instead of all.
GC      =
SPECS   =
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

# Libraries that are not where the compiler looks for them: OPENBLAS_DIR=/opt/openblas, or OPENBLAS_INCDIR and
# OPENBLAS_LIBDIR; SUITESPARSE_DIR is that of all of SuiteSparse's. Their programs find them there when they run, too.
LIBRARIES = OPENBLAS SLEEF ZLIB SUITESPARSE KLU CXSPARSE LDL AMD CHOLMOD UMFPACK SPQR
dirs_of  = $(foreach l,$(LIBRARIES),$(or $($(l)_$(1)),$(addsuffix /$(2),$($(l)_DIR))))
INCDIRS := $(sort $(filter-out /usr/include,$(call dirs_of,INCDIR,include)))
LIBDIRS := $(sort $(filter-out /usr/lib /usr/lib64 /lib /lib64 /usr/lib/% /lib/%,$(call dirs_of,LIBDIR,lib)))

# pkg-config may be one of the things that `make setup` has yet to install: ask it when a recipe needs it, and once.
comma     := ,
once       = $(eval $(1) := $(2))$($(1))
LUA_CFLAGS = $(call once,LUA_CFLAGS,$(if $(LUA_INCDIR),-I$(LUA_INCDIR),$(shell pkg-config --cflags $(LUA_EXE))))
LUA_LIBS   = $(call once,LUA_LIBS,$(shell pkg-config --libs $(LUA_EXE)))
BLAS_LIBS  = $(call once,BLAS_LIBS,$(if $(OPENBLAS_DIR)$(OPENBLAS_LIBDIR),-lopenblas,$(shell \
  pkg-config --libs openblas 2>/dev/null || echo -lopenblas)))

# The solvers' libraries: the free ones always; CHOLMOD (Debian ships its GPL modules in it), UMFPACK, SPQR with GPL=1.
SUITESPARSE_LIBS = $(if $(filter 0,$(GPL)),,-lcholmod -lumfpack -lspqr) -lklu -lcxsparse -lldl -lamd
LIBS = $(patsubst %,-L% ,$(LIBDIRS))$(SUITESPARSE_LIBS) $(BLAS_LIBS) -lsleef -lz -lm -pthread

WARN = -Wall -Wextra -Wshadow -Wvla -Wswitch-enum -Wstrict-prototypes -Wmissing-prototypes
BASE_FLAGS = -std=c11 -D_POSIX_C_SOURCE=200809L $(OPT) -DDAMO_GPL=$(GPL) $(WARN) -fPIC -fvisibility=hidden \
  -ffp-contract=off -pthread -Isrc $(patsubst %,-I% ,$(INCDIRS))$(if $(filter 0,$(CHECKS)),-DDAMO_NO_CHECKS )$(if $(filter 0,$(JIT)),-DDAMO_JIT=0 )$(CFLAGS)
LINK = $(CC) $(LINK_$(MODE)) -Wl,--as-needed $(patsubst %,-Wl$(comma)-rpath$(comma)% ,$(LIBDIRS))$(LDFLAGS)

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
LUA_DIRS := $(wildcard lua spec examples bench make mpi/lua mpi/spec)
MODULE   := $(LB)/lua/damo/core.so
ARCHIVE  := $(LB)/libdamo.a
# The core alone; the name that programs ask for has the version of the interface, as damo_v1_ctx_new has.
SONAME   := libdamo.so.1
SHARED   := $(B)/$(SONAME)
VERSION   = $(call once,VERSION,$(shell sed -n 's/^\#define DAMO_VERSION "\(.*\)"/\1/p' src/damo.h))

# Programs run on the tree that was just built, whatever the caller's environment says about Lua.
LUA_PATH  := $(CURDIR)/lua/?.lua;$(CURDIR)/lua/?/init.lua;;
LUA_CPATH := $(CURDIR)/$(LB)/lua/?.so;;
OPENBLAS_NUM_THREADS ?= 1
DAMO_BUILT_CORE := $(CURDIR)/$(MODULE)
DAMO_MODE := $(MODE)
# Under the sanitizers, too, an allocation that no memory holds fails as malloc does.
ASAN_OPTIONS ?= allocator_may_return_null=1
export LUA_PATH LUA_CPATH OPENBLAS_NUM_THREADS DAMO_BUILT_CORE DAMO_MODE ASAN_OPTIONS
unexport SPECS LUA_INIT LUA_INIT_5_4 LUA_PATH_5_4 LUA_CPATH_5_4 LUA_INIT_5_3 LUA_PATH_5_3 LUA_CPATH_5_3
RUN_LUA = sh make/blas-coretype $(LUA_EXE)
PRELOAD_asan = $(shell $(CC) -print-file-name=libasan.so) $(shell $(CC) -print-file-name=libubsan.so)

# A target that runs something installs what is missing first; a plain `make` or `make install` never does.
RUNNERS := demo unity stress test apicheck test-free test-hosts test-pages test-amalgamation test-install amalgamation \
  test-mpi bench-mpi smoke reference bench debug asan tsan lint rock setup
SETUP   := $(if $(filter $(RUNNERS),$(MAKECMDGOALS)),setup)
Q       := $(if $(V),,@)

.DELETE_ON_ERROR:
.PHONY: all shared demo test apicheck test-free test-hosts test-pages test-amalgamation test-install amalgamation smoke test-mpi \
  bench-mpi print-mpi-env \
  mutants reference bench debug asan tsan lint check-layers check-gates check-exports check-header unity stress docs \
  install install-lua install-dirs uninstall rock rock-all print-lua-env print-libs clean setup help FORCE

all: $(ARCHIVE) $(MODULE) ## build libdamo.a and the Lua module damo.core under build/release

shared: $(SHARED) ## build libdamo.so.1, the core as a shared library

demo: all ## set up, build, and run the main job, examples/digits.lua; its results go to build/demo
	$(Q)echo "demo: $(LUA_EXE) examples/digits.lua build/demo"
	$(Q)mkdir -p build/demo
	$(Q)$(RUN_LUA) examples/digits.lua build/demo

# On another Lua than 5.4, and in another mode of the collector, that is the specs alone, without the reference cases.
RUN_SPECS = PRELOAD="$(PRELOAD_$(MODE))" SPECS="$(SPECS)" DAMO_GC="$(GC)" JOBS="$$(nproc)" \
  sh make/blas-coretype sh make/run-tests $(LB)
test: all ## set up, build, and run every test; the last line is the total. LUA=jit, 5.1, 5.3, GC=aggressive, generational: specs
ifeq ($(LUA)$(GC)$(SPECS),5.4)
test: $(TESTS) check-layers check-gates check-exports check-header
	$(Q)LUA="$(LUA_EXE)" REFERENCE=1 $(RUN_SPECS) $(TESTS)
else
test:
	$(Q)LUA="$(LUA_EXE)" $(RUN_SPECS)
endif

apicheck: all ## build Lua 5.4 with LUA_USE_APICHECK from Debian's source package, and run the specs under it: SPECS=spec/lua
	$(Q)sh make/lua-apicheck build/apicheck $(CC)
	$(Q)LUA="$(CURDIR)/build/apicheck/lua" $(RUN_SPECS)

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

test-pages: all ## look at the pages that damo writes in a headless browser
	$(Q)LUA="$(LUA_EXE)" SPECS="$(wildcard spec/pages/*_browser.lua)" sh make/blas-coretype sh make/run-tests $(LB)

# A rock of its own, with a Makefile of its own: what is passed on is where this build lies and for which Lua it is.
MPI_MAKE = $(MAKE) --no-print-directory -f mpi/Makefile CC="$(CC)" LUA="$(LUA)" LUA_EXE="$(LUA_EXE)" MODE="$(MODE)" LB="$(LB)" \
  WERROR="$(WERROR)" CFLAGS="$(CFLAGS)" LDFLAGS="$(LDFLAGS)"
test-mpi: all ## install MPI and PETSc, build damo-mpi, and run its specs on 1 to 4 ranks: SPECS=mpi/spec/x_spec.lua RANKS="2 3"
	+$(Q)$(MPI_MAKE) setup
	+$(Q)$(MPI_MAKE) PRELOAD="$(PRELOAD_$(MODE))" SPECS="$(SPECS)" RANKS="$(RANKS)" test

bench-mpi: all ## time collectives beside MPI's calls by hand, steps of training on 1 to 4 ranks, sparse systems
	+$(Q)$(MPI_MAKE) setup
	+$(Q)$(MPI_MAKE) PRELOAD="$(PRELOAD_$(MODE))" bench

print-mpi-env: ## print LUA_PATH and LUA_CPATH of the built tree with damo-mpi: eval "$(make -s print-mpi-env)"
	@$(MPI_MAKE) env

mutants: all ## break a line at a time and tell what the tests let pass: make mutants IN=src/grad (see make/mutants.lua)
	$(Q)$(foreach v,IN LINES MAX SEED TESTS SPECS LIMIT,$v="$(if $(filter command,$(origin $v)),$($v))") \
	  sh make/blas-coretype lua5.4 make/mutants.lua

reference: all ## run the reference cases alone (folder: DAMO_REFERENCE, default spec/data/reference)
	$(Q)$(RUN_LUA) spec/reference_runner.lua

bench: all $(addprefix $(LB)/bench/,$(addsuffix .so,floor dense_floor loops_floor networks_floor solve_floor threads_floor)) ## time damo, and its peers where Python can be had
	$(Q)$(RUN_LUA) bench/run.lua
	$(Q)$(RUN_LUA) bench/frames.lua
	$(Q)$(RUN_LUA) bench/frames_slices.lua
	$(Q)$(RUN_LUA) bench/files.lua
	$(Q)export LUA_CPATH="$(CURDIR)/$(LB)/bench/?.so;$$LUA_CPATH"; $(RUN_LUA) bench/dense.lua && \
	  $(RUN_LUA) bench/loops.lua && $(RUN_LUA) bench/networks.lua && $(RUN_LUA) bench/library.lua && \
	  $(RUN_LUA) bench/threads.lua && $(RUN_LUA) bench/reproducible.lua
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
	$(Q)$(RUN_LUA) bench/export.lua $$([ -f build/peers/ready ] && echo build/peers/bin/python)

debug: ## build with -O0 -g3 and internal checks under build/debug
	$(Q)$(MAKE) --no-print-directory MODE=debug all

asan: ## build with AddressSanitizer and UBSan under build/asan, and run every test on that
	$(Q)$(MAKE) --no-print-directory MODE=asan test

# What runs on threads at once; OpenBLAS is not instrumented, and runs on one thread each.
TSAN_TESTS = $(filter %/frame_test %/token_test %/token_states_test %/threads_test %/pool_test \
  %/interrupt_test %/call_run_test,$(TESTS))
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
	$(Q)clang-format --dry-run -Werror $(wildcard src/*.h spec/c/*.[ch] mpi/src/*.[ch] mpi/src/*/*.[ch]) $(call levels,src,*.[ch])

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

amalgamation: | $(SETUP) ## write the core as one file that needs libm alone, build/amalgamation/damo.c, and damo.h
	$(Q)$(LUA_EXE) make/amalgamate.lua build/amalgamation

test-amalgamation: amalgamation ## build and run that file for x86-64, ARM64, Windows and WebAssembly: TARGETS=arm64 for one
	$(Q)sh make/test-amalgamation build/amalgamation $(TARGETS)

docs: all ## write the pages and annotations that are made from the op registry, and the site of all pages
	$(Q)$(LUA_EXE) docs/generate.lua
	$(Q)$(LUA_EXE) docs/site.lua build/site

site: all ## write README.md and docs/*.md as a site that needs no network and no server, build/site/index.html
	$(Q)$(LUA_EXE) docs/site.lua build/site

# Where the parts go: C_LIBDIR has libdamo and pkgconfig, LUADIR and LIBDIR the Lua modules, as in luarocks.
BINDIR   = $(PREFIX)/bin
INCDIR   = $(PREFIX)/include
C_LIBDIR = $(PREFIX)/lib
LUADIR   = $(PREFIX)/share/lua/$(LUA_VER)
LIBDIR   = $(PREFIX)/lib/lua/$(LUA_VER)
STRIP    = strip
# The first line of the command damo.
LUA_PROGRAM = /usr/bin/env $(LUA_EXE)
TO_BINDIR = $(DESTDIR)$(abspath $(BINDIR))
TO_INCDIR = $(DESTDIR)$(abspath $(INCDIR))
TO_C_LIBDIR = $(DESTDIR)$(abspath $(C_LIBDIR))
TO_LUADIR = $(DESTDIR)$(abspath $(LUADIR))
TO_LIBDIR = $(DESTDIR)$(abspath $(LIBDIR))
# Programs find a library under a prefix of the user's own without settings of the loader.
PC_RPATH = $(if $(filter /usr /usr/local,$(PREFIX)),,-Wl$(comma)-rpath$(comma)$${libdir} )

install: install-dirs all shared install-lua ## install command, header, libraries, damo.pc and Lua modules under PREFIX
	$(Q)install -d '$(TO_BINDIR)' '$(TO_INCDIR)/damo' '$(TO_C_LIBDIR)/pkgconfig'
	$(Q)install -m 644 src/damo.h src/damo_module.h '$(TO_INCDIR)'
	$(Q)install -m 644 src/damo/*.h '$(TO_INCDIR)/damo'
	$(Q)install -m 644 $(ARCHIVE) '$(TO_C_LIBDIR)/libdamo.a'
	$(Q)$(STRIP) --strip-debug '$(TO_C_LIBDIR)/libdamo.a'
	$(Q)install -m 644 $(SHARED) '$(TO_C_LIBDIR)/$(SONAME).$(VERSION)'
	$(Q)$(STRIP) --strip-unneeded '$(TO_C_LIBDIR)/$(SONAME).$(VERSION)'
	$(Q)ln -sf $(SONAME).$(VERSION) '$(TO_C_LIBDIR)/$(SONAME)'
	$(Q)ln -sf $(SONAME) '$(TO_C_LIBDIR)/libdamo.so'
	$(Q)sed -e 's|@PREFIX@|$(PREFIX)|; s|@LIBDIR@|$(C_LIBDIR)|; s|@INCDIR@|$(INCDIR)|; s|@VERSION@|$(VERSION)|' \
	  -e 's|@RPATH@|$(PC_RPATH)|; s|@LIBS@|$(strip $(LIBS))|' make/damo.pc.in >'$(TO_C_LIBDIR)/pkgconfig/damo.pc'
	$(Q)sed '1s|.*|#!$(LUA_PROGRAM)|' lua/bin/damo >'$(TO_BINDIR)/damo' && chmod 755 '$(TO_BINDIR)/damo'
	$(Q)[ -n '$(DESTDIR)' ] || [ "$$(id -u)" -ne 0 ] || ! command -v ldconfig >/dev/null || ldconfig

install-lua: install-dirs all ## install the Lua modules alone, in LUADIR and LIBDIR (the rock does this)
	$(Q)cd lua && find damo -name '*.lua' -exec install -D -m 644 '{}' '$(TO_LUADIR)/{}' ';'
	$(Q)install -D -m 644 $(MODULE) '$(TO_LIBDIR)/damo/core.so'
	$(Q)$(STRIP) --strip-unneeded '$(TO_LIBDIR)/damo/core.so'

# Before anything is built, so that nobody waits for a build that can't be installed.
install-dirs:
	$(Q)sh make/check-writable '$(TO_LUADIR)' '$(TO_LIBDIR)' \
	  $(if $(filter install,$(MAKECMDGOALS)),'$(TO_BINDIR)' '$(TO_INCDIR)' '$(TO_C_LIBDIR)/pkgconfig')

uninstall: ## remove what `make install` with the same PREFIX, DESTDIR and LUA has put there
	$(Q)rm -f '$(TO_BINDIR)/damo' '$(TO_INCDIR)/damo.h' '$(TO_INCDIR)/damo_module.h' '$(TO_C_LIBDIR)/libdamo.a' '$(TO_C_LIBDIR)/libdamo.so' \
	  '$(TO_C_LIBDIR)/$(SONAME)' '$(TO_C_LIBDIR)/$(SONAME).$(VERSION)' '$(TO_C_LIBDIR)/pkgconfig/damo.pc' \
	  '$(TO_LIBDIR)/damo/core.so'
	$(Q)cd src && find damo -name '*.h' -exec rm -f '$(TO_INCDIR)/{}' ';'
	$(Q)cd lua && find damo -name '*.lua' -exec rm -f '$(TO_LUADIR)/{}' ';'
	$(Q)for folder in '$(TO_INCDIR)' '$(TO_LUADIR)' '$(TO_LIBDIR)'; do [ ! -d "$$folder/damo" ] || \
	  find "$$folder/damo" -depth -type d -empty -delete; done
	$(Q)[ -n '$(DESTDIR)' ] || [ "$$(id -u)" -ne 0 ] || ! command -v ldconfig >/dev/null || ldconfig

test-install: all shared ## install damo in each way and try what is there: make test-install PART=rock (prefix, debian)
	$(Q)CC="$(CC)" PART="$(PART)" sh make/blas-coretype sh make/test-install '$(CURDIR)/build/install'

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
	$(Q)sh make/setup $(LUA) $(if $(filter lint,$(MAKECMDGOALS)),clang-format:clang-format) \
	  $(if $(filter test-pages,$(MAKECMDGOALS)),chromium:chromium) \
	  $(if $(filter apicheck,$(MAKECMDGOALS)),dpkg-dev:dpkg-source) \
	  $(if $(filter test-amalgamation,$(MAKECMDGOALS)),clang:clang gcc-aarch64-linux-gnu libc6-dev-arm64-cross \
	  qemu-user:qemu-aarch64 gcc-mingw-w64-x86-64 wine64 lld:wasm-ld wasi-libc libclang-rt-dev-wasm32 nodejs:node) \
	  $(if $(filter test-install,$(MAKECMDGOALS)),dpkg-dev debhelper lintian fakeroot)

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' Makefile

# ---- Rules -----------------------------------------------------------------------------------------------------------

# The id of the build, which changes with any source; lua/damo/build_id.lua has it too.
$(B)/build-id: FORCE | $(SETUP)
	@mkdir -p $(@D)
	@sh make/build-id $@
$(B)/base/build.o: $(B)/build-id
$(B)/base/build.o: private LAYER_FLAGS = -DDAMO_BUILD_ID='"$(shell cat $(B)/build-id)"'

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
# Without FMA: products and sums are rounded one by one, where -ffp-contract=off is not enough: GCC 12 fuses vectors of
# alternating differences and sums, those of complex products, nevertheless.
PLAIN_AVX2   = elem/plain_avx2 blas/blas_avx2 conv/conv_plain_avx2 reduce/reducers_avx2 fft/fft_avx2
PLAIN_AVX512 = $(PLAIN_AVX2:%avx2=%avx512)
$(PLAIN_AVX2:%=$(B)/kernel/%.o): private ISA_FLAGS = -mavx2 -mno-fma
$(PLAIN_AVX512:%=$(B)/kernel/%.o): private ISA_FLAGS = -mavx512f -mavx512dq -mavx512bw -mavx512vl -mavx2 -mno-fma
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

$(SHARED): $(CORE_OBJ) make/libdamo.map $(B)/link-flags
	@mkdir -p $(@D)
	@$(if $(V),,echo "  LINK  $@")
	$(Q)$(LINK) -shared -Wl,-soname,$(SONAME) -Wl,-z,relro,-z,now$(if $(filter release debug,$(MODE)),$(comma)-z$(comma)defs) \
	  -Wl,--version-script=make/libdamo.map -o $@ $(CORE_OBJ) $(LIBS)

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

--- mutants: mutation testing: breaks one line of C at a time, and reports the mutants that the tests do not notice.
--
--     make mutants IN="src/grad src/vm/vm.c" [LINES=40-90] [MAX=20] [SEED=1] [TESTS=grad_test] [SPECS=spec/lua]
--
-- IN: folders or files of src; LINES: a range of lines. MAX mutants are drawn at random (SEED); those that
-- do not compile, or compile to the same code, are not counted. TESTS: programs of spec/c; SPECS: files or folders for
-- busted; `none` for none; by default those that `usual` below has for the folder. A run of a test may take LIMIT
-- seconds, by default ten times what it takes on the unbroken program.
--
-- All work is done in a copy of the tree under build/mutants: the user's files are only read.

package.path = "make/?.lua;" .. package.path
local mutate = require "mutate"

-- The tests of a folder: programs of spec/c, then specs.
local usual = {
  base = { "base_test heap_test alloc_fail_test threads_test pool_test api_test",
    "spec/lua/memory_spec.lua spec/lua/error_spec.lua" },
  kernel = { "kernel_test kernel_exact_test kernel_math_test kernel_data_test sparse_kernel_test", "spec/op" },
  array = { "array_test", "spec/lua/array_spec.lua spec/lua/index_spec.lua spec/lua/values_spec.lua" },
  sparse = { "sparse_test sparse_kernel_test sparse_make_test sparse_part_test sparse_product_test sparse_relate_test "
    .. "sparse_stack_test factor_test factor_data_test", "spec/sparse" },
  io = { "io_test zip_test mtx_test mtx_write_test", "spec/sparse/npz_spec.lua spec/sparse/value_spec.lua" },
  graph = { "graph_test fgraph_test destroy_test depth_test", "spec/graph_op spec/lua/graph_spec.lua" },
  op = { "op_elemwise_test op_reduce_test op_shape_test op_index_test op_blas_test op_nnet_test op_random_test "
    .. "sparse_graph_test", "spec/op spec/sparse" },
  grad = { "grad_test", "spec/lua/grad_spec.lua spec/graph_op/grad_spec.lua spec/lua/op_spec.lua" },
  rewrite = { "rewrite_test sparse_rewrite_test mode_test",
    "spec/graph_op/rewrite_spec.lua spec/graph_op/shape_and_folding_spec.lua spec/sparse/rewrite_spec.lua" },
  vm = { "compile_run_test lazy_test compile_update_test", "spec/lua/function_spec.lua spec/lua/compile_spec.lua" },
  compile = { "compile_test compile_run_test compile_update_test mode_test lazy_test",
    "spec/lua/function_spec.lua spec/lua/compile_spec.lua spec/graph_op/mode_spec.lua" },
  api = { "api_test host_op_test", "spec/graph_op/op_from_graph_spec.lua spec/graph_op/host_op_spec.lua" },
  lua = { "host_test", "spec/lua spec/graph_op" },
}

local function setting(name, default)
  local value = os.getenv(name)
  return value and value ~= "" and value or default
end

local function fail(...)
  io.stderr:write("mutants: ", string.format(...), "\n")
  os.exit(2)
end

local tree = "build/mutants"
local built = "build/release"
local seed, most = tonumber(setting("SEED", "1")), tonumber(setting("MAX", "20"))
if not (math.type(seed) == "integer" and math.type(most) == "integer") then fail "SEED and MAX are integers" end

-- ---- Shell ----------------------------------------------------------------------------------------------------------

local function lines_from(command)
  local pipe, list = assert(io.popen(command)), {}
  for line in pipe:lines() do list[#list + 1] = line end
  pipe:close()
  return list
end

local function read(path)
  local file = io.open(path, "rb")
  local text = file and file:read "a"
  if file then file:close() end
  return text
end

local function write(path, text)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
end

--- Runs a command in the copy; returns whether it succeeded, and its exit status. Ctrl-C ends the whole program.
local function run(command)
  local ok, how, status = os.execute(("cd %s && { %s; } >log 2>&1"):format(tree, command))
  if how == "signal" or status == 130 then os.exit(130) end
  return ok == true, status
end

local function clock() return tonumber(lines_from("date +%s.%N")[1]) end

-- ---- The copy -------------------------------------------------------------------------------------------------------

local parts = "src lua spec make docs examples rocks Makefile README.md .busted"

--- Brings the copy up to date. The first time the build is copied too; later only files that differ are written, with
--- the current time, so that make rebuilds them whatever the original's time is.
local function copy_tree()
  if not read(tree .. "/Makefile") then
    os.execute(("rm -rf %s && mkdir -p %s/build && cp -a %s %s/"):format(tree, tree, parts, tree))
    os.execute(("[ ! -d %s ] || cp -a %s %s/build/"):format(built, built, tree))
    return
  end
  for _, path in ipairs(lines_from("find " .. parts .. " -type f")) do
    local text = read(path)
    if read(tree .. "/" .. path) ~= text then
      os.execute(("mkdir -p %s/%s"):format(tree, path:match "^(.*)/" or "."))
      write(tree .. "/" .. path, text)
    end
  end
  for _, path in ipairs(lines_from(("cd %s && find src lua spec -type f"):format(tree))) do
    if not read(path) then os.remove(tree .. "/" .. path) end
  end
end

-- ---- Files to break, and their tests --------------------------------------------------------------------------------

local function sources()
  local where = setting "IN"
  if not where then fail "name what to break: make mutants IN=src/grad, or a file" end
  local files = lines_from(("find %s -name '*.c' -o -name '*_body.h' | sort"):format(where))
  if #files == 0 then fail("there is no C file in %s", where) end
  for _, path in ipairs(files) do
    if not path:match "^src/%l+/" then fail("%s is not in a folder of src", path) end
  end
  return files
end

--- The tests named by the user, else the usual ones of every folder that is broken.
local function tests(files)
  local seen, found = {}, { {}, {} }
  local function add(which, text)
    for word in (text == "none" and "" or text):gmatch "%S+" do
      if not seen[word] then table.insert(found[which], word) end
      seen[word] = true
    end
  end
  local given = { setting "TESTS", setting "SPECS" }
  for which = 1, 2 do
    if given[which] then add(which, given[which]) end
    for _, path in ipairs(given[which] and {} or files) do add(which, usual[path:match "^src/(%l+)/"][which]) end
  end
  return found[1], found[2]
end

local files = sources()
local programs, specs = tests(files)
local first, last = setting("LINES", "1-10000000"):match "^(%d+)%-(%d+)$"
if not first then fail "LINES is first-last, as in LINES=40-90" end

local candidates, texts = {}, {}
for _, path in ipairs(files) do
  texts[path] = read(path)
  for _, mutant in ipairs(mutate.mutants(texts[path], tonumber(first), tonumber(last))) do
    mutant.path = path
    candidates[#candidates + 1] = mutant
  end
end
math.randomseed(seed)
for i = #candidates, 2, -1 do
  local j = math.random(i)
  candidates[i], candidates[j] = candidates[j], candidates[i]
end

-- ---- Building and testing -------------------------------------------------------------------------------------------

local module = built .. "/lua/damo/core.so"
local targets = module
for _, name in ipairs(programs) do targets = targets .. " " .. built .. "/spec/" .. name end
local jobs = lines_from("nproc")[1] or "1"
-- no -Werror: a mutant with a variable that is no longer used should be tried too
local build = ("env -u MAKEFLAGS -u MAKELEVEL timeout 600 make -s -j%s WERROR= %s"):format(jobs, targets)

local commands = {}
for _, name in ipairs(programs) do commands[#commands + 1] = { name, built .. "/spec/" .. name } end
if #specs > 0 then
  local list = table.concat(specs, " ")
  local env = 'eval "$(env -u MAKEFLAGS -u MAKELEVEL make -s print-lua-env)"; DAMO_BUILT_CORE="$PWD/' .. module .. '"'
  local busted = ' %s lua5.4 "$(command -v busted)" --no-keep-going -o plainTerminal '
  commands[#commands + 1] = { list, env .. busted .. list }
end
if #commands == 0 then fail "no tests are left to run" end

--- Runs the tests one by one; returns the first that fails and how, or nil. Sets the limits if there are none yet.
local function notice()
  for _, test in ipairs(commands) do
    local bound = ("env OPENBLAS_NUM_THREADS=1 timeout -k 5 %d"):format(test.limit or 900)
    local command = test[2]:find("%s", 1, true) and test[2]:gsub("%%s", (bound:gsub("%%", "%%%%")), 1)
      or bound .. " " .. test[2]
    local start = clock()
    local ok, status = run(command)
    if not ok then return test[1], (status == 124 or status == 137) and "too slow" or "failed" end
    test.limit = test.limit or tonumber(setting "LIMIT") or math.ceil(10 * (clock() - start)) + 5
  end
end

local function object_of(path) return ("%s/%s/%s"):format(tree, built, path:gsub("^src/", ""):gsub("%.c$", ".o")) end

copy_tree()
print(("mutants: %d ways to break %d files; the tests are %s %s"):format(#candidates, #files,
  table.concat(programs, " "), table.concat(specs, " ")))
if not run(build) then fail("the sound program doesn't build: see %s/log", tree) end
local who = notice()
if who then fail("the sound program fails in %s: see %s/log", who, tree) end

local sound = {}
for _, path in ipairs(files) do sound[path] = read(object_of(path)) end

local tried, killed, survivors = 0, 0, {}
for _, mutant in ipairs(candidates) do
  if tried == most then break end
  local path = mutant.path
  write(tree .. "/" .. path, mutate.apply(texts[path], mutant))
  local compiles = run(build)
  if compiles and (sound[path] == nil or read(object_of(path)) ~= sound[path]) then
    tried = tried + 1
    local by, how = notice()
    if by then killed = killed + 1 else survivors[#survivors + 1] = mutant end
    print(("%3d  %s:%d: %s: %s"):format(tried, path, mutant.line, mutant.what,
      by and how .. " in " .. by or "SURVIVES"))
    io.stdout:flush()
  end
  write(tree .. "/" .. path, texts[path])
end

for _, mutant in ipairs(survivors) do
  print(("\n%s:%d: %s\n-%s\n+%s"):format(mutant.path, mutant.line, mutant.what, mutant.old, mutant.new))
end
print(("\nmutants: %d tried, %d killed, %d survive"):format(tried, killed, #survivors))

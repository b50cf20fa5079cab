-- sparse.lua: times damo's sparse ops.
--
--     lua5.4 bench/sparse.lua                a table of damo against plain C loops
--     lua5.4 bench/sparse.lua alone CASES    the same for the cases of CASES.lua ("sparse_cases", "solve_cases")
--     lua5.4 bench/sparse.lua serve [CASES]  answers the commands of bench/sparse_peers.py, one line each:
--       list                   the keys of the cases
--       about KEY              title, then targets as name=ratio, between tabs
--       matrix NAME FILE       sets the matrix for later commands; writes its parts to FILE (.npz)
--       make KEY               makes a case; "ok", or why it cannot be made or gives a wrong result
--       damo|floor|value N     the seconds of N runs of the case made last; "none" if it has no such function

package.path = (arg[0]:match("^(.*)/") or ".") .. "/?.lua;" .. package.path
local damo = require "damo"
local bench = require(arg[2] or "sparse_cases")

local by_key = {}
for _, case in ipairs(bench.cases) do by_key[case.key] = case end

--- Makes the case and compares the sums of damo's and the floor's results; nil and the reason if that fails.
local function make(case, data)
  local ok, made = pcall(case.make, data)
  if not ok then return nil, (tostring(made):gsub("\n.*", "")) end
  if made.floor then
    local _, sum = made.floor(1)
    local total = made.total()
    if math.abs(total - sum) > 1e-6 * (math.abs(sum) + 1) then
      return nil, ("the result sums to %.17g, the plain loop's to %.17g"):format(total, sum)
    end
  end
  return made
end

-- ---- For the peers --------------------------------------------------------------------------------------------------

local data, made
local answers = {}

function answers.list()
  local keys = {}
  for i, case in ipairs(bench.cases) do keys[i] = case.key end
  return table.concat(bench.matrices, " ") .. "\t" .. table.concat(keys, " ")
end

function answers.about(key)
  local case, parts = by_key[key], {}
  for name, ratio in pairs(case.target) do parts[#parts + 1] = ("%s=%g"):format(name, ratio) end
  table.sort(parts)
  return case.title .. "\t" .. table.concat(parts, " ")
end

function answers.matrix(name, file)
  made, data = nil, bench.load(name)
  local A = data.A
  damo.io.save(file, { data = A.data, indices = A.indices, indptr = A.indptr, shape = damo.array(A.shape, "int64") })
  return ("%s, %d x %d, %d entries"):format(name, A.shape[1], A.shape[2], A.nnz)
end

function answers.make(key)
  local why
  made = nil
  collectgarbage()
  made, why = make(by_key[key], data)
  return made and "ok" or why
end

for _, who in ipairs { "damo", "floor", "value" } do
  answers[who] = function(n)
    if not made[who] then return "none" end
    return ("%.9g"):format((made[who](math.floor(n))))
  end
end

local function serve()
  io.stdout:setvbuf "line"
  for line in io.lines() do
    local what, first, second = line:match "^(%S+)%s*(%S*)%s*(%S*)$"
    print(answers[what](first, second))
  end
end

-- ---- Without peers --------------------------------------------------------------------------------------------------

local ROUNDS, BATCH = 5, 0.02

--- The median of damo's seconds a run, and of the ratio to the other's, over rounds in which both are timed in turn.
local function compare(case_made, other)
  local function runs(f) return math.max(1, math.floor(BATCH / math.max(f(1), 1e-7))) end
  local function timed(f, n)
    if n > 1 then f(1) end -- the other function has evicted the caches
    return f(n) / n
  end
  local n, m = runs(case_made.damo), other and runs(other)
  local ours, ratios = {}, {}
  for i = 1, ROUNDS do
    ours[i] = timed(case_made.damo, n)
    if other then ratios[i] = ours[i] / timed(other, m) end
  end
  table.sort(ours)
  table.sort(ratios)
  return ours[math.floor((ROUNDS + 1) / 2)], ratios[math.floor((ROUNDS + 1) / 2)]
end

local function report()
  for _, name in ipairs(bench.matrices) do
    local d = bench.load(name)
    print(("sparse: %s, %d x %d, %d entries"):format(name, d.A.shape[1], d.A.shape[2], d.A.nnz))
    for _, case in ipairs(bench.cases) do
      local fits = not case.matrix or case.matrix == name
      local m, why
      if fits then m, why = make(case, d) end
      if m then
        local time, ratio = compare(m, m.floor or m.value)
        local beside = m.floor and "plain loop" or m.value and "its value"
        print(("  %-36s %10.3f ms %s"):format(case.title, time * 1e3,
          ratio and ("%10.2f x %s"):format(ratio, beside) or ""))
      elseif fits then
        print(("  %-36s left out: %s"):format(case.title, why))
      end
    end
  end
end

if arg[1] == "serve" then serve() else report() end

-- The cost of collectives in a compiled Function beside the same calls of MPI from C (by_hand.c), in turn in one run.
-- A Function has ten of them, so what is timed is the Op, not the script's call. Those whose result has the operand's
-- shape are a chain, each on the result of the one before; the others have ten results, in arrays of the caller, as
-- by_hand's are. With ARRAYS=new in the environment all have ten results, in new arrays, whose making is timed.
-- Columns: microseconds of the Op, of MPI's blocking call and of its nonblocking one with MPI_Wait, the least of many
-- short rounds, which other programs disturb least; and the Op's ratio to each of the two, of these times and as the
-- median of the rounds' ratios.
-- `make bench-mpi`, or sh mpi/launch 2 lua5.4 bench/mpi/overhead.lua [json]. In the environment: ROUNDS, MOST (bytes).
local damo = require "damo"
local mpi = require "damo.mpi"
local by_hand = require "by_hand"

local targets, most_rounds = 10, tonumber(os.getenv "ROUNDS") or 101
local json = arg[1] == "json"
local most = tonumber(os.getenv "MOST") or 8388608 -- bytes

local cases = {
  { "allreduce", mpi.allreduce, chain = true },
  { "bcast", mpi.bcast, chain = true },
  { "allgather", function(v) return mpi.allgather(v, { equal = true }) end },
  { "halo", function(v)
    -- As MPI's calls do, these send all of x to both sides.
    return mpi.halo(v, { width = v.type.shape[1], periodic = true })
  end },
}

local function sorted(list)
  table.sort(list)
  return list
end

local function least(list) return sorted(list)[1] end

local function median(list) return sorted(list)[math.floor(#list / 2) + 1] end

-- The time of the slowest rank.
local function slowest(seconds) return mpi.allreduce(seconds, { op = "max" }) end

local fresh = os.getenv "ARRAYS" == "new"
local unpack = table.unpack or unpack -- luacheck: ignore

local function function_of(case, v, n)
  local name, build = case[1], case[2]
  if case.chain and not fresh then
    local y = v
    for _ = 1, targets do y = build(y) end
    return damo.compile({ damo.In(v, { borrow = true }) }, y):into(damo.zeros { n })
  end
  local outputs, results = {}, {}
  local length = name == "halo" and 3 * n or name == "allgather" and mpi.size * n or n
  for k = 1, targets do
    outputs[k] = fresh and damo.Out(build(v), { borrow = true }) or build(v)
    results[k] = damo.zeros { length }
  end
  local f = damo.compile({ damo.In(v, { borrow = true }) }, outputs)
  return fresh and f or f:into(unpack(results))
end

local function time_case(case, n)
  local name = case[1]
  local rounds = math.max(7, math.floor(most_rounds / (1 + n / 16384)))
  local v = damo.TensorType("float64", { shape = { n } })("v")
  local f = function_of(case, v, n)
  local x = damo.ones { n }
  local task, kind = by_hand.make(name, n)
  local calls = math.max(1, math.floor(2e4 / (n + 1000)))
  local times = { {}, {}, {} }
  local function op()
    local start = by_hand.now()
    for _ = 1, calls do f(x) end
    return (by_hand.now() - start) / calls / targets
  end
  local runs = {
    op,
    function() return by_hand.run(task, kind, calls, false) end,
    function() return by_hand.run(task, kind, calls, true) end,
  }
  for round = 0, rounds do
    for k = 1, 3 do
      local at = (k + round) % 3 + 1
      mpi.barrier()
      local seconds = slowest(runs[at]())
      if round > 0 then times[at][round] = seconds end -- the first one makes memory and agrees
    end
  end
  by_hand.drop(task)
  local blocking, nonblocking = {}, {}
  for round = 1, rounds do
    blocking[round], nonblocking[round] = times[1][round] / times[2][round], times[1][round] / times[3][round]
  end
  local mine, hand, nonblocking_hand = least(times[1]), least(times[2]), least(times[3])
  return { name = name, bytes = 8 * n, ranks = mpi.size, op = mine, hand = hand, hand_nonblocking = nonblocking_hand,
    ratio = mine / hand, median_ratio = median(blocking), ratio_nonblocking = mine / nonblocking_hand,
    median_ratio_nonblocking = median(nonblocking) }
end

local title = "%-10s %9s %11s %11s %11s %8s %8s %8s %8s"
local line = "%-10s %9d %11.2f %11.2f %11.2f %8.2f %8.2f %8.2f %8.2f"
local fields = { "bytes", "ranks", "op", "hand", "hand_nonblocking", "ratio", "median_ratio", "ratio_nonblocking",
  "median_ratio_nonblocking" }

local function show(t)
  if json then
    local parts = { ('"name": "%s"'):format(t.name) }
    for _, field in ipairs(fields) do parts[#parts + 1] = ('"%s": %.9g'):format(field, t[field]) end
    print("{" .. table.concat(parts, ", ") .. "}")
  else
    print(line:format(t.name, t.bytes, 1e6 * t.op, 1e6 * t.hand, 1e6 * t.hand_nonblocking, t.ratio, t.median_ratio,
      t.ratio_nonblocking, t.median_ratio_nonblocking))
  end
  io.stdout:flush()
end

if mpi.rank == 0 and not json then
  print(("%d ranks; microseconds; ratios of the least times and medians of ratios"):format(mpi.size))
  print(title:format("", "bytes", "Op", "MPI_X", "MPI_IX", "/ MPI_X", "median", "/ MPI_IX", "median"))
end
for _, case in ipairs(cases) do
  for _, n in ipairs { 1, 16, 128, 1024, 8192, 65536, 1048576 } do
    if 8 * n > most then break end
    collectgarbage()
    local t = time_case(case, n)
    if mpi.rank == 0 then show(t) end
  end
end

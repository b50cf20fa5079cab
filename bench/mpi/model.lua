-- The model of docs/scaling.md: fits latency and bandwidth to the times of overhead.lua and extends them to many ranks.
-- lua5.4 bench/mpi/model.lua times.json [ALPHA BANDWIDTH]: a network's microseconds and bytes a second instead.

local times = {}
local path = assert(arg[1], "model.lua: argument 1 must be a file of what overhead.lua json has printed")
for line in io.lines(path) do
  local name = line:match '"name": "(%w+)"'
  local entry = { name = name }
  for key, value in line:gmatch '"([%w_]+)": ([%d.e+-]+)' do entry[key] = tonumber(value) end
  if name then times[#times + 1] = entry end
end

-- The least squares of relative errors of a + b * bytes, over the messages of a kind; a and b in seconds.
local function fit(name, field)
  local s1, sx, sxx, sy, sxy = 0, 0, 0, 0, 0
  for _, t in ipairs(times) do
    if t.name == name and t.ranks == 2 then
      local w, x, y = 1 / t[field] ^ 2, t.bytes, t[field]
      s1, sx, sxx, sy, sxy = s1 + w, sx + w * x, sxx + w * x * x, sy + w * y, sxy + w * x * y
    end
  end
  local det = s1 * sxx - sx * sx
  return (sy * sxx - sx * sxy) / det, (s1 * sxy - sx * sy) / det
end

local function log2(p) return math.ceil(math.log(p) / math.log(2) - 1e-9) end

-- Seconds of an allreduce: the better one of a doubling tree and a ring.
local function allreduce(p, n, alpha, beta)
  if p == 1 then return 0 end
  local tree = log2(p) * (alpha + n * beta)
  local ring = 2 * (p - 1) * alpha + 2 * (p - 1) / p * n * beta
  local halving = 2 * log2(p) * alpha + 2 * (p - 1) / p * n * beta
  return math.min(tree, ring, halving)
end

print "fitted to two ranks: a + b * bytes"
for _, name in ipairs { "allreduce", "bcast", "allgather", "halo" } do
  for _, field in ipairs { "op", "hand", "hand_nonblocking" } do
    local a, b = fit(name, field)
    if a == a then print(("  %-10s %-17s a = %6.2f us, 1/b = %6.2f GB/s"):format(name, field, 1e6 * a, 1e-9 / b)) end
  end
end

local alpha, beta = fit("allreduce", "op")
if arg[2] then alpha, beta = arg[2] * 1e-6, 1 / arg[3] end
print(("\nalpha = %.2f us, bandwidth = %.2f GB/s"):format(1e6 * alpha, 1e-9 / beta))
-- The part of an iteration of conjugate gradients on so many points a rank that is not communication: memory traffic of
-- 200 bytes a point at 5 GB/s, then the layers of six faces and three sums.
local function poisson(p, points)
  local work = points * 200 / 5e9
  return work / (work + 6 * (alpha + 8 * points ^ (2 / 3) * beta) + 3 * allreduce(p, 8, alpha, beta))
end

print "ranks   allreduce 8 B   of 4 MB   of 400 MB   training   Poisson, 10^6 points a rank   10^8 points in all"
for _, p in ipairs { 2, 4, 8, 16, 64, 256, 1000 } do
  -- A step of 200 ms whose gradients are 400 MB, of which two thirds of the step can hide.
  local step, sum = 0.2, allreduce(p, 4e8, alpha, beta)
  local training = step / (step + math.max(sum - 2 / 3 * step, 0))
  print(("%5d   %10.1f us  %7.2f ms  %8.1f ms  %9.2f  %28.3f  %19.3f"):format(p, 1e6 * allreduce(p, 8, alpha, beta),
    1e3 * allreduce(p, 4e6, alpha, beta), 1e3 * sum, training, poisson(p, 1e6), poisson(p, 1e8 / p)))
end

-- bench/gradbench/run.lua answers the messages of GradBench's evals, and its answers are right.

local json = require "dkjson"

--- The answers of the tool to the messages, which get their ids here.
local function answers(messages)
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  for i, message in ipairs(messages) do
    message.id = i - 1
    file:write(json.encode(message), "\n")
  end
  file:close()
  local pipe = assert(io.popen(("'%s' bench/gradbench/run.lua < '%s' 2>&1"):format(arg[-1] or "lua", path)))
  local result = {}
  for line in pipe:lines() do result[#result + 1] = assert(json.decode(line), line) end
  pipe:close()
  os.remove(path)
  for i, answer in ipairs(result) do assert.equal(i - 1, answer.id) end
  assert.equal(#messages, #result)
  return result
end

--- The outputs of functions of one module: calls are {function, input}.
local function outputs(module, calls)
  local messages = { { kind = "start", eval = module }, { kind = "define", module = module } }
  for _, call in ipairs(calls) do
    messages[#messages + 1] = { kind = "evaluate", module = module, ["function"] = call[1], input = call[2] }
  end
  local all = answers(messages)
  assert.equal("damo", all[1].tool)
  assert.is_true(all[2].success, all[2].error)
  local result = {}
  for i = 3, #all do
    assert.is_true(all[i].success, all[i].error)
    assert.equal("prepare", all[i].timings[1].name)
    assert.equal("evaluate", all[i].timings[2].name)
    result[i - 2] = all[i].output
  end
  return result
end

local function near(want, got, tolerance)
  if type(want) == "number" then return assert.near(want, got, tolerance or 1e-9) end
  assert.equal(#want, #got)
  for i = 1, #want do near(want[i], got[i], tolerance) end
end

--- The derivatives of f, a function of a list of numbers, by central differences.
local function differences(f, x)
  local slopes = {}
  for i = 1, #x do
    local at, h = x[i], 1e-5
    x[i] = at + h
    local above = f(x)
    x[i] = at - h
    slopes[i] = (above - f(x)) / (2 * h)
    x[i] = at
  end
  return slopes
end

describe("the tool for GradBench", function()
  it("runs a function as often as the eval asks", function()
    local all = answers {
      { kind = "evaluate", module = "lse", ["function"] = "primal", input = { x = { 1, 2 }, min_runs = 5 } },
      { kind = "evaluate", module = "hello", ["function"] = "square", input = 3 },
    }
    assert.equal(6, #all[1].timings)
    assert.equal(9, all[2].output)
  end)

  it("says which modules and functions it does not have, and goes on after an error", function()
    local all = answers {
      { kind = "define", module = "no_such" },
      { kind = "define", module = "../run" },
      { kind = "evaluate", module = "lse", ["function"] = "nothing", input = { x = { 1 } } },
      { kind = "evaluate", module = "lse", ["function"] = "primal", input = {} },
      { kind = "analysis", of = 1, valid = false },
      { kind = "evaluate", module = "lse", ["function"] = "primal", input = { x = { 7 } } },
    }
    for i = 1, 4 do
      assert.is_false(all[i].success)
      assert.is_string(all[i].error)
    end
    assert.is_nil(all[5].success)
    assert.equal(7, all[6].output)
  end)

  it("has hello", function() near({ 9, 6 }, outputs("hello", { { "square", 3.0 }, { "double", 3.0 } })) end)

  it("has lse", function()
    local x = { 0.5, -1, 3, 2 }
    local function lse(v)
      local sum = 0
      for _, e in ipairs(v) do sum = sum + math.exp(e) end
      return math.log(sum)
    end
    local got = outputs("lse", { { "primal", { x = x } }, { "gradient", { x = x } } })
    near(lse(x), got[1])
    near(differences(lse, x), got[2], 1e-8)
  end)

  it("has llsq, for counts of coefficients that are no squares too", function()
    for _, m in ipairs { 1, 2, 7, 12 } do
      local x, n = {}, 9
      for i = 1, m do x[i] = math.sin(i) end
      local function cost(v)
        local total = 0
        for i = 0, n - 1 do
          local t = -1 + i * 2 / (n - 1)
          local rest, power = t > 0 and 1 or t < 0 and -1 or 0, 1
          for j = 1, m do
            rest, power = rest - v[j] * power, power * t
          end
          total = total + rest ^ 2
        end
        return total / 2
      end
      local got = outputs("llsq", { { "primal", { x = x, n = n } }, { "gradient", { x = x, n = n } } })
      near(cost(x), got[1])
      near(differences(cost, x), got[2], 1e-7)
    end
  end)

  it("has ode", function()
    -- With n <= 4 components the rule is exact: y[i] is the product of x[1..i] times t^i / i!.
    local x = { 0.5, 1.5, 2, 0.25 }
    local got = outputs("ode", { { "primal", { x = x, s = 3 } }, { "gradient", { x = x, s = 3 } } })
    local product, want = 1, {}
    for i = 1, 4 do
      product = product * x[i] * 2 / i
      want[i] = product
    end
    near(want, got[1])
    for i = 1, 4 do want[i] = product / x[i] end
    near(want, got[2])
  end)

  it("has lstm", function()
    local bits, layers, rows = 3, 2, 5
    local count = 0
    local function matrix(n, m, f)
      local result = {}
      for i = 1, n do
        result[i] = {}
        for j = 1, m do
          count = count + 1
          result[i][j] = f(count)
        end
      end
      return result
    end
    local function weight(i) return math.sin(3 * i) end
    local input = { main_params = matrix(2 * layers, 4 * bits, weight), extra_params = matrix(3, bits, weight),
      state = matrix(2 * layers, bits, weight), sequence = matrix(rows, bits, function(i) return i % 3 % 2 end) }
    -- The parameters as one list, as the answer has them.
    local flat = {}
    for _, name in ipairs { "main_params", "extra_params" } do
      for _, row in ipairs(input[name]) do
        for _, value in ipairs(row) do flat[#flat + 1] = value end
      end
    end
    local function sigmoid(v) return 1 / (1 + math.exp(-v)) end
    local function tanh(v) return 1 - 2 / (math.exp(2 * v) + 1) end
    local function loss(v)
      local extra = 8 * bits * layers
      local hidden, cell, total = {}, {}, 0
      for l = 1, layers do
        hidden[l], cell[l] = { table.unpack(input.state[2 * l - 1]) }, { table.unpack(input.state[2 * l]) }
      end
      for t = 1, rows - 1 do
        local predicted, sum = {}, 2
        for i = 1, bits do
          local x = input.sequence[t][i] * v[extra + i]
          for l = 1, layers do
            local function gate(k, at) -- gate k of 4: weight times value plus bias
              local base = 8 * bits * (l - 1) + (k - 1) * bits + i
              return v[base] * at + v[base + 4 * bits]
            end
            local h = hidden[l][i]
            local c = cell[l][i] * sigmoid(gate(1, x)) + sigmoid(gate(2, h)) * tanh(gate(4, h))
            x = sigmoid(gate(3, x)) * tanh(c)
            hidden[l][i], cell[l][i] = x, c
          end
          predicted[i] = x * v[extra + bits + i] + v[extra + 2 * bits + i]
          sum = sum + math.exp(predicted[i])
        end
        for i = 1, bits do total = total + input.sequence[t + 1][i] * (predicted[i] - math.log(sum)) end
      end
      return -total / (bits * (rows - 1))
    end
    local got = outputs("lstm", { { "objective", input }, { "jacobian", input } })
    near(loss(flat), got[1])
    near(differences(loss, flat), got[2], 1e-8)
  end)

  it("has gmm", function()
    local d, k = 3, 2
    local input = { d = d, k = k, n = 4, m = 1, gamma = 1.5, alpha = { 0.3, -0.2 },
      mu = { { 0.1, 0.2, 0.3 }, { 1, 0, -1 } },
      q = { { 0.2, -0.1, 0.4 }, { 0.1, 0.3, -0.5 } }, l = { { 0.5, -0.3, 0.2 }, { 0.1, 0.7, -0.4 } },
      x = { { 1, 2, 3 }, { 0, -1, 1 }, { 0.5, 0.5, -2 }, { -1, 0, 0.3 } } }
    local function objective(v) -- v: alpha, then rows of mu, q and l
      local function at(block, i, j) return v[k + (block * k + i - 1) * d + j] end
      local total, mixed = 0, 0
      for i = 1, k do mixed = mixed + math.exp(v[i]) end
      for _, point in ipairs(input.x) do
        local likelihood = 0
        for i = 1, k do
          local y, logarithm = {}, v[i]
          for j = 1, d do
            y[j] = math.exp(at(1, i, j)) * (point[j] - at(0, i, j))
            logarithm = logarithm + at(1, i, j)
          end
          local next_l = 0
          for column = 1, d do
            for row = column + 1, d do
              next_l = next_l + 1
              y[row] = y[row] + at(2, i, next_l) * (point[column] - at(0, i, column))
            end
          end
          for j = 1, d do logarithm = logarithm - 0.5 * y[j] ^ 2 end
          likelihood = likelihood + math.exp(logarithm)
        end
        total = total + math.log(likelihood / mixed) - d / 2 * math.log(2 * math.pi)
      end
      local freedom = d + input.m + 1
      for i = 1, k do
        total = total + freedom * d * (math.log(input.gamma) - 0.5 * math.log(2)) - d * (d - 1) / 4 * math.log(math.pi)
        for j = 1, d do
          total = total - 0.5 * input.gamma ^ 2 * (math.exp(2 * at(1, i, j)) + at(2, i, j) ^ 2) + input.m * at(1, i, j)
        end
      end
      -- The logarithms of gamma(5/2), gamma(2), gamma(3/2): the prior's constant.
      return total - k * (math.log(3 / 4 * math.sqrt(math.pi)) + math.log(math.sqrt(math.pi) / 2))
    end
    local flat = {}
    for _, a in ipairs(input.alpha) do flat[#flat + 1] = a end
    for _, name in ipairs { "mu", "q", "l" } do
      for _, row in ipairs(input[name]) do
        for _, value in ipairs(row) do flat[#flat + 1] = value end
      end
    end
    local got = outputs("gmm", { { "objective", input }, { "jacobian", input } })
    near(objective(flat), got[1])
    local slopes, flat_got = differences(objective, flat), got[2].alpha
    for _, name in ipairs { "mu", "q", "l" } do
      for _, row in ipairs(got[2][name]) do
        for _, value in ipairs(row) do flat_got[#flat_got + 1] = value end
      end
    end
    near(slopes, flat_got, 1e-6)
  end)

  it("has det", function()
    -- A recursion that shares no minors; used: the columns that are taken.
    local function det(a, n, row, used)
      if row > n then return 1 end
      local total, sign = 0, 1
      for column = 1, n do
        if not used[column] then
          used[column] = true
          total = total + sign * a[(row - 1) * n + column] * det(a, n, row + 1, used)
          used[column], sign = nil, -sign
        end
      end
      return total
    end
    for n = 1, 5 do
      local a = {}
      for i = 1, n * n do a[i] = math.sin(7 * i * i) end
      local got = outputs("det", { { "primal", { A = a, ell = n } }, { "gradient", { A = a, ell = n } } })
      near(det(a, n, 1, {}), got[1], 1e-13)
      near(differences(function(v) return det(v, n, 1, {}) end, a), got[2], 1e-9)
    end
    -- Of a singular matrix the gradient is that of the adjugate.
    local got = outputs("det", { { "gradient", { A = { 1, 2, 2, 4 }, ell = 2 } } })
    near({ 4, -2, -2, 1 }, got[1], 0)
  end)

  it("has kmeans", function()
    local input = { points = { { 0, 0 }, { 1, 0 }, { 5, 5 }, { 6, 5 }, { 5, 8 } }, centroids = { { 1, 1 }, { 4, 4 } } }
    local got = outputs("kmeans", { { "cost", input }, { "dir", input } })
    near(2 + 1 + 2 + 5 + 17, got[1])
    near({ { 0.5, 1 }, { 4 - 16 / 3, -2 } }, got[2])
  end)

  it("has ba", function()
    local input = { n = 2, m = 3, p = 10, w = 0.4, cam = { -0.7, -1.1, -0.8, 34, 39, 53, 419, 5.8, -8.5, 0.08, 0.002 },
      x = { 7.2, 0.001, 3 }, feat = { 271, 834 } }
    local function errors(v) -- v: a camera, a point, a weight
      local axis, along, turned, angle = {}, 0, {}, math.sqrt(v[1] ^ 2 + v[2] ^ 2 + v[3] ^ 2)
      for i = 1, 3 do
        axis[i] = v[i] / angle
        along = along + axis[i] * (v[11 + i] - v[3 + i])
      end
      for i = 1, 3 do
        local j, k = i % 3 + 1, (i + 1) % 3 + 1
        local function from(l) return v[11 + l] - v[3 + l] end
        turned[i] = from(i) * math.cos(angle) + (axis[j] * from(k) - axis[k] * from(j)) * math.sin(angle)
          + axis[i] * along * (1 - math.cos(angle))
      end
      local a, b = turned[1] / turned[3], turned[2] / turned[3]
      local square = a ^ 2 + b ^ 2
      local distortion = 1 + v[10] * square + v[11] * square ^ 2
      return { v[15] * (a * distortion * v[7] + v[8] - 271), v[15] * (b * distortion * v[7] + v[9] - 834) }
    end
    local v = { table.unpack(input.cam) }
    for i = 1, 3 do v[11 + i] = input.x[i] end
    v[15] = input.w
    local got = outputs("ba", { { "objective", input }, { "jacobian", input } })
    near(errors(v), got[1].reproj_error.elements)
    assert.same({ 10, 10 }, { got[1].reproj_error.repeated, got[1].w_err.repeated })
    near(1 - 0.4 ^ 2, got[1].w_err.element)
    local values = {}
    for i = 1, 2 do
      for _, slope in ipairs(differences(function(at) return errors(at)[i] end, v)) do values[#values + 1] = slope end
    end
    values[31] = -0.8
    for i = 1, 31 do near(1, (got[2].vals[i] + 1) / (values[i] + 1), 1e-5) end
    local cols = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 22, 23, 24, 31 }
    for i = 1, 15 do cols[15 + i] = cols[i] end
    cols[31] = 40
    assert.same(cols, got[2].cols)
    for i = 1, 31 do assert.equal(i <= 20 and 15 * (i - 1) or 300 + i - 21, got[2].rows[i]) end
  end)

  it("has particle and saddle in each mixture of modes", function()
    local calls, saddles = {}, {}
    for i, name in ipairs { "ff", "fr", "rf", "rr" } do
      calls[i] = { name, { w = 0.0 } }
      saddles[i] = { name, { start = { 1.0, 1.0 } } }
    end
    local place = 8.246324826140356e-06 -- as GradBench states it
    for _, got in ipairs(outputs("saddle", saddles)) do near({ place, place, place, place }, got, 1e-12) end
    for _, got in ipairs(outputs("particle", calls)) do near(0.2071918746486116, got, 1e-9) end
  end)
end)

-- The special functions: their rows, and their errors against correctly rounded values.
local damo = require "damo"
local h = assert(loadfile "spec/op/harness.lua")(describe, it)

h.run_family "special"

-- Functions whose errors the table does not bound in ULP, with the relative error that it allows.
local loose = {
  hyp2f1_grad_a = 1e-12, hyp2f1_grad_b = 1e-12, hyp2f1_grad_c = 1e-12,
  zeta_grad_s = 1e-13, riemann_zeta_grad = 1e-13, expn_grad_n = 1e-13,
  jv_grad_v = 1e-12, yv_grad_v = 1e-12, ive_grad_v = 1e-12, kve_grad_v = 1e-13,
  gammainc_grad_a = 1e-12, betainc_grad_a = 1e-12, betainc_grad_b = 1e-12,
  gammaincinv = 2e-14, gammainccinv = 2e-14, betaincinv = 2e-14,
}

local function ulp(x) return 2.0 ^ (math.floor(math.log(math.abs(x), 2)) - 52) end

--- The values at the table's points, and the wanted ones.
local function table_of(name)
  local data = dofile("spec/data/special/" .. name .. ".lua").table
  local columns, want = {}, {}
  for k, line in ipairs(data) do
    for i = 1, #line - 1 do
      columns[i] = columns[i] or {}
      columns[i][k] = line[i]
    end
    want[k] = line[#line]
  end
  local operands = {}
  for i, column in ipairs(columns) do operands[i] = damo.array(column, "float64") end
  return damo[name](table.unpack(operands)):totable(), want, data
end

describe("errors against mpmath", function()
  local names = {}
  for name in pairs(h.rows "special") do
    if io.open("spec/data/special/" .. name .. ".lua") then names[#names + 1] = name end
  end
  table.sort(names)
  for _, name in ipairs(names) do
    it(name, function()
      local got, want, data = table_of(name)
      local errors = {}
      for k = 1, #want do
        local off = math.abs(got[k] - want[k])
        errors[k] = off / ulp(want[k])
        local bound = loose[name] and loose[name] * math.abs(want[k]) or 50 * ulp(want[k])
        assert(off <= bound, ("%s at %s: %.17g, not %.17g (%.1f ULP)"):format(name,
          table.concat(data[k], ", ", 1, #data[k] - 1), got[k], want[k], errors[k]))
      end
      table.sort(errors)
      assert(loose[name] or errors[#errors // 2 + 1] <= 2, ("%s: median error %.2f ULP"):format(name,
        errors[#errors // 2 + 1]))
    end)
  end
end)

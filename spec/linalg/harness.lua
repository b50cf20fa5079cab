-- The harness of the specs of damo.linalg: values in every mode, gradient, R_op and second derivatives of functions of
-- stacks of matrices, on operands of any layout.
--
-- local h = assert(loadfile "spec/linalg/harness.lua")(describe, it)
local describe, it = ...
-- luacheck: no max line length
local damo = require "damo"
local luassert = require "luassert"
local stored = require "spec.support.stored"

local h = {}
local STEP = 1e-5

-- ---- Operands -------------------------------------------------------------------------------------------------------

--- An Array of that shape with entries between -1 and 1, the same for a seed on every machine.
function h.random(shape, seed)
  local state = 12345 + 977 * (seed or 1)
  local function make(axis)
    if axis > #shape then
      state = (state * 1103515245 + 12345) % 2147483648
      return state / 1073741824 - 1
    end
    local list = {}
    for k = 1, shape[axis] do list[k] = make(axis + 1) end
    return list
  end
  return damo.array(make(1))
end

function h.transposed(x) return damo.swapaxes(x, { axis1 = -1, axis2 = -2 }) end

--- A stack of positive definite matrices.
function h.positive(shape, seed)
  local a = h.random(shape, seed)
  return damo.matmul(a, h.transposed(a)) + 2 * damo.eye(shape[#shape])
end

--- A stack of matrices far from singular.
function h.regular(shape, seed) return h.random(shape, seed) + 3 * damo.eye(shape[#shape]) end

--- A complex stack with such parts.
function h.complex(re, seed) return damo.complex(re, 0.5 * h.random(re.shape, seed or 77)) end

-- ---- Checks ---------------------------------------------------------------------------------------------------------

local function variables(values)
  local list = {}
  for i, v in ipairs(values) do list[i] = damo.tensor { dtype = v.dtype, ndim = v.ndim } end
  return list
end

local function joined(x, y)
  local all = table.move(x, 1, #x, 1, {})
  return table.move(y, 1, #y, #x + 1, all)
end

local function moved(values, by, step)
  local list = {}
  for i, v in ipairs(values) do list[i] = v + step * by[i] end
  return list
end

local function shape_of(v) return type(v) == "number" and {} or v.shape end

local function near(got, want, tol, what)
  luassert.is_true(math.abs(got - want) <= tol * (1 + math.abs(want)), ("%s: %.10g, expected %.10g"):format(what, got, want))
end

--- The sum of the products of corresponding entries (the real part of it with complex ones).
local function inner(x, y)
  local s = damo.sum(damo.real(damo.conj(x) * y))
  return s
end

-- The derivative of a scalar Variable along random directions: by grad, by Rop and by differences.
local function check_derivative(cost, vars, values, tol, what)
  local by, tangents = {}, variables(values)
  for i, v in ipairs(values) do
    by[i] = h.random(v.shape, 20 + i)
    if v.dtype:match "complex" then by[i] = damo.complex(by[i], h.random(v.shape, 30 + i)) end
  end
  local f = damo.compile(vars, cost)
  local difference = (f(table.unpack(moved(values, by, STEP))) - f(table.unpack(moved(values, by, -STEP)))) / (2 * STEP)
  local grads = damo.grad(cost, vars, { disconnected_inputs = "ignore" })
  stored(vars, grads)
  local got, slope = table.pack(damo.compile(vars, grads, { mode = "DEBUG" })(table.unpack(values))), 0
  for i = 1, #values do slope = slope + inner(got[i], by[i]) end
  near(slope, difference, tol, what .. " by grad")
  local along = damo.compile(joined(vars, tangents), damo.Rop(cost, vars, tangents))
  near(along(table.unpack(joined(values, by))), difference, tol, what .. " by Rop")
  return grads
end

--- Cases: a name, a function of Variables or values with one result, its operands, and options: `grad = false`: values
--- alone; `second = false`: no second derivative.
function h.case(name, fn, values, o)
  o = o or {}
  it(name, function()
    local vars = variables(values)
    local y = fn(table.unpack(vars))
    local want = fn(table.unpack(values))
    for _, mode in ipairs { "FAST_RUN", "FAST_COMPILE", "DEBUG" } do
      local got, shape = damo.compile(vars, { y, y.shape }, { mode = mode })(table.unpack(values))
      luassert.is_true(damo.allclose(got, want), mode)
      luassert.is_true(damo.array_equal(shape, damo.array(shape_of(want), "int64")), mode .. ": shape")
    end
    local laid = {}
    for i, v in ipairs(values) do laid[i] = v.ndim < 2 and damo.stack({ v, v }, { axis = -1 })[{ damo.ellipsis, 1 }] or h.transposed(h.transposed(v):copy()) end
    luassert.is_true(damo.allclose(fn(table.unpack(laid)), want), "other layout")
    if o.grad == false then return end
    local weight = damo.constant(h.random(shape_of(want), 7))
    local cost = damo.sum(weight * (y.dtype:match "complex" and damo.real(y) + 0.3 * damo.imag(y) or y))
    local grads = check_derivative(cost, vars, values, 1e-6, "derivative")
    if o.second == false then return end
    local sum
    for i, g in ipairs(grads) do
      local part = g.dtype:match "complex" and damo.real(g) - 0.7 * damo.imag(g) or g
      local term = damo.sum(part * damo.constant(h.random(values[i].shape, 40 + i)))
      sum = sum and sum + term or term
    end
    check_derivative(sum, vars, values, 1e-5, "second derivative")
  end)
end

h.describe = describe
return h

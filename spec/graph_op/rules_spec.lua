-- What the rules make of small graphs, and where they must not apply. Each graph is computed with all rules and with
-- none, on special values too: nan, infinities and zeros agree, but where a rule gives the value that rounding lost.
local damo = require "damo"

local inf, nan = math.huge, 0 / 0
local all = damo.Mode { exclude = { "fusion", "inplace" } }
local exact = damo.Mode { exclude = { "fusion", "inplace", "inexact" } }
local none = damo.Mode { optimizer = "none" }

local yes, no = damo.array(true, "bool"), damo.array(false, "bool")
local specials = damo.array { 0.0, -0.0, 1.0, -1.0, inf, -inf, nan, 2.5, -3.0, 0.5, 7.0, -0.25 }
local others = damo.array { 1.0, 0.0, -0.0, inf, -inf, 2.0, 1.0, nan, 2.0, 3.5, -0.5, 4.0 }

-- Inputs by letter: x y z vectors, a s scalars, m n matrices, i j integer vectors, p q bool vectors, t a 3-d tensor.
local function variable(letter)
  if letter:find "[xyz]" then return damo.dvector(letter) end
  if letter:find "[as]" then return damo.dscalar(letter) end
  if letter:find "[mnk]" then return damo.dmatrix(letter) end
  if letter:find "[ij]" then return damo.lvector(letter) end
  if letter:find "[pq]" then return damo.vector(letter, { dtype = "bool" }) end
  if letter == "c" then return damo.zvector(letter) end
  if letter == "r" then return damo.row(letter, { dtype = "float64" }) end
  return damo.tensor3(letter, { dtype = "float64" })
end

local function matrix(rows, cols, from)
  local out = {}
  for r = 1, rows do
    out[r] = {}
    for c = 1, cols do out[r][c] = ((r * 7 + c * 3 + from) % 11) / 4 - 1 end
  end
  return damo.array(out)
end

local plain = {
  x = damo.array { 0.5, -1.25, 2, 3 }, y = damo.array { 1.5, 0.25, -2, 0.75 }, z = damo.array { -0.5, 4, 1, 2 },
  a = 1.5, s = -0.75, m = matrix(4, 4, 0), n = matrix(4, 4, 5), k = matrix(4, 4, 2),
  i = damo.array({ 3, -4, 0, 7 }, "int64"), j = damo.array({ 2, 5, -1, 3 }, "int64"),
  p = damo.array({ true, false, true, false }, "bool"), q = damo.array({ true, true, false, false }, "bool"),
  c = damo.complex(damo.array { 0.5, -1.25, 2, 3 }, damo.array { 1.5, 0.25, -2, 0.75 }), r = matrix(1, 4, 3),
  t = damo.reshape(matrix(4, 4, 1), { shape = { 4, 2, 2 } }),
}
local special = { x = specials, y = others, z = damo.array { 2, 3, nan, 1, 0.5, inf, 1, 1, -1, -0.0, 0, 2 }, a = 1.5, s = -0.75 }

-- The nodes in dependency order, by scalar op or class.
local function nodes_of(f)
  local out = {}
  for _, node in ipairs(damo.graph.toposort(f.fgraph.outputs)) do out[#out + 1] = node.op.scalar or node.op.name end
  return table.concat(out, " ")
end

local function entries(v)
  if type(v) ~= "userdata" then return { v } end
  if v.dtype:find "complex" then v = damo.real(v) + 3 * damo.imag(v) end
  return v.size == 0 and {} or v:reshape({ shape = { -1 } }):totable()
end

local function close(got, want, rtol)
  if type(want) == "boolean" then return got == want end
  if want ~= want or got ~= got then return want ~= want and got ~= got end
  return got == want or math.abs(got - want) <= rtol * math.max(math.abs(got), math.abs(want)) + 1e-15
end

local function agree(name, got, want, how)
  local a, b = entries(got), entries(want)
  assert.equal(#b, #a, name)
  for i = 1, #b do
    local lost = how.recovers and (b[i] ~= b[i] or b[i] == inf or b[i] == -inf)
    assert(lost or close(a[i], b[i], how.rtol or 1e-13),
      ("%s: entry %d is %s, not %s"):format(name, i, tostring(a[i]), tostring(b[i])))
  end
end

-- A row: name, inputs, graph, nodes afterwards; exact = nodes with exact rules alone; rtol; recovers: a finite value may
-- stand where rounding gave nan or an infinity; no_specials: only plain values are tried.
local function check(row)
  local name, letters, make, want = row[1], row[2], row[3], row[4]
  local vars = {}
  for letter in letters:gmatch "%a" do vars[#vars + 1] = variable(letter) end
  local graph = make(table.unpack(vars))
  local function compiled(mode) return damo.compile(vars, graph, { mode = mode, on_unused_input = "ignore" }) end
  local f, g, e = compiled(all), compiled(none), compiled(exact)
  assert.equal(want, nodes_of(f), name)
  if row.exact then assert.equal(row.exact, nodes_of(e), name .. ", exact rules") end
  for _, values in ipairs { plain, special } do
    local args, known = {}, true
    for letter in letters:gmatch "%a" do
      args[#args + 1] = values[letter]
      known = known and values[letter] ~= nil
    end
    if known and not (row.no_specials and values == special) then
      local want_value = g(table.unpack(args))
      agree(name, f(table.unpack(args)), want_value, row)
      local a, b = entries(e(table.unpack(args))), entries(want_value)
      for i = 1, #b do
        assert((a[i] ~= a[i] and b[i] ~= b[i]) or (a[i] == b[i] and (a[i] ~= 0 or 1 / a[i] == 1 / b[i])),
          ("%s, exact: entry %d is %s, not %s"):format(name, i, tostring(a[i]), tostring(b[i])))
      end
    end
  end
end

local function rows(title, list)
  describe(title, function()
    for _, row in ipairs(list) do it(row[1], function() check(row) end) end
  end)
end

rows("products of any number of operands:", {
  { "x*y*z and z*(y*x) are one", "xyz", function(x, y, z) return x * y * z + damo.exp(z * (y * x)) end,
    "mul mul exp add", exact = "mul mul exp add" },
  { "x*y and y*x are one", "xy", function(x, y) return damo.exp(x * y) + damo.sin(y * x) end, "mul exp sin add" },
  { "constants are one", "xy", function(x, y) return (x * 3) * y * 5 end, "mul mul" },
  { "a division by a constant joins", "x", function(x) return x * 6 / 3 end, "mul" },
  { "constants that cancel", "x", function(x) return x * 6 / 6 end, "" },
  { "signs become one", "xy", function(x, y) return (-x) * y * -3 end, "mul mul" },
  { "a sign goes into a constant", "x", function(x) return -(x * 3) end, "mul" },
  { "scalars come first", "axs", function(a, x, s) return a * x * s end, "mul mul" },
  { "x*x*x", "x", function(x) return x * x * x end, "sqr mul" },
  { "x*y*x", "xy", function(x, y) return x * y * x end, "sqr mul" },
  { "x^2 * x^3", "x", function(x) return x ^ 2 * x ^ 3 end, "sqr sqr mul" },
  { "exp(x)*exp(y)", "xy", function(x, y) return damo.exp(x) * damo.exp(y) end, "add exp" },
  { "exp(x)*y*exp(z)", "xyz", function(x, y, z) return damo.exp(x) * y * damo.exp(z) end, "add exp mul" },
  { "an exponential used elsewhere stays", "xy",
    function(x, y) return damo.exp(x) * damo.exp(y) + damo.exp(x) end, "exp exp mul add" },
  { "x/y*y stays", "xy", function(x, y) return x / y * y end, "true_div mul" },
  { "x/x stays", "x", function(x) return x / x end, "true_div" },
  { "exp(x)/exp(x)", "x", function(x) return damo.exp(x) / damo.exp(x) end, "Shape_i Alloc", recovers = true, no_specials = true },
  { "a constant that could overflow stays", "x", function(x) return x * 1e200 * 1e200 end, "mul mul" },
  { "an infinite constant stays", "xy", function(x, y) return x * inf * y * 2 end, "mul mul mul" },
})

rows("sums of any number of operands:", {
  { "x+y+z and z+(y+x) are one", "xyz", function(x, y, z) return damo.sin(x + y + z) + damo.exp(z + (y + x)) end,
    "add add sin exp add" },
  { "constants are one", "xy", function(x, y) return x + 3 + y + 5 end, "add add" },
  { "constants with signs", "x", function(x) return x + 3 - 5 end, "add" },
  { "constants that cancel", "x", function(x) return x + 3 - 3 end, "" },
  { "x+x", "x", function(x) return x + x end, "mul" },
  { "2x+3x", "x", function(x) return 2 * x + 3 * x end, "mul" },
  { "x+y+x", "xy", function(x, y) return x + y + x end, "mul add" },
  { "2x-x stays: of an infinity it is nan", "x", function(x) return 2 * x - x end, "mul sub" },
  { "x-x stays", "x", function(x) return x - x end, "sub" },
  { "differences keep their order", "xyz", function(x, y, z) return (x - y) + z end, "sub add" },
  { "integers cancel", "ij", function(i, j) return i + j - i end, "Shape_i Alloc" },
  { "integers of one term", "i", function(i) return 3 * i - i end, "mul" },
})

rows("inverse functions:", {
  { "log2(exp2(x))", "x", function(x) return damo.log2(damo.exp2(x)) end, "", recovers = true },
  { "log1p(expm1(x))", "x", function(x) return damo.log1p(damo.expm1(x)) end, "", recovers = true },
  { "expm1(log1p(x))", "x", function(x) return damo.expm1(damo.log1p(x)) end, "ge switch" },
  { "exp(log(x)) stays", "x", function(x) return damo.exp(damo.log(x)) end, "log exp" },
  { "exp(log(1+x^2))", "x", function(x) return damo.exp(damo.log(1.0 + x ^ 2)) end, "sqr add" },
  { "exp(log1p(x))", "x", function(x) return damo.exp(damo.log1p(x)) end, "ge add switch" },
  { "exp(softplus(x))", "x", function(x) return damo.exp(damo.softplus(x)) end, "exp add" },
  { "expm1(softplus(x))", "x", function(x) return damo.expm1(damo.softplus(x)) end, "exp" },
  { "exp(log1mexp(x))", "x", function(x) return damo.exp(damo.log1mexp(x)) end, "le expm1 neg switch" },
  { "softplus(log(x))", "x", function(x) return damo.softplus(damo.log(x)) end, "ge log1p switch" },
  { "sqr(sqrt(x))", "x", function(x) return damo.sqr(damo.sqrt(x)) end, "ge abs switch" },
  { "sqrt(sqr(x))", "x", function(x) return damo.sqrt(damo.sqr(x)) end, "abs" },
  { "sinh(arcsinh(x))", "x", function(x) return damo.sinh(damo.arcsinh(x)) end, "" },
  { "arcsinh(sinh(x))", "x", function(x) return damo.arcsinh(damo.sinh(x)) end, "" },
  { "arctanh(tanh(x))", "x", function(x) return damo.arctanh(damo.tanh(x)) end, "", recovers = true, rtol = 1e-11 },
  { "tanh(arctanh(x)) stays", "x", function(x) return damo.tanh(damo.arctanh(x)) end, "arctanh tanh" },
  { "arccosh(cosh(x))", "x", function(x) return damo.arccosh(damo.cosh(x)) end, "abs", rtol = 1e-12 },
  { "deg2rad(rad2deg(x))", "x", function(x) return damo.deg2rad(damo.rad2deg(x)) end, "" },
  { "1/(1/x)", "x", function(x) return 1 / (1 / x) end, "" },
  { "of integers stays", "i", function(i) return damo.log2(damo.exp2(i)) end, "exp2 log2" },
  { "log(sqrt(x))", "x", function(x) return damo.log(damo.sqrt(x)) end, "log mul" },
  { "log(1/x) stays: x may be -0", "x", function(x) return damo.log(1 / x) end, "reciprocal log" },
})

rows("even and idempotent functions:", {
  { "abs(-x)", "x", function(x) return damo.abs(-x) end, "abs", exact = "abs" },
  { "sqr(abs(x))", "x", function(x) return damo.sqr(damo.abs(x)) end, "sqr", exact = "sqr" },
  { "abs(sqr(x))", "x", function(x) return damo.abs(damo.sqr(x)) end, "sqr", exact = "sqr" },
  { "abs(sqr(i)) stays: it may wrap", "i", function(i) return damo.abs(damo.sqr(i)) end, "sqr abs" },
  { "sqr(-x)", "x", function(x) return damo.sqr(-x) end, "sqr", exact = "sqr" },
  { "cos(-x)", "x", function(x) return damo.cos(-x) end, "cos", exact = "neg cos" },
  { "abs(x)*abs(y)", "xy", function(x, y) return damo.abs(x) * damo.abs(y) end, "mul abs", exact = "mul abs" },
  { "abs(x)/abs(y)", "xy", function(x, y) return damo.abs(x) / damo.abs(y) end, "true_div abs" },
  { "ceil(floor(x))", "x", function(x) return damo.ceil(damo.floor(x)) end, "floor", exact = "floor" },
  { "sign(sign(x))", "x", function(x) return damo.sign(damo.sign(x)) end, "sign", exact = "sign" },
  { "conj(conj(c))", "c", function(c) return damo.conj(damo.conj(c)) end, "" },
  { "real(complex(x, y))", "xx", function(x) return damo.real(damo.complex(x, x)) end, "" },
  { "complex(real(c), imag(c))", "c", function(c) return damo.complex(damo.real(c), damo.imag(c)) end, "" },
  { "maximum(x, x)", "x", function(x) return damo.maximum(x, x) end, "", exact = "" },
})

rows("comparisons and logic:", {
  { "x < x", "x", function(x) return damo.lt(x, x) end, "Shape_i Alloc", exact = "Shape_i Alloc" },
  { "x <= x stays: of nan it is false", "x", function(x) return damo.le(x, x) end, "le" },
  { "i <= i", "i", function(i) return damo.le(i, i) end, "Shape_i Alloc" },
  { "i = i", "i", function(i) return damo.eq(i, i) end, "Shape_i Alloc" },
  { "a length >= 0", "x", function(x) return damo.ge(x.shape[1], 0) end, "" },
  { "a length < 0", "x", function(x) return damo.lt(x.shape[1], 0) end, "" },
  { "0 > a length", "x", function(x) return damo.gt(0, x.shape[1]) end, "" },
  { "a sum of lengths >= 0", "xy", function(x, y) return damo.ge(x.shape[1] + y.shape[1] + 1, 0) end, "" },
  { "a length < 3 stays", "x", function(x) return damo.lt(x.shape[1], 3) end, "Shape_i lt" },
  { "a difference of lengths >= 0 stays", "xy", function(x, y) return damo.ge(x.shape[1] - y.shape[1], 0) end,
    "Shape_i Shape_i sub ge" },
  { "maximum of a length and 0", "x", function(x) return damo.maximum(x.shape[1], 0) end, "Shape_i" },
  { "minimum of a length and 0", "x", function(x) return damo.minimum(x.shape[1], 0) end, "" },
  { "p and p", "p", function(p) return damo.and_(p, p) end, "" },
  { "p and true", "p", function(p) return damo.and_(p, yes) end, "" },
  { "p and false", "p", function(p) return damo.and_(p, no) end, "Shape_i Alloc" },
  { "p or false", "p", function(p) return damo.or_(p, no) end, "" },
  { "p or true", "p", function(p) return damo.or_(yes, p) end, "Shape_i Alloc" },
  { "p xor p", "p", function(p) return damo.xor(p, p) end, "Shape_i Alloc" },
  { "p xor true", "p", function(p) return damo.xor(p, yes) end, "invert" },
  { "i and 0", "i", function(i) return damo.and_(i, 0) end, "Shape_i Alloc" },
  { "i and -1", "i", function(i) return damo.and_(i, -1) end, "" },
  { "i and 1 stays", "i", function(i) return damo.and_(i, 1) end, "and_" },
  { "not not p", "p", function(p) return damo.invert(damo.invert(p)) end, "" },
  { "not x = y", "xy", function(x, y) return damo.invert(damo.eq(x, y)) end, "neq" },
  { "not x < y stays: of nan", "xy", function(x, y) return damo.invert(damo.lt(x, y)) end, "lt invert" },
  { "not i < j", "ij", function(i, j) return damo.invert(damo.lt(i, j)) end, "ge" },
})

rows("powers and divisions by constants:", {
  { "x^0", "x", function(x) return x ^ 0 end, "Shape_i Alloc", exact = "Shape_i Alloc" },
  { "x^3", "x", function(x) return x ^ 3 end, "sqr mul", exact = "pow" },
  { "x^4", "x", function(x) return x ^ 4 end, "sqr sqr" },
  { "x^-3", "x", function(x) return x ^ -3 end, "reciprocal sqr mul" },
  { "x^11", "x", function(x) return x ^ 11 end, "sqr mul sqr sqr mul" },
  { "x^17 stays", "x", function(x) return x ^ 17 end, "pow" },
  { "x^2.5 stays", "x", function(x) return x ^ 2.5 end, "pow" },
  { "2^x", "x", function(x) return 2 ^ x end, "exp2" },
  { "i^3", "i", function(i) return i ^ 3 end, "sqr mul" },
  { "x/4", "x", function(x) return x / 4 end, "mul", exact = "mul" },
  { "x/3", "x", function(x) return x / 3 end, "mul", exact = "true_div" },
  { "x/0 stays", "x", function(x) return x / 0 end, "true_div" },
  { "x/inf stays", "x", function(x) return x / inf end, "true_div" },
  { "3/x stays", "x", function(x) return 3 / x end, "true_div" },
})

-- What the rules make of small graphs, and where they must not apply.
local damo = require "damo"
local rule_rows = require "spec.graph_op.rule_rows"

local inf = math.huge
local nodes_of, agree = rule_rows.nodes_of, rule_rows.agree
local all, exact, none = rule_rows.all, rule_rows.exact, rule_rows.none
local yes, no = rule_rows.yes, rule_rows.no

local function rows(title, list)
  describe(title, function()
    for _, row in ipairs(list) do it(row[1], function() rule_rows.check(row) end) end
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
  { "constants around a quotient are one", "xy", function(x, y) return 2 * (3 * x / y) end, "mul true_div" },
  { "constants around a quotient that is read elsewhere stay", "xy",
    function(x, y)
      local q = 3 / (x * y)
      return 2 * q + damo.exp(q)
    end, "mul true_div mul exp add" },
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
  { "exp(x)/exp(x)", "x",
    function(x) return damo.exp(x) / damo.exp(x) end, "Shape_i Alloc", recovers = true, no_specials = true },
  { "a constant that could overflow stays", "x", function(x) return x * 1e200 * 1e200 end, "mul mul" },
  { "an infinite constant stays", "xy", function(x, y) return x * inf * y * 2 end, "mul mul mul" },
})

rows("sums of any number of operands:", {
  { "x+y+z and z+(y+x) are one", "xyz", function(x, y, z) return damo.sin(x + y + z) + damo.exp(z + (y + x)) end,
    "add add sin exp add" },
  { "constants are one", "xy", function(x, y) return x + 3 + y + 5 end, "add add" },
  { "constants with signs", "x", function(x) return x + 3 - 5 end, "add" },
  { "constants that cancel", "x", function(x) return x + 3 - 3 end, "" },
  { "a negative constant makes a difference", "xy", function(x, y) return x + -3 * y end, "mul sub",
    exact = "mul sub" },
  { "a difference of it a sum", "xya", function(x, y, a) return x - a * -3 * y end, "mul mul add" },
  { "a negative constant in front", "xy", function(x, y) return y * -2 + x end, "mul sub" },
  { "of the least integer stays", "i",
    function(i) return i + damo.constant(math.mininteger, { dtype = "int64" }) * i * i end,
    "sqr mul add" },
  { "x+x", "x", function(x) return x + x end, "mul" },
  { "2x+3x", "x", function(x) return 2 * x + 3 * x end, "mul" },
  { "x+y+x", "xy", function(x, y) return x + y + x end, "mul add" },
  { "2x-x stays: of an infinity it is nan", "x", function(x) return 2 * x - x end, "mul sub" },
  { "x-x stays", "x", function(x) return x - x end, "sub" },
  { "differences keep their order", "xyz", function(x, y, z) return (x - y) + z end, "sub add" },
  { "exp(x)-exp(x)", "x", function(x) return damo.exp(x) - damo.exp(x) end, "Shape_i Alloc",
    recovers = true, no_specials = true },
  { "0*exp(x)", "x", function(x) return 0 * damo.exp(x) end, "Shape_i Alloc", exact = "exp mul", no_specials = true },
  { "0/(1+x^2)", "x", function(x) return 0 / (1 + x ^ 2) end, "Shape_i Alloc", no_specials = true },
  { "0*x stays", "x", function(x) return 0 * x end, "mul" },
  { "0*tanh(x) stays: it may be 0", "x", function(x) return 0 * damo.tanh(x) end, "tanh mul" },
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

rows("divisions and tests of integers:", {
  { "i // 1", "i", function(i) return damo.int_div(i, 1) end, "", exact = "" },
  { "i % 1", "i", function(i) return damo.mod(i, 1) end, "Shape_i Alloc", exact = "Shape_i Alloc" },
  { "0 // i", "i", function(i) return damo.int_div(0, i) end, "Shape_i Alloc" },
  { "i // i stays: 0 // 0 is 0", "i", function(i) return damo.int_div(i, i) end, "floor_div" },
  { "x // 1 stays: of an infinity it is nan", "x", function(x) return damo.int_div(x, 1) end, "floor_div" },
  { "isnan(i)", "i", function(i) return damo.isnan(i) end, "Shape_i Alloc" },
  { "isnan(x) stays", "x", function(x) return damo.isnan(x) end, "isnan" },
  { "x sign(x)", "x", function(x) return x * damo.sign(x) end, "abs", exact = "sign mul" },
  { "x sign(y) stays", "xy", function(x, y) return x * damo.sign(y) end, "sign mul" },
  { "polygamma(1, x)", "x", function(x) return damo.polygamma(1, x) end, "tri_gamma", exact = "polygamma",
    no_specials = true, rtol = 1e-11 },
  { "polygamma(3, x) stays", "x", function(x) return damo.polygamma(3, x) end, "polygamma", no_specials = true },
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

rows("stable forms:", {
  { "1 - erf(x)", "x", function(x) return 1 - damo.erf(x) end, "erfc" },
  { "1 + erf(x)", "x", function(x) return 1 + damo.erf(x) end, "neg erfc" },
  { "erf(x) - 1", "x", function(x) return damo.erf(x) - 1 end, "erfc neg" },
  { "1 - erfc(x)", "x", function(x) return 1 - damo.erfc(x) end, "erf" },
  { "erfc(x) - 1", "x", function(x) return damo.erfc(x) - 1 end, "erf neg" },
  { "2 - erf(x) stays", "x", function(x) return 2 - damo.erf(x) end, "erf sub" },
  { "log(erfc(x))", "x", function(x) return damo.log(damo.erfc(x)) end, "lt erf neg log1p erfcx log sqr sub switch",
    recovers = true, rtol = 1e-12 },
  { "log(1 - erf(x))", "x", function(x) return damo.log(1 - damo.erf(x)) end,
    "lt erf neg log1p erfcx log sqr sub switch", recovers = true, no_specials = true, rtol = 1e-8 },
  { "log(exp(x) - exp(y))", "xy", function(x, y) return damo.log(damo.exp(x) - damo.exp(y)) end,
    "eq sub log1mexp add switch", rtol = 1e-11 },
  { "log(-expm1(x))", "x", function(x) return damo.log(-damo.expm1(x)) end, "log1mexp" },
  { "exp(x)/(1+exp(x))", "x", function(x) return damo.exp(x) / (1 + damo.exp(x)) end, "sigmoid", recovers = true },
  { "y/(1+exp(x))", "xy", function(x, y) return y / (1 + damo.exp(x)) end, "neg sigmoid mul", recovers = true },
  { "exp(x)*sigmoid(-x)", "x", function(x) return damo.exp(x) * damo.sigmoid(-x) end, "sigmoid", recovers = true },
  { "exp(x)*sigmoid(x) stays", "x", function(x) return damo.exp(x) * damo.sigmoid(x) end, "exp sigmoid mul" },
  { "the odds of sigmoid(x)", "x",
    function(x) return damo.sigmoid(x) / (1 - damo.sigmoid(x)) end, "exp", rtol = 1e-12 },
  { "the logit of sigmoid(x)", "x", function(x) return damo.log(damo.sigmoid(x) / (1 - damo.sigmoid(x))) end, "",
    rtol = 1e-11 },
  { "exp(x)/sum(exp(x))", "x", function(x) return damo.exp(x) / damo.sum(damo.exp(x)) end, "Softmax" },
  { "exp(m)/sum(exp(m)) along rows", "m",
    function(m) return damo.exp(m) / damo.sum(damo.exp(m), { axis = 2, keepdims = true }) end, "Softmax" },
  { "exp(m)/sum(exp(m)) along the wrong axis is no softmax", "m",
    function(m) return damo.exp(m) / damo.sum(damo.exp(m), { axis = 2 }) end, "Reduce sub exp" },
  { "m - logsumexp(m)", "m",
    function(m) return m - damo.logsumexp(m, { axis = 1, keepdims = true }) end, "LogSoftmax" },
  { "log of a softmax spelt out", "m",
    function(m) return m - damo.log(damo.sum(damo.exp(m), { axis = 2, keepdims = true })) end, "LogSoftmax" },
})

rows("switches:", {
  { "of a constant", "xy", function(x, y) return damo.switch(yes, x, y) end, "Shape_i Alloc" },
  { "of a constant, one shape", "x", function(x) return damo.switch(no, x, x * 2) end, "mul" },
  { "of one branch", "x", function(x) return damo.switch(damo.gt(x, 0), x, x) end, "" },
  { "of one branch that broadcasts keeps its shape", "xa", function(x, a) return damo.switch(damo.gt(x, 0), a, a) end,
    "Shape_i Alloc" },
  { "of not p", "pxy", function(p, x, y) return damo.switch(damo.invert(p), x, y) end, "switch" },
  { "within a switch of the same condition", "x",
    function(x)
      local c = damo.gt(x, 0)
      return damo.switch(c, damo.switch(c, x, 2), damo.switch(c, 3, x * 2))
    end, "gt mul switch" },
  { "within a switch of another condition stays", "xy",
    function(x, y) return damo.switch(damo.gt(x, 0), damo.switch(damo.gt(y, 0), x, y), 2) end, "gt gt switch switch" },
  { "two of one condition", "xy",
    function(x, y)
      local c = damo.gt(x, 0)
      return damo.switch(c, x, y) * damo.switch(c, y, 2)
    end, "gt mul mul switch" },
  { "an assertion made twice", "xa",
    function(x, a) return damo.assert_op(damo.assert_op(x, damo.gt(a, 0)), damo.gt(a, 0)) * 2 end, "gt Assert mul" },
  { "an assertion of something else stays", "xa",
    function(x, a) return damo.assert_op(damo.assert_op(x, damo.gt(a, 0)), damo.gt(a, 1)) * 2 end,
    "gt Assert gt Assert mul" },
  { "ifelse within ifelse of the same condition", "axyz",
    function(a, x, y, z)
      local c = damo.gt(a, 0)
      return damo.ifelse(c, damo.ifelse(c, x, y), damo.ifelse(c, y, z))
    end, "gt IfElse", no_specials = true },
  { "ifelse within ifelse of another condition stays", "axyz",
    function(a, x, y, z) return damo.ifelse(damo.gt(a, 0), damo.ifelse(damo.gt(a, 1), x, y), z) end,
    "gt gt IfElse IfElse", no_specials = true },
  { "ifelse of a condition that is inverted", "axy",
    function(a, x, y) return damo.ifelse(damo.invert(damo.gt(a, 0)), x, y) end, "gt IfElse" },
  { "an assertion that holds", "x", function(x) return damo.assert_op(x, yes) + 1 end, "add" },
  { "an assertion that may fail stays", "x", function(x) return damo.assert_op(x, damo.gt(x.shape[1], 0)) + 1 end,
    "Shape_i gt Assert add" },
})

rows("reductions:", {
  { "sum of a sum", "t",
    function(t) return damo.sum(damo.sum(t, { axis = 1 }), { axis = 2 }) end, "Reduce", exact = "Reduce Reduce" },
  { "max of a max", "t",
    function(t) return damo.max(damo.max(t, { axis = 3 }), { axis = 1 }) end, "Reduce", exact = "Reduce" },
  { "max of a min stays", "t",
    function(t) return damo.max(damo.min(t, { axis = 3 }), { axis = 1 }) end, "Reduce Reduce" },
  { "a sum used twice stays", "t",
    function(t)
      local u = damo.sum(t, { axis = 1 })
      return damo.sum(u) * damo.max(u)
    end, "Reduce Reduce Reduce mul" },
  { "sum of a transpose", "m", function(m) return damo.sum(m.T) end, "Reduce", exact = "DimShuffle Reduce" },
  { "max of a transpose", "m", function(m) return damo.max(m.T) end, "Reduce", exact = "Reduce" },
  { "sum over an axis of a transpose stays", "m",
    function(m) return damo.sum(m.T, { axis = 1 }) end, "DimShuffle Reduce" },
  { "sum over an axis of length 1", "r", function(r) return damo.sum(r, { axis = 1 }) end, "DimShuffle" },
  { "max over an axis of length 1, kept", "r", function(r) return damo.max(r, { axis = 1, keepdims = true }) end, "" },
  { "sum over the other axis stays", "r", function(r) return damo.sum(r, { axis = 2 }) end, "Reduce" },
  { "sum(-x)", "x", function(x) return damo.sum(-x) end, "Reduce neg", exact = "neg Reduce" },
  { "-max(-x)", "x", function(x) return -damo.max(-x) end, "Reduce", exact = "Reduce" },
  { "-max(-i) stays: the least integer", "i", function(i) return -damo.max(-i) end, "neg Reduce neg" },
  { "sum(3x)", "x", function(x) return damo.sum(3 * x) end, "Reduce mul", exact = "mul Reduce" },
  { "sum(a x)", "ax", function(a, x) return damo.sum(a * x) end, "Reduce mul" },
  { "sum(3 exp(x)) stays: it is one loop", "x", function(x) return damo.sum(3 * damo.exp(x)) end, "exp mul Reduce" },
  { "sum(x/3)", "x", function(x) return damo.sum(x / 3) end, "Reduce mul" },
  { "sum(x/a) stays: a may be 0", "ax", function(a, x) return damo.sum(x / a) end, "true_div Reduce" },
  { "sum(x y) stays", "xy", function(x, y) return damo.sum(x * y) end, "mul Reduce" },
  { "sum of rows scaled by a column", "mx",
    function(m, x) return damo.sum(m * x:dimshuffle { 1, "x" }, { axis = 2 }) end,
    "Reduce mul" },
  { "sum of columns scaled by a column stays", "mx",
    function(m, x) return damo.sum(m * x:dimshuffle { 1, "x" }, { axis = 1 }) end, "DimShuffle mul Reduce" },
  { "max of a repeated value", "a", function(a) return damo.max(damo.alloc(a, { 3, 2 })) end, "" },
  { "max along new axes of a repeated vector", "k",
    function(k) return damo.max(damo.alloc(k, { 3, k.shape[1], k.shape[2] }), { axis = 1 }) end, "", exact = "" },
  { "sum along new axes of a repeated matrix", "k",
    function(k) return damo.sum(damo.alloc(k, { 3, k.shape[1], k.shape[2] }), { axis = 1 }) end, "mul",
    exact = "Shape_i Shape_i Alloc Reduce" },
  { "sum along another axis of a repeated matrix stays", "k",
    function(k) return damo.sum(damo.alloc(k, { 3, k.shape[1], k.shape[2] }), { axis = 2 }) end,
    "Shape_i Shape_i Alloc Reduce" },
  { "max of a matrix repeated to other lengths stays", "kx",
    function(k, x) return damo.max(damo.alloc(k, { 3, x.shape[1], 4 }), { axis = 1 }) end, "Shape_i Alloc Reduce" },
  { "sum of a repeated scalar along an axis", "ax",
    function(a, x) return damo.sum(damo.alloc(a, { 3, x.shape[1] }), { axis = 1 }) end, "mul Shape_i Alloc" },
  { "max of what may be empty stays", "ax", function(a, x) return damo.max(damo.alloc(a, { x.shape[1] })) end,
    "Shape_i Alloc Reduce" },
})

-- Matrices with known lengths.
local function sized(name, rows_, cols) return damo.tensor(name, { dtype = "float64", shape = { rows_, cols } }) end

rows("products of matrices:", {
  { "a scale leaves a product", "mna", function(m, n, a) return damo.dot(a * m, n) end, "Dot mul", exact = "mul Dot" },
  { "signs leave a product", "mn", function(m, n) return damo.dot(-m, -n) end, "Dot" },
  { "a scale that is no scalar stays", "mnx", function(m, n, x) return damo.dot(x * m, n) end, "mul Dot" },
  { "the transpose of a product", "mn", function(m, n) return damo.dot(m.T, n).T end, "DimShuffle Dot" },
  { "a product that is read twice stays", "mn",
    function(m, n)
      local d = damo.dot(m, n)
      return d.T + d
    end, "Dot DimShuffle add" },
  { "(x yT) z", "xyz", function(x, y, z) return damo.dot(damo.outer(x, y), z) end, "Dot mul",
    exact = "DimShuffle DimShuffle Dot Dot" },
  { "z (x yT)", "xyz", function(x, y, z) return damo.dot(z, damo.outer(x, y)) end, "Dot mul" },
  { "(x yT) A", "xym", function(x, y, m) return damo.dot(damo.outer(x, y), m) end, "DimShuffle Dot mul" },
  { "A (x yT)", "xym", function(x, y, m) return damo.dot(m, damo.outer(x, y)) end, "Dot DimShuffle mul" },
  { "(1/x yT) z stays: 1/x may be infinite", "xyz",
    function(x, y, z) return damo.dot(damo.outer(1 / x, y), z) end, "DimShuffle reciprocal mul Dot" },
  { "(A B) v", "mnx", function(m, n, x) return damo.dot(damo.dot(m, n), x) end, "Dot Dot" },
  { "a x + b x", "mnk", function(m, n, k) return damo.dot(m + n, k) + damo.dot(m * 2 + n, k) end, "mul mul add Dot" },
})

describe("chains of products", function()
  local function costs(f)
    local out = {}
    for _, node in ipairs(damo.graph.toposort(f.fgraph.outputs)) do
      if node.op.name == "Dot" then out[#out + 1] = table.concat(node.outputs[1].type.shape, "x") end
    end
    return table.concat(out, " ")
  end

  it("with known lengths are multiplied in the cheapest order", function()
    local a, b, c, d = sized("a", 10, 100), sized("b", 100, 5), sized("c", 5, 50), sized("d", 50, 1)
    local f = damo.compile({ a, b, c, d }, damo.dot(a, damo.dot(damo.dot(b, c), d)), { mode = all })
    assert.equal("5x1 100x1 10x1", costs(f))
    local e = damo.compile({ a, b, c }, damo.dot(a, damo.dot(b, c)), { mode = all })
    assert.equal("10x5 10x50", costs(e))
    local args = { damo.ones { 10, 100 }, damo.ones { 100, 5 }, damo.ones { 5, 50 }, damo.ones { 50, 1 } }
    assert.is_true(damo.allclose(f(table.unpack(args)), damo.full({ 10, 1 }, 25000)))
  end)

  it("end at their vector", function()
    local A, B, v = damo.dmatrix "A", damo.dmatrix "B", damo.dvector "v"
    for _, out in ipairs { damo.dot(damo.dot(A, B), v), damo.dot(v, damo.dot(A, B)) } do
      local f = damo.compile({ A, B, v }, out, { mode = all })
      for _, node in ipairs(f.fgraph.apply_nodes) do assert.equal(1, node.outputs[1].ndim) end
    end
  end)

  it("of one operand become one", function()
    local x, y, z = sized("x", 3, 4), sized("y", 3, 4), sized("z", 4, 2)
    local f = damo.compile({ x, y, z }, damo.dot(x, z) - damo.dot(y, z), { mode = all })
    assert.equal("sub Dot", nodes_of(f))
    assert.is_true(damo.allclose(f(damo.full({ 3, 4 }, 5), damo.ones { 3, 4 }, damo.ones { 4, 2 }), damo.full({ 3,
      2 }, 16)))
  end)
end)

local v5 = damo.tensor("v5", { dtype = "float64", shape = { 5 } })

-- Rows of graphs of a vector of length 5: name, graph, nodes afterwards, nodes with exact rules (nil: the same).
local function vector_rows(title, list)
  describe(title, function()
    for _, row in ipairs(list) do
      it(row[1], function()
        local y, w = damo.dscalar "y", damo.dvector "w"
        local graph = row[2](v5, y, w)
        local options = { on_unused_input = "ignore" }
        local function compiled(mode)
          options.mode = mode
          return damo.compile({ v5, y, w }, graph, options)
        end
        local f, g, e = compiled(all), compiled(none), compiled(exact)
        assert.equal(row[3], nodes_of(f))
        if row[4] then assert.equal(row[4], nodes_of(e)) end
        local args = { damo.array { 1, -2, 3, 0.5, 7 }, 2.5, damo.array { 4, -1 } }
        agree(row[1], f(table.unpack(args)), g(table.unpack(args)), {})
        agree(row[1], e(table.unpack(args)), g(table.unpack(args)), { rtol = 0 })
      end)
    end
  end)
end

vector_rows("reads:", {
  { "of the whole", function(x) return x[{ {} }] end, "" },
  { "from 1 to the end", function(x) return x[{ { 1, -1 } }] end, "" },
  { "up to the length", function(_, _, w) return w[{ { 1, w.shape[1] } }] end, "" },
  { "of a part stays", function(x) return x[{ { 2, 3 } }] end, "Subtensor" },
  { "of a read", function(x) return x[{ { 2, 5 } }][{ { 2, 3 } }] end, "Subtensor" },
  { "of a read with steps", function(x) return x[{ { 5, 1, -2 } }][2] end, "Subtensor" },
  { "of a read of unknown length", function(_, _, w) return w[{ { 2 } }][1] end, "Subtensor" },
  { "from the end of a read of unknown length stay",
    function(_, _, w) return w[{ { 2 } }][-1] end, "Subtensor Subtensor" },
  { "of exp", function(x) return damo.exp(x)[2] end, "Subtensor exp", "Subtensor exp" },
  { "of a sum", function(x, y) return (x + y)[{ { 2, 3 } }] end, "Subtensor add" },
  { "of operands of unknown lengths stay",
    function(x, _, w) return (x[{ { 2, 3 } }] + w)[1] end, "Subtensor add Subtensor" },
  { "of what is read elsewhere stay",
    function(x)
      local e = damo.exp(x)
      return e[1] * e
    end, "exp Subtensor mul" },
  { "of a fill", function(_, y) return damo.alloc(y, { 5 })[{ { 2, 3 } }] end, "Alloc" },
  { "of a fill outside stay",
    function(_, y, w) return damo.alloc(y, { w.shape[1] })[2] end, "Shape_i Alloc Subtensor" },
  { "of what was set there", function(x, y) return x:set({ 2 }, y)[2] end, "" },
  { "of what was set elsewhere", function(x, y) return x:set({ 2 }, y)[3] end, "Subtensor" },
  { "of what was set at a place that may be outside stay", function(_, y, w) return w:set({ 2 }, y)[2] end,
    "IncSubtensor Subtensor" },
  { "of what was added there", function(_, y, w) return w:inc({ 2 }, y)[2] end, "Subtensor add" },
})

vector_rows("lists of positions:", {
  { "in order are a range", function(x) return x[{ damo.idx { 2, 3, 4 } }] end, "Subtensor", "Subtensor" },
  { "in even steps are a range", function(x) return x[{ damo.idx { -1, -3, -5 } }] end, "Subtensor" },
  { "in other steps stay", function(x) return x[{ damo.idx { 1, 2, 4 } }] end, "AdvancedSubtensor" },
  { "from both ends stay", function(x) return x[{ damo.idx { 1, -1 } }] end, "AdvancedSubtensor" },
  { "that name one twice stay", function(x) return x[{ damo.idx { 2, 2 } }] end, "AdvancedSubtensor" },
  { "written twice are written once",
    function(x, y) return x:set({ damo.idx { 1, 2, 4 } }, 3):set({ damo.idx { 1, 2, 4 } }, y) end,
    "AdvancedIncSubtensor" },
})

describe("a list of positions outside", function()
  it("is an error as a range too", function()
    local w = damo.dvector "w"
    local f = damo.compile({ w }, w[{ damo.idx { 2, 3, 4 } }])
    local ok, err = pcall(f, damo.ones { 3 })
    assert.is_false(ok)
    assert.equal("index", err.kind)
    assert.is_false((pcall(f, damo.ones { 1 })))
  end)
end)

vector_rows("writes:", {
  { "over all", function(x, y) return x:set({ {} }, y) end, "Alloc" },
  { "added to all", function(x, y) return x:inc({ {} }, y) end, "add" },
  { "of what is there", function(x) return x:set({ 2 }, x[2]) end, "" },
  { "of what is there, perhaps outside, stay",
    function(_, _, w) return w:set({ 2 }, w[2]) end, "Subtensor IncSubtensor" },
  { "of what is there and more", function(_, y, w) return w:set({ 2 }, w[2] + y) end, "IncSubtensor" },
  { "over a write", function(x, y) return x:set({ 2 }, 5):set({ 2 }, y) end, "IncSubtensor", "IncSubtensor" },
  { "over a write elsewhere stay",
    function(x, y) return x:set({ 2 }, 5):set({ 3 }, y) end, "IncSubtensor IncSubtensor" },
  { "added to a write",
    function(x, y) return x:set({ 2 }, 5):inc({ 2 }, y) end, "add IncSubtensor", "add IncSubtensor" },
  { "added to what was added", function(x, y) return x:inc({ 2 }, y):inc({ 2 }, 3) end, "add IncSubtensor",
    "IncSubtensor IncSubtensor" },
  { "added to zeros and to x", function(x, y) return x + damo.zeros_like(x):inc({ 2 }, y) end, "IncSubtensor" },
  { "of several parts beside a value of unknown shape", function(x, y, w)
    local zeros = damo.zeros_like(x)
    return damo.concatenate { w, w, w[{ { 1, 1 } }] } + zeros:inc({ 2 }, y) + zeros:inc({ 3 }, y) + zeros:inc({ 1 }, 2)
  end, "Subtensor Join Alloc IncSubtensor add IncSubtensor IncSubtensor" },
  { "of zeros added", function(x) return x:inc({ 2 }, 0) end, "", "IncSubtensor" },
})

describe("an addition to zeros", function()
  it("of one's own shape is a write into zeros", function()
    local y = damo.dscalar "y"
    local f = damo.compile({ y }, damo.constant(damo.zeros { 3 }):inc({ 2 }, y), { mode = all })
    for _, node in ipairs(f.fgraph.apply_nodes) do
      if node.op.name == "IncSubtensor" then assert.is_true(node.op.set_instead_of_inc) end
    end
    assert.same({ 0, 4, 0 }, f(4):totable())
  end)

  it("of gradients of parts is a write into one of them", function()
    local x = damo.dvector "x"
    local g = damo.grad(damo.sum(x[{ { 1, 2 } }] ^ 2) + damo.sum(x[{ { 2, 3 } }] ^ 3) + damo.sum(x), x)
    local f = damo.compile({ x }, g, { mode = all })
    assert.is_nil(nodes_of(f):find "IncSubtensor.*add")
    assert.same({ 3, 17, 28, 1 }, f({ 1, 2, 3, 4 }):totable())
  end)
end)

rows("reads of matrices:", {
  { "of a sum along rows", "m",
    function(m) return damo.sum(m, { axis = 2 })[2] end, "Subtensor Reduce", exact = "Subtensor Reduce" },
  { "of a sum along columns", "m", function(m) return damo.max(m, { axis = 1 })[{ { 2, 3 } }] end, "Subtensor Reduce" },
  { "of rows of a product", "mn",
    function(m, n) return damo.dot(m, n)[2] end, "Subtensor Dot", exact = "Dot Subtensor" },
  { "of a row of a block", "m", function(m) return m[{ {}, { 2 } }][{ 3, 1 }] end, "Subtensor" },
  { "of a range of lengths", "t", function(t) return t.shape[{ { 2, 3 } }] end, "Shape_i Shape_i MakeVector" },
})

rows("axes and shapes:", {
  { "a transpose of a function of a transpose", "m", function(m) return damo.exp(m.T).T end, "exp", exact = "exp" },
  { "a transpose of a sum of transposes", "mn", function(m, n) return (m.T * 2 + n.T).T end, "mul add" },
  { "a transpose of a sum with one transpose", "mn", function(m, n) return (m.T + n).T end, "DimShuffle add" },
  { "a transpose of a sum stays", "mn", function(m, n) return (m + n).T end, "add DimShuffle" },
  { "a transpose of what is read elsewhere stays", "m",
    function(m)
      local e = damo.exp(m.T)
      return e.T + e
    end, "DimShuffle exp DimShuffle add" },
  { "axes that are added go below a function", "x",
    function(x) return damo.exp(x):dimshuffle { "x", 1 } end, "DimShuffle exp" },
  { "a reshape that adds an axis", "x", function(x) return x:reshape { shape = { 1, x.shape[1] } } end, "DimShuffle" },
  { "a reshape that drops an axis", "r", function(r) return r:reshape { shape = { r.shape[2] } } end, "DimShuffle" },
  { "a reshape to rows stays", "x",
    function(x) return x:reshape { shape = { 2, 2 } } end, "Reshape", no_specials = true },
  { "reshapes around a function", "x",
    function(x) return damo.exp(x:reshape { shape = { 1, -1 } }):reshape { shape = { -1 } } end, "exp" },
  { "an alloc of an alloc", "ax",
    function(a, x) return damo.alloc(damo.alloc(a, { x.shape[1] }), { 3, x.shape[1] }) end,
    "Shape_i Alloc" },
  { "an alloc of an alloc of another length stays", "axy",
    function(a, x, y) return damo.alloc(damo.alloc(a, { x.shape[1] }), { y.shape[1] }) end,
    "Shape_i Alloc Shape_i Alloc", no_specials = true },
})

local known = damo.tensor("known", { dtype = "float64", shape = { 4, 3 } })
rows("parts:", {
  { "a join of one", "x", function(x) return damo.join(1, { x }) end, "" },
  { "a join of joins", "xyz",
    function(x, y, z) return damo.join(1, { damo.join(1, { x, y }), z }) end, "Join", exact = "Join" },
  { "a join of joins along another axis stays", "mn",
    function(m, n) return damo.join(1, { damo.join(2, { m, n }), damo.join(2, { n, m }) }) end, "Join Join Join" },
  { "a join with nothing", "x", function(x) return damo.join(1, { x, damo.constant(damo.zeros { 0 }) }) end, "" },
  { "a split of a join", "xy",
    function(x, y)
      local p, q = damo.split(damo.join(1, { x, y }), { sizes = { x.shape[1], y.shape[1] }, axis = 1 })
      return damo.exp(p) * damo.sin(q)
    end, "exp sin mul" },
  { "a split of a join elsewhere stays", "xy",
    function(x, y)
      local p, q = damo.split(damo.join(1, { x, y }), { sizes = { 2, 6 }, axis = 1 })
      return damo.sum(p) * damo.sum(q)
    end, "Join Split Reduce Reduce mul", no_specials = true },
})

describe("a join of a split", function()
  local function joined(sizes)
    local p, q = damo.split(known, { sizes = sizes, axis = 1 })
    return damo.compile({ known }, damo.exp(damo.join(1, { p, q })), { mode = all })
  end
  it("is what was split, where its length is known", function()
    assert.equal("exp", nodes_of(joined { 1, 3 }))
    assert.is_true(damo.allclose(joined { 1, 3 }(damo.zeros { 4, 3 }), damo.ones { 4, 3 }))
  end)
end)

describe("the order of operands", function()
  it("does not depend on what was made before the graph", function()
    local cap = damo.config.memo_cap
    damo.config.memo_cap = 0 -- each graph is rewritten, though it is equal to the one before
    local function program(made_before)
      for _ = 1, made_before do damo.dvector() end
      local x, y, z = damo.dvector "x", damo.dvector "y", damo.dvector "z"
      local f = damo.compile({ x, y, z }, x * y * x * z * y * z + x * x * 3 + y * y * 3 + z * z * 3,
        { mode = damo.Mode { optimizer = "fast_run", exclude = { "fusion" } } })
      return damo.printing.debugprint(f, { file = "str" })
    end
    local first = program(0)
    for k = 1, 20 do assert.equal(first, program(37 * k)) end
    damo.config.memo_cap = cap
  end)
end)

describe("no rule goes on for ever", function()
  it("in random graphs of sums, products and transposes", function()
    local m, n = damo.dmatrix "m", damo.dmatrix "n"
    local before, warned, state = damo.config.on_warning, {}, 7
    damo.config.on_warning = function(kind, message) warned[#warned + 1] = kind .. ": " .. message end
    local function draw(k)
      state = (state * 1103515245 + 12345) % 2147483648
      return math.floor(state / 65536) % k + 1
    end
    local function graph(depth)
      local k = depth == 0 and 0 or draw(8)
      if k == 0 then return draw(2) == 1 and m or n end
      local u = graph(depth - 1)
      if k == 7 then return damo.transpose(u) end
      if k == 8 then return damo.sum(u, { axis = draw(2), keepdims = true }) end
      local v = graph(depth - 1)
      if k <= 3 then return u + v end
      return k == 4 and u - v or k == 5 and u * v or damo.dot(u, v)
    end
    for _ = 1, 600 do
      local made, y = pcall(graph, 5)
      if made then
        damo.compile({ m, n }, damo.grad(damo.sum(y), { m }, { disconnected_inputs = "ignore" }),
          { on_unused_input = "ignore" })
      end
    end
    damo.config.on_warning = before
    assert.same({}, warned)
  end)
end)

-- damo.printing.Print: an Op that writes its input out when a program computes it.
local damo = require "damo"
local failure = require "spec.support.failure"

local Print = damo.printing.Print
local x = damo.dvector "x"
local modes = { "FAST_RUN", "FAST_COMPILE", "NANGUARD", "DEBUG" }

-- What the function prints, a list.
local function printed(fn, ...)
  local lines, real = {}, print
  _G.print = function(...) -- luacheck: ignore
    lines[#lines + 1] = table.concat({ ... }, "\t")
  end
  local ok, err = pcall(fn, ...)
  _G.print = real -- luacheck: ignore
  if not ok then error(err, 0) end
  return lines
end

describe("Print", function()
  it("is its input, and writes it with the message, once a call, in every mode", function()
    for _, mode in ipairs(modes) do
      local f = damo.compile({ x }, Print "x" (x) * 2, { mode = mode })
      assert.same({ "x = [1. 2.]" }, printed(f, damo.array { 1, 2 }))
      assert.same({ "x = [3.]" }, printed(f, damo.array { 3 }))
      local value
      printed(function() value = f(damo.array { 1, 2 }) end)
      assert.same({ 2, 4 }, value:totable())
    end
  end)

  it("writes numbers, matrices and sparse matrices", function()
    local m, a = damo.dmatrix "m", damo.sparse.csr_matrix "a"
    assert.same({ "total = 3.0", "m =\n[[1.]\n [2.]]" }, printed(damo.compile({ m },
      { Print "total" (damo.sum(m)), Print "m" (m) }), damo.array { { 1 }, { 2 } }))
    local lines = printed(damo.compile({ a }, Print "a" (a)), damo.sparse.eye(2))
    assert.equal("a =\n" .. tostring(damo.sparse.eye(2)), lines[1])
    assert.same({ "[7.]" }, printed(damo.compile({ x }, Print()(x)), damo.array { 7 }))
  end)

  it("writes in the order of the program", function()
    for _, mode in ipairs(modes) do
      local a = Print "first" (x)
      local b = Print "second" (damo.exp(a * 0))
      local c = Print "third" (damo.sum(b))
      local f = damo.compile({ x }, { c, Print "fourth" (x) }, { mode = mode })
      assert.same({ "first = [1.]", "second = [1.]", "third = 1.0", "fourth = [1.]" }, printed(f, damo.array { 1 }))
    end
  end)

  it("is neither merged nor folded", function()
    for _, mode in ipairs(modes) do
      local twice = damo.compile({ x }, { Print "x" (x), Print "x" (x) }, { mode = mode })
      assert.same({ "x = [1.]", "x = [1.]" }, printed(twice, damo.array { 1 }))
      local constant = damo.sum(Print "c" (damo.constant(damo.array { 1, 2 })))
      local f
      assert.same({}, printed(function() f = damo.compile({}, constant, { mode = mode }) end))
      assert.same({ "c = [1. 2.]" }, printed(f))
      assert.same({ "c = [1. 2.]" }, printed(f))
    end
  end)

  it("is not skipped when only the shape of its result is asked for", function()
    local f = damo.compile({ x }, Print "x" (x).shape[1])
    assert.same({ "x = [1. 2.]" }, printed(f, damo.array { 1, 2 }))
  end)

  it("lets gradients and tangents pass", function()
    local y = damo.sum(damo.sqr(Print "x" (x)))
    local f = damo.compile({ x }, damo.grad(y, x))
    local g = damo.compile({ x }, damo.Rop(y, x, damo.ones_like(x)))
    local slope, tangent
    assert.same({ "x = [3. 4.]" }, printed(function() slope = f(damo.array { 3, 4 }) end))
    printed(function() tangent = g(damo.array { 3, 4 }) end)
    assert.same({ 6, 8 }, slope:totable())
    assert.equal(14, tangent)
  end)

  it("leaves the values around it as they are", function()
    local at = damo.array { 0.1, 1e-300, 5 }
    local plain = damo.compile({ x }, damo.exp(damo.sqrt(x * 2)) - 1)
    local with = damo.compile({ x }, damo.exp(Print "root" (damo.sqrt(x * 2))) - 1)
    local value
    printed(function() value = with(at) end)
    assert.is_true(damo.array_equal(plain(at), value))
    assert.same({ 0.1, 1e-300, 5 }, at:totable())
  end)

  it("writes in the branch that is taken alone", function()
    local c = damo.dscalar "c"
    for _, mode in ipairs(modes) do
      local f = damo.compile({ c, x }, damo.ifelse(damo.gt(c, 0), Print "yes" (damo.exp(x)), Print "no" (x * 2)),
        { mode = mode })
      assert.same({ "yes = [1.]" }, printed(f, 1, damo.array { 0 }))
      assert.same({ "no = [0.]" }, printed(f, -1, damo.array { 0 }))
    end
  end)

  it("writes once inside an OpFromGraph", function()
    local u = damo.dvector "u"
    for _, inline in ipairs { true, false } do
      local op = damo.graph.OpFromGraph({ u }, { Print "u" (u) + 1 }, { inline = inline })
      for _, mode in ipairs(modes) do
        assert.same({ "u = [2.]" }, printed(damo.compile({ x }, op(x) * 1, { mode = mode }), damo.array { 2 }))
      end
    end
  end)

  it("writes in a probe and in a copy too", function()
    local f = damo.compile({ x }, Print "x" (x) * 2)
    assert.same({ "x = [1.]" }, printed(f:copy(), damo.array { 1 }))
    assert.same({ "x = [1.]" }, printed(f:probe(x), damo.array { 1 }))
  end)

  it("makes the call fail if print fails", function()
    local n = damo.shared(0.0, "n")
    local f = damo.compile({ x }, Print "x" (x), { updates = { [n] = n + 1 } })
    local real = print
    _G.print = function() error "no paper" end -- luacheck: ignore
    local err = failure("callback", f, damo.array { 1 })
    _G.print = real -- luacheck: ignore
    assert.truthy(err.message:find("no paper", 1, true))
    assert.equal(0, n:get_value())
    assert.same({ "x = [1.]" }, printed(f, damo.array { 1 }))
    assert.equal(1, n:get_value())
  end)

  it("may be written from a coroutine", function()
    local f = damo.compile({ x }, Print "x" (x))
    assert.same({ "x = [1.]" }, printed(coroutine.wrap(function() f(damo.array { 1 }) end)))
  end)

  it("has a message that is a string", function()
    assert.equal("Print: argument 1 (message) must be a string, got number", failure("type", Print, 3).message)
    assert.equal("Print{message=x}", tostring(Print "x"))
  end)
end)

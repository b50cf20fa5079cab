-- Error objects: kind, message, trace, and tostring.
local damo = require "damo"
local has = require "spec.support.has"

local function caught(fn, ...)
  local ok, err = pcall(fn, ...)
  assert.is_false(ok)
  return err
end

local function here() return debug.getinfo(2, "l").currentline end

describe("an error object", function()
  it("has kind and message", function()
    local err = caught(damo.array, { 1, "x" })
    assert.equal("type", err.kind)
    assert.equal("array: entry {2} is of type string, expected a number", err.message)
    assert.equal("table", type(err.trace))
  end)

  it("has the line of the script", function()
    local a, line = damo.zeros(2), nil
    local err = caught(function()
      line = here() + 1
      local _ = a[7]
    end)
    assert.equal(("spec/lua/error_spec.lua:%d"):format(line), err.trace[1]:match "spec/lua/.*")
    local text = tostring(err)
    assert.matches("^index error at .*error_spec%.lua:" .. line .. ": ", text)
    assert.matches(": index: position 7 is outside axis 1 of length 2", text, 1, true)
  end)

  it("has dtypes and shapes of the operands", function()
    local function operands(fn, ...)
      local err = caught(fn, ...)
      assert.truthy(tostring(err):find("\n  operands: " .. err.operands .. "\n", 1, true), tostring(err))
      return err.operands
    end
    local x, M = damo.fvector "x", damo.TensorType("float64", { false, 3 }) "M"
    local a = damo.ones({ 2, 3 }, "float32")
    assert.equal("float32 (2, 3), int64 (4,)", operands(damo.add, a, damo.arange(4)))
    assert.equal("float32 (2, 3)", operands(damo.linalg.inv, a))
    assert.equal("float64 (?, 3), float32 (?,), float32 (?,)", operands(damo.concatenate, { M, x, x }))
    assert.equal("csc complex64 (2, 2), float32 (3, 2)",
      operands(damo.dot, damo.sparse.csc(damo.eye(2)):astype "complex64", damo.transpose(a)))
    -- In a compiled Function they are the values of the call, in a loop those of the step.
    local f = damo.compile({ x, M }, damo.dot(M, x))
    assert.equal("float64 (2, 3), float64 (4,)", operands(f, damo.ones({ 4 }, "float32"), damo.ones { 2, 3 }))
    local N = damo.dmatrix "N"
    local g = damo.compile({ N }, damo.scan(function(row) return damo.dot(row, damo.ones { 4 }) end, { sequences = N }))
    assert.truthy(operands(g, damo.ones { 2, 3 }):find("float64 (2, 3), float64 (4,)", 1, true))
    -- A list that is too long ends with "…".
    local many = {}
    for i = 1, 20 do many[i] = i < 20 and a or x end
    assert.equal(("float32 (2, 3), "):rep(8) .. "…", operands(damo.concatenate, many))
    assert.is_nil(caught(damo.zeros, -1).operands)
  end)

  it("has dtypes and shapes of what a call of no Op was given", function()
    local a, x = damo.ones({ 2, 3 }, "float32"), damo.fvector "x"
    local function operands(fn, ...) return caught(fn, ...).operands end
    assert.equal("float32 (2, 3)", operands(function() return a[0] end))
    assert.equal("float32 (2, 3), float32 (3,)", operands(function() a[0] = a[1] end))
    assert.equal("float32 (2, 3)", operands(function() return a.sumo end))
    assert.equal("float32 (2, 3)", operands(function() return a:item() end))
    assert.equal("float32 (2, 3), float32 (?,)", operands(damo.sum, a, x))
    assert.equal("float32 (?,)", operands(function() x[1] = 2 end))
    assert.equal("float32 (?,)", operands(function() return x.sumo end))
    assert.equal("csr float64 (2, 2)", operands(function() return damo.sparse.eye(2).sumo end))
    -- Options and what the function itself makes do not count.
    assert.equal("float32 (2, 3)", operands(damo.sum, a, { axes = a }))
    assert.equal("float32 (2, 3)", operands(damo.reshape, a, 2, 3))
    -- A function in Lua is given what its caller wrote, its variable arguments and entries of lists too.
    if has.parameters then
      assert.equal("float32 (?,), float32 (2, 3), float32 (2, 3)", operands(damo.compile, { x }, { a, a }))
      assert.equal("float32 (), float32 (?,)", operands(damo.grad, damo.sum(x), { x, "w" }))
      assert.equal("float32 (2, 3)", operands(damo.vectorize, nil, a))
    end
  end)

  it("has no operands of another call", function()
    local a = damo.ones { 2 }
    assert.equal("float64 (2,)", caught(function() return a[0] end).operands)
    assert.is_nil(caught(damo.zeros, -1).operands)
    assert.is_nil(caught(function() return damo.sogmoid end).operands)
    -- A callback's error, which the callback catches, leaves nothing behind for the call around it.
    local T = damo.TensorType("float64", { false })
    local Op = damo.Op { name = "Catches", itypes = { T }, otypes = { T },
      perform = function(_, _, inputs)
        pcall(damo.stack, { a, a, inputs[1] }, { axes = a })
        pcall(function() return a[7] end)
      end }
    local x = damo.dvector "x"
    assert.equal("float64 (3,)", caught(damo.compile({ x }, Op(x)), { 1, 2, 3 }).operands)
  end)

  it("is told with what to do where its message does not say it", function()
    local err = caught(damo.sum, damo.ones { 3 }, { axis = 2 })
    assert.truthy(tostring(err):find("\n  hint: axes count from 1, and from the end from -1\n", 1, true))
    assert.falsy(tostring(caught(damo.sum, damo.ones { 3 }, { axes = 1 })):find("hint:", 1, true))
    assert.falsy(tostring(caught(damo.raise, "value", "a message of a script's own")):find("hint:", 1, true))
  end)

  it("can be concatenated with strings", function()
    local err = caught(damo.zeros, -1)
    assert.matches("^failed: value error", "failed: " .. err)
  end)

  it("keeps traceback_limit lines", function()
    local old = damo.config.traceback_limit
    damo.config.traceback_limit = 2
    local err = caught(damo.zeros, -1)
    damo.config.traceback_limit = old
    assert.is_true(#err.trace <= 2)
  end)

  it("is raised in coroutines too", function()
    local co = coroutine.create(function() return damo.zeros(-1) end)
    local ok, err = coroutine.resume(co)
    assert.is_false(ok)
    assert.equal("value", err.kind)
  end)

  it("names operands and shapes of an op", function()
    local err = caught(function() return damo.zeros { 3, 4 } + damo.zeros { 5 } end)
    assert.equal("shape", err.kind)
    assert.matches("%(3, 4%)", err.message)
    assert.matches("%(5,%)", err.message)
  end)

  it("names the function and the argument", function()
    local err = caught(damo.add, damo.zeros(2), "x")
    assert.equal("type", err.kind)
    assert.matches("^add: ", err.message)
    assert.matches("string", err.message)
  end)

  it("suggests the option that was meant", function()
    local err = caught(damo.sum, damo.zeros(2), { axsi = 1 })
    assert.equal("value", err.kind)
    assert.equal("sum: unknown option 'axsi', did you mean 'axis'?", err.message)
  end)
end)

describe("config", function()
  it("refuses unknown names and wrong values, with a suggestion", function()
    assert.equal("config: unknown setting 'floatx', did you mean 'floatX'?",
      caught(function() damo.config.floatx = "float32" end).message)
    assert.equal("config.floatX cannot be 'float23', did you mean 'float32'?",
      caught(function() damo.config.floatX = "float23" end).message)
    assert.equal("value", caught(function() return damo.config.nothing end).kind)
    assert.equal("type", caught(function() damo.config.floatX = 32 end).kind)
    assert.equal("value", caught(function() damo.config.threads = 0 end).kind)
    assert.equal("value", caught(function() damo.config.memory_cap = -1 end).kind)
    assert.equal("value", caught(function() damo.config.traceback_limit = 1.5 end).kind)
    assert.equal("type", caught(function() damo.config.on_warning = 3 end).kind)
    assert.equal("value", caught(function() damo.config.mode = "FAST" end).kind)
    assert.equal("value", caught(function() damo.config.compute_test_value = "on" end).kind)
  end)

  it("lists the settings", function()
    assert.equal("float64", damo.config.floatX)
    assert.equal("off", damo.config.compute_test_value)
    assert.equal("FAST_RUN", damo.config.mode)
    if not has.pairs_of_objects then return end
    local names = {}
    for name in pairs(damo.config) do names[#names + 1] = name end
    assert.is_true(#names >= 5)
  end)

  it("holds the function that receives warnings", function()
    local old = damo.config.on_warning
    local function mine() end
    damo.config.on_warning = mine
    assert.equal(mine, damo.config.on_warning)
    damo.config.on_warning = nil
    assert.is_nil(damo.config.on_warning)
    damo.config.on_warning = old
    assert.equal("function", type(damo.config.on_warning))
  end)
end)

describe("a warning", function()
  local function warn()
    local x, z = damo.vector "x", damo.vector "z"
    return damo.compile({ x, z }, x + 1, { on_unused_input = "warn" })
  end

  it("goes to config.on_warning with its kind, in coroutines too", function()
    local old, seen = damo.config.on_warning, {}
    damo.config.on_warning = function(kind, message) seen[#seen + 1] = kind .. ": " .. message end
    warn()
    coroutine.wrap(warn)()
    damo.config.on_warning = nil
    warn()
    damo.config.on_warning = old
    assert.equal(2, #seen)
    assert.matches("^unused_input: .*z", seen[1])
  end)
end)

describe("files", function()
  it("that can't be read give an io error, or nil and the error", function()
    local err = caught(damo.io.load, "no/such/file.npy")
    assert.equal("io", err.kind)
    assert.matches("no/such/file%.npy", err.message)
    local nothing, why = damo.io.load("no/such/file.npz", { on_fail = "return" })
    assert.is_nil(nothing)
    assert.equal("io", why.kind)
    assert.equal("value", caught(damo.io.load, "file.txt").kind)
    assert.equal("value", caught(damo.io.load, "file.npy", { on_fail = "retrun" }).kind)
    assert.equal("type", caught(damo.io.load).kind)
  end)

  it("hold what was saved", function()
    local path = os.tmpname()
    local a = damo.array({ { 1, 2 }, { 3, 4 } }, "int16")
    damo.io.save(path .. ".npy", a)
    local b = damo.io.load(path .. ".npy")
    assert.equal("int16", b.dtype)
    assert.same(a:totable(), b:totable())
    damo.io.save(path .. ".npz", { w = a, b = { 1, 2 }, n = 3 })
    local t = damo.io.load(path .. ".npz")
    assert.same({ { 1, 2 }, { 3, 4 } }, t.w:totable())
    assert.same({ 1, 2 }, t.b:totable())
    assert.equal(3, t.n)
    assert.equal("type", caught(damo.io.save, path .. ".npz", { 1, 2 }).kind)
    assert.equal("type", caught(damo.io.save, path .. ".npz", { w = "x" }).kind)
    for _, tail in ipairs { "", ".npy", ".npz" } do os.remove(path .. tail) end
  end)

  it("of numbers are read with their header", function()
    local path = os.tmpname()
    local f = assert(io.open(path, "w"))
    f:write("x,y\n1,2\n3,4.5\n")
    f:close()
    local a, header = damo.io.read_csv(path)
    assert.same({ { 1, 2 }, { 3, 4.5 } }, a:totable())
    assert.same({ "x", "y" }, header)
    assert.equal("int32", damo.io.read_csv(path, { skip = 2, dtype = "float32" }).dtype == "float32" and "int32")
    assert.equal("value", caught(damo.io.read_csv, path, { delimeter = ";" }).kind)
    assert.equal("io", caught(damo.io.read_csv, path .. "-no").kind)
    os.remove(path)
  end)
end)

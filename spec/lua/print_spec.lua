-- The texts of printed values: shapes, records, numbers, nodes, subtensors of Variables.
local damo = require "damo"

local sparse, pprint = damo.sparse, damo.printing.pprint
local x, y, M, c = damo.dvector "x", damo.dvector "y", damo.dmatrix "M", damo.iscalar "c"

describe("a shape", function()
  it("prints as a table, and is a plain one", function()
    local a = damo.ones { 2, 3 }
    assert.equal("{2, 3}", tostring(a.shape))
    assert.equal("{24, 8}", tostring(a.strides))
    assert.equal("{}", tostring(damo.array(1.0).shape))
    assert.equal("{2, 2}", tostring(sparse.eye(2).shape))
    assert.equal("{false, 3}", tostring(damo.TensorType("float64", { shape = { false, 3 } }).shape))
    assert.same({ 2, 3 }, a.shape)
    assert.equal(2, #a.shape)
    assert.equal(6, damo.zeros(a.shape).size)
    local seen = {}
    for i, n in ipairs(a.shape) do seen[i] = n end
    assert.same({ 2, 3 }, seen)
  end)
end)

describe("a record", function()
  it("of memory prints its names in order", function()
    local text = tostring(damo.memory())
    assert.truthy(text:find("^bytes = %d+\ncap = 0\nobjects = %d+\npeak = %d+$"), text)
  end)

  it("of info prints nested tables too", function()
    local text = tostring(damo.info())
    assert.equal("licence = LGPL-2.1-or-later", tostring(damo.info().libraries.KLU):match "^[^\n]*")
    assert.truthy(text:find("\nversion = ", 1, true), text)
    assert.truthy(text:find("\nlibraries =\n  AMD = {licence = BSD-3-Clause, version = ", 1, true), text)
    assert.truthy(text:find("backends = {", 1, true), text)
    assert.is_nil(text:find("table: ", 1, true))
  end)

  it("of named outputs prints the results, and is a plain table", function()
    local f = damo.compile({ x }, { twice = x * 2, sum = damo.sum(x), m = damo.outer(x, x) })
    local out = f(damo.array { 1, 2 })
    assert.equal("m =\n  [[1. 2.]\n   [2. 4.]]\nsum = " .. tostring(3.0) .. "\ntwice = [2. 4.]", tostring(out))
    local names = {}
    for name in pairs(out) do names[#names + 1] = name end
    table.sort(names)
    assert.same({ "m", "sum", "twice" }, names)
    assert.same({ a = 3.0 }, damo.compile({ x }, { a = damo.sum(x) })(damo.array { 1, 2 }))
    out.more = { 1, { 2 } }
    assert.truthy(tostring(out):find("more = {1, {2}}", 1, true))
    assert.truthy(tostring(f:call { x = damo.array { 1 } }):find("sum = " .. tostring(1.0), 1, true))
  end)

  it("that contains itself ends", function()
    local out = damo.memory()
    out.again = out
    assert.truthy(#tostring(out) < 1000)
  end)
end)

describe("a nan", function()
  it("has no sign, wherever it is printed", function()
    local root = damo.sqrt(-1)
    assert.equal("nan", tostring(root))
    assert.equal("nan", ("%g"):format(root))
    local a = damo.sqrt(damo.array { -1, 4 })
    assert.equal("nan", tostring(a[1]))
    assert.equal("nan", tostring(a:totable()[1]))
    assert.equal("nan", tostring(a[{ 1 }]))
    assert.equal("nan", tostring(damo.array { root }:item()))
    assert.equal("[nan  2.]", tostring(a))
    assert.equal("nan", tostring(damo.compile({ x }, damo.sum(damo.sqrt(x)))(damo.array { -1 })))
    assert.equal("nan", tostring(damo.sqrt(damo.array({ -1 }, "float32"))[1]))
    assert.equal("nan", tostring(-root == -root and 0 or damo.array { -root }[1]))
    assert.equal("(nan+nanj)", tostring(damo.complex(root, root)))
    assert.is_nil(tostring(sparse.from_dense(damo.array { { root, 1 } }, "csr")):find("-nan", 1, true))
    assert.is_nil(damo.printing.debugprint(damo.constant(root) + x, { file = "str" }):find("-nan", 1, true))
  end)
end)

describe("a node", function()
  it("prints with the function's name and its options", function()
    assert.equal("Elemwise{exp}(x)", tostring(damo.exp(x).owner))
    assert.equal("Elemwise{add}(x, y)", tostring((x + y).owner))
    assert.truthy(tostring(damo.sum(M, { axis = 1 }).owner):find("axis", 1, true))
  end)
end)

describe("printing.dot to .html", function()
  local folder = require "spec.support.folder"

  it("writes one page that needs nothing beside it", function()
    folder(function(dir)
      local z = damo.exp(damo.dvector "</script>")
      local text = damo.printing.dot(z, { path = dir .. "/g.html" })
      assert.equal(damo.printing.dot(z), text)
      local file = assert(io.open(dir .. "/g.html"))
      local page = file:read "*a"
      file:close()
      local _, ends = page:gsub("</script", "")
      assert.equal(1, ends)
      assert.truthy(page:find("Elemwise{exp}", 1, true))
      assert.truthy(page:find("<title>g</title>", 1, true))
      for address in page:gmatch "https?://[^'\"]*" do assert.equal("http://www.w3.org/2000/svg", address) end
      assert.falsy(page:find "%ssrc=")
    end)
  end)
end)

describe("a part of a Variable", function()
  local cases = {
    { x[2], "x[2]" }, { x[-1], "x[-1]" }, { x[{ { 2, 3 } }], "x[{{2, 3}}]" }, { x[{ { 2 } }], "x[{{2}}]" },
    { x[{ { nil, 3 } }], "x[{{nil, 3}}]" }, { x[{ { 1, -1, 2 } }], "x[{{1, -1, 2}}]" },
    { x[{ { nil, nil, 2 } }], "x[{{nil, nil, 2}}]" }, { x[damo.idx { 1, 2 }], "x[idx{1, 2}]" },
    { x[{ damo.newaxis, {} }], "x[{newaxis, {}}]" }, { M[{ damo.ellipsis, 1 }], "M[{ellipsis, 1}]" },
    { M[{ 2, { 1, c } }], "M[{2, {1, c}}]" }, { x[c], "x[c]" }, { (x + y)[2], "(x + y)[2]" },
    { damo.exp(x)[2] * 3, "exp(x)[2] * 3.0" }, { M[1][2], "M[1][2]" }, { x[damo.bvector "m"], "x[m]" },
    { x[damo.tensor("mask", { dtype = "bool", ndim = 1 })], "x[mask]" },
    { x:set(2, 5), "set_subtensor(x[2], 5.0)" }, { M:inc({ 2, {} }, y), "inc_subtensor(M[{2, {}}], y)" },
    { x:set({ { 2, 3 } }, y), "set_subtensor(x[{{2, 3}}], y)" },
    { x:inc(damo.idx { 1, 1 }, y), "inc_subtensor(x[idx{1, 1}], y)" },
    { sparse.csr_matrix "A"[{ 1, 2 }], "A[{1, 2}]" },
    { sparse.csr_matrix "A"[{ { 1, 2 }, {} }], "A[{{1, 2}, {}}]" },
  }
  it("prints as a script writes it", function()
    for _, case in ipairs(cases) do assert.equal(case[2], pprint(case[1])) end
  end)

  it("prints so after rewriting too", function()
    local f = damo.compile({ x }, damo.set_subtensor(x[2], 0.5))
    assert.truthy(pprint(f.fgraph.outputs[1]):find("set_subtensor(x[2], ", 1, true), pprint(f.fgraph.outputs[1]))
  end)

  it("of a script's Op of the same name prints as any Op", function()
    local op = damo.Op {
      name = "Subtensor", props = { "spec" }, perform = function() end,
      make_node = function(self, v) return damo.Apply(self, { v }, { v.type() }) end,
    }
    assert.equal("Subtensor(x)", pprint(op { spec = "iii" }(x)))
    assert.equal("Subtensor(x)", pprint(op { spec = "?" }(x)))
    local function pair(name, prop)
      return damo.Op {
        name = name, props = { prop }, perform = function() end,
        make_node = function(self, u, v) return damo.Apply(self, { u, v }, { u.type() }) end,
      }
    end
    assert.equal("Subtensor(x, c)", pprint(pair("Subtensor", "spec") { spec = "i" }(x, c)))
    assert.equal("add(x, y)", pprint(pair("add", "scalar") { scalar = "add" }(x, y)))
    assert.equal("Elemwise(x, y)", pprint(pair("Elemwise", "scalar") { scalar = "add" }(x, y)))
  end)
end)

-- damo.io.parse and damo.io.format: the formats of files, from and to strings.
local damo = require "damo"
local failure = require "spec.support.failure"
local child = require "spec.support.child"

describe("parse and format", function()
  it("give the bytes of the files that save writes", function()
    local path = os.tmpname()
    local values = {
      [".npy"] = damo.array { { 1, 2.5 }, { -3, 1e300 } },
      [".npz"] = { w = damo.array { 1, 2 }, layers = { { b = damo.array({ 3 }, "int8") } } },
    }
    for ending, value in pairs(values) do
      damo.io.save(path .. ending, value)
      local file = assert(io.open(path .. ending, "rb"))
      local bytes = file:read "a"
      file:close()
      os.remove(path .. ending)
      assert.equal(bytes, damo.io.format(value, { format = ending:sub(2) }))
    end
    os.remove(path)
  end)

  it("read back what they wrote, and tell formats by their first bytes", function()
    local a = damo.array { { 1, 2.5 }, { -3, 0 } }
    assert.is_true(damo.array_equal(a, damo.io.parse(damo.io.format(a, { format = "npy" }))))
    local t = damo.io.parse(damo.io.format({ layers = { { b = { 3 } } } }, { format = "npz" }))
    assert.equal(3, t.layers[1].b[1])
    local A = damo.sparse.csc { data = { 1, 2 }, indices = { 0, 1 }, indptr = { 0, 1, 2 }, shape = { 2, 2 } }
    assert.equal("csc", damo.io.parse(damo.io.format(A, { format = "npz" })).format)
    local B = damo.io.parse(damo.io.format(A, { format = "mtx", comment = "two" }))
    assert.equal("csr", B.format)
    assert.is_true(damo.array_equal(A:toarray(), B:toarray()))
    local text = damo.io.format(a, { format = "csv", header = { "x", "y z" }, delimiter = ";" })
    assert.equal('x;"y z"\n1;2.5\n-3;0\n', text)
    local m, header = damo.io.parse(text, { format = "csv", delimiter = ";" })
    assert.is_true(damo.array_equal(a, m))
    assert.same({ "x", "y z" }, { header[1], header[2] })
  end)

  it("say what is wrong", function()
        failure("value", damo.io.parse, "1,2\n")
    failure("value", damo.io.parse, "1", { format = "xls" })
    failure("type", damo.io.parse, 5)
    failure("io", damo.io.parse, "\147NUMPY")
    failure("io", damo.io.parse, "", { format = "npy" })
    local nothing, err = damo.io.parse("PK\3\4", { on_fail = "return" })
    assert.is_nil(nothing)
    assert.equal("io", err.kind)
    failure("value", damo.io.format, damo.array { 1 })
    failure("type", damo.io.format, damo.array { 1 }, { format = "npz" })
    failure("shape", damo.io.format, { { 1, 2 } }, { format = "csv", header = { "a" } })
    failure("type", damo.io.format, damo.array({ 1 }, "complex128"), { format = "csv" })
  end)

  it("are open to a sandbox", function()
    local out = child [[
      local damo = require "damo"
      damo.config.sandbox = true
      local s = damo.io.format({ x = { 1, 2 } }, { format = "npz" })
      assert(damo.io.parse(s).x[2] == 2)
      assert(not pcall(damo.io.write_csv, "x.csv", { 1 }))
      print "done"
    ]]
    assert.matches("done", out)
  end)
end)

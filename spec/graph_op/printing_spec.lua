-- Graphs as text: debugprint, pprint, dot.
local damo = require "damo"
local failure = require "spec.support.failure"
local P = damo.printing

local x, y = damo.dvector "x", damo.dvector "y"

local function text(v, options)
  options = options or {}
  options.file = "str"
  return P.debugprint(v, options)
end

describe("debugprint", function()
  local e = damo.exp(x)
  local z = e * y + e

  it("prints the tree with ids, a shared subtree once", function()
    assert.equal(table.concat({
      "Elemwise{add} [id A]",
      " ├─ Elemwise{mul} [id B]",
      " │ ├─ Elemwise{exp} [id C]",
      " │ │ ├─ x [id D]",
      " │ ├─ y [id E]",
      " ├─ Elemwise{exp} [id C] ···",
      "",
    }, "\n"), text(z))
  end)

  it("has ids of four kinds", function()
    assert.truthy(text(z, { id_type = "int" }):find("exp} [id 3]", 1, true))
    assert.falsy(text(z, { id_type = "" }):find("[id", 1, true))
    local one = text(e, { id_type = "id" }):match("%[id (%d+)%]")
    assert.truthy(text(z, { id_type = "id" }):find("exp} [id " .. one .. "]", 1, true))
    failure("value", text, z, { id_type = "letters" })
  end)

  it("stops at a depth and at names", function()
    assert.equal("Elemwise{add} [id A]\n ├─ Elemwise{mul} [id B]\n ├─ Elemwise{exp} [id C]\n", text(z, { depth = 2 }))
    local named = damo.sin(x)
    named.name = "wave"
    assert.truthy(text(named + y):find("x [id", 1, true))
    assert.falsy(text(named + y, { stop_on_name = true }):find("x [id", 1, true))
    assert.truthy(text(named + y, { stop_on_name = true }):find("'wave'", 1, true))
    failure("value", text, z, { depth = 0 })
  end)

  it("prints types, destroy and view maps", function()
    assert.truthy(text(z, { print_type = true }):find("x [id D] <TensorType(float64, shape=(?,))>", 1, true))
    local op = damo.Op {
      name = "Both", destroy_map = { [2] = { 1 } }, view_map = { [1] = { 2 } },
      make_node = function(self, a, b) return damo.Apply(self, { a, b }, { a.type(), b.type() }) end,
      perform = function() end,
    }
    local v = op(x, y)
    assert.truthy(text(v, { print_destroy_map = true, print_view_map = true }):find("d={[2]={1}} v={[1]={2}}", 1, true))
    assert.falsy(text(v):find("d={", 1, true))
  end)

  it("prints the values in a Function's cells", function()
    local w = damo.shared(damo.array { 5, 6 }, "w")
    local f = damo.compile({ x }, damo.cumsum(damo.dot(damo.outer(x, x), w)), { mode = "FAST_COMPILE" })
    assert.truthy(text(f, { print_storage = true }):find("[nil]", 1, true))
    f(damo.array { 1, 2 })
    assert.truthy(text(f, { print_storage = true }):find("%[%[?[%d.]+ "))
    assert.falsy(text(f):find("[nil]", 1, true))
    failure("value", text, z, { print_storage = true })
  end)

  it("prints the inner graphs of Ops once, at the end, nested ones too", function()
    local a = damo.dvector "a"
    local inner = damo.graph.OpFromGraph({ a }, { damo.sin(a) }, { name = "Inner" })
    local outer = damo.graph.OpFromGraph({ a }, { inner(a) }, { name = "Outer" })
    local t = text(outer(x) + outer(y))
    assert.equal(1, select(2, t:gsub("Inner graphs:", "")))
    assert.equal(1, select(2, t:gsub("\nOuter\n", "")))
    assert.equal(1, select(2, t:gsub("\nInner\n", "")))
    assert.equal(1, select(2, t:gsub("sin", "")))
  end)

  it("writes to a file", function()
    local path = os.tmpname()
    local file = assert(io.open(path, "w"))
    assert.is_nil(P.debugprint(z, { file = file }))
    file:close()
    file = assert(io.open(path))
    assert.equal(text(z), file:read("a"))
    file:close()
    os.remove(path)
  end)

  it("takes lists, nodes, FunctionGraphs; refuses what is unknown", function()
    assert.equal(text(e) , text(e.owner))
    assert.truthy(text({ e, y }):find("y [id C]", 1, true))
    assert.truthy(text(damo.graph.FunctionGraph({ x }, { e })):find("exp", 1, true))
    failure("value", text, e, { print_tpye = true })
    failure("type", text, 3)
  end)
end)

describe("pprint", function()
  it("is one line, infix, with only the necessary parentheses", function()
    assert.equal("(x + y) * x", P.pprint((x + y) * x))
    assert.equal("x + y * x", P.pprint(x + y * x))
    assert.equal("x - (y - x)", P.pprint(x - (y - x)))
    assert.equal("exp(x) / y", P.pprint(damo.exp(x) / y))
    local wave = damo.exp(x)
    wave.name = "wave"
    assert.equal("wave / y", P.pprint(wave / y))
    assert.equal("exp(x)", P.pprint(wave))
  end)
end)

describe("dot", function()
  local z = damo.exp(x) * y + damo.shared(damo.array { 1 }, "w")

  it("is a graph in Graphviz's language: each node, leaf and edge once", function()
    local t = P.dot(z)
    assert.truthy(t:find("^digraph damo {\n"))
    assert.truthy(t:find("}\n$"))
    assert.equal(3, select(2, t:gsub("shape=ellipse", "")))
    assert.equal(6, select(2, t:gsub(" %-> ", "")))
    assert.equal(1, select(2, t:gsub('label="x"', "")))
    assert.truthy(t:find('fillcolor=gold, label="w"', 1, true))
    assert.truthy(t:find('label="output 1"', 1, true))
  end)

  it("quotes characters that would end a label", function()
    local v = damo.dvector 'a"b\\c'
    assert.truthy(P.dot(v + 1):find([[label="a\"b\\c"]], 1, true))
  end)

  it("draws destroyed inputs red and viewed ones blue", function()
    local op = damo.Op {
      destroy_map = { [1] = { 1 } }, view_map = { [1] = { 2 } },
      make_node = function(self, a, b) return damo.Apply(self, { a, b }, { a.type() }) end,
      perform = function() end,
    }
    local t = P.dot(op(x, y))
    assert.truthy(t:find('headlabel="1", color=red', 1, true))
    assert.truthy(t:find('headlabel="2", color=blue', 1, true))
  end)

  it("is written as text if the path says so", function()
    local path = os.tmpname() .. ".gv"
    local t = P.dot(z, { path = path })
    local file = assert(io.open(path))
    assert.equal(t, file:read("a"))
    file:close()
    os.remove(path)
    failure("io", P.dot, z, { path = "/nowhere/at/all.gv" })
    failure("value", P.dot, z, { paht = path })
  end)

  it("is drawn by `dot` if the path ends in .svg or .png, or says what is missing", function()
    local have = os.execute("command -v dot >/dev/null 2>&1")
    for _, format in ipairs { "svg", "png" } do
      local path = os.tmpname()
      local picture = path .. "." .. format
      if have then
        P.dot(z, { path = picture })
        local file = assert(io.open(picture, "rb"))
        assert.truthy(file:read(400):find(format == "svg" and "<%?xml" or "PNG"))
        file:close()
      else
        local e = failure("io", P.dot, z, { path = picture })
        assert.truthy(e.message:find("Graphviz", 1, true))
        assert.is_nil(io.open(picture .. ".gv"))
      end
      os.remove(picture)
      os.remove(path)
    end
  end)

  it("runs Graphviz's program: a stand-in for it gets the text", function()
    local dir = os.tmpname()
    os.remove(dir)
    assert(os.execute("mkdir " .. dir))
    local program = assert(io.open(dir .. "/dot", "w"))
    program:write('#!/bin/sh\n[ "$*" = -Tsvg ] && exec cat\n')
    program:close()
    os.execute("chmod +x " .. dir .. "/dot")
    local script = assert(io.open(dir .. "/script.lua", "w"))
    script:write('local damo = require "damo"\nlocal x = damo.dvector "x"\n',
      'damo.printing.dot(damo.exp(x), {path = "' .. dir .. "/it's.svg\"})\n")
    script:close()
    assert(os.execute(("PATH=%s:$PATH %s %s/script.lua"):format(dir, arg and arg[-1] or "lua5.4", dir)))
    local file = assert(io.open(dir .. "/it's.svg"))
    assert.truthy(file:read("a"):find("digraph damo", 1, true))
    file:close()
    os.execute("rm -r " .. dir)
  end)
end)

it("texts of deep chains need no recursion", function()
  local v = x
  for _ = 1, 20000 do v = damo.sin(v) end
  assert.equal(20001, select(2, text(v):gsub("\n", "")))
  assert.truthy(P.pprint(v):find("…", 1, true))
  assert.equal(20001, select(2, P.dot(v):gsub(" %-> ", "")))
end)

-- What is for editors: the snippets run as they stand, with their placeholders filled; both files hold the same ones;
-- the example of a .luarc.json is that of the page.

local damo = require "damo"

local load_text = loadstring or load -- luacheck: ignore

local function read(path)
  local file = assert(io.open(path))
  local text = file:read "*a"
  file:close()
  return text
end

-- The value of a JSON text, of objects, lists, strings, numbers and booleans.
local function parse_json(text)
  local at = 1
  local value
  local function skip() at = text:find("[^%s]", at) or #text + 1 end
  local function expect(c)
    skip()
    assert(text:sub(at, at) == c, ("expected %s at %d"):format(c, at))
    at = at + 1
  end
  local function next_is(c)
    skip()
    if text:sub(at, at) ~= c then return false end
    at = at + 1
    return true
  end
  local function string_value()
    expect '"'
    local out = {}
    while text:sub(at, at) ~= '"' do
      local c = text:sub(at, at)
      if c == "\\" then
        at = at + 1
        c = ({ n = "\n", t = "\t", ['"'] = '"', ["\\"] = "\\", ["/"] = "/" })[text:sub(at, at)]
      end
      assert(c and c ~= "" and c ~= "\n", "a string ends where it must not")
      out[#out + 1] = c
      at = at + 1
    end
    at = at + 1
    return table.concat(out)
  end
  local function list(close, item)
    local out = {}
    if next_is(close) then return out end
    repeat item(out) until not next_is ","
    expect(close)
    return out
  end
  function value()
    if next_is "{" then
      return list("}", function(out)
        skip()
        local key = string_value()
        expect ":"
        assert(out[key] == nil, "a key stands twice: " .. key)
        out[key] = value()
      end)
    elseif next_is "[" then
      return list("]", function(out) out[#out + 1] = value() end)
    elseif text:sub(at, at) == '"' then
      return string_value()
    end
    local word = assert(text:match("^[%w.+-]+", at), "no value")
    at = at + #word
    if word == "true" or word == "false" then return word == "true" end
    return assert(tonumber(word), word)
  end
  local result = value()
  skip()
  assert(at == #text + 1, "text after the value")
  return result
end

-- {prefix = {body, description}} of each file.
local function vscode_snippets()
  local found = {}
  for name, snippet in pairs(parse_json(read "editors/vscode/damo.code-snippets")) do
    assert.equal("lua", snippet.scope)
    assert.is_nil(found[snippet.prefix])
    found[snippet.prefix] = {
      body = table.concat(snippet.body, "\n"), description = name .. ": " .. snippet.description,
    }
  end
  return found
end

local function ultisnips()
  local found, name = {}, nil
  for line in read("editors/UltiSnips/lua.snippets"):gmatch "([^\n]*)\n" do
    local prefix, description = line:match '^snippet (%S+) "(.*)" b$'
    if prefix then
      assert.is_nil(found[prefix])
      name, found[prefix] = prefix, { description = description }
    elseif line == "endsnippet" then
      found[name].body, name = table.concat(found[name], "\n"), nil
    elseif name then
      table.insert(found[name], line)
    else
      assert.truthy(line == "" or line:match "^#", line)
    end
  end
  assert.is_nil(name)
  return found
end

-- The body with the placeholders' own texts, or those of `given` by number.
local function filled(body, given)
  local texts = {}
  local function mirrors(text)
    return (text:gsub("%$(%d+)", function(n)
      if n == "0" then return "" end
      return assert(texts[n], "$" .. n .. " has no text")
    end))
  end
  body = body:gsub("%${(%d+):([^}]*)}", function(n, text)
    assert(not texts[n], "${" .. n .. "} stands twice")
    texts[n] = mirrors(given and given[tonumber(n)] or text)
    return "$" .. n
  end)
  return mirrors(body), texts
end

local snippets = vscode_snippets()

-- Runs a snippet of a whole Op and gives that.
local function op_of(prefix, given)
  local code, texts = filled(snippets[prefix].body, given)
  local chunk = assert(load_text("local damo = require 'damo'\n" .. code .. "\nreturn " .. texts["1"], "=" .. prefix))
  return chunk()
end

local function check(op, input, output)
  local x = damo.dvector "x"
  local f = damo.compile({ x }, op(x))
  assert.is_true(damo.allclose(f(input), damo.array(output)))
  damo.verify_grad(function(v) return op(v) end, { damo.array(input) })
end

describe("the snippets", function()
  local tested = {}
  local function snippet(prefix, what, test)
    tested[prefix] = true
    it(("%s: %s"):format(prefix, what), test)
  end

  snippet("damoop", "is an Op with a gradient", function()
    local Square = op_of "damoop"
    check(Square, { 0.5, -1.5 }, { 0.25, 2.25 })
    assert.equal("Square", Square.name)
    local cube = op_of("damoop", { "Cube", "float64", "1", "inputs[1] ^ 3", "3 * inputs[1] ^ 2" })
    check(cube, { 0.5, -1.5 }, { 0.125, -3.375 })
    assert.equal("Cube", cube.name)
  end)

  snippet("damoopclass", "is a class with a gradient and an R_op", function()
    local Scale = op_of "damoopclass"
    local triple = Scale { factor = 3 }
    check(triple, { 0.5, -1.5 }, { 1.5, -4.5 })
    assert.equal(triple, Scale { factor = 3 })
    local x, v = damo.dvector "x", damo.dvector "v"
    local along = damo.compile({ x, v }, damo.Rop(triple(x), x, v), { on_unused_input = "ignore" })
    assert.is_true(damo.array_equal(along({ 1, 2 }, { 1, -1 }), damo.array { 3, -3 }))
  end)

  snippet("damoopinplace", "overwrites what no other needs", function()
    local Damp = op_of "damoopinplace"
    check(Damp { rate = 0.25 }, { 4, 8 }, { 3, 6 })
    assert.equal(1, Damp({ rate = 0.25 }).destroy_map[1][1])
    local x = damo.dvector "x"
    local damped, same = damo.compile({ x }, { Damp { rate = 0.5 }(x), x }) { 4, 8 }
    assert.is_true(damo.array_equal(damped, damo.array { 2, 4 }))
    assert.is_true(damo.array_equal(same, damo.array { 4, 8 }))
  end)

  snippet("damoopgraph", "is an Op of a graph", function()
    local Norm = op_of "damoopgraph"
    assert.is_true(damo.graph.HasInnerGraph(Norm))
    check(Norm, { 3, -4 }, 5)
  end)

  snippet("damoverify", "passes for a right Op, and fails for a wrong one", function()
    local code = filled(snippets.damoverify.body)
    local chunk = "local damo, op = require 'damo', ...\n" .. code
    assert(load_text(chunk))(op_of "damoop")
    assert.is_false(pcall(assert(load_text(chunk)), op_of("damoop", { [5] = "3 * inputs[1]" })))
    assert.is_false(pcall(assert(load_text(chunk)), op_of("damoop", { [4] = "inputs[1] * 3", [5] = "3" })))
  end)

  -- An Op with the simple one's perform and these members.
  local function with_member(prefix, more)
    local chunk = ([[
      local damo = require "damo"
      local vector = damo.TensorType("float64", { ndim = 1 })
      return damo.Op {
        name = "Member", itypes = { vector }, otypes = { vector },
        perform = function(self, node, inputs, output_storage) output_storage[1][1] = inputs[1] * inputs[1] end,
        %s
        %s
      }]]):format(filled(snippets[prefix].body), more or "")
    return assert(load_text(chunk, "=" .. prefix))()
  end

  snippet("damolop", "is a gradient", function() check(with_member "damolop", { 0.5, -1.5 }, { 0.25, 2.25 }) end)

  snippet("damorop", "moves the outputs", function()
    local x, v = damo.dvector "x", damo.dvector "v"
    local along = damo.compile({ x, v }, damo.Rop(with_member "damorop"(x), x, v))
    assert.is_true(damo.array_equal(along({ 1, 2 }, { 1, -1 }), damo.array { 2, -4 }))
  end)

  snippet("damoshape", "gives the shape without the value", function()
    local called = "make_lua_thunk = function() error 'it is not run' end,"
    local x = damo.dvector "x"
    local shape = damo.compile({ x }, with_member("damoshape", called)(x).shape)
    assert.is_true(damo.array_equal(shape { 1, 2, 3 }, damo.array { 3 }))
  end)

  snippet("damoconnect", "connects input and output", function()
    local op = with_member "damoconnect"
    assert.same({ { true } }, op:connection_pattern(op(damo.dvector "x").owner))
  end)

  it("are all tested", function()
    for prefix in pairs(snippets) do assert.is_true(tested[prefix], prefix) end
    for prefix in pairs(tested) do assert.truthy(snippets[prefix], prefix) end
  end)

  it("are the same for both editors", function()
    local others = ultisnips()
    for prefix, s in pairs(snippets) do
      assert.equal(s.body, others[prefix].body)
      assert.equal(s.description, others[prefix].description)
    end
    for prefix in pairs(others) do assert.truthy(snippets[prefix], prefix) end
  end)

  it("stand on the page", function()
    local page = read "docs/editors.md"
    for prefix in pairs(snippets) do assert.truthy(page:find("`" .. prefix .. "`", 1, true), prefix) end
  end)
end)

describe("the example of a .luarc.json", function()
  it("names a folder for modules, and is that of the page", function()
    local text = read "editors/.luarc.json"
    local settings = parse_json(text)
    assert.truthy(settings["workspace.library"][1]:match "/share/lua/5%.4$")
    assert.truthy(read("docs/editors.md"):find("```json\n" .. text .. "```", 1, true))
  end)
end)

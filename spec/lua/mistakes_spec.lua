-- The common mistakes: each raises the error that its entry says, explain finds that entry, and what is written instead
-- runs.
local damo = require "damo"
local has = require "spec.support.has"
local mistakes = require "damo.mistakes"

local load = loadstring or load -- luacheck: ignore

local function run(code) return assert(load("local damo = require 'damo'\n" .. code, "=snippet"))() end

-- Calls that were given no Variable, Array or sparse matrix: words, numbers, tables of numbers, options and paths.
-- Errors of a Function's arguments name their Types, those of an update too.
local without_operands = {}
for title in ([[A shape is one table; Rows of one length; Numbers alone; A dtype has its size in its name;
  A number too large for its dtype; A negative length; More entries than any memory; A misspelt function;
  A dot for a colon; Too many operands; A missing operand; damo.inv; function is a word of Lua; A number for a vector;
  A missing argument; Too many arguments; A word for an input; An input's name; Writing into an Array of another shape;
  A misspelt option of scan; A scan without an end; A state that grows; Lists by name; A rewrite that is not there;
  A result before the end; updates is a list of pairs; An update of another dtype; An update of another number of axes;
  A coordinate outside; A token of another process; Rows of a CSV; A column that is not there; A seed;
  The size of a draw; A file that is not there; A picture's format; A setting that is not there; A setting's value;
  A member of an Op; An Op without Types;]]):gmatch "%s*([^;]+);" do
  without_operands[title:gsub("%s+", " ")] = true
end

-- How messages say what to do, where they have no hint.
local advice = {
  "did you mean", "must be", "must end in", " is an? ", "expected", "damo%.", "x:", ": use ", "; use ", "give ",
  "gives ", "list it", "leave it out",
  "the options are", "there are", "in one table", "counts? from", "converts it", "a:copy%(%)", "y:eval", "set_value",
  "call it with a colon", "with disconnected_inputs", "take its", "adds an axis", "a pair {", "ends in none of",
  "needs ", "{…}",
}

local function says_what_to_do(message)
  for _, words in ipairs(advice) do
    if message:find(words) then return true end
  end
  return false
end

describe("the mistake", function()
  local titles, count = {}, 0
  for _, m in ipairs(mistakes) do
    local title, wrong, pattern, why, right = m[1], m[2], m[3], m[4], m[5]
    local hint = m[6]
    count = count + 1
    it(title .. " is named and explained", function()
      assert.is_nil(titles[title], "two mistakes of one title")
      titles[title] = true
      if title == "A comparison in an if" and not has.mixed_order then
        return pending "Lua compares no object with a number"
      end
      local ok, err = pcall(run, wrong)
      assert.is_false(ok, "it raises nothing")
      assert.equal("string", type(err.kind), tostring(err))
      assert.truthy(err.message:find(pattern), err.message)
      assert.truthy(err.trace[1]:find "^snippet:%d", err.trace[1])
      assert.truthy(tostring(err):find(err.kind .. " error", 1, true) and tostring(err):find("snippet:%d"))
      -- What a call was given is told with dtypes and shapes. Lua 5.1 does not tell the parameters of functions in Lua.
      if has.parameters or err.node or err.operands then
        assert.equal(without_operands[title] == nil, err.operands ~= nil, tostring(err))
      end
      if err.operands then assert.truthy(tostring(err):find("\n  operands: " .. err.operands, 1, true)) end
      assert.equal(hint, tostring(err):match "\n  hint: ([^\n]*)")
      assert.is_true(hint ~= nil or says_what_to_do(err.message), "it does not say what to do: " .. tostring(err))
      for _, text in ipairs { damo.explain(err), damo.explain(tostring(err)) } do
        assert.truthy(text:find(title .. ". " .. why, 1, true), text)
        assert.truthy(text:find((right:gsub("\n", "\n    ")), 1, true), text)
        assert.truthy(text:find(err.kind .. " error: " .. err.message:match "[^\n]*", 1, true), text)
      end
    end)

    it(title .. " is mended by what is written instead", function() run(right) end)
  end

  it("is one of a hundred", function() assert.is_true(count >= 100, count) end)
end)

describe("explain", function()
  it("says what a kind of error means where no mistake is known", function()
    local ok, err = pcall(damo.raise, "numeric", "a message of a script's own")
    assert.is_false(ok)
    local text = damo.explain(err)
    assert.truthy(text:find("numeric error: a message of a script's own", 1, true))
    assert.truthy(text:find("The numbers themselves have no answer", 1, true))
  end)

  it("gives no hint of another error", function()
    local ok, err = pcall(damo.scan, function(h) return h end, { outputs_info = 1.0, n_steps = -2 })
    assert.is_false(ok)
    assert.falsy(tostring(err):find("hint: pass the standard deviation", 1, true), tostring(err))
  end)

  it("knows every kind of error", function()
    local file = assert(io.open "docs/annotations.lua")
    local kinds = file:read("*a"):match "damo%.ErrorKind ([^\n]*)"
    file:close()
    for kind in kinds:gmatch '"([%w_]+)"' do
      local _, err = pcall(damo.raise, kind, "nothing known")
      assert.falsy(damo.explain(err):find("no error of damo's", 1, true), kind)
    end
  end)

  it("takes Lua's own messages, and refuses what is none", function()
    assert.truthy(damo.explain("attempt to call a nil value"):find("no error of damo's", 1, true))
    local text = damo.explain "x.lua:3: attempt to call a nil value (field 'dto')"
    assert.truthy(text:find("'dto' has no value here: the table has no such entry.", 1, true), text)
    assert.truthy(text:find("did you mean damo.dot", 1, true), text)
    text = damo.explain "x.lua:3: attempt to call global 'ones' (a nil value)"
    assert.truthy(text:find("'ones' is damo.ones", 1, true), text)
    text = damo.explain "attempt to index a nil value (global 'damo')"
    assert.truthy(text:find('require "damo"', 1, true), text)
    assert.falsy(damo.explain("attempt to index a nil value (local 'x')"):find("damo.x", 1, true))
    for _, wrong in ipairs { 3, {}, true } do
      local ok, err = pcall(damo.explain, wrong)
      assert.is_false(ok)
      assert.equal("type", err.kind)
    end
  end)
end)

-- Rows of small graphs, for specs of rewrite rules: each graph is computed with all rules and with none, on special
-- values too: nan, infinities and zeros agree, but where a rule gives the value that rounding lost.
local damo = require "damo"
local assert = require "luassert"
local has = require "spec.support.has"

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
local special = { x = specials, y = others, z = damo.array { 2, 3, nan, 1, 0.5, inf, 1, 1, -1, -0.0, 0, 2 }, a = 1.5,
  s = -0.75 }

-- The nodes in dependency order, by scalar op or class.
local function nodes_of(f)
  local out = {}
  for _, node in ipairs(damo.graph.toposort(f.fgraph.outputs)) do out[#out + 1] = node.op.scalar or node.op.name end
  return table.concat(out, " ")
end

local function entries(v)
  if type(v) ~= "userdata" then return { v } end
  if v.dtype:find "complex" then v = damo.real(v) + 3 * damo.imag(v) end
  if v.dtype:find "int64" and not has.integers then v = damo.cast(v, "float64") end
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

-- A row: name, inputs, graph, nodes afterwards; exact = nodes with exact rules alone; rtol; recovers: a finite value
-- may stand where rounding gave nan or an infinity; no_specials: only plain values are tried.
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

return { check = check, nodes_of = nodes_of, agree = agree, all = all, exact = exact, none = none, yes = yes, no = no }

--- Calls of f:into and of Functions through LuaJIT's ffi: traces run through them. Loaded where jit and ffi are there;
-- the core says which calls may go this way, and makes all others itself (src/lua/function/front.c).
local core = require "damo.core"
if not core.ffi then return false end -- another Lua, or done
if not require("jit").status() then return false end -- interpreted, such a call takes longer than one of the C API
local ffi = require "ffi"

local run, left_type = {}, nil -- C functions by the number of inputs, and the type of what a call leaves
local is_known, adopt = core.ffi.known, core.ffi.adopt

-- The userdata that the core knows. A pointer to one of these may be given to C; any other value goes the other way.
local known = setmetatable({}, { __mode = "k" })

--- How `a` is passed: itself and 0, or nil and the number; false where C can't take it.
local function pass(a)
  if known[a or 0] then return a, 0 end
  if type(a) == "number" then return nil, a end
  if a ~= nil and is_known(a) then known[a] = true end
  return false, 0
end

-- give[n](left, r, …): the n results of a call, for each the target that is the result, or false: a number. The first
-- number is r.
local give = {
  function(_, r, a) return a or r end,
  function(l, r, a, b) return a or r, b or l.results[1] end,
  function(l, r, a, b, c) return a or r, b or l.results[1], c or l.results[2] end,
  function(l, r, a, b, c, d) return a or r, b or l.results[1], c or l.results[2], d or l.results[3] end,
  function(l, r, a, b, c, d, e)
    return a or r, b or l.results[1], c or l.results[2], d or l.results[3], e or l.results[4]
  end,
  function(l, r, a, b, c, d, e, f)
    return a or r, b or l.results[1], c or l.results[2], d or l.results[3], e or l.results[4], f or l.results[5]
  end,
}

-- try[n](call, …): what the C function for n inputs gives, the first result or nan; nil if it can't take the arguments.
local try = {
  [0] = function(call, ...)
    if select("#", ...) == 0 then return run[0](call) end
  end,
  function(call, x, ...)
    local p, i = pass(x)
    if p ~= false and select("#", ...) == 0 then return run[1](call, p, i) end
  end,
  function(call, x, y, ...)
    local p, i = pass(x)
    local q, j = pass(y)
    if p ~= false and q ~= false and select("#", ...) == 0 then return run[2](call, p, i, q, j) end
  end,
  function(call, x, y, z, ...)
    local p, i = pass(x)
    local q, j = pass(y)
    local r, k = pass(z)
    if p ~= false and q ~= false and r ~= false and select("#", ...) == 0 then return run[3](call, p, i, q, j, r, k) end
  end,
  function(call, x, y, z, w, ...)
    local p, i = pass(x)
    local q, j = pass(y)
    local r, k = pass(z)
    local s, l = pass(w)
    if p ~= false and q ~= false and r ~= false and s ~= false and select("#", ...) == 0 then
      return run[4](call, p, i, q, j, r, k, s, l)
    end
  end,
  function(call, x, y, z, w, v, ...)
    local p, i = pass(x)
    local q, j = pass(y)
    local r, k = pass(z)
    local s, l = pass(w)
    local t, m = pass(v)
    if p ~= false and q ~= false and r ~= false and s ~= false and t ~= false and select("#", ...) == 0 then
      return run[5](call, p, i, q, j, r, k, s, l, t, m)
    end
  end,
  function(call, x, y, z, w, v, u, ...)
    local p, i = pass(x)
    local q, j = pass(y)
    local r, k = pass(z)
    local s, l = pass(w)
    local t, m = pass(v)
    local o, h = pass(u)
    if p ~= false and q ~= false and r ~= false and s ~= false and t ~= false and o ~= false
      and select("#", ...) == 0 then
      return run[6](call, p, i, q, j, r, k, s, l, t, m, o, h)
    end
  end,
}

--- The __call of what f:into gives; `object`, the core's, makes the call through the C API. a, …: the targets, for
-- `give`.
local function into(object, call, left, take, results, a, b, c, d, e, f)
  return function(_, ...)
    local r = take(call, ...)
    if r and (r == r or left.done) then return results(left, r, a, b, c, d, e, f) end
    return object(...)
  end
end

--- A call f(…), all of whose results are numbers.
local function plain(other, call, left, take, results)
  return function(f, ...)
    local r = take(call, ...)
    if r and (r == r or left.done) then return results(left, r) end
    return other(f, ...)
  end
end

local call_in_c

local function make_into(call, object, n, ...)
  local methods = { start = function(_, ...) return object:start(...) end }
  local run_into = into(object, call, ffi.cast(left_type, call), try[n], give[select("#", ...)], ...)
  return setmetatable({}, { __call = run_into, __index = methods })
end

local function make_plain(call, n, n_out)
  return plain(call_in_c, call, ffi.cast(left_type, call), try[n], give[n_out])
end

--- What __call of Functions is.
local function dispatch(other)
  call_in_c = other
  local callers = setmetatable({}, { __mode = "k" }) -- Function → what calls it, which must not hold it
  return function(f, ...)
    local caller = callers[f or 0]
    if caller then return caller(f, ...) end
    if caller == nil and f ~= nil then
      caller = adopt(f)
      callers[f] = caller
    end
    return (caller or other)(f, ...)
  end
end

local functions, left, size = core.ffi.open(make_into, make_plain, dispatch)
assert(ffi.sizeof(left) == size)
left_type = ffi.typeof(left .. " *")
for n, row in pairs(functions) do run[n] = ffi.cast(row[1], row[2]) end

return true

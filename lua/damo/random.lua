--- Random numbers: streams whose state is a shared Variable, and eager draws.
-- The generator is counter-based (Philox): the same seed gives the same numbers on every machine.
-- @module damo.random

local core = require "damo.core"
local arguments = require "damo.arguments"
local draws = require "damo.draws"
local system = core.system

---@class damo.random
local random = {}

-- The state that eager draws advance. It is seeded from the clock, so that two runs differ unless a script seeds it.
local own

local unpack = table.unpack or unpack -- luacheck: ignore

--- Seeds the eager draws.
-- @tparam integer n
function random.seed(n) own = core.random_state(n) end

--- The state of a generator as an Array, for a draw's `rng`.
-- @tparam integer seed
-- @treturn Array
function random.state(seed) return core.random_state(seed) end

--- Draws eagerly from the context's own stream: `draw(state, ...)` returns the next state and the draw.
-- @tparam function draw
-- @param ... its other arguments
-- @return the draw
function random.eager(draw, ...)
  if type(draw) ~= "function" then
    core.raise("type", "random.eager: argument 1 (draw) must be a function, got " .. system.typename(draw))
  end
  if not own then random.seed(system.new_seed()) end
  local state, value = draw(own, ...)
  if system.typename(state) ~= "Array" then
    core.raise("type", "random.eager: draw must return the state that follows and the draw, got "
      .. system.typename(state))
  end
  own = state
  return value
end

local function eager(row, ...)
  if not own then random.seed(system.new_seed()) end
  local state, draw = row(own, ...)
  if core.is_variable(draw) then
    core.raise("type", "damo.random: a draw over Variables needs a state: use a RandomStream, or the option rng")
  end
  own = state
  return draw
end

-- The op functions take rng first. With {rng=} a draw returns the next state and the sample; without, it is eager and
-- advances the context's own stream.
local function draw_by(row, ...)
  local args, given = arguments.listed(...)
  local rng, n = arguments.take_rng(args, given)
  if rng == nil then return eager(row, ...) end
  return row(rng, unpack(args, 1, n))
end

for name, row in pairs(core.random) do
  random[name] = function(...) return draw_by(row, ...) end
end

---@class damo.RandomStream
local Stream = {}
core.names.seal_methods(Stream, "RandomStream")
local stream_meta = { __index = Stream, __name = "damo.RandomStream" }

-- Refuses rs.normal(0, 1), which passes no stream.
local function check_self(self, name)
  if getmetatable(self) == stream_meta then return end
  core.raise("type", ("%s: call it with a colon, rs:%s(…), rs being a RandomStream"):format(name, name))
end

-- Each draw has its own state, seeded from the stream: the draws of one graph are independent, and a compiled Function
-- that draws advances the states it uses.
local function draw_from(row, name, self, ...)
  check_self(self, name)
  draws.note(self)
  local state = core.random_shared(core.random_state(self:next_seed()), ("%s_state_%d"):format(name, self.n))
  local following, draw = row(state, ...)
  state.default_update = following
  self.states[#self.states + 1] = state
  return draw
end

for name, row in pairs(core.random) do
  Stream[name] = function(self, ...) return draw_from(row, name, self, ...) end
end

--- The seed of the next draw's state.
-- @treturn integer
function Stream:next_seed()
  check_self(self, "next_seed")
  self.n = self.n + 1
  return (self.seed_value * 1000003 + self.n * 7919) % 9007199254740881
end

-- Checks a seed and reduces it to the range in which next_seed's products are exact doubles.
local function check_seed(func, seed)
  local whole = type(seed) == "number" and seed == math.floor(seed) and seed - seed == 0
  if not whole then
    core.raise("type", ("%s: the seed must be an integer, got %s"):format(func,
      type(seed) == "number" and tostring(seed) or system.typename(seed)))
  end
  return seed % 9007199
end

--- Sets every state of the stream back to its seed.
-- @tparam[opt] integer seed a new seed
function Stream:seed(seed)
  check_self(self, "seed")
  if seed ~= nil then self.seed_value = check_seed("RandomStream.seed", seed) end
  local states = self.states
  self.n = 0
  for _, state in ipairs(states) do state:set_value(core.random_state(self:next_seed())) end
end

--- A stream, whose methods draw Variables: `rs:normal(loc, scale, {size=, dtype=})`, `rs:uniform(low, high, {size=})`,
-- `rs:bernoulli(p, {size=})`, `rs:integers(low, high, {size=})`, `rs:permutation(n)` and the others of `damo.random`.
-- @tparam[opt] integer seed
-- @treturn RandomStream
function random.RandomStream(seed)
  if seed == nil then seed = system.new_seed() end
  return setmetatable({ seed_value = check_seed("RandomStream", seed), n = 0, states = {} }, stream_meta)
end

return core.names.seal(random, "damo.random")

-- luacheck: std max
-- What Lua 5.4's libraries have and an older Lua lacks, for the specs alone: the environment of spec files, and of
-- modules required as `spec.NAME`, is the table returned here. damo's own Lua files see the plain libraries, so that a
-- name missing there still fails a spec. Scripts that specs run in processes of their own see the plain ones too.

local _G = _G
local env = setmetatable({}, { __index = _G })
env._G = setmetatable({}, { __index = env, __newindex = _G })
local setfenv, unpack = setfenv, table.unpack or unpack
local load_text = loadstring or load

--- The library of that name with further functions.
local function extended(name, functions) env[name] = setmetatable(functions, { __index = _G[name] }) end

local function packed(...) return { n = select("#", ...), ... } end

local function whole(x) return type(x) == "number" and x == math.floor(x) and math.abs(x) < math.huge end

if not math.type then
  extended("table", {
    unpack = unpack,
    pack = packed,
    move = function(from, first, last, at, to)
      to = to or from
      local copy = { unpack(from, first, last) }
      for i = 1, last - first + 1 do to[at + i - 1] = copy[i] end
      return to
    end,
  })

  -- Integers are the numbers without a fraction.
  extended("math", {
    type = function(x) return type(x) == "number" and (whole(x) and "integer" or "float") or nil end,
    tointeger = function(x) return whole(x) and x or nil end,
    atan = function(y, x) return math.atan2(y, x or 1) end,
    log = function(x, base) return base and math.log(x) / math.log(base) or math.log(x) end,
    maxinteger = 2 ^ 53,
    mininteger = -2 ^ 53,
  })

  env.load = function(text, name, _, of)
    local chunk, why
    if type(text) == "function" then
      chunk, why = load(text, name)
    else
      chunk, why = load_text(text, name)
    end
    if chunk then setfenv(chunk, of or env) end
    return chunk, why
  end

  env.loadfile = function(path, _, of)
    local chunk, why = loadfile(path)
    if chunk and (of or path:find "^spec/") then setfenv(chunk, of or env) end
    return chunk, why
  end
  env.dofile = function(path) return assert(env.loadfile(path))() end

  if not jit then
    env.xpcall = function(fn, handler, ...)
      local args = packed(...)
      return xpcall(function() return fn(unpack(args, 1, args.n)) end, handler)
    end
  end

  -- ---- Files and programs -------------------------------------------------------------------------------------------

  if not jit then
    local methods = getmetatable(io.stdout).__index
    local read = methods.read
    methods.read = function(file, format, ...)
      return read(file, type(format) == "string" and not format:find "^%*" and "*" .. format or format, ...)
    end
  end

  -- A pipe that tells the exit status when it is closed: the program runs to its end as it is opened.
  local pipe = {}
  pipe.__index = pipe

  function pipe:read(format)
    format = (format or "l"):gsub("^%*", "")
    local from = self.at
    if format == "a" then
      self.at = #self.text + 1
      return self.text:sub(from)
    end
    assert(format == "l", "a pipe is read by lines, or as a whole")
    local line, next_at = self.text:match("^([^\n]*)\n?()", from)
    if from > #self.text then return nil end
    self.at = next_at
    return line
  end

  function pipe:lines()
    return function() return self:read "l" end
  end

  function pipe:close()
    if self.status == 0 then return true, "exit", 0 end
    return nil, "exit", self.status
  end

  extended("io", {
    popen = function(command, mode)
      if mode == "w" then return io.popen(command, mode) end
      local file = assert(io.popen("(" .. command .. "\n); echo \"|$?\""))
      local text, status = file:read("*a"):match "^(.*)|(%d+)\n$"
      file:close()
      return setmetatable({ text = text, status = tonumber(status), at = 1 }, pipe)
    end,
  })

  extended("os", {
    execute = function(command)
      local status = os.execute(command)
      if status == 0 then return true, "exit", 0 end
      return nil, "exit", status > 255 and math.floor(status / 256) or status
    end,
  })
end

return env

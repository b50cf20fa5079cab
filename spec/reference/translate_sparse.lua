-- Translates the sparse reference cases' conventions to damo.sparse's: how kwargs (0-based, half-open) and operands
-- become a call. An op that is not listed is called by its own name with its operands only.
--
--   sparse.call(damo, case, operands) → a list of results; an error {missing = "sparse.NAME"} if it does not exist
--   sparse.positions.from0, .range     : translate.lua's

local sparse = {}

-- Set by translate.lua: from0(i or list), range(slice, length).
sparse.positions = {}

local function from0(i) return sparse.positions.from0(i) end

-- damo.sparse.NAME; an error that names it if it does not exist.
local function named(damo, name)
  local ok, f = pcall(function() return damo.sparse[name] end)
  if not ok or f == nil then error({ missing = "sparse." .. name }, 0) end
  return f
end

-- A list of positions as an Array: float64 if a case tests that it is refused.
local function positions(damo, list)
  if #list == 0 then return damo.zeros({ 0 }, "int64") end
  local one = list[1]
  while type(one) == "table" do one = one[1] end
  return damo.array(from0(list), math.type(one) == "integer" and "int64" or "float64")
end

local function index_item(item, length)
  if type(item) ~= "table" then return from0(item) end
  return sparse.positions.range(item, length)
end

local function part(_, x, kw, case)
  local index = {}
  for k, item in ipairs(kw.index) do index[k] = index_item(item, case.inputs[1].shape[k] or 1) end
  return x[1][index]
end

-- name({operands}, {options})
local function of_list(name)
  return function(damo, x, kw) return named(damo, name)(x, next(kw) and kw or nil) end
end

local function with_options(name)
  return function(damo, x, kw)
    local args = { table.unpack(x) }
    if next(kw) then args[#args + 1] = kw end
    return named(damo, name)(table.unpack(args))
  end
end

local function sp_sum(damo, x, kw)
  local options = { axis = from0(kw.axis), sparse_grad = kw.sparse_grad }
  return named(damo, "sp_sum")(x, next(options) and options or nil)
end

local function binomial(name)
  return function(damo, x, kw) return named(damo, name)(x[1], x[2], kw.shape) end
end

-- The op names of an expression; axes and positions in it are 0-based.
local function names_of(damo)
  local own = {
    sp_sum = function(x, options) return sp_sum(damo, x, options or {}) end,
    get_item_list = function(x, list) return named(damo, "get_item_list")(x, positions(damo, list)) end,
  }
  return setmetatable(own, { __index = function(_, name) return named(damo, name) end })
end

local calls = {
  CSM = function(damo, x, kw) return named(damo, "CSM") { format = kw.format }(table.unpack(x)) end,
  cast = function(damo, x, kw) return named(damo, "cast")(x[1], kw.dtype) end,
  dense_from_sparse = with_options "dense_from_sparse",
  true_dot = with_options "true_dot",
  hstack = of_list "hstack",
  vstack = of_list "vstack",
  sp_sum = function(damo, x, kw) return sp_sum(damo, x[1], kw) end,
  get_item_2d = part,
  get_item_scalar = part,
  get_item_list = function(damo, x, kw) return named(damo, "get_item_list")(x[1], positions(damo, kw.index)) end,
  get_item_2lists = function(damo, x, kw)
    return named(damo, "get_item_2lists")(x[1], positions(damo, kw.rows), positions(damo, kw.cols))
  end,
  construct_sparse_from_list = function(damo, x, kw)
    return named(damo, "construct_sparse_from_list")(x[1], x[2], positions(damo, kw.ilist))
  end,
  csr_fbinomial = binomial "csr_fbinomial",
  csr_dbinomial = binomial "csr_dbinomial",
  csc_fbinomial = binomial "csc_fbinomial",
  csc_dbinomial = binomial "csc_dbinomial",
  composite = function(damo, x, kw)
    local env = names_of(damo)
    for i, v in ipairs(x) do env["x" .. i] = v end
    return assert(load("return " .. kw.expr, "=" .. kw.expr, "t", env))()
  end,
}

function sparse.call(damo, case, operands)
  local kw = case.kwargs or {}
  local f = calls[case.op]
  if f then return { f(damo, operands, kw, case) } end
  if next(kw) then error("translate_sparse.lua says nothing about the kwargs of " .. case.op, 0) end
  return { named(damo, case.op)(table.unpack(operands)) }
end

return sparse

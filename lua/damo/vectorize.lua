--- Functions over batches: `vectorize` takes a function of arrays of small rank along further leading axes.
-- @module damo.vectorize

local core = require "damo.core"
local arguments = require "damo.arguments"
local typename = core.system.typename
local unpack = table.unpack or unpack -- luacheck: ignore

local MOST_KEPT = 64 -- compiled forms that one vectorised function keeps

local function fail(kind, message, ...) core.raise(kind, ("vectorize: " .. message):format(...)) end

-- ---- Signatures -----------------------------------------------------------------------------------------------------

-- "(m,n),(n)" as {{"m", "n"}, {"n"}}; a length is a number.
local function read_side(text, signature, what)
  local list, rest = {}, text
  while rest ~= "" do
    local inside, more = rest:match "^%(([%w_,]*)%)(.*)$"
    if not inside or (more ~= "" and not more:match "^,%(") then
      fail("value", "the signature '%s' has no list of dimensions as \"(m,n),(n)\" for its %s", signature, what)
    end
    local dims = {}
    if inside ~= "" then
      for name in (inside .. ","):gmatch "([^,]*)," do
        local length = tonumber(name)
        if name == "" or (name:match "^%d" and not (name:match "^%d+$" and length > 0)) then
          fail("value", "the signature '%s' has the dimension '%s': a dimension is a name or a length", signature, name)
        end
        dims[#dims + 1] = length or name
      end
    end
    list[#list + 1] = dims
    rest = more:gsub("^,", "")
  end
  return list
end

local function read_signature(signature)
  if type(signature) ~= "string" then
    core.raise("type", ("vectorize: argument 2 (signature) must be a string as \"(m,n),(n)->(m)\", got %s"):format(
      typename(signature)))
  end
  local plain = signature:gsub("%s+", "")
  local left, right = plain:match "^(.-)%->(.*)$"
  if not left or right == "" or right:find("->", 1, true) then
    fail("value", "the signature '%s' must read \"(m,n),(n)->(m)\": dimensions of the operands, an arrow, those of the "
      .. "results", signature)
  end
  return { text = plain, inputs = read_side(left, signature, "operands"),
    outputs = read_side(right, signature, "results") }
end

local function dims_text(dims) return "(" .. table.concat(dims, ",") .. ")" end

-- ---- Shapes ---------------------------------------------------------------------------------------------------------

local function shape_text(shape, ndim)
  local parts = {}
  for i = 1, ndim do parts[i] = shape[i] and ("%d"):format(shape[i]) or "?" end
  return "(" .. table.concat(parts, ", ") .. (ndim == 1 and ",)" or ")")
end

-- Checks the shapes of the operands (a length that is not known is false) against the signature, and the leading axes
-- against each other. Returns the lengths of the leading axes that all span, false where not known, and for each
-- dimension {operand =, axis =, length =}, the first operand that has it.
local function check_shapes(signature, shapes, ndims)
  local most, owner = 0, {}
  for i, dims in ipairs(signature.inputs) do
    local lead = ndims[i] - #dims
    if lead < 0 then
      fail("shape", "operand %d has %d %s, its dimensions are %s", i, ndims[i], ndims[i] == 1 and "axis" or "axes",
        dims_text(dims))
    end
    most = math.max(most, lead)
    for k, name in ipairs(dims) do
      local length, first = shapes[i][lead + k], owner[name]
      if type(name) == "number" then
        if length and length ~= name then
          fail("shape", "axis %d of operand %d, of shape %s, has length %d, the signature says %d", lead + k, i,
            shape_text(shapes[i], ndims[i]), length, name)
        end
      elseif not first or (length and not first.length) then
        owner[name] = { operand = i, axis = lead + k, length = length }
      elseif length and length ~= first.length then
        fail("shape", "dimension %s is %d in operand %d, of shape %s, and %d in operand %d, of shape %s", name,
          first.length, first.operand, shape_text(shapes[first.operand], ndims[first.operand]), length, i,
          shape_text(shapes[i], ndims[i]))
      end
    end
  end
  local loop = {}
  for k = 1, most do
    local from
    loop[k] = 1
    for i, dims in ipairs(signature.inputs) do
      local axis = ndims[i] - #dims - most + k
      local length = shapes[i][axis]
      if axis >= 1 and length ~= 1 then
        if length and loop[k] and loop[k] ~= 1 and loop[k] ~= length then
          fail("shape", "the leading axes of operand %d, of shape %s, and of operand %d, of shape %s, do not broadcast",
            from, shape_text(shapes[from], ndims[from]), i, shape_text(shapes[i], ndims[i]))
        end
        if length or loop[k] == 1 then loop[k], from = length, i end
      end
    end
  end
  return loop, owner
end

-- ---- The graph ------------------------------------------------------------------------------------------------------

-- What f gives for Variables of the core ranks, as a list of Variables.
local function call_core(f, signature, inputs)
  local results = { f(unpack(inputs, 1, #inputs)) }
  if #results == 1 and type(results[1]) == "table" and getmetatable(results[1]) == nil then results = results[1] end
  if #results ~= #signature.outputs then
    fail("value", "the signature has %d %s, the function gives %d", #signature.outputs,
      #signature.outputs == 1 and "result" or "results", #results)
  end
  local outputs = {}
  for i, v in ipairs(results) do
    local ok, variable = pcall(core.as_variable, v)
    if not ok then fail("type", "result %d of the function must be a Variable or a value, got %s", i, typename(v)) end
    local dims = signature.outputs[i]
    if not variable.type.ndim or core.sparse.is_sparse(variable) then
      fail("type", "result %d of the function must be a tensor, got %s", i, tostring(variable.type))
    end
    if variable.ndim ~= #dims then
      fail("shape", "result %d of the function has %d %s, its dimensions are %s", i, variable.ndim,
        variable.ndim == 1 and "axis" or "axes", dims_text(dims))
    end
    outputs[i] = variable
  end
  return outputs
end

-- The operands, with lengths that are known only when the graph runs checked then.
local function checked_operands(signature, operands, owner)
  local checked = {}
  for i, v in ipairs(operands) do
    local dims, want, names = signature.inputs[i], {}, {}
    local lead = v.ndim - #dims
    for k = 1, v.ndim do want[k] = false end
    for k, name in ipairs(dims) do
      local first = owner[name]
      if type(name) == "number" then
        if not v.type.shape[lead + k] then want[lead + k], names[#names + 1] = name, ("%d"):format(name) end
      elseif (first.operand ~= i or first.axis ~= lead + k) and not (v.type.shape[lead + k] and first.length) then
        want[lead + k] = first.length or core.shape(operands[first.operand])[first.axis]
        names[#names + 1] = ("%s as in operand %d"):format(name, first.operand)
      end
    end
    checked[i] = v
    if #names > 0 then
      local message = ("vectorize: operand %d %s, of dimension %s"):format(i, dims_text(dims),
        table.concat(names, ", "))
      checked[i] = core.specify_shape(v, { shape = want, message = message })
    end
  end
  return checked
end

-- The result with all leading axes of the loop, whose lengths are loop[k], or those of an operand where not known.
local function with_all_axes(result, n_core, loop, signature, operands)
  local lead, whole = result.ndim - n_core, true
  for k = 1, #loop do
    local axis = lead - #loop + k
    whole = whole and axis >= 1 and (result.type.shape[axis] ~= 1 or loop[k] == 1)
  end
  if whole then return result end
  local shape = {}
  for k = 1, #loop do
    shape[k] = loop[k]
    for i, dims in ipairs(signature.inputs) do
      local axis = operands[i].ndim - #dims - #loop + k
      if not shape[k] and axis >= 1 and operands[i].type.shape[axis] ~= 1 then
        shape[k] = core.shape(operands[i])[axis]
      end
    end
  end
  for k = 1, n_core do
    shape[#loop + k] = result.type.shape[lead + k] or core.shape(result)[lead + k]
  end
  return core.broadcast_to(result, { shape = shape })
end

local function symbolic(f, signature, operands)
  local shapes, ndims = {}, {}
  for i, v in ipairs(operands) do
    if not v.type.ndim or core.sparse.is_sparse(v) then
      fail("type", "operand %d must be a tensor, got %s", i, tostring(v.type))
    end
    shapes[i], ndims[i] = {}, v.ndim
    for k = 1, v.ndim do shapes[i][k] = v.type.shape[k] or false end
  end
  local loop, owner = check_shapes(signature, shapes, ndims)
  local checked = checked_operands(signature, operands, owner)
  local inputs, replace = {}, {}
  for i, v in ipairs(operands) do
    local dims, shape = signature.inputs[i], {}
    local lead = v.ndim - #dims
    for k, name in ipairs(dims) do
      shape[k] = type(name) == "number" and name or v.type.shape[lead + k] or owner[name].length or false
    end
    inputs[i] = core.TensorType(v.dtype, { shape = shape })(v.name)
    replace[inputs[i]] = checked[i]
  end
  local outputs = core.graph.vectorize_graph(call_core(f, signature, inputs), replace)
  for i, v in ipairs(outputs) do
    outputs[i] = with_all_axes(v, #signature.outputs[i], loop, signature, operands)
  end
  return outputs
end

-- ---- Values ---------------------------------------------------------------------------------------------------------

-- An operand that is a value: {value =, dtype =, shape =, ndim =}.
local function as_value(value, i)
  if getmetatable(value) ~= "damo.Array" then
    if core.sparse.is_sparse(value) then fail("type", "operand %d must be a tensor, got a sparse matrix", i) end
    local ok, constant = pcall(core.as_variable, value)
    if not ok then fail("type", "operand %d must be a Variable or a value, got %s", i, typename(value)) end
    if not constant.type.ndim then fail("type", "operand %d must be a tensor, got %s", i, tostring(constant.type)) end
    value = constant.data
    if type(value) ~= "userdata" then return { value = value, dtype = constant.dtype, shape = {}, ndim = 0 } end
  end
  local shape = value.shape
  return { value = value, dtype = value.dtype, shape = shape, ndim = #shape }
end

-- The compiled form for operands of these Types, whose axes of length 1 broadcast.
local function compiled(f, signature, operands, kept)
  local key, types = {}, {}
  for i, v in ipairs(operands) do
    local ones = {}
    for k = 1, v.ndim do ones[k] = v.shape[k] == 1 and 1 or false end
    types[i] = { dtype = v.dtype, shape = ones }
    for k = 1, v.ndim do key[#key + 1] = ones[k] and "1" or "n" end
    key[#key + 1] = v.dtype .. ";"
  end
  local name = table.concat(key)
  if not kept.forms[name] then
    local inputs = {}
    for i, t in ipairs(types) do inputs[i] = core.TensorType(t.dtype, { shape = t.shape })() end
    if kept.n == MOST_KEPT then kept.forms, kept.n = {}, 0 end
    kept.forms[name] = core.compile(inputs, symbolic(f, signature, inputs), { on_unused_input = "ignore" })
    kept.n = kept.n + 1
  end
  return kept.forms[name]
end

-- ---- vectorize ------------------------------------------------------------------------------------------------------

--- A function that applies f along leading axes, which broadcast: NumPy's vectorize with a signature.
-- f gets Variables of the signature's ranks, once for each combination of Types, and returns as many results as the
-- signature has, as values or as one list. Of values the function computes values; with a Variable among its arguments
-- it makes graph.
-- @function vectorize
-- @tparam function f
-- @tparam string signature the dimensions of operands and results, as "(m,n),(n)->(m)"
-- @treturn function
local function vectorize(f, signature, ...)
  arguments.no_more("vectorize", "f and signature", ...)
  local meta = type(f) ~= "function" and type(f) ~= "string" and getmetatable(f)
  if type(f) ~= "function" and meta ~= "damo.Op" and not (type(meta) == "table" and meta.__call) then
    core.raise("type", ("vectorize: argument 1 (f) must be a function, got %s"):format(typename(f)))
  end
  local sig, kept = read_signature(signature), { forms = {}, n = 0 }
  local n = #sig.inputs
  return function(...)
    local given = select("#", ...)
    if given ~= n then
      fail("value", "%s takes %d %s, got %d", sig.text, n, n == 1 and "operand" or "operands", given)
    end
    local operands, any = { ... }, false
    for i = 1, n do any = any or core.is_variable(operands[i]) end
    if any then
      for i = 1, n do
        local ok, v = pcall(core.as_variable, operands[i])
        if not ok then fail("type", "operand %d must be a Variable or a value, got %s", i, typename(operands[i])) end
        operands[i] = v
      end
      local outputs = symbolic(f, sig, operands)
      return unpack(outputs, 1, #outputs)
    end
    local shapes, ndims, values = {}, {}, {}
    for i = 1, n do
      local v = as_value(operands[i], i)
      operands[i], shapes[i], ndims[i], values[i] = v, v.shape, v.ndim, v.value
    end
    check_shapes(sig, shapes, ndims)
    return compiled(f, sig, operands, kept)(unpack(values, 1, n))
  end
end

return vectorize

-- Conversion between VALUEs of the reference files (README of the cases) and damo's values.
--
--   values.make(v)            → an Array or a sparse matrix
--   values.variable(v, name)  → a Variable for it
--   values.plain(result, dtype) → a VALUE: {kind=, shape=, dtype=, data= or re= and im=, format=, indices=, indptr=}

local damo = require "damo"

local values = {}

local function size_of(shape)
  local n = 1
  for _, d in ipairs(shape) do n = n * d end
  return n
end

local function bools(data)
  local out = {}
  for i, v in ipairs(data) do out[i] = v ~= 0 and v ~= false end
  return out
end

local function array_of(data, dtype, shape)
  if size_of(shape) == 0 then return damo.zeros(shape, dtype) end
  if dtype == "bool" then data = bools(data) end
  return damo.array(data, dtype):reshape { shape = shape }
end

-- ---- To damo ------------------------------------------------------------------------------------------------------

local function scalar(v, part)
  if v.re then return damo.complex(damo.array(v.re, part), damo.array(v.im, part)) end
  local value = v.value
  if v.dtype == "bool" then value = value ~= 0 and value ~= false end
  return damo.array(value, v.dtype)
end

local function dense(v, shape, part)
  if v.re then return damo.complex(array_of(v.re, part, shape), array_of(v.im, part, shape)) end
  return array_of(v.data, v.dtype, shape)
end

local function sparse(v, part)
  local data = dense(v, { #v.indices }, part)
  local indices = array_of(v.indices, "int64", { #v.indices })
  local indptr = array_of(v.indptr, "int64", { #v.indptr })
  return damo.sparse[v.format] { data = data, indices = indices, indptr = indptr, shape = v.shape }
end

function values.make(v)
  local part = v.dtype == "complex64" and "float32" or "float64"
  if v.kind == "sparse" then return sparse(v, part) end
  return v.kind == "scalar" and scalar(v, part) or dense(v, v.shape, part)
end

-- Dimensions of 1 are static, so that a dense operand broadcasts; the others are unknown.
function values.variable(v, name)
  if v.kind == "sparse" then return damo.sparse.matrix(v.format, name, { dtype = v.dtype }) end
  local shape = {}
  for k, d in ipairs(v.shape or {}) do shape[k] = d == 1 and 1 or false end
  return damo.tensor(name, { dtype = v.dtype, shape = shape })
end

-- ---- From damo ----------------------------------------------------------------------------------------------------

local function flatten(t, out)
  if type(t) ~= "table" then
    out[#out + 1] = t == true and 1 or t == false and 0 or t
    return out
  end
  for _, x in ipairs(t) do flatten(x, out) end
  return out
end

local function list(a) return flatten(a:totable(), {}) end

local function data_of(out, a)
  if out.dtype:find "complex" then
    out.re = values.plain(damo.real(a)).data
    out.im = values.plain(damo.imag(a)).data
  else
    out.data = a.ndim == 0 and flatten(a:item(), {}) or list(a)
  end
  return out
end

-- A number stands for a 0-d value; the Variable's Type gives its dtype.
function values.plain(result, dtype)
  if type(result) ~= "userdata" then return { kind = "dense", shape = {}, dtype = dtype, data = flatten(result,
    {}) } end
  local out = { kind = "dense", shape = result.shape, dtype = result.dtype }
  if not damo.sparse.is_sparse(result) then return data_of(out, result) end
  out.kind, out.format = "sparse", result.format
  out.indices, out.indptr = list(result.indices), list(result.indptr)
  return data_of(out, result.data)
end

return values

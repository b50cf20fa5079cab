-- det: the determinant of a matrix by expansion by minors, and its gradient.
--
-- Expanded along its first row, a minor of the last k rows is a sum over its k columns c: ±A[row, c] times the minor of
-- the last k - 1 rows without column c. A minor is determined by its set of columns, and equal minors are shared: all
-- minors of k rows are one vector, made of that of k - 1 rows by a gather. That is n·2^(n-1) products, where the
-- recursion that computes each minor anew takes about e·n!.

local damo = require "damo"

--- The subsets of k of the columns 1 to n, for each k a list of bit masks, and the position of each mask in its list.
local function subsets(n)
  local by_size, position = {}, {}
  for k = 0, n do by_size[k] = {} end
  for mask = 0, 2 ^ n - 1 do
    local k, rest = 0, mask
    while rest > 0 do
      k, rest = k + rest % 2, math.floor(rest / 2)
    end
    local list = by_size[k]
    list[#list + 1] = mask
    position[mask] = #list
  end
  return by_size, position
end

--- The Functions of the flat n×n matrix.
local function compiled(n)
  local by_size, position = subsets(n)
  local a = damo.dvector "a"
  local minors = a[{ { n * n - n + 1, n * n } }] -- of the last row
  for k = 2, n do
    local row = (n - k) * n
    local entries, rests, signs = {}, {}, {} -- for each subset: a row of k terms
    for i, mask in ipairs(by_size[k]) do
      local entry, rest = {}, {}
      for column = 0, n - 1 do
        if math.floor(mask / 2 ^ column) % 2 == 1 then
          entry[#entry + 1] = row + column + 1
          rest[#rest + 1] = position[mask - 2 ^ column]
        end
      end
      entries[i], rests[i] = entry, rest
    end
    for j = 1, k do signs[j] = j % 2 == 1 and 1.0 or -1.0 end
    local signed = a[damo.array(entries, { dtype = "int64" })] * damo.array(signs)
    minors = damo.sum(signed * minors[damo.array(rests, { dtype = "int64" })], { axis = 2 })
  end
  local det = damo.sum(minors)
  return { primal = damo.compile({ a }, det), gradient = damo.compile({ a }, damo.grad(det, a)) }
end

local function prepared(name)
  return function(input)
    local f, a = compiled(input.ell)[name], damo.array(input.A)
    return function() return f(a) end
  end
end

return { primal = prepared "primal", gradient = prepared "gradient" }

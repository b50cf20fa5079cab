-- The rows of products.
local damo = require "damo"

return function(h)
  local list = h.list
  local a, b = { { 1, 2 }, { 3, 4 }, { 5, 6 } }, { { 1, 0, -1 }, { 2, 1, 3 } }
  local ab = { { 5, 2, 5 }, { 11, 4, 9 }, { 17, 6, 13 } }
  local u, v = { 1, 2, 3 }, { 4, -5, 6 }
  local batch, other = { { { 1, 2 }, { 3, 4 } }, { { 5, 6 }, { 7, 8 } } }, { { { 1, 0 }, { 0, 2 } }, { { 0, 1 }, { 1, 0 } } }
  local batched = { { { 1, 4 }, { 3, 8 } }, { { 6, 5 }, { 8, 7 } } }
  local rows = {}
  --- A matrix too large for one block, against sums in Lua.
  local function large(n, k, m)
    local x, y, want = {}, {}, {}
    for i = 1, n do
      x[i] = {}
      for l = 1, k do x[i][l] = (i * 7 + l * 3) % 11 - 5 end
    end
    for l = 1, k do
      y[l] = {}
      for j = 1, m do y[l][j] = (l * 5 + j) % 7 - 3 end
    end
    for i = 1, n do
      want[i] = {}
      for j = 1, m do
        local s = 0
        for l = 1, k do s = s + x[i][l] * y[l][j] end
        want[i][j] = s
      end
    end
    return { x, y, want = want, int = "int64", grad = false }
  end
  rows.dot = {
    { u, v, want = 12, int = "int64" },
    { a, b, want = ab, int = "int64" },
    { a, { 1, -1 }, want = { -1, -1, -1 }, int = "int64" },
    { u, a, want = { 22, 28 }, int = "int64" },
    { u, 2.5, want = { 2.5, 5, 7.5 } },
    { damo.zeros { 2, 0 }, damo.zeros { 0, 3 }, want = { { 0, 0, 0 }, { 0, 0, 0 } } },
    { damo.zeros { 0, 2 }, damo.zeros { 2, 3 }, want = h.shape(0, 3) },
    { { {  2 } }, { { 3, 4 } }, want = { { 6, 8 } } },
    large(33, 65, 17),
  }
  rows.matmul = {
    { a, b, want = ab, int = "int64" },
    { u, v, want = 12 },
    { a, { 1, -1 }, want = { -1, -1, -1 } },
    { batch, other, want = batched, int = "int64" },
    { batch, { { 1, 0 }, { 0, 2 } }, want = { { { 1, 4 }, { 3, 8 } }, { { 5, 12 }, { 7, 16 } } } },
    { { { { 1, 2 } } }, other, want = { { { 1, 4 } }, { { 2, 1 } } } },
  }
  rows.outer = { { { 1, 2 }, { 3, 4, 5 }, want = { { 3, 4, 5 }, { 6, 8, 10 } }, int = "int64" }, { { { 1, 2 } }, { 3 }, want = { { 3 }, { 6 } } } }
  rows.tensordot = {
    { a, b, opts = 1, want = ab, int = "int64" },
    { a, a, want = 91 },
    { a, b, opts = { axes = { { 2 }, { 1 } } }, want = ab },
    { a, b, opts = { axes = { { 1, 2 }, { 2, 1 } } }, want = 22 },
    { u, { 1, 2 }, opts = { axes = 0 }, want = { { 1, 2 }, { 2, 4 }, { 3, 6 } } },
  }
  rows.vecdot = { { u, v, want = 12, int = "int64" }, { { u, v }, v, want = { 12, 77 } } }
  rows.matvec = { { a, { 1, -1 }, want = { -1, -1, -1 }, int = "int64" }, { batch, { 1, 2 }, want = { { 5, 11 }, { 17, 23 } } } }
  rows.vecmat = { { u, a, want = { 22, 28 }, int = "int64" }, { { 1, 2 }, batch, want = { { 7, 10 }, { 19, 22 } } } }
  rows.batched_dot = { { batch, other, want = batched, int = "int64" }, { batch, { { 1, 2 }, { 3, 4 } }, want = { { 5, 11 }, { 39, 53 } } },
    { u, v, want = { 4, -10, 18 } } }
  rows.kron = { { { { 1, 2 } }, { { 1 }, { 10 } }, want = { { 1, 2 }, { 10, 20 } }, int = "int64" },
    { { { 1, 2 }, { 3, 4 } }, { { 0, 5 } }, want = { { 0, 5, 0, 10 }, { 0, 15, 0, 20 } } } }
  rows.einsum = {
    { list { a, b }, opts = "ij,jk->ik", want = ab },
    { list { a, b }, opts = { subscripts = "ij,jk->ki" }, want = { { 5, 11, 17 }, { 2, 4, 6 }, { 5, 9, 13 } } },
    { list { a }, opts = "ij->ji", want = { { 1, 3, 5 }, { 2, 4, 6 } } },
    { list { a }, opts = "ij->", want = 21 },
    { list { { { 1, 2 }, { 3, 4 } } }, opts = "ii->i", want = { 1, 4 } },
    { list { { { 1, 2 }, { 3, 4 } } }, opts = "ii", want = 5 },
    { list { u, v }, opts = "i,i->", want = 12 },
    { list { { 1, 2 }, { 3, 4 } }, opts = "i,j->ij", want = { { 3, 4 }, { 6, 8 } } },
    { list { batch, other }, opts = "bij,bjk->bik", want = batched },
    { list { a, b, a }, opts = "ij,jk,kl->il", want = { { 36, 48 }, { 68, 92 }, { 100, 136 } } },
  }
  return rows
end

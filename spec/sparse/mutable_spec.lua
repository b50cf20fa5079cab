-- An input that its caller declares mutable (In) may be overwritten by the first Op that can work in place.
local damo = require "damo"
local s = require "spec.sparse.support"
local sparse = damo.sparse

local A, B, d = sparse.csr_matrix "A", sparse.csr_matrix "B", damo.dmatrix "d"
local v, w = damo.dvector "v", damo.dvector "w"
local function given(x) return damo.In(x, { mutable = true, borrow = true }) end

-- The names of the Ops that destroy an input.
local function destroyers(f)
  local names = {}
  for _, node in ipairs(f.fgraph.apply_nodes) do
    if next(node.op.destroy_map or {}) then names[#names + 1] = node.op.name end
  end
  return table.concat(names, " ")
end

local function zeros() return s.matrix { rows = 4, cols = 5, kind = "zeros" } end

describe("a mutable input", function()
  for name, fn in pairs { Remove0 = sparse.remove0, EnsureSortedIndices = sparse.ensure_sorted_indices } do
    it("is overwritten by " .. name, function()
      for _, value in ipairs { zeros(), s.matrix { rows = 4, cols = 5, kind = "unsorted" } } do
        local f = damo.compile({ given(A) }, sparse.neg(fn(A)))
        assert.equal(name, destroyers(f))
        local want = (-value):toarray()
        s.close(f(value:copy()), s.flat(want))
        local kept = damo.compile({ A }, sparse.neg(fn(A)))
        assert.equal("", destroyers(kept))
        local before = s.flat(value.data)
        s.close(kept(value), s.flat(want))
        assert.same(before, s.flat(value.data))
        for _, mode in ipairs { "FAST_COMPILE", "DEBUG", "NANGUARD" } do
          s.close(damo.compile({ given(A) }, sparse.neg(fn(A)), { mode = mode })(value:copy()), s.flat(want), mode)
        end
      end
    end)
  end

  it("is overwritten by products added to it, and by elementwise functions", function()
    local m, ones = s.matrix { rows = 4, cols = 5 }, damo.ones { 4, 3 }
    local e = damo.dmatrix "e"
    local f = damo.compile({ given(d), A, e }, damo.sum(sparse.usmm(2, A, e, d), { axis = 1 }))
    assert.is_truthy(destroyers(f):find("Usmm", 1, true))
    local plain = damo.compile({ d, A, e }, damo.sum(sparse.usmm(2, A, e, d), { axis = 1 }))
    assert.equal("", (destroyers(plain):gsub("Elemwise", "")))
    s.close(f(ones:copy(), m, damo.ones { 5, 3 }), s.flat(plain(ones, m, damo.ones { 5, 3 })))
    local g = damo.compile({ given(v), w }, damo.cumsum(damo.exp(v) * w))
    s.close(g(damo.zeros { 3 }, damo.ones { 3 }), { 1, 2, 3 })
  end)

  it("is not overwritten if others read it, or the caller keeps it", function()
    assert.equal("", destroyers(damo.compile({ given(A) }, { sparse.neg(sparse.remove0(A)), sparse.sum(A) })))
    assert.equal("", destroyers(damo.compile({ given(A) }, { sparse.neg(sparse.remove0(A)), A })))
    assert.equal("", destroyers(damo.compile({ given(A) }, sparse.remove0(A))))
    local shared = damo.shared(zeros())
    assert.equal("", destroyers(damo.compile({}, sparse.neg(sparse.remove0(shared)))))
    assert.equal("", destroyers(damo.compile({}, sparse.neg(sparse.remove0(damo.constant(zeros()))))))
  end)

  it("that is passed twice is copied first", function()
    local f = damo.compile({ given(A), B }, { sparse.neg(sparse.remove0(A)), sparse.neg(B) })
    assert.equal("Remove0", destroyers(f))
    local m = zeros()
    local before = s.flat(m.data)
    local p, q = f(m, m)
    s.close(p, s.flat(-zeros()))
    s.close(q, s.flat(-zeros()))
    assert.same(before, s.flat(m.data))
  end)

  it("keeps its default value", function()
    local f = damo.compile({ damo.In(A, { mutable = true, value = zeros() }) }, sparse.neg(sparse.remove0(A)))
    assert.equal("Remove0", destroyers(f))
    for _ = 1, 3 do s.close(f(), s.flat(-zeros())) end
  end)
end)

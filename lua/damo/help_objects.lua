--- Examples for damo.help of fields and methods of values: Lua whose last line is an
-- expression, and what it gives behind -->. For damo's own files only; spec/lua/help_spec.lua runs them.
-- @module damo.help_objects

return {
  ["Row.name"] = [==[
damo.registry()[1].name
--> add]==],
  ["Row.operands"] = [==[
damo.registry()[1].operands[1].name
--> x]==],
  ["Row.options"] = [==[
#damo.registry()[1].options
--> 0]==],
  ["Row.doc"] = [==[
damo.registry()[1].doc
--> sum]==],
  ["Row.method"] = [==[
damo.registry()[1].method
--> true]==],
  ["Row.random"] = [==[
damo.registry()[1].random
--> false]==],
  ["Error.kind"] = [==[
local _, err = pcall(damo.add, damo.ones {2}, damo.ones {3})
err.kind
--> shape]==],
  ["Error.message"] = [==[
local _, err = pcall(damo.add, damo.ones {2}, damo.ones {3})
err.message
--> add: shapes (2,) and (3,) do not agree: axis 1 is 2 in operand 1 and 3 in operand 2]==],
  ["Error.op"] = [==[
local x = damo.dvector "x"
local _, err = pcall(damo.compile({x}, x + damo.ones {3}), {1, 2})
err.op ~= nil
--> true]==],
  ["Error.operands"] = [==[
local _, err = pcall(damo.dot, damo.ones {2, 3}, damo.sparse.eye(2))
err.operands
--> float64 (2, 3), csr float64 (2, 2)]==],
  ["Error.node"] = [==[
local x = damo.dvector "x"
local _, err = pcall(damo.compile({x}, x + damo.ones {3}), {1, 2})
err.node.inputs
--> {x, [1. 1. 1.]}]==],
  ["Error.where"] = [==[
local _, err = pcall(damo.zeros, 2, 3)
type(err.where)
--> string]==],
  ["Error.trace"] = [==[
local _, err = pcall(function() return damo.zeros(2, 3) end)
type(err.trace[1])
--> string]==],
  ["Error.cause"] = [==[
local scalar = damo.TensorType("float64", {ndim = 0})
local fails = damo.Op {
  name = "Fails", itypes = {scalar}, otypes = {scalar}, perform = function() error("mine", 0) end,
}
local _, err = pcall(function() return fails(1.0):eval() end)
err.cause
--> mine]==],
  ["Tensor.dtype"] = [==[
damo.dvector("x").dtype, damo.array({1}, "int8").dtype
--> float64
    int8]==],
  ["Tensor.ndim"] = [==[
damo.dmatrix("x").ndim, damo.ones({2, 3, 4}).ndim
--> 2
    3]==],
  ["Tensor.T"] = [==[
damo.array({{1, 2}, {3, 4}}).T
--> [[1. 3.]
     [2. 4.]]]==],
  ["Array.T"] = [==[
damo.array({{1, 2}, {3, 4}}).T
--> [[1. 3.]
     [2. 4.]]]==],
  ["Array.shape"] = [==[
damo.ones({2, 3}).shape
--> {2, 3}]==],
  ["Array.strides"] = [==[
damo.ones({2, 3}).strides
--> {24, 8}]==],
  ["Array.size"] = [==[
damo.ones({2, 3}).size
--> 6]==],
  ["Array.writeable"] = [==[
local a = damo.ones {2}
a.writeable = false
local _, err = pcall(function() a[1] = 2 end)
err.message
--> index: the Array is read-only; a:copy() can be written]==],
  ["Array:totable"] = [==[
damo.array({{1, 2}, {3, 4}}):totable()
--> {{1.0, 2.0}, {3.0, 4.0}}]==],
  ["Array:item"] = [==[
damo.array({7}):item()
--> 7.0]==],
  ["Array:copy"] = [==[
local a = damo.array {1, 2}
local b = a:copy()
b[1] = 9
a
--> [1. 2.]]==],
  ["Array:astype"] = [==[
damo.array({1.7, -1.7}):astype "int32"
--> [ 1 -1]]==],
  ["Array:tobytes"] = [==[
#damo.array({1, 2}):tobytes()
--> 16]==],
  ["Array:pointer"] = [==[
type(damo.array({1, 2}):pointer())
--> userdata]==],
  ["Array:rebind"] = [==[
local a, b = damo.array {1, 2}, damo.array {3, 4}
local view = damo.view(a:pointer(), {dtype = "float64", shape = {2}, owner = a})
view:rebind(b:pointer())
--> [3. 4.]]==],
  ["Array:iscontiguous"] = [==[
damo.ones({2, 3}):iscontiguous(), damo.ones({2, 3}).T:iscontiguous()
--> true
    false]==],
  ["Array:free"] = [==[
local a = damo.ones {1000}
a:free()
local _, err = pcall(damo.sum, a)
err.message
--> this Array has been freed]==],
  ["Variable.T"] = [==[
local x = damo.dmatrix "x"
x.T:eval {[x] = {{1, 2}, {3, 4}}}
--> [[1. 3.]
     [2. 4.]]]==],
  ["Variable.name"] = [==[
damo.dvector("x").name
--> x]==],
  ["Variable.type"] = [==[
damo.dvector("x").type
--> TensorType(float64, shape=(?,))]==],
  ["Variable.owner"] = [==[
damo.exp(damo.dvector "x").owner
--> Elemwise{exp}(x)]==],
  ["Variable.index"] = [==[
damo.exp(damo.dvector "x").index
--> 1]==],
  ["Variable.shape"] = [==[
local x = damo.dmatrix "x"
x.shape:eval {[x] = {{1, 2, 3}}}
--> [1 3]]==],
  ["Variable.size"] = [==[
local x = damo.dmatrix "x"
x.size:eval {[x] = {{1, 2, 3}}}
--> 3]==],
  ["Variable.broadcastable"] = [==[
damo.drow("x").broadcastable
--> {true, false}]==],
  ["Variable.data"] = [==[
damo.constant({1, 2}).data
--> [1. 2.]]==],
  ["Variable.tag"] = [==[
local x = damo.dscalar "x"
x.tag.unit = "metre"
x.tag.unit
--> metre]==],
  ["Variable.default_update"] = [==[
local n = damo.shared(0, "n")
n.default_update = n + 1
damo.compile({}, n)()
n:get_value()
--> 1.0]==],
  ["Variable.format"] = [==[
damo.sparse.csr_matrix("A").format
--> csr]==],
  ["Variable.itype"] = [==[
damo.sparse.csr_matrix("A").itype
--> int32]==],
  ["Variable.nnz"] = [==[
local a = damo.sparse.csr_matrix "A"
a.nnz:eval {[a] = damo.sparse.eye(3)}
--> 3]==],
  ["Variable.indices"] = [==[
local a = damo.sparse.csr_matrix "A"
a.indices:eval {[a] = damo.sparse.eye(3)}
--> [0 1 2]]==],
  ["Variable.indptr"] = [==[
local a = damo.sparse.csr_matrix "A"
a.indptr:eval {[a] = damo.sparse.eye(3)}
--> [0 1 2 3]]==],
  ["Variable:get_value"] = [==[
damo.shared({1, 2}, "w"):get_value()
--> [1. 2.]]==],
  ["Variable:set_value"] = [==[
local w = damo.shared({1, 2}, "w")
w:set_value {3, 4}
w:get_value()
--> [3. 4.]]==],
  ["Variable:eval"] = [==[
local x = damo.dscalar "x"
damo.exp(x):eval {[x] = 0}
--> 1.0]==],
  ["Variable:clone"] = [==[
local y = damo.exp(damo.dscalar "x")
y:clone().owner
--> nil]==],
  ["Variable:set"] = [==[
local x = damo.dvector "x"
x:set(1, 9):eval {[x] = {1, 2}}
--> [9. 2.]]==],
  ["Variable:inc"] = [==[
local x = damo.dvector "x"
x:inc({{2, 3}}, 10):eval {[x] = {1, 2, 3}}
--> [ 1. 12. 13.]]==],
  ["Type.kind"] = [==[
damo.dvector("x").type.kind
--> TensorType]==],
  ["Type.dtype"] = [==[
damo.fvector("x").type.dtype
--> float32]==],
  ["Type.ndim"] = [==[
damo.dmatrix("x").type.ndim
--> 2]==],
  ["Type.shape"] = [==[
damo.tensor("x", {shape = {2, false}}).type.shape
--> {2, false}]==],
  ["Type.broadcastable"] = [==[
damo.drow("x").type.broadcastable
--> {true, false}]==],
  ["Type.format"] = [==[
damo.sparse.csc_matrix("A").type.format
--> csc]==],
  ["Type.itype"] = [==[
damo.sparse.csc_matrix("A").type.itype
--> int32]==],
  ["Type.pattern"] = [==[
local pattern = damo.sparse.eye(2)
damo.sparse.csr_matrix("A", {pattern = pattern}).type.pattern.nnz
--> 2]==],
  ["Type.why"] = [==[
damo.NullType("of a rounding").why
--> of a rounding]==],
  ["Type:filter"] = [==[
damo.dvector("x").type:filter {1, 2}
--> [1. 2.]]==],
  ["Type:is_valid_value"] = [==[
damo.dvector("x").type:is_valid_value(damo.array {1, 2})
--> true]==],
  ["Type:values_eq"] = [==[
damo.dvector("x").type:values_eq(damo.array {1}, damo.array {1})
--> true]==],
  ["Type:is_super"] = [==[
damo.dmatrix("x").type:is_super(damo.drow("y").type)
--> true]==],
  ["Type:make_variable"] = [==[
damo.dvector("x").type:make_variable("y").name
--> y]==],
  ["RandomStream.seed_value"] = [==[
damo.random.RandomStream(7).seed_value
--> 7]==],
  ["RandomStream.n"] = [==[
local rs = damo.random.RandomStream(7)
rs:normal(0, 1)
rs.n
--> 1]==],
  ["RandomStream.states"] = [==[
local rs = damo.random.RandomStream(7)
rs:normal(0, 1)
#rs.states
--> 1]==],
  ["RandomStream:next_seed"] = [==[
type(damo.random.RandomStream(7):next_seed())
--> number]==],
  ["RandomStream:seed"] = [==[
local rs = damo.random.RandomStream(7)
local f = damo.compile({}, rs:uniform(0, 1))
local first = f()
rs:seed()
first == f()
--> true]==],
  ["Sparse.T"] = [==[
damo.sparse.csr({{1, 2}, {0, 0}}).T
--> <csc float64 (2, 2), 2 stored>
      (1, 1)  1.0
      (2, 1)  2.0]==],
  ["Sparse.format"] = [==[
damo.sparse.eye(2).format
--> csr]==],
  ["Sparse.itype"] = [==[
damo.sparse.eye(2).itype
--> int32]==],
  ["Sparse.shape"] = [==[
damo.sparse.eye(2, 3).shape
--> {2, 3}]==],
  ["Sparse.nnz"] = [==[
damo.sparse.eye(2, 3).nnz
--> 2]==],
  ["Sparse.size"] = [==[
damo.sparse.eye(2, 3).size
--> 2]==],
  ["Sparse.data"] = [==[
damo.sparse.csr({{1, 0}, {2, 3}}).data
--> [1. 2. 3.]]==],
  ["Sparse.indices"] = [==[
damo.sparse.csr({{1, 0}, {2, 3}}).indices
--> [0 0 1]]==],
  ["Sparse.indptr"] = [==[
damo.sparse.csr({{1, 0}, {2, 3}}).indptr
--> [0 1 3]]==],
  ["Sparse.has_sorted_indices"] = [==[
damo.sparse.csr({{1, 0}, {2, 3}}).has_sorted_indices
--> true]==],
  ["Sparse.has_canonical_format"] = [==[
damo.sparse.csr({{1, 0}, {2, 3}}).has_canonical_format
--> true]==],
  ["Sparse:copy"] = [==[
local a = damo.sparse.eye(2)
a:copy() == a
--> false]==],
  ["Sparse:free"] = [==[
local a = damo.sparse.eye(2)
a:free()
local _, err = pcall(damo.sparse.transpose, a)
err.message
--> this Sparse has been freed]==],
  ["Factor.backend"] = [==[
type(damo.sparse.factorize(damo.sparse.csc {{4, 1}, {1, 3}}).backend)
--> string]==],
  ["Factor.kind"] = [==[
damo.sparse.factorize(damo.sparse.csc {{4, 1}, {2, 3}}, {assume = "gen"}).kind
--> lu]==],
  ["Factor.shape"] = [==[
damo.sparse.factorize(damo.sparse.csc {{4, 1}, {1, 3}}).shape
--> {2, 2}]==],
  ["Factor.dtype"] = [==[
damo.sparse.factorize(damo.sparse.csc {{4, 1}, {1, 3}}).dtype
--> float64]==],
  ["Factor.analyses"] = [==[
damo.sparse.factorize(damo.sparse.csc {{4, 1}, {1, 3}}).analyses
--> 1]==],
  ["Factor.factorizations"] = [==[
damo.sparse.factorize(damo.sparse.csc {{4, 1}, {1, 3}}).factorizations
--> 1]==],
  ["Factor.nbytes"] = [==[
damo.sparse.factorize(damo.sparse.csc {{4, 1}, {1, 3}}).nbytes > 0
--> true]==],
  ["Factor:solve"] = [==[
damo.sparse.factorize(damo.sparse.csc {{2, 0}, {1, 4}}):solve {2, 9}
--> [1. 2.]]==],
  ["Factor:solve_t"] = [==[
damo.sparse.factorize(damo.sparse.csc {{2, 0}, {1, 4}}):solve_t {3, 4}
--> [1. 1.]]==],
  ["Factor:logdet"] = [==[
damo.sparse.factorize(damo.sparse.csc {{0, 1}, {1, 0}}):logdet()
--> 0.0
    -1.0]==],
  ["Factor:det"] = [==[
damo.sparse.factorize(damo.sparse.csc {{2, 0}, {1, 4}}):det()
--> 8.0]==],
  ["Factor:rcond"] = [==[
damo.sparse.factorize(damo.sparse.csc {{2, 0}, {0, 4}}):rcond()
--> 0.5]==],
  ["Factor:free"] = [==[
local f = damo.sparse.factorize(damo.sparse.csc {{2, 0}, {1, 4}})
f:free()
local _, err = pcall(f.solve, f, {1, 2})
err.message
--> this Factor has been freed]==],
  ["Treedef.n"] = [==[
local _, treedef = damo.tree.flatten {a = 1, b = {2, 3}}
treedef.n
--> 3]==],
  ["Bar.total"] = [==[
damo.progress.new(10, "steps", {out = {write = function() end}}).total
--> 10]==],
  ["Bar.title"] = [==[
damo.progress.new(10, "steps", {out = {write = function() end}}).title
--> steps]==],
  ["Bar.done"] = [==[
local bar = damo.progress.new(10, "steps", {out = {write = function() end}})
bar:step(3)
bar.done
--> 3]==],
  ["Bar.terminal"] = [==[
damo.progress.new(10, "steps", {out = {write = function() end}, terminal = false}).terminal
--> false]==],
  ["Bar:step"] = [==[
local bar = damo.progress.new(10, "steps", {out = {write = function() end}})
bar:step(3, {loss = 0.5})
bar.done
--> 3]==],
  ["Bar:finish"] = [==[
local bar = damo.progress.new(1, "steps", {out = {write = function() end}})
bar:step(1)
bar:finish()]==],
  ["Distribution.name"] = [==[
damo.dist.Normal(0, 1).name
--> Normal]==],
  ["Distribution.params"] = [==[
#damo.dist.Normal(0, 1).params
--> 2]==],
  ["Distribution:logp"] = [==[
damo.dist.Normal(0, 1):logp(damo.array {0, 1})
--> [-0.91893853 -1.41893853]]==],
  ["Distribution:logcdf"] = [==[
damo.exp(damo.dist.Normal(0, 1):logcdf(0))
--> 0.5]==],
  ["Distribution:icdf"] = [==[
damo.dist.Normal(0, 1):icdf(0.975)
--> 1.9599639845401]==],
  ["Distribution:mean"] = [==[
damo.dist.Gamma(2, 3):mean()
--> 6]==],
  ["Distribution:var"] = [==[
damo.dist.Gamma(2, 3):var()
--> 18]==],
  ["Distribution:sample"] = [==[
damo.dist.Normal(0, 1):sample(damo.random.RandomStream(1), {size = {3}}):eval().shape
--> {3}]==],
}

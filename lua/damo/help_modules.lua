--- Examples for damo.help of functions of modules and settings: Lua whose last line is an
-- expression, and what it gives behind -->. For damo's own files only; spec/lua/help_spec.lua runs them.
-- @module damo.help_modules

return {
  ["damo.optim.sgd"] = [==[
local w = damo.shared(1.0, "w")
local updates = damo.optim.sgd({w}, {damo.grad(w ^ 2, w)}, {lr = 0.1})
damo.compile({}, {}, {updates = updates})()
w:get_value()
--> 0.8]==],
  ["damo.optim.momentum"] = [==[
local w = damo.shared(1.0, "w")
local updates = damo.optim.momentum({w}, {damo.grad(w ^ 2, w)}, {lr = 0.1, momentum = 0.5})
local step = damo.compile({}, {}, {updates = updates})
step() step()
w:get_value()
--> 0.54]==],
  ["damo.optim.rmsprop"] = [==[
local w = damo.shared(1.0, "w")
local updates = damo.optim.rmsprop({w}, {damo.grad(w ^ 2, w)}, {lr = 0.1, rho = 0.75})
damo.compile({}, {}, {updates = updates})()
w:get_value()
--> 0.800000002]==],
  ["damo.optim.adam"] = [==[
local w = damo.shared(1.0, "w")
local updates = damo.optim.adam({w}, {damo.grad(w ^ 2, w)}, {lr = 0.1})
damo.compile({}, {}, {updates = updates})()
damo.round(w:get_value() * 1000)
--> 900.0]==],
  ["damo.plot.lines"] = [==[
damo.plot.lines({{name = "square", y = {0, 1, 4, 9}}}):match "x from.*"
--> x from 1 to 4, y from 0 to 9
      a  square]==],
  ["damo.plot.scatter"] = [==[
damo.plot.scatter({{name = "points", x = {1, 2, 3}, y = {3, 1, 2}}}):match "x from.*"
--> x from 1 to 3, y from 1 to 3
      a  points]==],
  ["damo.plot.bar"] = [==[
damo.plot.bar({3, 1, 2}, {labels = {"red", "green", "blue"}})
--> red   |######################################## 3
    green |############# 1
    blue  |########################### 2]==],
  ["damo.plot.hist"] = [==[
damo.plot.hist({1, 2, 2, 3, 3, 3}, {bins = 3})
--> count
    1 to 1.667     |############# 1
    1.667 to 2.333 |########################### 2
    2.333 to 3     |######################################## 3]==],
  ["damo.plot.box"] = [==[
damo.plot.box({{name = "a", y = {1, 2, 3, 4, 9}}}):match "x from.*"
--> x from 0.4 to 1.6, y from 1 to 9
      1  a]==],
  ["damo.plot.image"] = [==[
damo.plot.image {{0, 1, 2}, {3, 4, 5}}
--> values from 0 (' ') to 5 ('@')
    |+#@|
    | .-|]==],
  ["damo.plot.heatmap"] = [==[
damo.plot.heatmap({{1, 2}, {3, 4}}, {rows = {"a", "b"}, columns = {"x", "y"}, values = true})
-->    x  y
    a  1  2
    b  3  4]==],
  ["damo.plot.contour"] = [==[
damo.plot.contour({{0, 0, 0}, {0, 1, 0}, {0, 0, 0}}, {levels = 2})
--> values from 0 (' ') to 1 ('@')
    |   |
    | @ |
    |   |]==],
  ["damo.plot.surface"] = [==[
damo.plot.surface {{0, 0, 0}, {0, 1, 0}, {0, 0, 0}}
--> values from 0 (' ') to 1 ('@')
    |   |
    | @ |
    |   |]==],
  ["damo.plot.quiver"] = [==[
damo.plot.quiver({u = {{1, 0}, {0, -1}}, v = {{0, 1}, {-1, 0}}}):match "x from.*"
--> x from 1 to 2, y from 1 to 2]==],
  ["damo.plot.spy"] = [==[
damo.plot.spy(damo.sparse.eye(4))
--> 4 × 4, 4 stored
    |*   |
    | *  |
    |  * |
    |   *|]==],
  ["damo.plot.figure"] = [==[
damo.plot.figure({{"bar", {1, 2}}, {"spy", damo.eye(2)}}, {title = "two"})
--> two
    1 |#################### 1
    2 |######################################## 2
    2 × 2, 2 stored
    |* |
    | *|]==],
  ["damo.nn.dropout"] = [==[
local x = damo.dvector "x"
local y = damo.nn.dropout(x, {p = 0.5, rng = damo.random.RandomStream(1)})
y:eval {[x] = {1, 2, 3, 4}}
--> [0. 0. 6. 0.]]==],
  ["damo.range"] = [==[
damo.range(1, 7, 2)
--> [1 3 5 7]]==],
  ["damo.frombytes"] = [==[
damo.frombytes("\1\2\3", "uint8", {3})
--> [1 2 3]]==],
  ["damo.frompointer"] = [==[
local a = damo.array {1, 2, 3}
damo.frompointer(a:pointer(), "float64", {2}, a)
--> [1. 2.]]==],
  ["damo.view"] = [==[
local a = damo.array {1, 2, 3, 4}
damo.view(a:pointer(), {dtype = "float64", shape = {2}, strides = {16}, size = 32, owner = a})
--> [1. 3.]]==],
  ["damo.from_token"] = [==[
local x = damo.dscalar "x"
local f = damo.compile({x}, x + 1)
damo.from_token(f:token())(2)
--> 3.0]==],
  ["damo.help"] = [==[
damo.help("dot", {file = "str"}):match "^[^\n]*"
--> damo.dot: product: the last axis of x with the last but one of y (its only one when y is a vector)]==],
  ["damo.save_graph"] = [==[
local x, path = damo.dscalar "x", os.tmpname()
local saved = damo.save_graph(path, {inputs = {x}, outputs = {x ^ 2}})
os.remove(path)
saved
--> true]==],
  ["damo.load_graph"] = [==[
local x, path = damo.dscalar "x", os.tmpname()
damo.save_graph(path, damo.compile({x}, x ^ 2))
local graph = damo.load_graph(path)
os.remove(path)
damo.compile(graph.inputs, graph.outputs)(3)
--> 9.0]==],
  ["damo.explain"] = [==[
local _, err = pcall(damo.zeros, 2, 3)
damo.explain(err):match "Instead.*"
--> Instead of
        damo.zeros(2, 3)
    write
        damo.zeros { 2, 3 }]==],
  ["damo.clock"] = [==[
local start = damo.clock()
damo.clock() >= start
--> true]==],
  ["damo.array_equal"] = [==[
damo.array_equal({1, 2}, damo.array({1, 2}, "int32"))
--> true]==],
  ["damo.idx"] = [==[
damo.array({10, 20, 30})[damo.idx {3, 1}]
--> [30. 10.]]==],
  ["damo.tensor"] = [==[
damo.tensor("x", {shape = {false, 3}}).type
--> TensorType(float64, shape=(?, 3))]==],
  ["damo.constant"] = [==[
damo.constant({1, 2}, {dtype = "float32"}).type
--> TensorType(float32, shape=(2,))]==],
  ["damo.as_tensor_variable"] = [==[
damo.as_tensor_variable({1, 2}).data
--> [1. 2.]]==],
  ["damo.as_tensor"] = [==[
damo.as_tensor({1, 2}).data
--> [1. 2.]]==],
  ["damo.as_variable"] = [==[
damo.as_variable(damo.sparse.eye(2)).type
--> SparseTensorType(csr, float64, shape=(2, 2))]==],
  ["damo.is_variable"] = [==[
damo.is_variable(damo.dscalar "x"), damo.is_variable(1)
--> true
    false]==],
  ["damo.TensorType"] = [==[
damo.TensorType("float32", {shape = {2, false}})
--> TensorType(float32, shape=(2, ?))]==],
  ["damo.NullType"] = [==[
damo.NullType("no derivative is known").why
--> no derivative is known]==],
  ["damo.DisconnectedType"] = [==[
damo.DisconnectedType()
--> DisconnectedType]==],
  ["damo.GenericType"] = [==[
damo.GenericType():is_valid_value {}
--> true]==],
  ["damo.RandomType"] = [==[
damo.RandomType()
--> RandomType]==],
  ["damo.Op"] = [==[
local scalar = damo.TensorType("float64", {ndim = 0})
local double = damo.Op {
  name = "Double", itypes = {scalar}, otypes = {scalar},
  perform = function(self, node, inputs, outputs) outputs[1][1] = inputs[1] * 2 end,
}
double(3):eval()
--> 6.0]==],
  ["damo.Apply"] = [==[
local x = damo.dscalar "x"
local op = damo.exp(x).owner.op
damo.Apply(op, {x}, {damo.dscalar()}).outputs[1]:eval {[x] = 0}
--> 1.0]==],
  ["damo.In"] = [==[
local x, y = damo.dscalar "x", damo.dscalar "y"
damo.compile({x, damo.In(y, {value = 10})}, x + y)(1)
--> 11.0]==],
  ["damo.Out"] = [==[
local x = damo.dvector "x"
damo.compile({x}, damo.Out(x * 2, {borrow = true}))({1, 2})
--> [2. 4.]]==],
  ["damo.Mode"] = [==[
local x = damo.dscalar "x"
damo.compile({x}, x + 1, {mode = damo.Mode {exclude = {"fusion"}}})(1)
--> 2.0]==],
  ["damo.Lop"] = [==[
local x = damo.dvector "x"
damo.Lop(x ^ 2, x, damo.ones {2}):eval {[x] = {1, 3}}
--> [2. 6.]]==],
  ["damo.Rop"] = [==[
local x = damo.dvector "x"
damo.Rop(x ^ 2, x, damo.array {1, 0}):eval {[x] = {1, 3}}
--> [2. 0.]]==],
  ["damo.jacobian"] = [==[
local x = damo.dvector "x"
damo.jacobian(x ^ 2, x):eval {[x] = {1, 3}}
--> [[2. 0.]
     [0. 6.]]]==],
  ["damo.hessian"] = [==[
local x = damo.dvector "x"
damo.hessian(damo.sum(x ^ 3), x):eval {[x] = {1, 2}}
--> [[ 6.  0.]
     [ 0. 12.]]]==],
  ["damo.hessian_vector_product"] = [==[
local x = damo.dvector "x"
damo.hessian_vector_product(damo.sum(x ^ 3), x, damo.constant {1, 1}):eval {[x] = {1, 2}}
--> [ 6. 12.]]==],
  ["damo.vectorize"] = [==[
local norm = damo.vectorize(function(v) return damo.sqrt(damo.sum(v ^ 2)) end, "(n)->()")
norm(damo.array {{3, 4}, {6, 8}})
--> [ 5. 10.]]==],
  ["damo.until_"] = [==[
damo.scan(function(h) return h * 2, damo.until_(damo.gt(h * 2, 10)) end, {outputs_info = 1.0})
--> [ 2.  4.  8. 16.]]==],
  ["damo.map"] = [==[
damo.map(function(v) return v ^ 2 end, {sequences = damo.array {1, 2, 3}})
--> [1. 4. 9.]]==],
  ["damo.reduce"] = [==[
damo.reduce(function(v, sum) return sum + v end, {sequences = damo.array {1, 2, 3}, outputs_info = 0.0})
--> 6.0]==],
  ["damo.foldl"] = [==[
damo.foldl(function(v, h) return h / v end, {sequences = damo.array {2, 4}, outputs_info = 1.0})
--> 0.125]==],
  ["damo.foldr"] = [==[
damo.foldr(function(v, h) return v - h end, {sequences = damo.array {5, 3, 1}, outputs_info = 0.0})
--> 3.0]==],
  ["damo.while_loop"] = [==[
damo.while_loop(function(n) return damo.lt(n, 100) end, function(n) return n * 2 end, 1.0)
--> 128.0]==],
  ["damo.piecewise"] = [==[
local x = damo.array {-2, 3}
damo.piecewise(x, {damo.lt(x, 0)}, {function(v) return -v end, function(v) return v * 10 end})
--> [ 2. 30.]]==],
  ["damo.stacklists"] = [==[
damo.stacklists {{1, 2}, {3, 4}}
--> [[1 2]
     [3 4]]]==],
  ["damo.block"] = [==[
damo.block {{damo.eye(2), damo.zeros {2, 1}}}
--> [[1. 0. 0.]
     [0. 1. 0.]]]==],
  ["damo.mgrid"] = [==[
damo.mgrid {slices = {{stop = 2}, {stop = 3}}}
--> [[0 0 0]
     [1 1 1]]
    [[0 1 2]
     [0 1 2]]]==],
  ["damo.ogrid"] = [==[
damo.ogrid {slices = {{stop = 2}, {stop = 3}}}
--> [[0]
     [1]]
    [[0 1 2]]]==],
  ["damo.verify_grad"] = [==[
damo.verify_grad(function(x) return damo.sum(damo.sin(x)) end, {damo.array {0.5, 1}})]==],
  ["damo.grad_undefined"] = [==[
damo.grad_undefined("floor", 1, damo.dscalar "x").type
--> NullType(the gradient of floor for its input 1 is undefined)]==],
  ["damo.grad_not_implemented"] = [==[
damo.grad_not_implemented("mine", 1, damo.dscalar "x").type
--> NullType(the gradient of mine for its input 1 is not implemented)]==],
  ["damo.info"] = [==[
damo.info().version
--> 0.1.0]==],
  ["damo.memory"] = [==[
damo.memory().bytes > 0
--> true]==],
  ["damo.registry"] = [==[
damo.registry()[1].name
--> add]==],
  ["damo.raise"] = [==[
local _, err = pcall(damo.raise, "value", "lr must be positive")
err.message
--> lr must be positive]==],
  ["damo.random_state"] = [==[
damo.random_state(1).dtype
--> uint64]==],
  ["damo.random_shared"] = [==[
damo.random_shared(damo.random_state(1), "state").type
--> RandomType]==],
  ["damo.random.RandomStream"] = [==[
local rs = damo.random.RandomStream(1)
local f = damo.compile({}, rs:uniform(0, 1, {size = {2}}))
damo.array_equal(f(), f())
--> false]==],
  ["damo.random.seed"] = [==[
damo.random.seed(1)
local first = damo.random.uniform(0, 1)
damo.random.seed(1)
first == damo.random.uniform(0, 1)
--> true]==],
  ["damo.random.eager"] = [==[
damo.random.eager(function(rng) return rng, damo.array {1, 2} end)
--> [1. 2.]]==],
  ["damo.random.state"] = [==[
damo.array_equal(damo.random.state(1), damo.random.state(1))
--> true]==],
  ["damo.graph.FunctionGraph"] = [==[
local x = damo.dscalar "x"
damo.graph.FunctionGraph({x}, {damo.exp(x)})
--> FunctionGraph(1 inputs, 1 outputs, 1 nodes)]==],
  ["damo.graph.DestroyHandler"] = [==[
local x = damo.dscalar "x"
local fgraph = damo.graph.FunctionGraph({x}, {damo.exp(x)})
fgraph:attach_feature(damo.graph.DestroyHandler())
fgraph:consistent()
--> true]==],
  ["damo.graph.ancestors"] = [==[
local x = damo.dscalar "x"
damo.graph.ancestors {damo.exp(x)}
--> {x, Elemwise{exp}.1}]==],
  ["damo.graph.graph_inputs"] = [==[
local x, y = damo.dscalar "x", damo.dscalar "y"
damo.graph.graph_inputs {damo.exp(x) * y}
--> {x, y}]==],
  ["damo.graph.toposort"] = [==[
local x = damo.dscalar "x"
damo.graph.toposort {damo.exp(damo.sin(x))}
--> {Elemwise{sin}(x), Elemwise{exp}(Elemwise{sin}.1)}]==],
  ["damo.graph.variables"] = [==[
local x = damo.dscalar "x"
damo.graph.variables({x}, {damo.exp(x)})
--> {x, Elemwise{exp}.1}]==],
  ["damo.graph.clone_replace"] = [==[
local x, y = damo.dscalar "x", damo.dscalar "y"
damo.graph.clone_replace({x ^ 2}, {[x] = y})[1]:eval {[y] = 3}
--> 9.0]==],
  ["damo.graph.vectorize_graph"] = [==[
local x, batch = damo.dvector "x", damo.dmatrix "batch"
damo.graph.vectorize_graph(damo.sum(x), {[x] = batch}):eval {[batch] = {{1, 2}, {3, 4}}}
--> [3. 7.]]==],
  ["damo.tree.map"] = [==[
damo.tree.map(function(v) return v * 2 end, {a = 1, b = {2, 3}}).b[2]
--> 6]==],
  ["damo.tree.flatten"] = [==[
damo.tree.flatten {a = 1, b = {2, 3}}
--> {1, 2, 3}
    {a = *, b = {*, *}}]==],
  ["damo.tree.unflatten"] = [==[
local list, treedef = damo.tree.flatten {a = 1, b = {2, 3}}
damo.tree.unflatten(treedef, {10, 20, 30}).b[1]
--> 20]==],
  ["damo.tree.leaves"] = [==[
damo.tree.leaves {a = 1, b = {2, 3}}
--> {1, 2, 3}]==],
  ["damo.graph.equal_computations"] = [==[
local x = damo.dscalar "x"
damo.graph.equal_computations({damo.exp(x)}, {damo.exp(x)})
--> true]==],
  ["damo.graph.OpFromGraph"] = [==[
local x = damo.dscalar "x"
local cube = damo.graph.OpFromGraph({x}, {x ^ 3})
cube(2):eval()
--> 8.0]==],
  ["damo.graph.HasInnerGraph"] = [==[
local x = damo.dscalar "x"
damo.graph.HasInnerGraph(damo.graph.OpFromGraph({x}, {x ^ 3}))
--> true]==],
  ["damo.graph.ThunkType"] = [==[
damo.graph.ThunkType(print)
--> false]==],
  ["damo.graph.add_tag_trace"] = [==[
local x = damo.graph.add_tag_trace(damo.dscalar "x", 1)
#x.tag.trace
--> 1]==],
  ["damo.graph.compute_test_value"] = [==[
local x = damo.dscalar "x"
x.tag.test_value = 2
local y = x ^ 3
damo.graph.compute_test_value(y.owner)
y.tag.test_value
--> 8.0]==],
  ["damo.graph.get_test_value"] = [==[
local x = damo.dscalar "x"
x.tag.test_value = 2
damo.graph.get_test_value(x)
--> 2.0]==],
  ["damo.graph.get_test_values"] = [==[
type(damo.graph.get_test_values(damo.constant(2.0)))
--> function]==],
  ["damo.graph.missing_test_message"] = [==[
damo.graph.missing_test_message("x has no test value")]==],
  ["damo.rewrite.register"] = [==[
damo.rewrite.register("double_is_sum", function(fgraph, node)
  if node.op.name == "Double" then return node.inputs[1] + node.inputs[1] end
end, "fast_run")
local names = damo.rewrite.names "fast_run"
damo.rewrite.unregister "double_is_sum"
names[#names]
--> double_is_sum]==],
  ["damo.rewrite.unregister"] = [==[
damo.rewrite.register("mine", function() end, "fast_run")
damo.rewrite.unregister "mine"
local _, err = pcall(damo.rewrite.unregister, "mine")
err.message
--> unregister: no script has registered a rewrite rule 'mine']==],
  ["damo.rewrite.before"] = [==[
local x = damo.dscalar "x"
damo.rewrite.before("twice", function(inputs, outputs, options) return inputs, outputs * 2, options end)
local f = damo.compile({x}, x)
damo.rewrite.before "twice"
f(3)
--> 6.0]==],
  ["damo.rewrite.names"] = [==[
#damo.rewrite.names "inplace" > 0
--> true]==],
  ["damo.printing.debugprint"] = [==[
local x = damo.dscalar "x"
damo.printing.debugprint(damo.exp(x) + 1, {file = "str"})
--> Elemwise{add} [id A]
     ├─ Elemwise{exp} [id B]
     │ ├─ x [id C]
     ├─ 1.0 [id D]]==],
  ["damo.printing.Print"] = [==[
local x = damo.dscalar "x"
damo.printing.Print "x is"(x).type
--> TensorType(float64, shape=())]==],
  ["damo.printing.pprint"] = [==[
local x = damo.dscalar "x"
damo.printing.pprint(damo.exp(x) + 1)
--> exp(x) + 1.0]==],
  ["damo.printing.loop"] = [==[
local x = damo.dvector "x"
damo.printing.loop(damo.compile({x}, damo.exp(x) + 1)):match "^[^\n]*"
--> Loop 1]==],
  ["damo.printing.dot"] = [==[
local x = damo.dscalar "x"
damo.printing.dot(damo.exp(x)):match "^[^\n]*"
--> digraph damo {]==],
  ["damo.io.load"] = [==[
local path = os.tmpname()
damo.io.save(path .. ".npy", damo.array {1, 2, 3})
local a = damo.io.load(path .. ".npy")
os.remove(path .. ".npy") os.remove(path)
a
--> [1. 2. 3.]]==],
  ["damo.io.save"] = [==[
local path = os.tmpname()
damo.io.save(path .. ".npz", {a = damo.array {1, 2}, b = damo.eye(2)}, {compressed = true})
local back = damo.io.load(path .. ".npz")
os.remove(path .. ".npz") os.remove(path)
back.a
--> [1. 2.]]==],
  ["damo.io.read_csv"] = [==[
local path = os.tmpname()
local file = io.open(path, "w")
file:write("day,height\n2024-05-01,1.5\n2024-05-02,\n")
file:close()
local t = damo.io.read_csv(path, {columns = true, missing = {""}})
os.remove(path)
t.height, t.day[1]
--> [1.5 nan]
    2024-05-01]==],
  ["damo.io.write_csv"] = [==[
local path = os.tmpname()
damo.io.write_csv(path, {{1, 2}, {3, 4}}, {header = {"a", "b"}})
local text = io.open(path):read "*a"
os.remove(path)
text
--> a,b
    1,2
    3,4]==],
  ["damo.io.parse"] = [==[
local table_of = damo.io.parse("1,2\n3,4\n", {format = "csv"})
table_of
--> [[1. 2.]
     [3. 4.]]]==],
  ["damo.io.format"] = [==[
damo.io.format({{1, 2}, {3, 4}}, {format = "csv"})
--> 1,2
    3,4]==],
  ["damo.io.read_mtx"] = [==[
local path = os.tmpname()
damo.io.write_mtx(path, damo.sparse.eye(2))
local a = damo.io.read_mtx(path)
os.remove(path)
a
--> <csr float64 (2, 2), 2 stored>
      (1, 1)  1.0
      (2, 2)  1.0]==],
  ["damo.io.write_mtx"] = [==[
local path = os.tmpname()
damo.io.write_mtx(path, damo.sparse.eye(2), {symmetry = "symmetric"})
local head = io.open(path):read "*l"
os.remove(path)
head
--> %%MatrixMarket matrix coordinate real symmetric]==],
  ["damo.progress"] = [==[
local sum = 0
for i, v in damo.progress({10, 20}, {title = "adding", silent = true}) do sum = sum + i * v end
sum
--> 50]==],
  ["damo.progress.new"] = [==[
local lines = {}
local bar = damo.progress.new(2, "steps", {out = {write = function(_, text) lines[#lines + 1] = text end}})
bar:step(1) bar:step(2) bar:finish()
bar.done, #lines > 0
--> 2
    true]==],
  ["damo.nn.init.uniform"] = [==[
damo.nn.init.uniform(damo.random.RandomStream(1), {2, 3}, {low = 0}).shape
--> {2, 3}]==],
  ["damo.nn.init.normal"] = [==[
damo.nn.init.normal(damo.random.RandomStream(1), {2, 3}, {scale = 0.1}).shape
--> {2, 3}]==],
  ["damo.nn.init.glorot_uniform"] = [==[
damo.nn.init.glorot_uniform(damo.random.RandomStream(1), {2, 3}).shape
--> {2, 3}]==],
  ["damo.nn.init.glorot_normal"] = [==[
damo.nn.init.glorot_normal(damo.random.RandomStream(1), {2, 3}, {dtype = "float32"}).dtype
--> float32]==],
  ["damo.nn.init.he_uniform"] = [==[
damo.max(damo.nn.init.he_uniform(damo.random.RandomStream(1), {6, 50})) < 1
--> true]==],
  ["damo.nn.init.he_normal"] = [==[
damo.nn.init.he_normal(damo.random.RandomStream(1), {4, 2}).shape
--> {4, 2}]==],
  ["damo.nn.init.lecun_uniform"] = [==[
damo.nn.init.lecun_uniform(damo.random.RandomStream(1), {4, 2}).shape
--> {4, 2}]==],
  ["damo.nn.init.lecun_normal"] = [==[
damo.nn.init.lecun_normal(damo.random.RandomStream(1), {4, 2}, {gain = 2}).shape
--> {4, 2}]==],
  ["damo.nn.init.orthogonal"] = [==[
local q = damo.nn.init.orthogonal(damo.random.RandomStream(1), {3, 3})
damo.allclose(damo.dot(q, q.T), damo.eye(3))
--> true]==],
  ["damo.nn.init.zeros"] = [==[
damo.nn.init.zeros(nil, {2})
--> [0. 0.]]==],
  ["damo.nn.init.ones"] = [==[
damo.nn.init.ones(nil, {2})
--> [1. 1.]]==],
  ["damo.printing"] = [==[
damo.printing.pprint(damo.exp(damo.dscalar "x"))
--> exp(x)]==],
  ["damo.dist"] = [==[
damo.dist.Normal(0, 1):logp(0)
--> -0.91893853320467]==],
  ["damo.linalg"] = [==[
damo.linalg.det {{1, 2}, {3, 4}}
--> -2.0]==],
  ["damo.rewrite"] = [==[
#damo.rewrite.names() > 0
--> true]==],
  ["damo.random"] = [==[
damo.random.RandomStream(1):permutation(3):eval().shape
--> {3}]==],
  ["damo.ops"] = [==[
next(damo.ops)
--> nil]==],
  ["damo.tree"] = [==[
damo.tree.leaves {a = 1, b = {2, 3}}
--> {1, 2, 3}]==],
  ["damo.newaxis"] = [==[
damo.array({1, 2})[{{}, damo.newaxis}].shape
--> {2, 1}]==],
  ["damo.ellipsis"] = [==[
damo.array({{1, 2}, {3, 4}})[{damo.ellipsis, 1}]
--> [1. 3.]]==],
  ["damo.graph"] = [==[
damo.graph.graph_inputs {damo.exp(damo.dscalar "x")}
--> {x}]==],
  ["damo.fft"] = [==[
damo.fft.rfftfreq(4)
--> [0.   0.25 0.5 ]]==],
  ["damo.plot"] = [==[
damo.plot.bar {1, 2}
--> 1 |#################### 1
    2 |######################################## 2]==],
  ["damo.nn"] = [==[
damo.nn.relu(damo.array {-1, 2})
--> [0. 2.]]==],
  ["damo.io"] = [==[
local row = damo.io.parse("1,2\n", {format = "csv"})
row
--> [[1. 2.]]]==],
  ["damo.optim"] = [==[
local w = damo.shared(1.0, "w")
#damo.optim.sgd({w}, {2 * w}) > 0
--> true]==],
  ["damo.sparse"] = [==[
damo.sparse.dot(damo.sparse.eye(2), damo.array {1, 2})
--> [1. 2.]]==],
  ["damo.nn.init"] = [==[
damo.nn.init.ones(nil, {3})
--> [1. 1. 1.]]==],
  ["damo.compile"] = [==[
local x = damo.dvector "x"
local f = damo.compile({x}, damo.sum(x ^ 2))
f({1, 2})
--> 5.0]==],
  ["damo.grad"] = [==[
local x = damo.dscalar "x"
damo.grad(x ^ 2, x):eval {[x] = 3}
--> 6.0]==],
  ["damo.shared"] = [==[
local w = damo.shared(damo.zeros {3}, "w")
w:set_value(damo.ones {3})
w:get_value()
--> [1. 1. 1.]]==],
  ["damo.array"] = [==[
damo.array {{1, 2}, {3, 4}}
--> [[1. 2.]
     [3. 4.]]]==],
  ["damo.scan"] = [==[
damo.scan(function(h) return h * 2 end, {outputs_info = 1.0, n_steps = 3})
--> [2. 4. 8.]]==],
}

--- Examples for damo.help of fields and methods of Ops, graphs, Functions: Lua whose last line is an
-- expression, and what it gives behind -->. For damo's own files only; spec/lua/help_spec.lua runs them.
-- @module damo.help_graphs

return {
  ["OpClass.name"] = [==[
local vector = damo.TensorType("float64", {ndim = 1})
local Scale = damo.Op {name = "Scale", props = {"by"}, itypes = {vector}, otypes = {vector}, perform = function() end}
Scale.name
--> Scale]==],
  ["Op.name"] = [==[
damo.exp(damo.dscalar "x").owner.op.name
--> Elemwise]==],
  ["Op.props"] = [==[
damo.sum(damo.dvector "x").owner.op.props
--> {kind, axis, keepdims, may_be_empty}]==],
  ["Op.class"] = [==[
local vector = damo.TensorType("float64", {ndim = 1})
local Scale = damo.Op {name = "Scale", props = {"by"}, itypes = {vector}, otypes = {vector}, perform = function() end}
Scale({by = 2}).class == Scale
--> true]==],
  ["Op.default_output"] = [==[
damo.exp(damo.dvector "x").owner.op.default_output
--> nil]==],
  ["Op.destroy_map"] = [==[
local x = damo.dvector "x"
x:set(1, 0).owner.op.destroy_map
--> {}]==],
  ["Op.view_map"] = [==[
local x = damo.dmatrix "x"
x.T.owner.op.view_map
--> {{1}}]==],
  ["Op.inner_inputs"] = [==[
local x = damo.dscalar "x"
damo.graph.OpFromGraph({x}, {x ^ 3}).inner_inputs
--> {x}]==],
  ["Op.inner_outputs"] = [==[
local x = damo.dscalar "x"
#damo.graph.OpFromGraph({x}, {x ^ 3, x}).inner_outputs
--> 2]==],
  ["Op.fgraph"] = [==[
local x = damo.dscalar "x"
damo.graph.OpFromGraph({x}, {damo.exp(x)}).fgraph
--> FunctionGraph(1 inputs, 1 outputs, 1 nodes)]==],
  ["Op.fn"] = [==[
local x = damo.dscalar "x"
damo.graph.OpFromGraph({x}, {x ^ 3}).fn(2)
--> 8.0]==],
  ["Op:make_node"] = [==[
local x = damo.dscalar "x"
damo.exp(x).owner.op:make_node(x)
--> Elemwise{exp}(x)]==],
  ["Op:perform"] = [==[
local x = damo.dscalar "x"
local node, cells = damo.exp(x).owner, {{}}
node.op:perform(node, {damo.array(0)}, cells)
cells[1][1]
--> 1.0]==],
  ["Op:grad"] = [==[
local x = damo.dscalar "x"
local node = damo.sin(x).owner
node.op:grad({x}, {damo.constant(1.0)})[1]:eval {[x] = 0}
--> 1.0]==],
  ["Op:L_op"] = [==[
local x = damo.dscalar "x"
local y = damo.exp(x)
y.owner.op:L_op({x}, {y}, {damo.constant(1.0)})[1]:eval {[x] = 0}
--> 1.0]==],
  ["Op:R_op"] = [==[
local x = damo.dscalar "x"
damo.sin(x).owner.op:R_op({x}, {damo.constant(2.0)})[1]:eval {[x] = 0}
--> 2.0]==],
  ["Op:infer_shape"] = [==[
local x, n = damo.dvector "x", damo.lscalar "n"
damo.exp(x).owner.op:infer_shape(nil, damo.exp(x).owner, {{n}})[1]
--> {n}]==],
  ["Op:connection_pattern"] = [==[
local node = damo.exp(damo.dvector "x").owner
node.op:connection_pattern(node)
--> {{true}}]==],
  ["Op:do_constant_folding"] = [==[
local node = damo.exp(damo.constant(0.0)).owner
node.op:do_constant_folding(nil, node)
--> true]==],
  ["Op:get_params"] = [==[
local node = damo.exp(damo.dscalar "x").owner
node.op:get_params(node)
--> {}]==],
  ["Op:prepare_node"] = [==[
local node = damo.exp(damo.dscalar "x").owner
node.op:prepare_node(node)]==],
  ["Op:make_thunk"] = [==[
local x = damo.dscalar "x"
local node = damo.exp(x).owner
local storage = {[x] = {damo.array(0)}, [node.outputs[1]] = {}}
local computed = {[x] = {true}, [node.outputs[1]] = {false}}
local thunk = node.op:make_thunk(node, storage, computed, {})
thunk()
storage[node.outputs[1]][1]
--> 1.0]==],
  ["Op:make_c_thunk"] = [==[
local x = damo.dscalar "x"
local node = damo.exp(x).owner
local storage = {[x] = {damo.array(0)}, [node.outputs[1]] = {}}
node.op:make_c_thunk(node, storage, {[x] = {true}, [node.outputs[1]] = {false}}, {})()
storage[node.outputs[1]][1]
--> 1.0]==],
  ["Op:make_lua_thunk"] = [==[
local x = damo.dscalar "x"
local node = damo.exp(x).owner
local storage = {[x] = {damo.array(0)}, [node.outputs[1]] = {}}
node.op:make_lua_thunk(node, storage, {[x] = {true}, [node.outputs[1]] = {false}}, {})()
storage[node.outputs[1]][1]
--> 1.0]==],
  ["Op:add_tag_trace"] = [==[
local y = damo.exp(damo.dscalar "x")
#y.owner.op:add_tag_trace(y, 1).tag.trace
--> 1]==],
  ["Op:clone"] = [==[
local x = damo.dscalar "x"
damo.graph.OpFromGraph({x}, {x ^ 3}):clone()(2):eval()
--> 8.0]==],
  ["Apply.op"] = [==[
damo.exp(damo.dscalar "x").owner.op
--> Elemwise{exp}]==],
  ["Apply.inputs"] = [==[
damo.exp(damo.dscalar "x").owner.inputs
--> {x}]==],
  ["Apply.outputs"] = [==[
#damo.exp(damo.dscalar "x").owner.outputs
--> 1]==],
  ["Apply.nin"] = [==[
damo.add(damo.dscalar "x", damo.dscalar "y").owner.nin
--> 2]==],
  ["Apply.nout"] = [==[
damo.exp(damo.dscalar "x").owner.nout
--> 1]==],
  ["Apply.tag"] = [==[
local node = damo.exp(damo.dscalar "x").owner
node.tag.note = "mine"
node.tag.note
--> mine]==],
  ["Apply:default_output"] = [==[
local y = damo.exp(damo.dscalar "x")
y.owner:default_output() == y
--> true]==],
  ["Apply:clone"] = [==[
local x = damo.dscalar "x"
damo.exp(x).owner:clone().inputs[1] == x
--> true]==],
  ["Apply:clone_with_new_inputs"] = [==[
local x, z = damo.dscalar "x", damo.dscalar "z"
damo.exp(x).owner:clone_with_new_inputs({z}).inputs
--> {z}]==],
  ["Function.name"] = [==[
local x = damo.dscalar "x"
damo.compile({x}, x + 1, {name = "next"}).name
--> next]==],
  ["Function.n_calls"] = [==[
local x = damo.dscalar "x"
local f = damo.compile({x}, x + 1)
f(1) f(2)
f.n_calls
--> 2]==],
  ["Function.fgraph"] = [==[
local x = damo.dscalar "x"
#damo.compile({x}, x + 1).fgraph.apply_nodes
--> 1]==],
  ["Function.inputs"] = [==[
local x = damo.dscalar "x"
damo.compile({x}, x + 1).inputs
--> {x}]==],
  ["Function.shared"] = [==[
local x, w = damo.dscalar "x", damo.shared(1.0, "w")
damo.compile({x}, x + w).shared
--> {w}]==],
  ["Function.profile"] = [==[
local x = damo.dscalar "x"
local f = damo.compile({x}, x + 1, {profile = true})
f(1)
f.profile.calls
--> 1]==],
  ["Function:call"] = [==[
local x, y = damo.dscalar "x", damo.dscalar "y"
damo.compile({x, y}, x - y):call {y = 1, x = 5}
--> 4.0]==],
  ["Function:into"] = [==[
local x, out = damo.dvector "x", damo.zeros {2}
damo.compile({x}, x * 2):into(out)({1, 2})
out
--> [2. 4.]]==],
  ["Function:start"] = [==[
local x = damo.dvector "x"
local run = damo.compile({x}, damo.sum(x)):start({1, 2, 3})
while not run:step(100) do end
run:result()
--> 6.0]==],
  ["Function:probe"] = [==[
local x = damo.dvector "x"
local f = damo.compile({x}, damo.sum(x ^ 2) * 2)
f:probe(f.fgraph.outputs[1])({1, 2})
--> 10.0]==],
  ["Function:copy"] = [==[
local x = damo.dscalar "x"
damo.compile({x}, x + 1):copy()(1)
--> 2.0]==],
  ["Function:snapshot"] = [==[
local w = damo.shared(1.0, "w")
local f = damo.compile({}, w, {updates = {{w, w + 1}}})
local before = f:snapshot()
f()
f:restore(before)
w:get_value()
--> 1.0]==],
  ["Function:restore"] = [==[
local w = damo.shared(1.0, "w")
local f = damo.compile({}, w, {updates = {{w, w + 1}}})
local before = f:snapshot()
f() f()
f:restore(before)
f()
--> 1.0]==],
  ["Function:trim"] = [==[
local x = damo.dvector "x"
local f = damo.compile({x}, x * 2)
f({1, 2}) f({1, 2, 3})
f:trim()
f({4})
--> [8.]]==],
  ["Function:token"] = [==[
local x = damo.dscalar "x"
type(damo.compile({x}, x + 1):token())
--> string]==],
  ["Function:export_c"] = [==[
local x, dir = damo.dscalar "x", os.tmpname()
os.remove(dir)
os.execute("mkdir " .. dir)
damo.compile({x}, x ^ 2):export_c {name = "square", dir = dir}
local source = io.open(dir .. "/square.h"):read "*a"
os.execute("rm -r " .. dir)
source:match "square" ~= nil
--> true]==],
  ["Function:free"] = [==[
local x = damo.dscalar "x"
local f = damo.compile({x}, x + 1)
f:free()
local _, err = pcall(f, 1)
err.message
--> function was freed and can't be called]==],
  ["Into:start"] = [==[
local x, out = damo.dvector "x", damo.zeros {2}
local run = damo.compile({x}, x * 2):into(out):start({1, 2})
run:step()
out
--> [2. 4.]]==],
  ["Run:step"] = [==[
local x = damo.dvector "x"
damo.compile({x}, damo.sum(x)):start({1, 2}):step()
--> true]==],
  ["Run:result"] = [==[
local x = damo.dvector "x"
local run = damo.compile({x}, damo.sum(x)):start({1, 2})
run:step()
run:result()
--> 3.0]==],
  ["Run:cancel"] = [==[
local w = damo.shared(1.0, "w")
local run = damo.compile({}, {}, {updates = {{w, w + 1}}}):start()
run:cancel()
w:get_value()
--> 1.0]==],
  ["Run:restart"] = [==[
local x = damo.dvector "x"
local run = damo.compile({x}, damo.sum(x)):start({1, 2})
run:step()
run:restart({10, 20})
run:step()
run:result()
--> 30.0]==],
  ["Profile.symbolic_analyses"] = [==[
local a, b = damo.sparse.csc_matrix "A", damo.dvector "b"
local f = damo.compile({a, b}, damo.sparse.solve(a, b), {profile = true})
f(damo.sparse.eye(2, {format = "csc"}), {1, 2})
f(damo.sparse.eye(2, {format = "csc"}), {3, 4})
f.profile.symbolic_analyses
--> 1]==],
  ["Profile.factorizations"] = [==[
local a, b = damo.sparse.csc_matrix "A", damo.dvector "b"
local f = damo.compile({a, b}, damo.sparse.solve(a, b), {profile = true})
f(damo.sparse.eye(2, {format = "csc"}), {1, 2})
f.profile.factorizations
--> 1]==],
  ["Profile.calls"] = [==[
local x = damo.dvector "x"
local f = damo.compile({x}, x * 2, {profile = true})
f({1}) f({2})
f.profile.calls
--> 2]==],
  ["Profile.time"] = [==[
local x = damo.dvector "x"
local f = damo.compile({x}, x * 2, {profile = true})
f({1})
f.profile.time > 0
--> true]==],
  ["Profile.overhead"] = [==[
local x = damo.dvector "x"
local f = damo.compile({x}, x * 2, {profile = true})
f({1})
f.profile.overhead <= 1
--> true]==],
  ["Profile.peak"] = [==[
local x = damo.dvector "x"
local f = damo.compile({x}, x * 2, {profile = true})
f({1})
f.profile.peak >= 0
--> true]==],
  ["Profile.name"] = [==[
local x = damo.dvector "x"
damo.compile({x}, x * 2, {profile = true, name = "double"}).profile.name
--> double]==],
  ["Profile.nodes"] = [==[
local x = damo.dvector "x"
local f = damo.compile({x}, damo.exp(x), {profile = true})
f({1})
f.profile.nodes[1].calls
--> 1]==],
  ["Profile.ops"] = [==[
local x = damo.dvector "x"
local f = damo.compile({x}, damo.exp(x), {profile = true})
f({1})
f.profile.ops[1].nodes
--> 1]==],
  ["Profile.compile"] = [==[
local x = damo.dvector "x"
damo.compile({x}, damo.exp(x), {profile = true}).profile.compile.time > 0
--> true]==],
  ["Profile.rules"] = [==[
local x = damo.dvector "x"
type(damo.compile({x}, x * 1 + 0, {profile = true}).profile.rules)
--> table]==],
  ["Profile:print"] = [==[
local x = damo.dvector "x"
local f = damo.compile({x}, x * 2, {profile = true, name = "double"})
f({1})
f.profile:print({file = "str"}):match "double" ~= nil
--> true]==],
  ["Profile:plot"] = [==[
local x = damo.dvector "x"
local f = damo.compile({x}, x * 2, {profile = true})
f({1})
type(f.profile:plot())
--> string]==],
  ["Profile:dot"] = [==[
local x = damo.dvector "x"
local f = damo.compile({x}, x * 2, {profile = true})
f({1})
f.profile:dot():match "^digraph"
--> digraph]==],
  ["Profile:trace"] = [==[
local x = damo.dvector "x"
local f = damo.compile({x}, x * 2, {profile = true})
f({1})
f.profile:trace():sub(1, 1)
--> {]==],
  ["FunctionGraph.inputs"] = [==[
local x = damo.dscalar "x"
damo.graph.FunctionGraph({x}, {damo.exp(x)}).inputs[1].name
--> x]==],
  ["FunctionGraph.outputs"] = [==[
local x = damo.dscalar "x"
#damo.graph.FunctionGraph({x}, {damo.exp(x)}).outputs
--> 1]==],
  ["FunctionGraph.apply_nodes"] = [==[
local x = damo.dscalar "x"
#damo.graph.FunctionGraph({x}, {damo.exp(damo.sin(x))}).apply_nodes
--> 2]==],
  ["FunctionGraph.variables"] = [==[
local x = damo.dscalar "x"
#damo.graph.FunctionGraph({x}, {damo.exp(damo.sin(x))}).variables
--> 3]==],
  ["FunctionGraph.features"] = [==[
local x = damo.dscalar "x"
#damo.graph.FunctionGraph({x}, {damo.exp(x)}).features
--> 0]==],
  ["FunctionGraph:replace"] = [==[
local x = damo.dscalar "x"
local y = damo.exp(x)
local fgraph = damo.graph.FunctionGraph({x}, {y + 1}, {clone = false})
fgraph:replace(y, x * 2, {import_missing = true})
damo.printing.pprint(fgraph.outputs[1])
--> x * 2.0 + 1.0]==],
  ["FunctionGraph:replace_all"] = [==[
local x = damo.dscalar "x"
local y, z = damo.exp(x), damo.sin(x)
local fgraph = damo.graph.FunctionGraph({x}, {y + z}, {clone = false})
fgraph:replace_all {{y, x}, {z, x}}
damo.printing.pprint(fgraph.outputs[1])
--> x + x]==],
  ["FunctionGraph:replace_validate"] = [==[
local x = damo.dscalar "x"
local y = damo.exp(x)
local fgraph = damo.graph.FunctionGraph({x}, {y + 1}, {clone = false})
fgraph:replace_validate(y, x)
damo.printing.pprint(fgraph.outputs[1])
--> x + 1.0]==],
  ["FunctionGraph:replace_all_validate"] = [==[
local x = damo.dscalar "x"
local y = damo.exp(x)
local fgraph = damo.graph.FunctionGraph({x}, {y + 1}, {clone = false})
fgraph:replace_all_validate {{y, x}}
damo.printing.pprint(fgraph.outputs[1])
--> x + 1.0]==],
  ["FunctionGraph:change_node_input"] = [==[
local x, z = damo.dscalar "x", damo.dscalar "z"
local fgraph = damo.graph.FunctionGraph({x, z}, {damo.exp(x)}, {clone = false})
fgraph:change_node_input(fgraph.apply_nodes[1], 1, z)
damo.printing.pprint(fgraph.outputs[1])
--> exp(z)]==],
  ["FunctionGraph:toposort"] = [==[
local x = damo.dscalar "x"
damo.graph.FunctionGraph({x}, {damo.exp(damo.sin(x))}):toposort()
--> {Elemwise{sin}(x), Elemwise{exp}(Elemwise{sin}.1)}]==],
  ["FunctionGraph:clients"] = [==[
local x = damo.dscalar "x"
local fgraph = damo.graph.FunctionGraph({x}, {damo.exp(x)}, {clone = false})
fgraph:clients(x)[1][2]
--> 1]==],
  ["FunctionGraph:clone"] = [==[
local x = damo.dscalar "x"
local fgraph = damo.graph.FunctionGraph({x}, {damo.exp(x)})
fgraph:clone() == fgraph
--> false]==],
  ["FunctionGraph:validate"] = [==[
local x = damo.dscalar "x"
damo.graph.FunctionGraph({x}, {damo.exp(x)}):validate()]==],
  ["FunctionGraph:consistent"] = [==[
local x = damo.dscalar "x"
damo.graph.FunctionGraph({x}, {damo.exp(x)}):consistent()
--> true]==],
  ["FunctionGraph:attach_feature"] = [==[
local x, pruned = damo.dscalar "x", 0
local y = damo.exp(x)
local fgraph = damo.graph.FunctionGraph({x}, {y}, {clone = false})
fgraph:attach_feature {on_prune = function() pruned = pruned + 1 end}
fgraph:replace(y, x)
pruned
--> 1]==],
  ["FunctionGraph:remove_feature"] = [==[
local x, feature = damo.dscalar "x", {}
local fgraph = damo.graph.FunctionGraph({x}, {damo.exp(x)})
fgraph:attach_feature(feature)
fgraph:remove_feature(feature)
#fgraph.features
--> 0]==],
}

--- Examples for damo.help of options and parts of Ops: Lua whose last line is an
-- expression, and what it gives behind -->. For damo's own files only; spec/lua/help_spec.lua runs them.
-- @module damo.help_options

return {
  ["ProgressOptions.title"] = [==[
for _ in damo.progress(3, {title = "training", silent = true}) do end]==],
  ["ProgressOptions.out"] = [==[
local texts = {}
local out = {write = function(_, text) texts[#texts + 1] = text end}
for _ in damo.progress(3, {title = "steps", out = out}) do end
#texts > 0
--> true]==],
  ["ProgressOptions.terminal"] = [==[
local out = {write = function() end}
for _ in damo.progress(3, {out = out, terminal = true}) do end]==],
  ["ProgressOptions.silent"] = [==[
for _ in damo.progress(3, {silent = true}) do end]==],
  ["Config.floatX"] = [==[
damo.config.floatX
--> float64]==],
  ["Config.compute_test_value"] = [==[
damo.config.compute_test_value
--> off]==],
  ["Config.traceback_limit"] = [==[
damo.config.traceback_limit
--> 8]==],
  ["Config.on_warning"] = [==[
type(damo.config.on_warning)
--> function]==],
  ["Config.memory_cap"] = [==[
damo.config.memory_cap
--> 0]==],
  ["Config.memo_cap"] = [==[
damo.config.memo_cap
--> 2097152]==],
  ["Config.threads"] = [==[
damo.config.threads
--> 1]==],
  ["Config.sandbox"] = [==[
damo.config.sandbox
--> false]==],
  ["Config.mode"] = [==[
damo.config.mode
--> FAST_RUN]==],
  ["CompileOptions.updates"] = [==[
local n = damo.shared(0, "n")
damo.compile({}, {}, {updates = {{n, n + 1}}})()
n:get_value()
--> 1.0]==],
  ["CompileOptions.givens"] = [==[
local x, y = damo.dscalar "x", damo.dscalar "y"
damo.compile({y}, x ^ 2, {givens = {[x] = y + 1}})(2)
--> 9.0]==],
  ["CompileOptions.mode"] = [==[
local x = damo.dscalar "x"
damo.compile({x}, x + 1, {mode = "DEBUG"})(1)
--> 2.0]==],
  ["CompileOptions.on_unused_input"] = [==[
local x, y = damo.dscalar "x", damo.dscalar "y"
damo.compile({x, y}, x + 1, {on_unused_input = "ignore"})(1, 2)
--> 2.0]==],
  ["CompileOptions.allow_input_downcast"] = [==[
local x = damo.fscalar "x"
damo.compile({x}, x * 2, {allow_input_downcast = true})(0.1) > 0.2
--> true]==],
  ["CompileOptions.name"] = [==[
local x = damo.dscalar "x"
damo.compile({x}, x + 1, {name = "next"}).name
--> next]==],
  ["CompileOptions.borrow"] = [==[
local x = damo.dvector "x"
damo.compile({x}, x * 2, {borrow = true})({1, 2})
--> [2. 4.]]==],
  ["CompileOptions.no_default_updates"] = [==[
local n = damo.shared(0, "n")
n.default_update = n + 1
damo.compile({}, n, {no_default_updates = true})()
n:get_value()
--> 0.0]==],
  ["CompileOptions.threads"] = [==[
local x = damo.dvector "x"
damo.compile({x}, damo.exp(x), {threads = 2})({0})
--> [1.]]==],
  ["CompileOptions.profile"] = [==[
local x = damo.dscalar "x"
local f = damo.compile({x}, x + 1, {profile = true})
f(1)
f.profile.calls
--> 1]==],
  ["In.variable"] = [==[
local x = damo.dscalar "x"
damo.In(x, {value = 1}).variable == x
--> true]==],
  ["Out.variable"] = [==[
local x = damo.dscalar "x"
damo.Out(x, {borrow = true}).variable == x
--> true]==],
  ["GradOptions.known_grads"] = [==[
local x = damo.dscalar "x"
local y = x ^ 2
damo.grad(nil, x, {known_grads = {[y] = damo.constant(10.0)}}):eval {[x] = 3}
--> 60.0]==],
  ["GradOptions.consider_constant"] = [==[
local x = damo.dscalar "x"
local y = x ^ 2
damo.grad(y * x, x, {consider_constant = {y}}):eval {[x] = 3}
--> 9.0]==],
  ["GradOptions.disconnected_inputs"] = [==[
local x, y = damo.dscalar "x", damo.dscalar "y"
damo.grad(x ^ 2, y, {disconnected_inputs = "ignore"}):eval()
--> 0.0]==],
  ["GradOptions.null_gradients"] = [==[
local x = damo.dscalar "x"
damo.grad(damo.printing.Print "x"(x) ^ 2, x, {null_gradients = "return"}).type
--> TensorType(float64, shape=())]==],
  ["GradOptions.return_disconnected"] = [==[
local x, y = damo.dscalar "x", damo.dscalar "y"
local options = {disconnected_inputs = "ignore", return_disconnected = "disconnected"}
damo.grad(x ^ 2, y, options).type
--> DisconnectedType]==],
  ["JacobianOptions.chunk"] = [==[
local x = damo.dvector "x"
damo.jacobian(x ^ 2, x, {chunk = 1}):eval {[x] = {1, 3}}
--> [[2. 0.]
     [0. 6.]]]==],
  ["ScanOptions.sequences"] = [==[
damo.scan(function(a, b) return a * b end, {sequences = {damo.array {1, 2}, damo.array {3, 4}}})
--> [3. 8.]]==],
  ["ScanOptions.outputs_info"] = [==[
local start = {initial = damo.array {1, 1}, taps = {-2, -1}}
damo.scan(function(a, b) return a + b end, {outputs_info = start, n_steps = 5})
--> [ 2.  3.  5.  8. 13.]]==],
  ["ScanOptions.non_sequences"] = [==[
local rate = damo.dscalar "rate"
local y = damo.scan(function(h, r) return h * r end, {outputs_info = 1.0, non_sequences = rate, n_steps = 3})
y:eval {[rate] = 3}
--> [ 3.  9. 27.]]==],
  ["ScanOptions.n_steps"] = [==[
damo.scan(function(h) return h + 1 end, {outputs_info = 0.0, n_steps = 3})
--> [1. 2. 3.]]==],
  ["ScanOptions.go_backwards"] = [==[
damo.scan(function(v, h) return h + v end, {sequences = damo.array {1, 2, 3}, outputs_info = 0.0,
  go_backwards = true})
--> [3. 5. 6.]]==],
  ["ScanOptions.truncate_gradient"] = [==[
local w = damo.dscalar "w"
local h = damo.scan(function(h) return h * w end, {outputs_info = 1.0, n_steps = 3, truncate_gradient = 1})
damo.grad(h[-1], w):eval {[w] = 2}
--> 4.0]==],
  ["ScanOptions.strict"] = [==[
local w = damo.dscalar "w"
local _, err = pcall(damo.scan, function(h) return h * w end, {outputs_info = 1.0, n_steps = 3, strict = true})
err.message
--> scan: strict: fn uses w, which is not among non_sequences]==],
  ["ScanOptions.name"] = [==[
local w = damo.dscalar "w"
local h = damo.scan(function(h) return h * w end, {outputs_info = 1.0, n_steps = 3, name = "powers"})
h:eval {[w] = 2}
--> [2. 4. 8.]]==],
  ["ScanOptions.mode"] = [==[
local w = damo.dscalar "w"
local h = damo.scan(function(h) return h * w end, {outputs_info = 1.0, n_steps = 3, mode = "FAST_COMPILE"})
h:eval {[w] = 2}
--> [2. 4. 8.]]==],
  ["ScanOptions.return_updates"] = [==[
local h, updates = damo.scan(function(h) return h * 2 end, {outputs_info = 1.0, n_steps = 2, return_updates = true})
h, type(updates)
--> [2. 4.]
    table]==],
  ["ScanOptions.return_list"] = [==[
#damo.scan(function(h) return h * 2 end, {outputs_info = 1.0, n_steps = 2, return_list = true})
--> 1]==],
  ["ScanOptions.checkpoint"] = [==[
local w = damo.dscalar "w"
local h = damo.scan(function(h) return h * w end, {outputs_info = 1.0, n_steps = 100, checkpoint = "log"})
damo.grad(h[-1], w):eval {[w] = 1}
--> 100.0]==],
  ["ScanOptions.progress"] = [==[
local w, steps = damo.dscalar "w", 0
local h = damo.scan(function(h) return h * w end, {outputs_info = 1.0, n_steps = 3,
  progress = function(step) steps = step end})
h:eval {[w] = 2}
steps
--> 3]==],
  ["PlotOptions.path"] = [==[
local _, err = pcall(damo.plot.bar, {1, 2}, {path = "bars.gif"})
err.message
--> plot.bar: option 'path' must end in .png, .svg or .pdf, got 'bars.gif']==],
  ["PlotOptions.text"] = [==[
damo.plot.bar({1, 2}, {text = true})
--> 1 |#################### 1
    2 |######################################## 2]==],
  ["PlotOptions.title"] = [==[
damo.plot.bar({1, 2}, {title = "two bars"})
--> two bars
    1 |#################### 1
    2 |######################################## 2]==],
  ["PlotOptions.width"] = [==[
#damo.plot.lines({1, 2}, {width = 400})
--> 1165]==],
  ["PlotOptions.height"] = [==[
#damo.plot.lines({1, 2}, {height = 100})
--> 1165]==],
  ["PlotOptions.xlabel"] = [==[
damo.plot.lines({1, 2}, {xlabel = "time", height = 60}):match "time" ~= nil
--> true]==],
  ["PlotOptions.ylabel"] = [==[
damo.plot.lines({1, 2}, {ylabel = "metres", height = 60}):match "metres" ~= nil
--> true]==],
  ["PlotOptions.xrange"] = [==[
damo.plot.lines({1, 2, 3}, {xrange = {0, 5}, height = 60}):match "x from[^\n]*"
--> x from 0 to 5, y from 1 to 3]==],
  ["PlotOptions.yrange"] = [==[
damo.plot.lines({1, 2, 3}, {yrange = {0, 5}, height = 60}):match "x from[^\n]*"
--> x from 1 to 3, y from 0 to 5]==],
  ["PlotOptions.logx"] = [==[
damo.plot.lines({{x = {1, 10, 100}, y = {1, 2, 3}}}, {logx = true}):match "x from[^\n]*"
--> x from 1 to 100, y from 1 to 3]==],
  ["PlotOptions.logy"] = [==[
damo.plot.lines({1, 10, 100}, {logy = true}):match "x from[^\n]*"
--> x from 1 to 3, y from 1 to 100]==],
  ["PlotOptions.labels"] = [==[
damo.plot.bar({1, 2}, {labels = {"one", "two"}})
--> one |#################### 1
    two |######################################## 2]==],
  ["PlotOptions.stacked"] = [==[
damo.plot.bar({{name = "a", y = {1, 2}}, {name = "b", y = {2, 1}}}, {stacked = true})
--> 1  a |############# 1
    1  b |########################### 2
    2  a |########################### 2
    2  b |############# 1]==],
  ["PlotOptions.bins"] = [==[
damo.plot.hist({1, 2, 4}, {bins = {0, 2, 5}})
--> count
    0 to 2 |#################### 1
    2 to 5 |######################################## 2]==],
  ["PlotOptions.density"] = [==[
damo.plot.hist({1, 2, 4}, {bins = 1, density = true})
--> density
    1 to 4 |######################################## 0.3333]==],
  ["PlotOptions.palette"] = [==[
local _, err = pcall(damo.plot.image, {{1, 2}}, {palette = "jet"})
err.message
--> plot.image: option 'palette' must be 'viridis', 'gray' or 'diverging', got 'jet']==],
  ["PlotOptions.rows"] = [==[
damo.plot.heatmap({{1, 2}, {3, 4}}, {rows = {"a", "b"}, values = true})
-->    1  2
    a  1  2
    b  3  4]==],
  ["PlotOptions.columns"] = [==[
damo.plot.heatmap({{1, 2}, {3, 4}}, {columns = {"a", "b"}, values = true})
-->    a  b
    1  1  2
    2  3  4]==],
  ["PlotOptions.values"] = [==[
damo.plot.heatmap({{1, 2}, {3, 4}}, {values = true})
-->    1  2
    1  1  2
    2  3  4]==],
  ["PlotOptions.x"] = [==[
damo.plot.contour({{0, 1}, {2, 3}}, {x = {10, 20}}):match "[^\n]*"
--> values from 0 (' ') to 3 ('@')]==],
  ["PlotOptions.y"] = [==[
damo.plot.contour({{0, 1}, {2, 3}}, {y = {10, 20}}):match "[^\n]*"
--> values from 0 (' ') to 3 ('@')]==],
  ["PlotOptions.levels"] = [==[
damo.plot.contour({{0, 1}, {2, 3}}, {levels = {0.5, 1.5}}):match "[^\n]*"
--> values from 0 (' ') to 3 ('@')]==],
  ["PlotOptions.filled"] = [==[
damo.plot.contour({{0, 1}, {2, 3}}, {filled = true}):match "[^\n]*"
--> values from 0 (' ') to 3 ('@')]==],
  ["PlotOptions.zlabel"] = [==[
damo.plot.surface({{0, 1}, {2, 3}}, {zlabel = "height"}):match "[^\n]*"
--> values from 0 (' ') to 3 ('@')]==],
  ["PlotOptions.scale"] = [==[
type(damo.plot.quiver({u = {{1, 0}}, v = {{0, 1}}}, {scale = 0.5}))
--> string]==],
  ["OpDefinition.name"] = [==[
local scalar = damo.TensorType("float64", {ndim = 0})
local double = damo.Op {
  name = "Double", itypes = {scalar}, otypes = {scalar},
  perform = function(self, node, inputs, outputs) outputs[1][1] = inputs[1] * 2 end,
}
double.name
--> Double]==],
  ["OpDefinition.doc"] = [==[
local scalar = damo.TensorType("float64", {ndim = 0})
local double = damo.Op {
  name = "Double", itypes = {scalar}, otypes = {scalar},
  perform = function(self, node, inputs, outputs) outputs[1][1] = inputs[1] * 2 end,
  doc = "twice its operand",
}
double(3):eval()
--> 6.0]==],
  ["OpDefinition.props"] = [==[
local Scale = damo.Op {
  name = "Scale", props = {"by"},
  make_node = function(self, x) return damo.Apply(self, {x}, {x.type()}) end,
  perform = function(self, node, inputs, outputs) outputs[1][1] = inputs[1] * self.by end,
}
Scale {by = 3}(damo.constant(2.0)):eval()
--> 6.0]==],
  ["OpDefinition.itypes"] = [==[
local scalar = damo.TensorType("float64", {ndim = 0})
local double = damo.Op {
  name = "Double", itypes = {scalar}, otypes = {scalar},
  perform = function(self, node, inputs, outputs) outputs[1][1] = inputs[1] * 2 end,
}
double:make_node(1.5).inputs[1].type
--> TensorType(float64, shape=())]==],
  ["OpDefinition.otypes"] = [==[
local scalar = damo.TensorType("float64", {ndim = 0})
local double = damo.Op {
  name = "Double", itypes = {scalar}, otypes = {scalar},
  perform = function(self, node, inputs, outputs) outputs[1][1] = inputs[1] * 2 end,
}
double(1.5).type
--> TensorType(float64, shape=())]==],
  ["OpDefinition.make_node"] = [==[
local double = damo.Op {
  name = "Double",
  make_node = function(self, x) return damo.Apply(self, {x}, {x.type()}) end,
  perform = function(self, node, inputs, outputs) outputs[1][1] = inputs[1] * 2 end,
}
double(damo.constant {1, 2}):eval()
--> [2. 4.]]==],
  ["OpDefinition.perform"] = [==[
local scalar = damo.TensorType("float64", {ndim = 0})
local double = damo.Op {
  name = "Double", itypes = {scalar}, otypes = {scalar},
  perform = function(self, node, inputs, outputs) outputs[1][1] = inputs[1] * 2 end,
}
double(3):eval()
--> 6.0]==],
  ["OpDefinition.grad"] = [==[
local scalar = damo.TensorType("float64", {ndim = 0})
local double = damo.Op {
  name = "Double", itypes = {scalar}, otypes = {scalar},
  perform = function(self, node, inputs, outputs) outputs[1][1] = inputs[1] * 2 end,
  grad = function(self, inputs, output_grads) return {output_grads[1] * 2} end,
}
local x = damo.dscalar "x"
damo.grad(double(x), x):eval {[x] = 3}
--> 2.0]==],
  ["OpDefinition.L_op"] = [==[
local scalar = damo.TensorType("float64", {ndim = 0})
local double = damo.Op {
  name = "Double", itypes = {scalar}, otypes = {scalar},
  perform = function(self, node, inputs, outputs) outputs[1][1] = inputs[1] * 2 end,
  L_op = function(self, inputs, outputs, output_grads) return {output_grads[1] * 2} end,
}
local x = damo.dscalar "x"
damo.grad(double(x), x):eval {[x] = 3}
--> 2.0]==],
  ["OpDefinition.R_op"] = [==[
local scalar = damo.TensorType("float64", {ndim = 0})
local double = damo.Op {
  name = "Double", itypes = {scalar}, otypes = {scalar},
  perform = function(self, node, inputs, outputs) outputs[1][1] = inputs[1] * 2 end,
  R_op = function(self, inputs, eval_points) return {eval_points[1] * 2} end,
}
local x = damo.dscalar "x"
damo.Rop(double(x), x, damo.constant(5.0)):eval {[x] = 3}
--> 10.0]==],
  ["OpDefinition.infer_shape"] = [==[
local scalar = damo.TensorType("float64", {ndim = 0})
local double = damo.Op {
  name = "Double", itypes = {scalar}, otypes = {scalar},
  perform = function(self, node, inputs, outputs) outputs[1][1] = inputs[1] * 2 end,
  infer_shape = function(self, fgraph, node, shapes) return {shapes[1]} end,
}
double(3).shape:eval().size
--> 0]==],
  ["OpDefinition.connection_pattern"] = [==[
local scalar = damo.TensorType("float64", {ndim = 0})
local double = damo.Op {
  name = "Double", itypes = {scalar}, otypes = {scalar},
  perform = function(self, node, inputs, outputs) outputs[1][1] = inputs[1] * 2 end,
  connection_pattern = function(self, node) return {{false}} end,
}
local x = damo.dscalar "x"
damo.grad(double(x) + x, x):eval {[x] = 3}
--> 1.0]==],
  ["OpDefinition.do_constant_folding"] = [==[
local scalar = damo.TensorType("float64", {ndim = 0})
local double = damo.Op {
  name = "Double", itypes = {scalar}, otypes = {scalar},
  perform = function(self, node, inputs, outputs) outputs[1][1] = inputs[1] * 2 end,
  do_constant_folding = false,
}
#damo.compile({}, double(3.0)).fgraph.apply_nodes
--> 1]==],
  ["OpDefinition.prepare_node"] = [==[
local scalar = damo.TensorType("float64", {ndim = 0})
local double = damo.Op {
  name = "Double", itypes = {scalar}, otypes = {scalar},
  perform = function(self, node, inputs, outputs) outputs[1][1] = inputs[1] * 2 end,
  prepare_node = function(self, node, storage_map, compute_map, impl) node.tag.impl = impl end,
}
double(3):eval()
--> 6.0]==],
  ["OpDefinition.default_output"] = [==[
local scalar = damo.TensorType("float64", {ndim = 0})
local double = damo.Op {
  name = "Double", itypes = {scalar}, otypes = {scalar},
  perform = function(self, node, inputs, outputs) outputs[1][1] = inputs[1] * 2 end,
  default_output = 1,
}
double(3):eval()
--> 6.0]==],
  ["OpDefinition.destroy_map"] = [==[
local vector = damo.TensorType("float64", {ndim = 1})
local negate = damo.Op {
  name = "Negate", itypes = {vector}, otypes = {vector}, destroy_map = {[1] = {1}},
  perform = function(self, node, inputs, outputs)
    local x = inputs[1]
    for i = 1, x.size do x[i] = -x[i] end
    outputs[1][1] = x
  end,
}
negate.destroy_map
--> {{1}}]==],
  ["OpDefinition.view_map"] = [==[
local vector = damo.TensorType("float64", {ndim = 1})
local first = damo.Op {
  name = "First", itypes = {vector}, otypes = {vector}, view_map = {[1] = {1}},
  perform = function(self, node, inputs, outputs) outputs[1][1] = inputs[1][{{1, 1}}] end,
}
first(damo.array {5, 6}):eval()
--> [5.]]==],
  ["OpDefinition.nan_guard_mode_check"] = [==[
local scalar = damo.TensorType("float64", {ndim = 0})
local double = damo.Op {
  name = "Double", itypes = {scalar}, otypes = {scalar},
  perform = function(self, node, inputs, outputs) outputs[1][1] = inputs[1] * 2 end,
  nan_guard_mode_check = false,
}
local x = damo.dscalar "x"
damo.compile({x}, double(x), {mode = "NANGUARD"})(3)
--> 6.0]==],
  ["OpDefinition.debug_perform"] = [==[
local scalar = damo.TensorType("float64", {ndim = 0})
local double = damo.Op {
  name = "Double", itypes = {scalar}, otypes = {scalar},
  perform = function(self, node, inputs, outputs) outputs[1][1] = inputs[1] * 2 end,
  debug_perform = function(self, node, inputs, outputs) outputs[1][1] = inputs[1] * 2 end,
}
double(3):eval()
--> 6.0]==],
  ["OpDefinition.params_type"] = [==[
local scalar = damo.TensorType("float64", {ndim = 0})
local Scale = damo.Op {
  name = "Scale", itypes = {scalar}, otypes = {scalar}, params_type = {by = "float64"},
  get_params = function(self, node) return {by = 3} end,
  perform = function(self, node, inputs, outputs, params) outputs[1][1] = inputs[1] * params.by end,
}
Scale(2.0):eval()
--> 6.0]==],
  ["OpDefinition.get_params"] = [==[
local scalar = damo.TensorType("float64", {ndim = 0})
local Scale = damo.Op {
  name = "Scale", itypes = {scalar}, otypes = {scalar}, params_type = {by = "float64"},
  get_params = function(self, node) return {by = 3} end,
  perform = function(self, node, inputs, outputs, params) outputs[1][1] = inputs[1] * params.by end,
}
local node = Scale(2.0).owner
node.op:get_params(node).by
--> 3]==],
  ["OpDefinition.make_thunk"] = [==[
local x = damo.dscalar "x"
local printed = 0
local scalar = damo.TensorType("float64", {ndim = 0})
local double = damo.Op {
  name = "Double", itypes = {scalar}, otypes = {scalar},
  make_thunk = function(self, node, storage_map, compute_map, no_recycling)
    return function()
      storage_map[node.outputs[1]][1] = storage_map[node.inputs[1]][1] * 2
      compute_map[node.outputs[1]][1] = true
    end
  end,
}
damo.compile({x}, double(x))(3)
--> 6.0]==],
  ["OpDefinition.make_lua_thunk"] = [==[
local scalar = damo.TensorType("float64", {ndim = 0})
local double = damo.Op {
  name = "Double", itypes = {scalar}, otypes = {scalar}, perform = function() end,
  make_lua_thunk = function(self, node, storage_map, compute_map, no_recycling)
    return function() storage_map[node.outputs[1]][1] = storage_map[node.inputs[1]][1] * 2 end
  end,
}
local node = double(3).owner
local storage = {[node.inputs[1]] = {3}, [node.outputs[1]] = {}}
double:make_lua_thunk(node, storage, {}, {})()
storage[node.outputs[1]][1]
--> 6]==],
  ["OpDefinition.make_c_thunk"] = [==[
local scalar = damo.TensorType("float64", {ndim = 0})
local double = damo.Op {
  name = "Double", itypes = {scalar}, otypes = {scalar}, perform = function() end,
  make_c_thunk = function(self, node, storage_map, compute_map, no_recycling)
    return function() storage_map[node.outputs[1]][1] = storage_map[node.inputs[1]][1] * 2 end
  end,
}
local node = double(3).owner
local storage = {[node.inputs[1]] = {3}, [node.outputs[1]] = {}}
double:make_c_thunk(node, storage, {}, {})()
storage[node.outputs[1]][1]
--> 6]==],
  ["Config.plan_cap"] = [==[
damo.config.plan_cap
--> 67108864]==],
  ["Config.gc_floor"] = [==[
damo.config.gc_floor
--> 33554432]==],
  ["OpDefinition.add_tag_trace"] = [==[
local scalar = damo.TensorType("float64", {ndim = 0})
local double = damo.Op {
  name = "Double", itypes = {scalar}, otypes = {scalar}, perform = function() end,
  add_tag_trace = function(self, thing) thing.tag.mark = "seen" return thing end,
}
double:add_tag_trace(double(3)).tag.mark
--> seen]==],
}

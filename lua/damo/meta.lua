---@meta
-- Written by docs/generate.lua (`make docs`) from the op registry and docs/annotations.lua;
-- read by editors, never loaded at run time.
-- luacheck: ignore

---@alias damo.Dtype "bool"|"int8"|"int16"|"int32"|"int64"|"uint8"|"uint16"|"uint32"|"uint64"|"float32"|"float64"|"complex64"|"complex128"
---@alias damo.Operand damo.Variable|damo.Array|number|boolean|table
---@alias damo.Result damo.Variable|damo.Array|number|boolean
---@alias damo.Shape integer|(integer|damo.Variable)[]|damo.Variable
---@alias damo.MakerOptions { dtype?: damo.Dtype, shape?: (integer|false)[], name?: string }
---@alias damo.ErrorKind "type"|"shape"|"value"|"index"|"missing_input"|"unused_input"|"null_gradient"|"disconnected_input"|"missing_test_value"|"not_implemented"|"inconsistency"|"numeric"|"memory"|"io"|"state"|"callback"

---What damo raises; tostring gives the whole story.
---@class damo.Error
---@field kind damo.ErrorKind
---@field message string
---@field op? string name of the Op
---@field node? damo.Apply
---@field trace? string[] "file:line" of the script, innermost first
---@field cause? any what a callback threw

---What Arrays and Variables have in common: the op functions as methods, arithmetic, indexing.
---@class damo.Tensor
---@field dtype damo.Dtype
---@field ndim integer
---@field T damo.Result axes reversed
---@operator add(damo.Operand): damo.Result
---@operator sub(damo.Operand): damo.Result
---@operator mul(damo.Operand): damo.Result
---@operator div(damo.Operand): damo.Result
---@operator idiv(damo.Operand): damo.Result
---@operator mod(damo.Operand): damo.Result
---@operator pow(damo.Operand): damo.Result
---@operator band(damo.Operand): damo.Result
---@operator bor(damo.Operand): damo.Result
---@operator bxor(damo.Operand): damo.Result
---@operator unm: damo.Result
---@operator bnot: damo.Result
---@operator len: integer
---@field [any] any a position, or one item an axis in a table
local Tensor = {}

---A strided n-d array.
---@class damo.Array: damo.Tensor
---@field shape integer[] a fresh list
---@field strides integer[] in bytes
---@field size integer number of entries
---@field writeable boolean
local Array = {}

---The entries as nested tables.
---@return any
function Array:totable() end
---The one entry of an Array of size 1.
---@return any
function Array:item() end
---@return damo.Array
function Array:copy() end
---@param dtype damo.Dtype
---@return damo.Array
function Array:astype(dtype) end
---The entries in C order.
---@return string
function Array:tobytes() end
---The address of the first entry.
---@return lightuserdata
function Array:pointer() end
---@return boolean
function Array:iscontiguous() end
---Lets the memory go now; uses of the Array are state errors from here on.
function Array:free() end

---A place in a graph: an input, a constant, a shared value, or what a node computes.
---@class damo.Variable: damo.Tensor
---@field name? string
---@field type damo.Type
---@field owner? damo.Apply the node that computes it
---@field index? integer its place among the owner's outputs
---@field shape damo.Variable int64 vector
---@field size damo.Variable
---@field broadcastable boolean[]
---@field data any a constant's value
---@field tag table the script's own; tag.trace is where the Variable was made
---@field default_update? damo.Variable of a shared Variable: its value after each call
local Variable = {}

---A shared Variable's value.
---@param options? { borrow?: boolean }
---@return any
function Variable:get_value(options) end
---@param value any
---@param options? { borrow?: boolean }
function Variable:set_value(value, options) end
---The value of this graph, computed at once.
---@param givens? table<damo.Variable, any>
---@return any
function Variable:eval(givens) end
---@return damo.Variable
function Variable:clone() end
---x with y in the part that the index names.
---@param index table|integer
---@param y damo.Operand
---@return damo.Variable
function Variable:set(index, y) end
---x with y added in the part that the index names.
---@param index table|integer
---@param y damo.Operand
---@return damo.Variable
function Variable:inc(index, y) end

---@class damo.Type
---@field kind string
---@field dtype? damo.Dtype
---@field ndim? integer
---@field shape? (integer|false)[]
---@field broadcastable? boolean[]
---@field why? string
---@overload fun(name?: string): damo.Variable
local Type = {}

---@param value any
---@param options? { strict?: boolean, allow_downcast?: boolean }
---@return any
function Type:filter(value, options) end
---@param value any
---@return boolean
function Type:is_valid_value(value) end
---@return boolean
function Type:values_eq(a, b) end
---@param other damo.Type
---@return boolean
function Type:is_super(other) end
---@param name? string
---@return damo.Variable
function Type:make_variable(name) end

---@class damo.OpClass
---@field name string
---@overload fun(props?: table): damo.Op

---@class damo.Op
---@field name string
---@field props string[] names of the properties
---@field class? damo.OpClass
---@field default_output? integer
---@field destroy_map table<integer, integer[]>
---@field view_map table<integer, integer[]>
---@overload fun(...: damo.Operand): damo.Variable
local Op = {}

---@return damo.Apply
function Op:make_node(...) end

---What damo.Op takes.
---@class damo.OpDefinition
---@field name? string
---@field doc? string
---@field props? string[]
---@field itypes? damo.Type[]
---@field otypes? damo.Type[]
---@field make_node? fun(self: damo.Op, ...: any): damo.Apply
---@field perform? fun(self: damo.Op, node: damo.Apply, inputs: damo.Array[], output_storage: any[][], params?: table)
---@field grad? fun(self: damo.Op, inputs: damo.Variable[], output_grads: damo.Variable[]): damo.Variable[]
---@field L_op? fun(self: damo.Op, inputs: damo.Variable[], outputs: damo.Variable[], output_grads: damo.Variable[]): damo.Variable[]
---@field R_op? fun(self: damo.Op, inputs: damo.Variable[], eval_points: damo.Variable[]): damo.Variable[]
---@field infer_shape? fun(self: damo.Op, fgraph: damo.FunctionGraph?, node: damo.Apply, shapes: damo.Variable[][]): any[][]
---@field connection_pattern? fun(self: damo.Op, node: damo.Apply): boolean[][]
---@field do_constant_folding? boolean|fun(self: damo.Op, fgraph: damo.FunctionGraph?, node: damo.Apply): boolean
---@field params_type? table<string, damo.Dtype>
---@field get_params? fun(self: damo.Op, node: damo.Apply): table
---@field prepare_node? fun(self: damo.Op, node: damo.Apply, storage_map?: table, compute_map?: table, impl: string)
---@field make_thunk? fun(self: damo.Op, node: damo.Apply, storage_map: table, compute_map: table, no_recycling: damo.Variable[], impl?: "c"|"lua"): any
---@field make_c_thunk? fun(self: damo.Op, node: damo.Apply, storage_map: table, compute_map: table, no_recycling: damo.Variable[]): any
---@field make_lua_thunk? fun(self: damo.Op, node: damo.Apply, storage_map: table, compute_map: table, no_recycling: damo.Variable[], debug?: boolean): any
---@field debug_perform? fun(self: damo.Op, node: damo.Apply, inputs: damo.Array[], output_storage: any[][], params?: table)
---@field add_tag_trace? fun(thing: damo.Variable|damo.Apply, limit?: integer): damo.Variable|damo.Apply
---@field default_output? integer
---@field destroy_map? table<integer, integer|integer[]>
---@field view_map? table<integer, integer|integer[]>
---@field [string] any what else the Op needs

---An Op applied to Variables.
---@class damo.Apply
---@field op damo.Op
---@field inputs damo.Variable[]
---@field outputs damo.Variable[]
---@field nin integer
---@field nout integer
---@field tag table
local Apply = {}

---@return damo.Variable
function Apply:default_output() end
---@return damo.Apply
function Apply:clone() end
---@param inputs damo.Variable[]
---@return damo.Apply
function Apply:clone_with_new_inputs(inputs) end

---A compiled graph; called with the values of its inputs.
---@class damo.Function
---@field name? string
---@field n_calls integer
---@field fgraph damo.FunctionGraph
---@field inputs damo.Variable[]
---@field shared damo.Variable[]
---@overload fun(...: any): ...
local Function = {}

---A call with inputs by name or position.
---@param values table
---@return ...
function Function:call(values) end
---A callable that writes its results into these Arrays.
---@param ... damo.Array
---@return fun(...: any): ...
function Function:into(...) end
---The same program and shared Variables with storage of its own.
---@return damo.Function
function Function:copy() end
---Lets program and storage go now.
function Function:free() end

---@class damo.FunctionGraph
---@field inputs damo.Variable[]
---@field outputs damo.Variable[]
---@field apply_nodes damo.Apply[]
---@field variables damo.Variable[]
---@field features table[]
local FunctionGraph = {}

---@param old damo.Variable
---@param new damo.Variable
---@param options? { reason?: string, import_missing?: boolean }
function FunctionGraph:replace(old, new, options) end
---@param pairs table
---@param options? { reason?: string, import_missing?: boolean }
function FunctionGraph:replace_all(pairs, options) end
---@param old damo.Variable
---@param new damo.Variable
---@param options? { reason?: string, import_missing?: boolean }
function FunctionGraph:replace_validate(old, new, options) end
---@param pairs table
---@param options? { reason?: string, import_missing?: boolean }
function FunctionGraph:replace_all_validate(pairs, options) end
---@param node damo.Apply|"output"
---@param i integer
---@param new damo.Variable
---@param options? { reason?: string, import_missing?: boolean }
function FunctionGraph:change_node_input(node, i, new, options) end
---@return damo.Apply[]
function FunctionGraph:toposort() end
---@param v damo.Variable
---@return { [1]: damo.Apply|"output", [2]: integer }[]
function FunctionGraph:clients(v) end
---@return damo.FunctionGraph
function FunctionGraph:clone() end
---Raises what is wrong with the graph, if anything.
function FunctionGraph:validate() end
---@return boolean
function FunctionGraph:consistent() end
---@param feature table
function FunctionGraph:attach_feature(feature) end
---@param feature table
function FunctionGraph:remove_feature(feature) end

---@class damo.RandomStream
local RandomStream = {}

---Sets every state of the stream back to what the seed gives.
---@param seed? integer
function RandomStream:seed(seed) end

---@class damo.Config
---@field floatX "float64"|"float32"
---@field compute_test_value "off"|"ignore"|"warn"|"raise"
---@field traceback_limit integer
---@field on_warning? fun(kind: damo.ErrorKind, message: string)
---@field memory_cap integer bytes, 0: none
---@field threads integer
---@field mode "FAST_RUN"|"FAST_COMPILE"|"DEBUG"|"NANGUARD"

---@class damo
---@field config damo.Config
---@field newaxis userdata
---@field ellipsis userdata
---@field random damo.random
---@field graph damo.graph
---@field ops table<string, any> the Op classes that the host registered
---@field printing damo.printing
---@field io damo.io
---@field optim damo.optim
---@field plot damo.plot
---@field progress damo.progress
local damo = {}

---@class damo.random
local random = {}
---@class damo.graph
local graph = {}
---@class damo.printing
local printing = {}
---@class damo.io
local io = {}

---An Array of a number, boolean, nested table or Array.
---@param value any
---@param dtype? damo.Dtype
---@return damo.Array
function damo.array(value, dtype) end
---@param shape damo.Shape
---@param dtype? damo.Dtype
---@return damo.Array
function damo.zeros(shape, dtype) end
---@param shape damo.Shape
---@param dtype? damo.Dtype
---@return damo.Array
function damo.ones(shape, dtype) end
---Entries are not set.
---@param shape damo.Shape
---@param dtype? damo.Dtype
---@return damo.Array
function damo.empty(shape, dtype) end
---@param shape damo.Shape
---@param value damo.Operand
---@param dtype? damo.Dtype
---@return damo.Array
function damo.full(shape, value, dtype) end
---As Lua's for: from start (1) to stop, which is included.
---@param start number
---@param stop? number
---@param step? number
---@return damo.Array
function damo.range(start, stop, step) end
---@param bytes string
---@param dtype damo.Dtype
---@param shape? damo.Shape
---@return damo.Array
function damo.frombytes(bytes, dtype, shape) end
---An Array over foreign memory; owner lives as long as an Array over it is held in Lua or is a wrapped Variable's value.
---@param pointer lightuserdata
---@param dtype damo.Dtype
---@param shape damo.Shape
---@param owner? any
---@return damo.Array
function damo.frompointer(pointer, dtype, shape, owner) end
---Equal in shape and in every entry.
---@param a any
---@param b any
---@param options? { equal_nan?: boolean }
---@return boolean
function damo.array_equal(a, b, options) end
---A list of positions for an index table.
---@param positions integer[]
---@return userdata
function damo.idx(positions) end

---@param name? string
---@param options? { dtype?: damo.Dtype, shape?: (integer|false)[], ndim?: integer, name?: string }
---@return damo.Variable
function damo.tensor(name, options) end
---A Variable that keeps its value from call to call.
---@param value any
---@param name? string
---@param options? { borrow?: boolean, dtype?: damo.Dtype, shape?: (integer|false)[], name?: string, type?: damo.Type }
---@return damo.Variable
function damo.shared(value, name, options) end
---@param value any
---@param options? { dtype?: damo.Dtype, name?: string, type?: damo.Type }
---@return damo.Variable
function damo.constant(value, options) end
---@param value any
---@param options? { name?: string, ndim?: integer, dtype?: damo.Dtype }
---@return damo.Variable
function damo.as_tensor_variable(value, options) end
---@param value any
---@param options? { name?: string, ndim?: integer, dtype?: damo.Dtype }
---@return damo.Variable
function damo.as_tensor(value, options) end
---@param value any
---@return damo.Variable
function damo.as_variable(value) end
---@param value any
---@return boolean
function damo.is_variable(value) end

---@param dtype damo.Dtype
---@param options? { shape?: (integer|false)[], ndim?: integer }
---@return damo.Type
function damo.TensorType(dtype, options) end
---@param why string
---@return damo.Type
function damo.NullType(why) end
---@return damo.Type
function damo.DisconnectedType() end
---@return damo.Type
function damo.GenericType() end
---@return damo.Type
function damo.RandomType() end
---An Op class, or an Op where the definition has no props.
---@param definition damo.OpDefinition
---@return damo.OpClass|damo.Op
function damo.Op(definition) end
---@param op damo.Op
---@param inputs damo.Variable[]
---@param outputs damo.Variable[]
---@return damo.Apply
function damo.Apply(op, inputs, outputs) end

---@class damo.CompileOptions
---@field updates? table {[shared]=new} or {{shared, new}, …}
---@field givens? table {[variable]=replacement} or a list of pairs
---@field mode? string|table "FAST_RUN", "FAST_COMPILE", "DEBUG", "NANGUARD", or what damo.Mode gives
---@field on_unused_input? "raise"|"warn"|"ignore"
---@field allow_input_downcast? boolean
---@field name? string
---@field borrow? boolean
---@field no_default_updates? boolean

---Compiles a graph to a Function.
---@param inputs any[] Variables and damo.In
---@param outputs? any a Variable, a list, a table of names, or nil
---@param options? damo.CompileOptions
---@return damo.Function
function damo.compile(inputs, outputs, options) end
---@param variable damo.Variable
---@param options? { name?: string, value?: any, update?: damo.Variable, mutable?: boolean, borrow?: boolean, strict?: boolean }
---@return table
function damo.In(variable, options) end
---@param variable damo.Variable
---@param options? { borrow?: boolean }
---@return table
function damo.Out(variable, options) end
---@param options { linker?: "vm"|"c"|"cvm"|"nanguard"|"debug", optimizer?: "fast_run"|"fast_compile"|"none", include?: string[], exclude?: string[], require?: string[] }
---@return table
function damo.Mode(options) end

---@class damo.GradOptions
---@field known_grads? table<damo.Variable, damo.Variable>
---@field consider_constant? damo.Variable[]
---@field disconnected_inputs? "raise"|"warn"|"ignore"
---@field null_gradients? "raise"|"return"
---@field return_disconnected? "zero"|"none"|"disconnected"

---The derivative of a scalar: a Variable for one wrt, a list for a list.
---@param cost? damo.Variable
---@param wrt damo.Variable|damo.Variable[]
---@param options? damo.GradOptions
---@return any
function damo.grad(cost, wrt, options) end
---Row vector times Jacobian.
---@param f damo.Variable|damo.Variable[]
---@param wrt damo.Variable|damo.Variable[]
---@param output_grads damo.Variable|damo.Variable[]
---@param options? { consider_constant?: damo.Variable[], disconnected_inputs?: "raise"|"warn"|"ignore" }
---@return any
function damo.Lop(f, wrt, output_grads, options) end
---Jacobian times vector.
---@param f damo.Variable|damo.Variable[]
---@param wrt damo.Variable|damo.Variable[]
---@param eval_points damo.Variable|damo.Variable[]
---@return any
function damo.Rop(f, wrt, eval_points) end
---@param f damo.Variable a vector whose length is known
---@param wrt damo.Variable|damo.Variable[]
---@param options? damo.GradOptions
---@return any
function damo.jacobian(f, wrt, options) end
---@param cost damo.Variable
---@param wrt damo.Variable|damo.Variable[] vectors whose length is known
---@param options? damo.GradOptions
---@return any
function damo.hessian(cost, wrt, options) end
---@param cost damo.Variable
---@param wrt damo.Variable|damo.Variable[]
---@param p damo.Variable|damo.Variable[] directions
---@return any
function damo.hessian_vector_product(cost, wrt, p) end
---Checks a gradient against finite differences; raises a numeric error with the worst entry.
---@param fun fun(...: damo.Variable): damo.Variable
---@param values any[]
---@param options? { eps?: number, abs_tol?: number, rel_tol?: number, rng?: integer }
function damo.verify_grad(fun, values, options) end
---What a grad returns for an input whose gradient is undefined.
---@param op damo.Op
---@param i integer
---@param x damo.Variable
---@param why? string
---@return damo.Variable
function damo.grad_undefined(op, i, x, why) end
---@param op damo.Op
---@param i integer
---@param x damo.Variable
---@param why? string
---@return damo.Variable
function damo.grad_not_implemented(op, i, x, why) end

---Versions, libraries, kernels.
---@return { version: string, lua: string, blas: string, core: string, kernels: string, gpl: boolean, threads: integer, libraries: table }
function damo.info() end
---@return { bytes: integer, peak: integer, cap: integer, objects: integer }
function damo.memory() end
---Every op function: the rows that docs/functions.md is made from.
---@return table[]
function damo.registry() end
---Raises an error object of that kind.
---@param kind damo.ErrorKind
---@param message string
function damo.raise(kind, message) end
---A generator's state from a seed.
---@param seed integer
---@return damo.Array
function damo.random_state(seed) end
---A shared Variable that holds a generator's state.
---@param state damo.Array
---@param name? string
---@return damo.Variable
function damo.random_shared(state, name) end

---@param seed? integer
---@return damo.RandomStream
function random.RandomStream(seed) end
---Seeds the eager draws.
---@param n integer
function random.seed(n) end
---A generator's state, for a draw's rng.
---@param seed integer
---@return damo.Array
function random.state(seed) end

---@param inputs damo.Variable[]
---@param outputs damo.Variable[]
---@param options? { clone?: boolean }
---@return damo.FunctionGraph
function graph.FunctionGraph(inputs, outputs, options) end
---@return table feature
function graph.DestroyHandler() end
---@param outputs damo.Variable[]
---@return damo.Variable[]
function graph.ancestors(outputs) end
---@param outputs damo.Variable[]
---@return damo.Variable[]
function graph.graph_inputs(outputs) end
---@param outputs damo.Variable[]
---@return damo.Apply[]
function graph.toposort(outputs) end
---@param inputs damo.Variable[]
---@param outputs damo.Variable[]
---@return damo.Variable[]
function graph.variables(inputs, outputs) end
---@param outputs damo.Variable[]
---@param replace table<damo.Variable, damo.Variable>
---@return damo.Variable[]
function graph.clone_replace(outputs, replace) end
---@param xs damo.Variable[]
---@param ys damo.Variable[]
---@param in_xs? damo.Variable[]
---@param in_ys? damo.Variable[]
---@return boolean
function graph.equal_computations(xs, ys, in_xs, in_ys) end
---A graph as an Op of its own.
---@param inputs damo.Variable[]
---@param outputs damo.Variable[]
---@param options? { inline?: boolean, lop_overrides?: any, rop_overrides?: any, connection_pattern?: boolean[][], name?: string, on_unused_input?: "raise"|"warn"|"ignore", mode?: any }
---@return damo.Op
function graph.OpFromGraph(inputs, outputs, options) end
---@param op any
---@return boolean
function graph.HasInnerGraph(op) end
---@param x any
---@return boolean
function graph.ThunkType(x) end
---Puts the user's lines into `thing.tag.trace`.
---@param thing damo.Variable|damo.Apply
---@param limit? integer
---@return damo.Variable|damo.Apply
function graph.add_tag_trace(thing, limit) end
---@param node damo.Apply
function graph.compute_test_value(node) end
---@param v any
---@return any
function graph.get_test_value(v) end
---@param ... damo.Variable
---@return fun(): ...
function graph.get_test_values(...) end
---@param msg string
function graph.missing_test_message(msg) end

---@param x any
---@param options? { print_type?: boolean, depth?: integer, stop_on_name?: boolean, id_type?: string, print_destroy_map?: boolean, print_view_map?: boolean, print_storage?: boolean, file?: any }
---@return string?
function printing.debugprint(x, options) end
---@param x damo.Variable
---@return string
function printing.pprint(x) end
---@param x any
---@param options? { path?: string }
---@return string
function printing.dot(x, options) end

---@param path string
---@param options? { on_fail?: "raise"|"return" }
---@return any
function io.load(path, options) end
---@param path string
---@param value any
---@param options? { on_fail?: "raise"|"return" }
function io.save(path, value, options) end
---@param path string
---@param options? { delimiter?: string, skip?: integer, dtype?: damo.Dtype, text_as_nan?: boolean, on_fail?: "raise"|"return" }
---@return damo.Array
function io.read_csv(path, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.bcol(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.bmatrix(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.brow(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.bscalar(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.btensor3(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.btensor4(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.btensor5(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.btensor6(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.btensor7(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.bvector(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.ccol(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.cmatrix(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.col(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.crow(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.cscalar(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.ctensor3(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.ctensor4(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.ctensor5(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.ctensor6(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.ctensor7(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.cvector(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.dcol(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.dmatrix(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.drow(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.dscalar(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.dtensor3(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.dtensor4(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.dtensor5(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.dtensor6(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.dtensor7(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.dvector(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.fcol(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.fmatrix(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.frow(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.fscalar(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.ftensor3(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.ftensor4(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.ftensor5(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.ftensor6(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.ftensor7(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.fvector(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.icol(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.imatrix(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.irow(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.iscalar(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.itensor3(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.itensor4(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.itensor5(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.itensor6(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.itensor7(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.ivector(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.lcol(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.lmatrix(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.lrow(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.lscalar(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.ltensor3(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.ltensor4(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.ltensor5(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.ltensor6(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.ltensor7(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.lvector(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.matrix(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.row(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.scalar(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.tensor3(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.tensor4(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.tensor5(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.tensor6(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.tensor7(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.vector(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.wcol(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.wmatrix(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.wrow(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.wscalar(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.wtensor3(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.wtensor4(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.wtensor5(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.wtensor6(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.wtensor7(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.wvector(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.zcol(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.zmatrix(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.zrow(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.zscalar(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.ztensor3(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.ztensor4(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.ztensor5(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.ztensor6(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.ztensor7(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function damo.zvector(name, options) end

---sum
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.add(x, y) end

---sum
---@param y damo.Operand
---@return damo.Result
function Tensor:add(y) end

---difference
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.sub(x, y) end

---difference
---@param y damo.Operand
---@return damo.Result
function Tensor:sub(y) end

---product, element by element
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.mul(x, y) end

---product, element by element
---@param y damo.Operand
---@return damo.Result
function Tensor:mul(y) end

---quotient; of integers a float
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.true_div(x, y) end

---quotient; of integers a float
---@param y damo.Operand
---@return damo.Result
function Tensor:true_div(y) end

---quotient rounded down
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.floor_div(x, y) end

---quotient rounded down
---@param y damo.Operand
---@return damo.Result
function Tensor:floor_div(y) end

---remainder, with the divisor's sign
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.mod(x, y) end

---remainder, with the divisor's sign
---@param y damo.Operand
---@return damo.Result
function Tensor:mod(y) end

---x to the power y
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.pow(x, y) end

---x to the power y
---@param y damo.Operand
---@return damo.Result
function Tensor:pow(y) end

---the larger; nan where one is nan
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.maximum(x, y) end

---the larger; nan where one is nan
---@param y damo.Operand
---@return damo.Result
function Tensor:maximum(y) end

---the smaller; nan where one is nan
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.minimum(x, y) end

---the smaller; nan where one is nan
---@param y damo.Operand
---@return damo.Result
function Tensor:minimum(y) end

---angle of a point, its height first
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.arctan2(x, y) end

---angle of a point, its height first
---@param y damo.Operand
---@return damo.Result
function Tensor:arctan2(y) end

---log(exp(x) + exp(y))
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.logaddexp(x, y) end

---log(exp(x) + exp(y))
---@param y damo.Operand
---@return damo.Result
function Tensor:logaddexp(y) end

---sqrt(x*x + y*y) without overflow
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.hypot(x, y) end

---sqrt(x*x + y*y) without overflow
---@param y damo.Operand
---@return damo.Result
function Tensor:hypot(y) end

---x = y, as bool
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.eq(x, y) end

---x = y, as bool
---@param y damo.Operand
---@return damo.Result
function Tensor:eq(y) end

---x differs from y, as bool
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.neq(x, y) end

---x differs from y, as bool
---@param y damo.Operand
---@return damo.Result
function Tensor:neq(y) end

---x < y, as bool
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.lt(x, y) end

---x < y, as bool
---@param y damo.Operand
---@return damo.Result
function Tensor:lt(y) end

---x <= y, as bool
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.le(x, y) end

---x <= y, as bool
---@param y damo.Operand
---@return damo.Result
function Tensor:le(y) end

---x > y, as bool
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.gt(x, y) end

---x > y, as bool
---@param y damo.Operand
---@return damo.Result
function Tensor:gt(y) end

---x >= y, as bool
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.ge(x, y) end

---x >= y, as bool
---@param y damo.Operand
---@return damo.Result
function Tensor:ge(y) end

---is it nan, as bool
---@param x damo.Operand
---@return damo.Result
function damo.isnan(x) end

---is it nan, as bool
---@return damo.Result
function Tensor:isnan() end

---is it an infinity, as bool
---@param x damo.Operand
---@return damo.Result
function damo.isinf(x) end

---is it an infinity, as bool
---@return damo.Result
function Tensor:isinf() end

---logical and of bool, bitwise and of integers
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.and_(x, y) end

---logical and of bool, bitwise and of integers
---@param y damo.Operand
---@return damo.Result
function Tensor:and_(y) end

---logical or of bool, bitwise or of integers
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.or_(x, y) end

---logical or of bool, bitwise or of integers
---@param y damo.Operand
---@return damo.Result
function Tensor:or_(y) end

---exclusive or of bool, bitwise of integers
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.xor(x, y) end

---exclusive or of bool, bitwise of integers
---@param y damo.Operand
---@return damo.Result
function Tensor:xor(y) end

---logical not of bool, all bits flipped of integers
---@param x damo.Operand
---@return damo.Result
function damo.invert(x) end

---logical not of bool, all bits flipped of integers
---@return damo.Result
function Tensor:invert() end

---x where the condition holds, else y
---@param condition damo.Operand
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.switch(condition, x, y) end

---x where the condition holds, else y
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function Tensor:switch(x, y) end

---x kept inside [min, max]
---@param x damo.Operand
---@param min damo.Operand
---@param max damo.Operand
---@return damo.Result
function damo.clip(x, min, max) end

---x kept inside [min, max]
---@param min damo.Operand
---@param max damo.Operand
---@return damo.Result
function Tensor:clip(min, max) end

---y broadcast to x's shape
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.second(x, y) end

---y broadcast to x's shape
---@param y damo.Operand
---@return damo.Result
function Tensor:second(y) end

---x itself, as a copy
---@param x damo.Operand
---@return damo.Result
function damo.identity(x) end

---x itself, as a copy
---@return damo.Result
function Tensor:identity() end

----x
---@param x damo.Operand
---@return damo.Result
function damo.neg(x) end

----x
---@return damo.Result
function Tensor:neg() end

---absolute value; of complex the magnitude
---@param x damo.Operand
---@return damo.Result
function damo.abs(x) end

---absolute value; of complex the magnitude
---@return damo.Result
function Tensor:abs() end

----1, 0 or 1; nan of nan
---@param x damo.Operand
---@return damo.Result
function damo.sign(x) end

----1, 0 or 1; nan of nan
---@return damo.Result
function Tensor:sign() end

---x*x
---@param x damo.Operand
---@return damo.Result
function damo.sqr(x) end

---x*x
---@return damo.Result
function Tensor:sqr() end

---square root
---@param x damo.Operand
---@return damo.Result
function damo.sqrt(x) end

---square root
---@return damo.Result
function Tensor:sqrt() end

---1/x
---@param x damo.Operand
---@return damo.Result
function damo.reciprocal(x) end

---1/x
---@return damo.Result
function Tensor:reciprocal() end

---rounded up
---@param x damo.Operand
---@return damo.Result
function damo.ceil(x) end

---rounded up
---@return damo.Result
function Tensor:ceil() end

---rounded down
---@param x damo.Operand
---@return damo.Result
function damo.floor(x) end

---rounded down
---@return damo.Result
function Tensor:floor() end

---rounded towards 0
---@param x damo.Operand
---@return damo.Result
function damo.trunc(x) end

---rounded towards 0
---@return damo.Result
function Tensor:trunc() end

---rounded, halves to even
---@param x damo.Operand
---@return damo.Result
function damo.round_half_to_even(x) end

---rounded, halves to even
---@return damo.Result
function Tensor:round_half_to_even() end

---rounded, halves away from 0
---@param x damo.Operand
---@return damo.Result
function damo.round_half_away_from_zero(x) end

---rounded, halves away from 0
---@return damo.Result
function Tensor:round_half_away_from_zero() end

---e to the power x
---@param x damo.Operand
---@return damo.Result
function damo.exp(x) end

---e to the power x
---@return damo.Result
function Tensor:exp() end

---2 to the power x
---@param x damo.Operand
---@return damo.Result
function damo.exp2(x) end

---2 to the power x
---@return damo.Result
function Tensor:exp2() end

---exp(x) - 1, exact near 0
---@param x damo.Operand
---@return damo.Result
function damo.expm1(x) end

---exp(x) - 1, exact near 0
---@return damo.Result
function Tensor:expm1() end

---natural logarithm
---@param x damo.Operand
---@return damo.Result
function damo.log(x) end

---natural logarithm
---@return damo.Result
function Tensor:log() end

---logarithm to base 2
---@param x damo.Operand
---@return damo.Result
function damo.log2(x) end

---logarithm to base 2
---@return damo.Result
function Tensor:log2() end

---logarithm to base 10
---@param x damo.Operand
---@return damo.Result
function damo.log10(x) end

---logarithm to base 10
---@return damo.Result
function Tensor:log10() end

---log(1 + x), exact near 0
---@param x damo.Operand
---@return damo.Result
function damo.log1p(x) end

---log(1 + x), exact near 0
---@return damo.Result
function Tensor:log1p() end

---1/(1 + exp(-x))
---@param x damo.Operand
---@return damo.Result
function damo.sigmoid(x) end

---1/(1 + exp(-x))
---@return damo.Result
function Tensor:sigmoid() end

---log(1 + exp(x)) without overflow
---@param x damo.Operand
---@return damo.Result
function damo.softplus(x) end

---log(1 + exp(x)) without overflow
---@return damo.Result
function Tensor:softplus() end

---log(1 - exp(x)) for x < 0
---@param x damo.Operand
---@return damo.Result
function damo.log1mexp(x) end

---log(1 - exp(x)) for x < 0
---@return damo.Result
function Tensor:log1mexp() end

---sine
---@param x damo.Operand
---@return damo.Result
function damo.sin(x) end

---sine
---@return damo.Result
function Tensor:sin() end

---cosine
---@param x damo.Operand
---@return damo.Result
function damo.cos(x) end

---cosine
---@return damo.Result
function Tensor:cos() end

---tangent
---@param x damo.Operand
---@return damo.Result
function damo.tan(x) end

---tangent
---@return damo.Result
function Tensor:tan() end

---inverse sine
---@param x damo.Operand
---@return damo.Result
function damo.arcsin(x) end

---inverse sine
---@return damo.Result
function Tensor:arcsin() end

---inverse cosine
---@param x damo.Operand
---@return damo.Result
function damo.arccos(x) end

---inverse cosine
---@return damo.Result
function Tensor:arccos() end

---inverse tangent
---@param x damo.Operand
---@return damo.Result
function damo.arctan(x) end

---inverse tangent
---@return damo.Result
function Tensor:arctan() end

---hyperbolic sine
---@param x damo.Operand
---@return damo.Result
function damo.sinh(x) end

---hyperbolic sine
---@return damo.Result
function Tensor:sinh() end

---hyperbolic cosine
---@param x damo.Operand
---@return damo.Result
function damo.cosh(x) end

---hyperbolic cosine
---@return damo.Result
function Tensor:cosh() end

---hyperbolic tangent
---@param x damo.Operand
---@return damo.Result
function damo.tanh(x) end

---hyperbolic tangent
---@return damo.Result
function Tensor:tanh() end

---inverse hyperbolic sine
---@param x damo.Operand
---@return damo.Result
function damo.arcsinh(x) end

---inverse hyperbolic sine
---@return damo.Result
function Tensor:arcsinh() end

---inverse hyperbolic cosine
---@param x damo.Operand
---@return damo.Result
function damo.arccosh(x) end

---inverse hyperbolic cosine
---@return damo.Result
function Tensor:arccosh() end

---inverse hyperbolic tangent
---@param x damo.Operand
---@return damo.Result
function damo.arctanh(x) end

---inverse hyperbolic tangent
---@return damo.Result
function Tensor:arctanh() end

---degrees to radians
---@param x damo.Operand
---@return damo.Result
function damo.deg2rad(x) end

---degrees to radians
---@return damo.Result
function Tensor:deg2rad() end

---radians to degrees
---@param x damo.Operand
---@return damo.Result
function damo.rad2deg(x) end

---radians to degrees
---@return damo.Result
function Tensor:rad2deg() end

---error function
---@param x damo.Operand
---@return damo.Result
function damo.erf(x) end

---error function
---@return damo.Result
function Tensor:erf() end

---1 - erf(x)
---@param x damo.Operand
---@return damo.Result
function damo.erfc(x) end

---1 - erf(x)
---@return damo.Result
function Tensor:erfc() end

---exp(x*x) erfc(x)
---@param x damo.Operand
---@return damo.Result
function damo.erfcx(x) end

---exp(x*x) erfc(x)
---@return damo.Result
function Tensor:erfcx() end

---inverse of erf
---@param x damo.Operand
---@return damo.Result
function damo.erfinv(x) end

---inverse of erf
---@return damo.Result
function Tensor:erfinv() end

---inverse of erfc
---@param x damo.Operand
---@return damo.Result
function damo.erfcinv(x) end

---inverse of erfc
---@return damo.Result
function Tensor:erfcinv() end

---gamma function
---@param x damo.Operand
---@return damo.Result
function damo.gamma(x) end

---gamma function
---@return damo.Result
function Tensor:gamma() end

---log of |gamma(x)|
---@param x damo.Operand
---@return damo.Result
function damo.gammaln(x) end

---log of |gamma(x)|
---@return damo.Result
function Tensor:gammaln() end

---derivative of gammaln
---@param x damo.Operand
---@return damo.Result
function damo.psi(x) end

---derivative of gammaln
---@return damo.Result
function Tensor:psi() end

---second derivative of gammaln
---@param x damo.Operand
---@return damo.Result
function damo.tri_gamma(x) end

---second derivative of gammaln
---@return damo.Result
function Tensor:tri_gamma() end

---third derivative of gammaln
---@param x damo.Operand
---@return damo.Result
function damo.tetra_gamma(x) end

---third derivative of gammaln
---@return damo.Result
function Tensor:tetra_gamma() end

---modified Bessel function of order 0
---@param x damo.Operand
---@return damo.Result
function damo.i0(x) end

---modified Bessel function of order 0
---@return damo.Result
function Tensor:i0() end

---modified Bessel function of order 1
---@param x damo.Operand
---@return damo.Result
function damo.i1(x) end

---modified Bessel function of order 1
---@return damo.Result
function Tensor:i1() end

---Bessel function of order 0
---@param x damo.Operand
---@return damo.Result
function damo.j0(x) end

---Bessel function of order 0
---@return damo.Result
function Tensor:j0() end

---Bessel function of order 1
---@param x damo.Operand
---@return damo.Result
function damo.j1(x) end

---Bessel function of order 1
---@return damo.Result
function Tensor:j1() end

---complex conjugate
---@param x damo.Operand
---@return damo.Result
function damo.conj(x) end

---complex conjugate
---@return damo.Result
function Tensor:conj() end

---real part
---@param x damo.Operand
---@return damo.Result
function damo.real(x) end

---real part
---@return damo.Result
function Tensor:real() end

---imaginary part
---@param x damo.Operand
---@return damo.Result
function damo.imag(x) end

---imaginary part
---@return damo.Result
function Tensor:imag() end

---argument of a complex number
---@param x damo.Operand
---@return damo.Result
function damo.angle(x) end

---argument of a complex number
---@return damo.Result
function Tensor:angle() end

---complex number of two parts
---@param re damo.Operand
---@param im damo.Operand
---@return damo.Result
function damo.complex(re, im) end

---complex number of two parts
---@param im damo.Operand
---@return damo.Result
function Tensor:complex(im) end

---another name of true_div
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.div(x, y) end

---another name of true_div
---@param y damo.Operand
---@return damo.Result
function Tensor:div(y) end

---another name of floor_div
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.int_div(x, y) end

---another name of floor_div
---@param y damo.Operand
---@return damo.Result
function Tensor:int_div(y) end

---another name of invert
---@param x damo.Operand
---@return damo.Result
function damo.logical_not(x) end

---another name of invert
---@return damo.Result
function Tensor:logical_not() end

---another name of invert
---@param x damo.Operand
---@return damo.Result
function damo.not_(x) end

---another name of invert
---@return damo.Result
function Tensor:not_() end

---another name of switch
---@param condition damo.Operand
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.where(condition, x, y) end

---another name of switch
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function Tensor:where(x, y) end

---another name of second
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.fill(x, y) end

---another name of second
---@param y damo.Operand
---@return damo.Result
function Tensor:fill(y) end

---another name of sign
---@param x damo.Operand
---@return damo.Result
function damo.sgn(x) end

---another name of sign
---@return damo.Result
function Tensor:sgn() end

---another name of sqr
---@param x damo.Operand
---@return damo.Result
function damo.square(x) end

---another name of sqr
---@return damo.Result
function Tensor:square() end

---another name of reciprocal
---@param x damo.Operand
---@return damo.Result
function damo.inv(x) end

---another name of reciprocal
---@return damo.Result
function Tensor:inv() end

---another name of psi
---@param x damo.Operand
---@return damo.Result
function damo.digamma(x) end

---another name of psi
---@return damo.Result
function Tensor:digamma() end

---another name of sigmoid
---@param x damo.Operand
---@return damo.Result
function damo.expit(x) end

---another name of sigmoid
---@return damo.Result
function Tensor:expit() end

---x converted to another dtype
---@param x damo.Operand
---@param options? damo.Dtype|{ dtype?: damo.Dtype }
---@return damo.Result
function damo.cast(x, options) end

---x converted to another dtype
---@param options? damo.Dtype|{ dtype?: damo.Dtype }
---@return damo.Result
function Tensor:cast(options) end

---rounded; mode 'half_to_even' (default) or 'half_away_from_zero'
---@param x damo.Operand
---@param options? string|{ mode?: string }
---@return damo.Result
function damo.round(x, options) end

---rounded; mode 'half_to_even' (default) or 'half_away_from_zero'
---@param options? string|{ mode?: string }
---@return damo.Result
function Tensor:round(options) end

---max(x, 0); with alpha, alpha*x where x is not positive
---@param x damo.Operand
---@param alpha? damo.Operand
---@return damo.Result
function damo.relu(x, alpha) end

---max(x, 0); with alpha, alpha*x where x is not positive
---@param alpha? damo.Operand
---@return damo.Result
function Tensor:relu(alpha) end

---|x - y| <= atol + rtol |y|, as bool
---@param x damo.Operand
---@param y damo.Operand
---@param options? number|{ rtol?: number, atol?: number, equal_nan?: boolean }
---@return damo.Result
function damo.isclose(x, y, options) end

---|x - y| <= atol + rtol |y|, as bool
---@param y damo.Operand
---@param options? number|{ rtol?: number, atol?: number, equal_nan?: boolean }
---@return damo.Result
function Tensor:isclose(y, options) end

---isclose everywhere
---@param x damo.Operand
---@param y damo.Operand
---@param options? number|{ rtol?: number, atol?: number, equal_nan?: boolean }
---@return damo.Result
function damo.allclose(x, y, options) end

---isclose everywhere
---@param y damo.Operand
---@param options? number|{ rtol?: number, atol?: number, equal_nan?: boolean }
---@return damo.Result
function Tensor:allclose(y, options) end

---sum over axes; of integers int64 or uint64
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, dtype?: damo.Dtype }
---@return damo.Result
function damo.sum(x, options) end

---sum over axes; of integers int64 or uint64
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, dtype?: damo.Dtype }
---@return damo.Result
function Tensor:sum(options) end

---product over axes; of integers int64 or uint64
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, dtype?: damo.Dtype }
---@return damo.Result
function damo.prod(x, options) end

---product over axes; of integers int64 or uint64
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, dtype?: damo.Dtype }
---@return damo.Result
function Tensor:prod(options) end

---largest element over axes; nan where there is one
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean }
---@return damo.Result
function damo.max(x, options) end

---largest element over axes; nan where there is one
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean }
---@return damo.Result
function Tensor:max(options) end

---smallest element over axes; nan where there is one
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean }
---@return damo.Result
function damo.min(x, options) end

---smallest element over axes; nan where there is one
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean }
---@return damo.Result
function Tensor:min(options) end

---is any element true, over axes
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean }
---@return damo.Result
function damo.any(x, options) end

---is any element true, over axes
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean }
---@return damo.Result
function Tensor:any(options) end

---are all elements true, over axes
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean }
---@return damo.Result
function damo.all(x, options) end

---are all elements true, over axes
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean }
---@return damo.Result
function Tensor:all(options) end

---1-based position of the first largest element over axes
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean }
---@return damo.Result
function damo.argmax(x, options) end

---1-based position of the first largest element over axes
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean }
---@return damo.Result
function Tensor:argmax(options) end

---1-based position of the first smallest element over axes
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean }
---@return damo.Result
function damo.argmin(x, options) end

---1-based position of the first smallest element over axes
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean }
---@return damo.Result
function Tensor:argmin(options) end

---log of the sum of exponentials over axes, without overflow
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean }
---@return damo.Result
function damo.logsumexp(x, options) end

---log of the sum of exponentials over axes, without overflow
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean }
---@return damo.Result
function Tensor:logsumexp(options) end

---mean over axes; of integers float64
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, dtype?: damo.Dtype }
---@return damo.Result
function damo.mean(x, options) end

---mean over axes; of integers float64
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, dtype?: damo.Dtype }
---@return damo.Result
function Tensor:mean(options) end

---variance over axes, divided by n - ddof (default 0)
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, ddof?: number }
---@return damo.Result
function damo.var(x, options) end

---variance over axes, divided by n - ddof (default 0)
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, ddof?: number }
---@return damo.Result
function Tensor:var(options) end

---standard deviation over axes: the root of var
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, ddof?: number }
---@return damo.Result
function damo.std(x, options) end

---standard deviation over axes: the root of var
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, ddof?: number }
---@return damo.Result
function Tensor:std(options) end

---largest less smallest element over axes
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean }
---@return damo.Result
function damo.ptp(x, options) end

---largest less smallest element over axes
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean }
---@return damo.Result
function Tensor:ptp(options) end

---max, then argmax
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean }
---@return damo.Result
function damo.max_and_argmax(x, options) end

---max, then argmax
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean }
---@return damo.Result
function Tensor:max_and_argmax(options) end

---running sum along an axis; nil: of x flattened
---@param x damo.Operand
---@param options? integer|{ axis?: integer }
---@return damo.Result
function damo.cumsum(x, options) end

---running sum along an axis; nil: of x flattened
---@param options? integer|{ axis?: integer }
---@return damo.Result
function Tensor:cumsum(options) end

---running product along an axis; nil: of x flattened
---@param x damo.Operand
---@param options? integer|{ axis?: integer }
---@return damo.Result
function damo.cumprod(x, options) end

---running product along an axis; nil: of x flattened
---@param options? integer|{ axis?: integer }
---@return damo.Result
function Tensor:cumprod(options) end

---sorted along an axis (default -1), nan last
---@param x damo.Operand
---@param options? integer|{ axis?: integer }
---@return damo.Result
function damo.sort(x, options) end

---sorted along an axis (default -1), nan last
---@param options? integer|{ axis?: integer }
---@return damo.Result
function Tensor:sort(options) end

---1-based positions that sort along an axis (default -1), always stable
---@param x damo.Operand
---@param options? integer|{ axis?: integer, stable?: boolean }
---@return damo.Result
function damo.argsort(x, options) end

---1-based positions that sort along an axis (default -1), always stable
---@param options? integer|{ axis?: integer, stable?: boolean }
---@return damo.Result
function Tensor:argsort(options) end

---differences of neighbours along an axis (default -1), n times
---@param x damo.Operand
---@param options? integer|{ axis?: integer, n?: integer }
---@return damo.Result
function damo.diff(x, options) end

---differences of neighbours along an axis (default -1), n times
---@param options? integer|{ axis?: integer, n?: integer }
---@return damo.Result
function Tensor:diff(options) end

---the shape as an int64 vector
---@param x damo.Operand
---@return damo.Result
function damo.shape(x) end

---the length of one axis
---@param x damo.Operand
---@param options? integer|{ axis?: integer }
---@return damo.Result
function damo.shape_i(x, options) end

---the length of one axis
---@param options? integer|{ axis?: integer }
---@return damo.Result
function Tensor:shape_i(options) end

---the number of entries
---@param x damo.Operand
---@return damo.Result
function damo.size(x) end

---the same entries in another shape; -1 may stand once, for what is left
---@param x damo.Operand
---@param options? damo.Shape|{ shape?: damo.Shape, ndim?: integer }
---@return damo.Result
function damo.reshape(x, options) end

---the same entries in another shape; -1 may stand once, for what is left
---@param options? damo.Shape|{ shape?: damo.Shape, ndim?: integer }
---@return damo.Result
function Tensor:reshape(options) end

---the last axes made one, so that ndim are left
---@param x damo.Operand
---@param options? integer|{ ndim?: integer }
---@return damo.Result
function damo.flatten(x, options) end

---the last axes made one, so that ndim are left
---@param options? integer|{ ndim?: integer }
---@return damo.Result
function Tensor:flatten(options) end

---all entries as a vector
---@param x damo.Operand
---@return damo.Result
function damo.ravel(x) end

---all entries as a vector
---@return damo.Result
function Tensor:ravel() end

---axes in another order, reversed by default
---@param x damo.Operand
---@param options? integer|integer[]|{ axes?: integer|integer[] }
---@return damo.Result
function damo.transpose(x, options) end

---axes in another order, reversed by default
---@param options? integer|integer[]|{ axes?: integer|integer[] }
---@return damo.Result
function Tensor:transpose(options) end

---the last two axes swapped
---@param x damo.Operand
---@return damo.Result
function damo.matrix_transpose(x) end

---the last two axes swapped
---@return damo.Result
function Tensor:matrix_transpose() end

---axes in the order of the pattern, "x" for a new one; axes left out must have length 1
---@param x damo.Operand
---@param options? any|{ pattern?: any }
---@return damo.Result
function damo.dimshuffle(x, options) end

---axes in the order of the pattern, "x" for a new one; axes left out must have length 1
---@param options? any|{ pattern?: any }
---@return damo.Result
function Tensor:dimshuffle(options) end

---new axes of length 1 at these places of the result
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[] }
---@return damo.Result
function damo.expand_dims(x, options) end

---new axes of length 1 at these places of the result
---@param options? integer|integer[]|{ axis?: integer|integer[] }
---@return damo.Result
function Tensor:expand_dims(options) end

---axes of length 1 dropped: those named, or all that are known to be
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[] }
---@return damo.Result
function damo.squeeze(x, options) end

---axes of length 1 dropped: those named, or all that are known to be
---@param options? integer|integer[]|{ axis?: integer|integer[] }
---@return damo.Result
function Tensor:squeeze(options) end

---axes moved to other places, the rest in order
---@param x damo.Operand
---@param options? integer|integer[]|{ source?: integer|integer[], destination?: integer|integer[] }
---@return damo.Result
function damo.moveaxis(x, options) end

---axes moved to other places, the rest in order
---@param options? integer|integer[]|{ source?: integer|integer[], destination?: integer|integer[] }
---@return damo.Result
function Tensor:moveaxis(options) end

---two axes swapped
---@param x damo.Operand
---@param options? integer|{ axis1?: integer, axis2?: integer }
---@return damo.Result
function damo.swapaxes(x, options) end

---two axes swapped
---@param options? integer|{ axis1?: integer, axis2?: integer }
---@return damo.Result
function Tensor:swapaxes(options) end

---new first axes up to 1
---@param x damo.Operand
---@return damo.Result
function damo.atleast_1d(x) end

---new first axes up to 1
---@return damo.Result
function Tensor:atleast_1d() end

---new first axes up to 2
---@param x damo.Operand
---@return damo.Result
function damo.atleast_2d(x) end

---new first axes up to 2
---@return damo.Result
function Tensor:atleast_2d() end

---new first axes up to 3
---@param x damo.Operand
---@return damo.Result
function damo.atleast_3d(x) end

---new first axes up to 3
---@return damo.Result
function Tensor:atleast_3d() end

---x broadcast to a shape; a read-only view
---@param x damo.Operand
---@param options? damo.Shape|{ shape?: damo.Shape }
---@return damo.Result
function damo.broadcast_to(x, options) end

---x broadcast to a shape; a read-only view
---@param options? damo.Shape|{ shape?: damo.Shape }
---@return damo.Result
function Tensor:broadcast_to(options) end

---axes in reverse order
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[] }
---@return damo.Result
function damo.flip(x, options) end

---axes in reverse order
---@param options? integer|integer[]|{ axis?: integer|integer[] }
---@return damo.Result
function Tensor:flip(options) end

---a matrix with a vector as its k-th diagonal, or the k-th diagonal of a matrix
---@param x damo.Operand
---@param options? integer|{ k?: integer }
---@return damo.Result
function damo.diag(x, options) end

---a matrix with a vector as its k-th diagonal, or the k-th diagonal of a matrix
---@param options? integer|{ k?: integer }
---@return damo.Result
function Tensor:diag(options) end

---a diagonal of two axes, as the last axis; a view
---@param x damo.Operand
---@param options? integer|{ offset?: integer, axis1?: integer, axis2?: integer }
---@return damo.Result
function damo.diagonal(x, options) end

---a diagonal of two axes, as the last axis; a view
---@param options? integer|{ offset?: integer, axis1?: integer, axis2?: integer }
---@return damo.Result
function Tensor:diagonal(options) end

---the sum along a diagonal
---@param x damo.Operand
---@param options? integer|{ offset?: integer, axis1?: integer, axis2?: integer }
---@return damo.Result
function damo.trace(x, options) end

---the sum along a diagonal
---@param options? integer|{ offset?: integer, axis1?: integer, axis2?: integer }
---@return damo.Result
function Tensor:trace(options) end

---zeros above the k-th diagonal
---@param x damo.Operand
---@param options? integer|{ k?: integer }
---@return damo.Result
function damo.tril(x, options) end

---zeros above the k-th diagonal
---@param options? integer|{ k?: integer }
---@return damo.Result
function Tensor:tril(options) end

---zeros below the k-th diagonal
---@param x damo.Operand
---@param options? integer|{ k?: integer }
---@return damo.Result
function damo.triu(x, options) end

---zeros below the k-th diagonal
---@param options? integer|{ k?: integer }
---@return damo.Result
function Tensor:triu(options) end

---x, its axes named here known to have length 1
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[] }
---@return damo.Result
function damo.specify_broadcastable(x, options) end

---x, its axes named here known to have length 1
---@param options? integer|integer[]|{ axis?: integer|integer[] }
---@return damo.Result
function Tensor:specify_broadcastable(options) end

---a value broadcast to a shape
---@param value damo.Operand
---@param options? damo.Shape|{ shape?: damo.Shape, dtype?: damo.Dtype }
---@return damo.Result
function damo.alloc(value, options) end

---zeros of x's shape and dtype
---@param x damo.Operand
---@param options? damo.Dtype|{ dtype?: damo.Dtype }
---@return damo.Result
function damo.zeros_like(x, options) end

---zeros of x's shape and dtype
---@param options? damo.Dtype|{ dtype?: damo.Dtype }
---@return damo.Result
function Tensor:zeros_like(options) end

---ones of x's shape and dtype
---@param x damo.Operand
---@param options? damo.Dtype|{ dtype?: damo.Dtype }
---@return damo.Result
function damo.ones_like(x, options) end

---ones of x's shape and dtype
---@param options? damo.Dtype|{ dtype?: damo.Dtype }
---@return damo.Result
function Tensor:ones_like(options) end

---a value in x's shape and dtype
---@param x damo.Operand
---@param value damo.Operand
---@param options? damo.Dtype|{ dtype?: damo.Dtype }
---@return damo.Result
function damo.full_like(x, value, options) end

---a value in x's shape and dtype
---@param value damo.Operand
---@param options? damo.Dtype|{ dtype?: damo.Dtype }
---@return damo.Result
function Tensor:full_like(value, options) end

---an array of x's shape and dtype whose entries are not set
---@param x damo.Operand
---@param options? damo.Dtype|{ dtype?: damo.Dtype }
---@return damo.Result
function damo.empty_like(x, options) end

---an array of x's shape and dtype whose entries are not set
---@param options? damo.Dtype|{ dtype?: damo.Dtype }
---@return damo.Result
function Tensor:empty_like(options) end

---an n by m matrix with ones on its k-th diagonal
---@param n damo.Operand
---@param m? damo.Operand
---@param k? damo.Operand
---@param options? damo.Dtype|{ dtype?: damo.Dtype }
---@return damo.Result
function damo.eye(n, m, k, options) end

---an n by m matrix with ones on and below its k-th diagonal
---@param n damo.Operand
---@param m? damo.Operand
---@param k? damo.Operand
---@param options? damo.Dtype|{ dtype?: damo.Dtype }
---@return damo.Result
function damo.tri(n, m, k, options) end

---start, start + step … before stop; one operand is the stop, from 0
---@param start damo.Operand
---@param stop? damo.Operand
---@param step? damo.Operand
---@param options? damo.Dtype|{ dtype?: damo.Dtype }
---@return damo.Result
function damo.arange(start, stop, step, options) end

---num evenly spaced values from start to stop, both included
---@param start damo.Operand
---@param stop damo.Operand
---@param options? integer|{ num?: integer, dtype?: damo.Dtype }
---@return damo.Result
function damo.linspace(start, stop, options) end

---xs one after the other along an axis
---@param axis damo.Operand
---@param xs damo.Operand[]
---@return damo.Result
function damo.join(axis, xs) end

---xs one after the other along an axis
---@param xs damo.Operand[]
---@param options? integer|{ axis?: integer }
---@return damo.Result
function damo.concatenate(xs, options) end

---xs along a new axis
---@param xs damo.Operand[]
---@param options? integer|{ axis?: integer }
---@return damo.Result
function damo.stack(xs, options) end

---xs one above the other
---@param xs damo.Operand[]
---@return damo.Result
function damo.vstack(xs) end

---xs side by side
---@param xs damo.Operand[]
---@return damo.Result
function damo.hstack(xs) end

---the parts of x along an axis, of these sizes; views
---@param x damo.Operand
---@param options? damo.Shape|{ sizes?: damo.Shape, axis?: integer }
---@return damo.Result
function damo.split(x, options) end

---the parts of x along an axis, of these sizes; views
---@param options? damo.Shape|{ sizes?: damo.Shape, axis?: integer }
---@return damo.Result
function Tensor:split(options) end

---x repeated as a whole, reps times along each axis
---@param x damo.Operand
---@param options? damo.Shape|{ reps?: damo.Shape }
---@return damo.Result
function damo.tile(x, options) end

---x repeated as a whole, reps times along each axis
---@param options? damo.Shape|{ reps?: damo.Shape }
---@return damo.Result
function Tensor:tile(options) end

---each entry repeated along an axis; of all entries in order without one
---@param x damo.Operand
---@param repeats damo.Operand
---@param options? integer|{ axis?: integer }
---@return damo.Result
function damo.repeat_(x, repeats, options) end

---each entry repeated along an axis; of all entries in order without one
---@param repeats damo.Operand
---@param options? integer|{ axis?: integer }
---@return damo.Result
function Tensor:repeat_(repeats, options) end

---entries shifted along an axis, around its end
---@param x damo.Operand
---@param shift damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[] }
---@return damo.Result
function damo.roll(x, shift, options) end

---entries shifted along an axis, around its end
---@param shift damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[] }
---@return damo.Result
function Tensor:roll(shift, options) end

---a border around x: constant, edge, wrap, reflect or symmetric
---@param x damo.Operand
---@param options? any|{ pad_width?: any, mode?: string, constant_values?: number }
---@return damo.Result
function damo.pad(x, options) end

---a border around x: constant, edge, wrap, reflect or symmetric
---@param options? any|{ pad_width?: any, mode?: string, constant_values?: number }
---@return damo.Result
function Tensor:pad(options) end

---x at an index; spec has for each item i (position), sABC (range; A, B, C: are start, stop, step among idx), n (newaxis), e (ellipsis) or l (list or mask)
---@param x damo.Operand
---@param idx damo.Operand[]
---@param options? string|{ spec?: string }
---@return damo.Result
function damo.subtensor(x, idx, options) end

---x at an index; spec has for each item i (position), sABC (range; A, B, C: are start, stop, step among idx), n (newaxis), e (ellipsis) or l (list or mask)
---@param idx damo.Operand[]
---@param options? string|{ spec?: string }
---@return damo.Result
function Tensor:subtensor(idx, options) end

---x with y set at an index; spec as subtensor's
---@param x damo.Operand
---@param y damo.Operand
---@param idx damo.Operand[]
---@param options? string|{ spec?: string }
---@return damo.Result
function damo.set_subtensor_at(x, y, idx, options) end

---x with y set at an index; spec as subtensor's
---@param y damo.Operand
---@param idx damo.Operand[]
---@param options? string|{ spec?: string }
---@return damo.Result
function Tensor:set_subtensor_at(y, idx, options) end

---x with y added at an index, repeated positions adding up; spec as subtensor's
---@param x damo.Operand
---@param y damo.Operand
---@param idx damo.Operand[]
---@param options? string|{ spec?: string }
---@return damo.Result
function damo.inc_subtensor_at(x, y, idx, options) end

---x with y added at an index, repeated positions adding up; spec as subtensor's
---@param y damo.Operand
---@param idx damo.Operand[]
---@param options? string|{ spec?: string }
---@return damo.Result
function Tensor:inc_subtensor_at(y, idx, options) end

---the tensor that x is a part of, with y in that part
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.set_subtensor(x, y) end

---the tensor that x is a part of, with y in that part
---@param y damo.Operand
---@return damo.Result
function Tensor:set_subtensor(y) end

---the tensor that x is a part of, with y added to that part
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.inc_subtensor(x, y) end

---the tensor that x is a part of, with y added to that part
---@param y damo.Operand
---@return damo.Result
function Tensor:inc_subtensor(y) end

---entries of x at 1-based positions along an axis; of all entries in order without one
---@param x damo.Operand
---@param indices damo.Operand
---@param options? integer|{ axis?: integer }
---@return damo.Result
function damo.take(x, indices, options) end

---entries of x at 1-based positions along an axis; of all entries in order without one
---@param indices damo.Operand
---@param options? integer|{ axis?: integer }
---@return damo.Result
function Tensor:take(indices, options) end

---entries of x at positions along one axis, chosen for each place of the other axes
---@param x damo.Operand
---@param indices damo.Operand
---@param options? integer|{ axis?: integer }
---@return damo.Result
function damo.take_along_axis(x, indices, options) end

---entries of x at positions along one axis, chosen for each place of the other axes
---@param indices damo.Operand
---@param options? integer|{ axis?: integer }
---@return damo.Result
function Tensor:take_along_axis(indices, options) end

---a last axis of n classes, one at the 1-based class that x names
---@param x damo.Operand
---@param n damo.Operand
---@param options? damo.Dtype|{ dtype?: damo.Dtype }
---@return damo.Result
function damo.one_hot(x, n, options) end

---a last axis of n classes, one at the 1-based class that x names
---@param n damo.Operand
---@param options? damo.Dtype|{ dtype?: damo.Dtype }
---@return damo.Result
function Tensor:one_hot(n, options) end

---a last axis of n classes, one at the 1-based class that x names
---@param x damo.Operand
---@param n damo.Operand
---@param options? damo.Dtype|{ dtype?: damo.Dtype }
---@return damo.Result
function damo.to_one_hot(x, n, options) end

---a last axis of n classes, one at the 1-based class that x names
---@param n damo.Operand
---@param options? damo.Dtype|{ dtype?: damo.Dtype }
---@return damo.Result
function Tensor:to_one_hot(n, options) end

---the positions of entries that are not zero, a vector for each axis
---@param x damo.Operand
---@return damo.Result
function damo.nonzero(x) end

---the positions of entries that are not zero, a vector for each axis
---@return damo.Result
function Tensor:nonzero() end

---product: the last axis of x with the last but one of y (its only one when y is a vector)
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.dot(x, y) end

---product: the last axis of x with the last but one of y (its only one when y is a vector)
---@param y damo.Operand
---@return damo.Result
function Tensor:dot(y) end

---matrix product over the last two axes; leading axes broadcast
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.matmul(x, y) end

---matrix product over the last two axes; leading axes broadcast
---@param y damo.Operand
---@return damo.Result
function Tensor:matmul(y) end

---outer product of two vectors (flattened)
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.outer(x, y) end

---outer product of two vectors (flattened)
---@param y damo.Operand
---@return damo.Result
function Tensor:outer(y) end

---sum of products over axes: a number n (the last n of x, the first n of y; 2 if not given), or {axes of x, axes of y}
---@param x damo.Operand
---@param y damo.Operand
---@param options? any|{ axes?: any }
---@return damo.Result
function damo.tensordot(x, y, options) end

---sum of products over axes: a number n (the last n of x, the first n of y; 2 if not given), or {axes of x, axes of y}
---@param y damo.Operand
---@param options? any|{ axes?: any }
---@return damo.Result
function Tensor:tensordot(y, options) end

---product of vectors along the last axes, x conjugated; leading axes broadcast
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.vecdot(x, y) end

---product of vectors along the last axes, x conjugated; leading axes broadcast
---@param y damo.Operand
---@return damo.Result
function Tensor:vecdot(y) end

---matrices times vectors; leading axes broadcast
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.matvec(x, y) end

---matrices times vectors; leading axes broadcast
---@param y damo.Operand
---@return damo.Result
function Tensor:matvec(y) end

---vectors, conjugated, times matrices; leading axes broadcast
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.vecmat(x, y) end

---vectors, conjugated, times matrices; leading axes broadcast
---@param y damo.Operand
---@return damo.Result
function Tensor:vecmat(y) end

---one dot for each entry of the first axis, which x and y share
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.batched_dot(x, y) end

---one dot for each entry of the first axis, which x and y share
---@param y damo.Operand
---@return damo.Result
function Tensor:batched_dot(y) end

---Kronecker product
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.kron(x, y) end

---Kronecker product
---@param y damo.Operand
---@return damo.Result
function Tensor:kron(y) end

---sum of products by Einstein's convention: einsum({x, y}, "ij,jk->ik")
---@param xs damo.Operand[]
---@param options? string|{ subscripts?: string }
---@return damo.Result
function damo.einsum(xs, options) end

---exp(x) divided by its sum along an axis (nil: over all entries)
---@param x damo.Operand
---@param options? integer|{ axis?: integer }
---@return damo.Result
function damo.softmax(x, options) end

---exp(x) divided by its sum along an axis (nil: over all entries)
---@param options? integer|{ axis?: integer }
---@return damo.Result
function Tensor:softmax(options) end

---logarithm of softmax, without overflow
---@param x damo.Operand
---@param options? integer|{ axis?: integer }
---@return damo.Result
function damo.log_softmax(x, options) end

---logarithm of softmax, without overflow
---@param options? integer|{ axis?: integer }
---@return damo.Result
function Tensor:log_softmax(options) end

----sum(true_dist * log(coding_dist)) along the last axis; true_dist may be integer positions, 1-based
---@param coding_dist damo.Operand
---@param true_dist damo.Operand
---@return damo.Result
function damo.categorical_crossentropy(coding_dist, true_dist) end

----sum(true_dist * log(coding_dist)) along the last axis; true_dist may be integer positions, 1-based
---@param true_dist damo.Operand
---@return damo.Result
function Tensor:categorical_crossentropy(true_dist) end

----(target*log(output) + (1 - target)*log(1 - output))
---@param output damo.Operand
---@param target damo.Operand
---@return damo.Result
function damo.binary_crossentropy(output, target) end

----(target*log(output) + (1 - target)*log(1 - output))
---@param target damo.Operand
---@return damo.Result
function Tensor:binary_crossentropy(target) end

---binary_crossentropy of sigmoid(output), without overflow
---@param output damo.Operand
---@param target damo.Operand
---@return damo.Result
function damo.sigmoid_binary_crossentropy(output, target) end

---binary_crossentropy of sigmoid(output), without overflow
---@param target damo.Operand
---@return damo.Result
function Tensor:sigmoid_binary_crossentropy(target) end

---mean of (x - y)^2
---@param x damo.Operand
---@param y damo.Operand
---@return damo.Result
function damo.mean_squared_error(x, y) end

---mean of (x - y)^2
---@param y damo.Operand
---@return damo.Result
function Tensor:mean_squared_error(y) end

---tanh(dot(x, w) + b)
---@param x damo.Operand
---@param w damo.Operand
---@param b damo.Operand
---@return damo.Result
function damo.dense_layer(x, w, b) end

---tanh(dot(x, w) + b)
---@param w damo.Operand
---@param b damo.Operand
---@return damo.Result
function Tensor:dense_layer(w, b) end

---normal draws: mean loc (0), standard deviation scale (1); gives the next state and the draw
---@param loc? damo.Operand
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any }
---@return damo.Result
function random.normal(loc, scale, options) end

---normal draws: mean loc (0), standard deviation scale (1); gives the next state and the draw
---@param loc? damo.Operand
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any }
---@return damo.Result
function RandomStream:normal(loc, scale, options) end

---uniform draws from low (0) to high (1), high left out; gives the next state and the draw
---@param low? damo.Operand
---@param high? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any }
---@return damo.Result
function random.uniform(low, high, options) end

---uniform draws from low (0) to high (1), high left out; gives the next state and the draw
---@param low? damo.Operand
---@param high? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any }
---@return damo.Result
function RandomStream:uniform(low, high, options) end

---true with probability p (0.5); gives the next state and the draw, bool
---@param p? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any }
---@return damo.Result
function random.bernoulli(p, options) end

---true with probability p (0.5); gives the next state and the draw, bool
---@param p? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any }
---@return damo.Result
function RandomStream:bernoulli(p, options) end

---exponential draws with mean scale (1); gives the next state and the draw
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any }
---@return damo.Result
function random.exponential(scale, options) end

---exponential draws with mean scale (1); gives the next state and the draw
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any }
---@return damo.Result
function RandomStream:exponential(scale, options) end

---Gumbel draws of location loc (0) and scale (1); gives the next state and the draw
---@param loc? damo.Operand
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any }
---@return damo.Result
function random.gumbel(loc, scale, options) end

---Gumbel draws of location loc (0) and scale (1); gives the next state and the draw
---@param loc? damo.Operand
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any }
---@return damo.Result
function RandomStream:gumbel(loc, scale, options) end

---integers from low to high, both included; gives the next state and the draw, int64
---@param low damo.Operand
---@param high damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any }
---@return damo.Result
function random.integers(low, high, options) end

---integers from low to high, both included; gives the next state and the draw, int64
---@param low damo.Operand
---@param high damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any }
---@return damo.Result
function RandomStream:integers(low, high, options) end

---a random order of 1…x, or of an array's entries along its first axis; gives the next state and the result
---@param x damo.Operand
---@return damo.Result
function random.permutation(x) end

---a random order of 1…x, or of an array's entries along its first axis; gives the next state and the result
---@param x damo.Operand
---@return damo.Result
function RandomStream:permutation(x) end

---x, through which no gradient passes: as if nothing were connected
---@param x damo.Operand
---@return damo.Result
function damo.disconnected_grad(x) end

---x, through which no gradient passes: as if nothing were connected
---@return damo.Result
function Tensor:disconnected_grad() end

---x, whose gradient is zero
---@param x damo.Operand
---@return damo.Result
function damo.zero_grad(x) end

---x, whose gradient is zero
---@return damo.Result
function Tensor:zero_grad() end

---x, whose gradient is zero
---@param x damo.Operand
---@return damo.Result
function damo.consider_constant(x) end

---x, whose gradient is zero
---@return damo.Result
function Tensor:consider_constant() end

---x, whose gradient is clipped to lower … upper
---@param x damo.Operand
---@param options? number|{ lower?: number, upper?: number }
---@return damo.Result
function damo.grad_clip(x, options) end

---x, whose gradient is clipped to lower … upper
---@param options? number|{ lower?: number, upper?: number }
---@return damo.Result
function Tensor:grad_clip(options) end

---x, whose gradient is scaled
---@param x damo.Operand
---@param options? number|{ multiplier?: number }
---@return damo.Result
function damo.grad_scale(x, options) end

---x, whose gradient is scaled
---@param options? number|{ multiplier?: number }
---@return damo.Result
function Tensor:grad_scale(options) end

---x where cond is true everywhere, else a value error with the message
---@param x damo.Operand
---@param cond damo.Operand
---@param options? string|{ message?: string }
---@return damo.Result
function damo.assert_op(x, cond, options) end

---x where cond is true everywhere, else a value error with the message
---@param cond damo.Operand
---@param options? string|{ message?: string }
---@return damo.Result
function Tensor:assert_op(cond, options) end

---x, whose shape must be this (false: any length), known to the graph and checked when it runs
---@param x damo.Operand
---@param options? any|{ shape?: any }
---@return damo.Result
function damo.specify_shape(x, options) end

---x, whose shape must be this (false: any length), known to the graph and checked when it runs
---@param options? any|{ shape?: any }
---@return damo.Result
function Tensor:specify_shape(options) end

---x, its axes named here no longer known to have length 1
---@param x damo.Operand
---@param options? integer|integer[]|{ axes?: integer|integer[] }
---@return damo.Result
function damo.unbroadcast(x, options) end

---x, its axes named here no longer known to have length 1
---@param options? integer|integer[]|{ axes?: integer|integer[] }
---@return damo.Result
function Tensor:unbroadcast(options) end

---a where the scalar cond is true, else b: only that branch is computed when a compiled function runs. The branches may be lists of one length, which give several results
---@param cond damo.Operand
---@param a damo.Operand
---@param b damo.Operand
---@return damo.Result
function damo.ifelse(cond, a, b) end

---ifelse over a flat list: cond, the values of the first branch, those of the second
---@param operands damo.Operand[]
---@return damo.Result
function damo.ifelse_list(operands) end

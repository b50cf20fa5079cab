---@meta
-- Written by docs/generate.lua (`make docs`) from the op registry and docs/annotations.lua;
-- read by editors, never loaded at run time.
-- luacheck: ignore

---@alias damo.Dtype "bool"|"int8"|"int16"|"int32"|"int64"|"uint8"|"uint16"|"uint32"|"uint64"|"float32"|"float64"|"complex64"|"complex128"
---@alias damo.Operand damo.Variable|damo.Array|damo.Sparse|number|boolean|table
---@alias damo.Value damo.Array|number|boolean what a call on values gives: a number or a boolean where it is 0-d
---@alias damo.Result damo.Variable|damo.Array|number|boolean
---@alias damo.Shape integer|(integer|damo.Variable)[]|damo.Variable
---@alias damo.MakerOptions { dtype?: damo.Dtype, shape?: (integer|false)[], name?: string }
---@alias damo.ErrorKind "type"|"shape"|"value"|"index"|"missing_input"|"unused_input"|"null_gradient"|"disconnected_input"|"missing_test_value"|"not_implemented"|"inconsistency"|"numeric"|"memory"|"io"|"state"|"callback"

---A row of the registry of op functions.
---@class damo.Row
---@field name string
---@field operands { name: string, optional: boolean, list: boolean }[]
---@field options { name: string, kind: string }[]
---@field doc string
---@field method boolean
---@field random boolean

---What damo raises; tostring gives the whole story.
---@class damo.Error
---@operator concat(any): string
---@field kind damo.ErrorKind
---@field message string
---@field op? string name of the Op
---@field operands? string dtypes and shapes of what Op or call was given, "float64 (2, 3), csr float64 (3, 4)"
---@field node? damo.Apply
---@field where? string "file:line" of the script
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
---@operator add(damo.Variable): damo.Variable
---@operator add(damo.Operand): damo.Value
---@operator sub(damo.Variable): damo.Variable
---@operator sub(damo.Operand): damo.Value
---@operator mul(damo.Variable): damo.Variable
---@operator mul(damo.Operand): damo.Value
---@operator div(damo.Variable): damo.Variable
---@operator div(damo.Operand): damo.Value
---@operator idiv(damo.Variable): damo.Variable
---@operator idiv(damo.Operand): damo.Value
---@operator mod(damo.Variable): damo.Variable
---@operator mod(damo.Operand): damo.Value
---@operator pow(damo.Variable): damo.Variable
---@operator pow(damo.Operand): damo.Value
---@operator band(damo.Variable): damo.Variable
---@operator band(damo.Operand): damo.Value
---@operator bor(damo.Variable): damo.Variable
---@operator bor(damo.Operand): damo.Value
---@operator bxor(damo.Variable): damo.Variable
---@operator bxor(damo.Operand): damo.Value
---@operator unm: damo.Value
---@operator bnot: damo.Value
---@operator len: integer
---@field T damo.Array axes reversed
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
---The same entries in memory of their own, in C order.
---@return damo.Array
function Array:copy() end
---The entries in another dtype, always a copy.
---@param dtype damo.Dtype
---@return damo.Array
function Array:astype(dtype) end
---The entries in C order.
---@return string
function Array:tobytes() end
---The address of the first entry.
---@return lightuserdata
function Array:pointer() end
---The same elements of another source's memory: of an Array that damo.view made.
---@param source any
---@return damo.Array
function Array:rebind(source) end
---Whether the entries lie in C order without gaps.
---@return boolean
function Array:iscontiguous() end
---Lets the memory go now; uses of the Array are state errors from here on.
function Array:free() end

---A place in a graph: an input, a constant, a shared value, or what a node computes.
---@class damo.Variable: damo.Tensor
---@operator add(damo.Operand): damo.Variable
---@operator sub(damo.Operand): damo.Variable
---@operator mul(damo.Operand): damo.Variable
---@operator div(damo.Operand): damo.Variable
---@operator idiv(damo.Operand): damo.Variable
---@operator mod(damo.Operand): damo.Variable
---@operator pow(damo.Operand): damo.Variable
---@operator band(damo.Operand): damo.Variable
---@operator bor(damo.Operand): damo.Variable
---@operator bxor(damo.Operand): damo.Variable
---@operator unm: damo.Variable
---@operator bnot: damo.Variable
---@operator concat(any): string
---@field T damo.Variable axes reversed
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
---@field format? damo.Format of a sparse Variable, as those that follow
---@field itype? "int32"|"int64"
---@field nnz? damo.Variable
---@field indices? damo.Variable
---@field indptr? damo.Variable
local Variable = {}

---A shared Variable's value.
---@param options? { borrow?: boolean }
---@return any
function Variable:get_value(options) end
---Sets a shared Variable's value.
---@param value any
---@param options? { borrow?: boolean }
function Variable:set_value(value, options) end
---The value of this graph, computed at once.
---@param givens? table<damo.Variable, any>
---@return any
function Variable:eval(givens) end
---A Variable of the same Type and name that no node computes.
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
---@field format? damo.Format of sparse values
---@field itype? "int32"|"int64" of sparse values: dtype of indices and indptr
---@field pattern? damo.Sparse true where sparse values have entries, where the Type says that; a matrix of its own
---@field why? string
---@overload fun(name?: string): damo.Variable
local Type = {}

---The value as this Type stores it, converted where nothing is lost; else a type error.
---@param value any
---@param options? { strict?: boolean, allow_downcast?: boolean }
---@return any
function Type:filter(value, options) end
---Whether a value is of this Type as it stands.
---@param value any
---@return boolean
function Type:is_valid_value(value) end
---Whether two values are equal.
---@param a any
---@param b any
---@return boolean
function Type:values_eq(a, b) end
---Whether each value of the other Type is one of this.
---@param other damo.Type
---@return boolean
function Type:is_super(other) end
---A new Variable of this Type.
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
---@field inner_inputs? damo.Variable[] of an Op with an inner graph, as those that follow
---@field inner_outputs? damo.Variable[]
---@field fgraph? damo.FunctionGraph
---@field fn? damo.Function
---@overload fun(...: damo.Operand): damo.Variable
local Op = {}

---The node that applies the Op to these operands.
---@param ... damo.Operand
---@return damo.Apply
function Op:make_node(...) end
---Computes the node's outputs from values: output i is put into output_storage[i][1].
---@param node damo.Apply
---@param inputs damo.Array[]
---@param output_storage any[][]
---@param params? table
function Op:perform(node, inputs, output_storage, params) end
---A Variable for each input: the gradient of a cost by it, given that by each output.
---@param inputs damo.Variable[]
---@param output_grads damo.Variable[]
---@return damo.Variable[]
function Op:grad(inputs, output_grads) end
---As grad, with the node's outputs at hand.
---@param inputs damo.Variable[]
---@param outputs damo.Variable[]
---@param output_grads damo.Variable[]
---@return damo.Variable[]
function Op:L_op(inputs, outputs, output_grads) end
---How the outputs move when the inputs move along eval_points; nil where an input has no direction.
---@param inputs damo.Variable[]
---@param eval_points damo.Variable[]
---@return damo.Variable[]
function Op:R_op(inputs, eval_points) end
---A list of lengths for each output.
---@param fgraph? damo.FunctionGraph
---@param node damo.Apply
---@param shapes damo.Variable[][]
---@return any[][]
function Op:infer_shape(fgraph, node, shapes) end
---For each input a list of booleans, one for each output: whether it reaches that.
---@param node damo.Apply
---@return boolean[][]
function Op:connection_pattern(node) end
---Whether a node of constants may be computed when the graph is compiled.
---@param fgraph? damo.FunctionGraph
---@param node damo.Apply
---@return boolean
function Op:do_constant_folding(fgraph, node) end
---What perform gets as params.
---@param node damo.Apply
---@return table?
function Op:get_params(node) end
---Runs before a thunk is made.
---@param node damo.Apply
---@param storage_map? table<damo.Variable, any[]>
---@param compute_map? table<damo.Variable, boolean[]>
---@param impl? "c"|"lua"
function Op:prepare_node(node, storage_map, compute_map, impl) end
---What computes the node: it reads and fills the cells of storage_map.
---@param node damo.Apply
---@param storage_map table<damo.Variable, any[]>
---@param compute_map table<damo.Variable, boolean[]>
---@param no_recycling damo.Variable[]
---@param impl? "c"|"lua"
---@return any
function Op:make_thunk(node, storage_map, compute_map, no_recycling, impl) end
---A thunk of the implementation in C; a not_implemented error where there is none.
---@param node damo.Apply
---@param storage_map table<damo.Variable, any[]>
---@param compute_map table<damo.Variable, boolean[]>
---@param no_recycling damo.Variable[]
---@return any
function Op:make_c_thunk(node, storage_map, compute_map, no_recycling) end
---A thunk round perform, or with debug round debug_perform.
---@param node damo.Apply
---@param storage_map table<damo.Variable, any[]>
---@param compute_map table<damo.Variable, boolean[]>
---@param no_recycling damo.Variable[]
---@param debug? boolean
---@return any
function Op:make_lua_thunk(node, storage_map, compute_map, no_recycling, debug) end
---Puts the script's lines into `thing.tag.trace`.
---@generic T: damo.Variable|damo.Apply
---@param thing T
---@param limit? integer
---@return T
function Op:add_tag_trace(thing, limit) end
---The Op as one with an inner graph of its own: of an OpFromGraph and of loops.
---@return damo.Op
function Op:clone() end

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
---@field add_tag_trace? fun(self: damo.Op, thing: damo.Variable|damo.Apply, limit?: integer): damo.Variable|damo.Apply
---@field default_output? integer
---@field destroy_map? table<integer, integer|integer[]>
---@field view_map? table<integer, integer|integer[]>
---@field nan_guard_mode_check? boolean
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

---The output that a call of the Op gives.
---@return damo.Variable
function Apply:default_output() end
---A node with the same Op and inputs, and outputs of its own.
---@return damo.Apply
function Apply:clone() end
---The Op applied to other inputs.
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
---@field profile damo.Profile what its calls have cost so far
---@overload fun(...: any): ...
local Function = {}

---A call with inputs by name or position.
---@param values table
---@return ...
function Function:call(values) end
---A callable that writes its results into these Arrays and sparse matrices; nil where it gives a new one.
---@param ... damo.Array|damo.Sparse|nil
---@return damo.Into
function Function:into(...) end
---Begins a call that is computed in steps.
---@param ... any
---@return damo.Run
function Function:start(...) end
---A callable with the same arguments that gives the values of these Variables of the program, and updates nothing.
---@param ... damo.Variable
---@return fun(...: any): ...
function Function:probe(...) end
---The same program and shared Variables with storage of its own.
---@return damo.Function
function Function:copy() end
---The state of the Function, its shared values and random streams, as bytes; into a uint8 vector: how many these are.
---@param into? damo.Array
---@return string|integer
function Function:snapshot(into) end
---Sets the state from a snapshot of a Function of an equal graph.
---@param snapshot string|damo.Array
function Function:restore(snapshot) end
---Frees what the Function keeps for calls with other shapes than the last one's.
function Function:trim() end
---A random name for the program and the values of its shared Variables, from which damo.from_token makes Functions in
---any Lua state of the process.
---@return string
function Function:token() end
---Writes the program as C99 source: name.c, name.h and, where constants are long, name.bin.
---@param options { name: string, dir?: string, shapes?: (integer[]|false)[], dtype?: damo.Dtype }
function Function:export_c(options) end
---Lets program and storage go now.
function Function:free() end

---@class damo.ProgressOptions
---@field title? string
---@field out? file*|{ write: fun(self: any, text: string) }
---@field terminal? boolean whether out is one
---@field silent? boolean

---What f:into(…) gives.
---@class damo.Into
---@overload fun(...: any): ...
local Into = {}

---Begins a call that is computed in steps, and writes its results in the last one.
---@param ... any
---@return damo.Run
function Into:start(...) end

---A call that is computed in steps.
---@class damo.Run
local Run = {}

---Computes for about so many microseconds, at least one piece; without a number to the end. Whether the call has ended.
---@param us? number
---@return boolean
function Run:step(us) end
---What the call gives; a state error before its end.
---@return ...
function Run:result() end
---Ends the call with nothing committed.
function Run:cancel() end
---Begins the next call in the memory of the last.
---@param ... any
---@return damo.Run
function Run:restart(...) end

---What the calls of a Function have cost; times in seconds. Without the option profile it has two fields alone.
---@class damo.Profile
---@field symbolic_analyses integer of sparse systems
---@field factorizations integer of sparse systems
---@field calls integer
---@field time number
---@field overhead number share of the time that no node took
---@field peak integer bytes
---@field name string
---@field nodes { node: damo.Apply, op: string, calls: integer, time: number, bytes: integer, nodes?: table }[]
---@field ops { op: string, nodes: integer, calls: integer, time: number, bytes: integer }[]
---@field compile { time: number, phases: { name: string, time: number }[] }
---@field rules table<string, { time: number, uses: integer }>
local Profile = {}

---Prints the counts as tables; with file = "str" returns the text.
---@param options? { file?: any }
---@return string?
function Profile:print(options) end
---Draws the time of the slowest nodes as bars; returns the path or the text.
---@param options? { path?: string }
---@return string
function Profile:plot(options) end
---The graph in Graphviz's language, nodes coloured by time.
---@param options? { path?: string }
---@return string
function Profile:dot(options) end
---The latest events in Chrome's trace format.
---@param options? { path?: string }
---@return string
function Profile:trace(options) end

---@class damo.FunctionGraph
---@field inputs damo.Variable[]
---@field outputs damo.Variable[]
---@field apply_nodes damo.Apply[]
---@field variables damo.Variable[]
---@field features table[]
local FunctionGraph = {}

---Puts one Variable in the place of another.
---@param old damo.Variable
---@param new damo.Variable
---@param options? { reason?: string, import_missing?: boolean }
function FunctionGraph:replace(old, new, options) end
---Replaces several Variables, given as pairs.
---@param pairs table
---@param options? { reason?: string, import_missing?: boolean }
function FunctionGraph:replace_all(pairs, options) end
---Replaces a Variable, and takes it back if a feature finds the graph inconsistent.
---@param old damo.Variable
---@param new damo.Variable
---@param options? { reason?: string, import_missing?: boolean }
function FunctionGraph:replace_validate(old, new, options) end
---Replaces several, and takes them back if a feature finds the graph inconsistent.
---@param pairs table
---@param options? { reason?: string, import_missing?: boolean }
function FunctionGraph:replace_all_validate(pairs, options) end
---Gives a node another input.
---@param node damo.Apply|"output"
---@param i integer
---@param new damo.Variable
---@param options? { reason?: string, import_missing?: boolean }
function FunctionGraph:change_node_input(node, i, new, options) end
---The nodes, each after those whose outputs it reads.
---@return damo.Apply[]
function FunctionGraph:toposort() end
---Where a Variable is read.
---@param v damo.Variable
---@return { [1]: damo.Apply|"output", [2]: integer }[]
function FunctionGraph:clients(v) end
---A copy of the graph.
---@return damo.FunctionGraph
function FunctionGraph:clone() end
---Raises what is wrong with the graph, if anything.
function FunctionGraph:validate() end
---Whether no value is read after it was overwritten.
---@return boolean
function FunctionGraph:consistent() end
---Adds an object whose methods are called as the graph changes.
---@param feature table
function FunctionGraph:attach_feature(feature) end
---Removes such an object.
---@param feature table
function FunctionGraph:remove_feature(feature) end

---@class damo.RandomStream
---@field seed_value integer
---@field n integer how many draws it has made
---@field states damo.Variable[] the shared states of its draws
local RandomStream = {}

---The seed of the next draw's state.
---@return integer
function RandomStream:next_seed() end

---Sets every state of the stream back to what the seed gives.
---@param seed? integer
function RandomStream:seed(seed) end

---@class damo.Config
---@field floatX "float64"|"float32"
---@field compute_test_value "off"|"ignore"|"warn"|"raise"
---@field traceback_limit integer
---@field on_warning? fun(kind: damo.ErrorKind, message: string)
---@field memory_cap integer bytes, 0: none
---@field memo_cap integer bytes of compiled graphs that are remembered, 0: none
---@field plan_cap integer bytes that Functions keep for calls with other shapes than the last one's, 0: none
---@field gc_floor integer native bytes that may be made before the next cycle of Lua's collector
---@field threads integer
---@field sandbox boolean a latch: once true, no files, programs, native pointers or change of limits
---@field mode "FAST_RUN"|"FAST_COMPILE"|"DEBUG"|"NANGUARD"

---@class damo
---@field config damo.Config
---@field newaxis userdata in an index table: a new axis of length 1
---@field ellipsis userdata in an index table: as many whole axes as are left
---@field random damo.random
---@field sparse damo.sparse
---@field linalg damo.linalg
---@field fft damo.fft
---@field nn damo.nn
---@field graph damo.graph
---@field rewrite damo.rewrite
---@field ops table<string, any> the Op classes that the host registered
---@field printing damo.printing
---@field io damo.io
---@field optim damo.optim
---@field plot damo.plot
---@field progress damo.progress
---@field tree damo.tree
---@field dist damo.dist
local damo = {}

---Linear algebra of dense matrices; its functions are declared below.
---@class damo.linalg
local linalg = {}

---Discrete Fourier transforms; its functions are declared below.
---@class damo.fft
local fft = {}

---Networks; its functions are declared below.
---@class damo.nn
---@field init damo.nn.init initial values of parameters
local nn = {}

---What sparse matrices and sparse Variables have in common.
---@class damo.Sparse: damo.Tensor
---@operator add(damo.Variable): damo.Variable
---@operator add(damo.Operand): damo.Sparse|damo.Array
---@operator sub(damo.Variable): damo.Variable
---@operator sub(damo.Operand): damo.Sparse|damo.Array
---@operator mul(damo.Variable): damo.Variable
---@operator mul(damo.Operand): damo.Sparse|damo.Array
---@operator div(damo.Variable): damo.Variable
---@operator div(damo.Operand): damo.Sparse|damo.Array
---@operator idiv(damo.Variable): damo.Variable
---@operator idiv(damo.Operand): damo.Sparse|damo.Array
---@operator mod(damo.Variable): damo.Variable
---@operator mod(damo.Operand): damo.Sparse|damo.Array
---@operator pow(damo.Variable): damo.Variable
---@operator pow(damo.Operand): damo.Sparse|damo.Array
---@operator band(damo.Variable): damo.Variable
---@operator band(damo.Operand): damo.Sparse|damo.Array
---@operator bor(damo.Variable): damo.Variable
---@operator bor(damo.Operand): damo.Sparse|damo.Array
---@operator bxor(damo.Variable): damo.Variable
---@operator bxor(damo.Operand): damo.Sparse|damo.Array
---@operator unm: damo.Sparse
---@operator bnot: damo.Sparse
---@operator len: integer
---@field T damo.Sparse rows as columns
---@field format "csr"|"csc"
---@field itype "int32"|"int64" dtype of indices and indptr
---@field shape integer[]
---@field nnz integer stored entries
---@field size integer stored entries
---@field data damo.Array the stored values, a view
---@field indices damo.Array 0-based, a read-only view
---@field indptr damo.Array from 0, a read-only view
---@field has_sorted_indices boolean
---@field has_canonical_format boolean sorted, without duplicates
local Sparse = {}

---The same matrix in memory of its own.
---@return damo.Sparse
function Sparse:copy() end
---Lets the memory go now; uses of the matrix are state errors from here on.
function Sparse:free() end

---The factorization of a sparse matrix: made once, used for many systems.
---@class damo.Factor
---@field backend "cholmod"|"umfpack"|"klu"|"cxsparse"|"ldl"|"spqr"|"none"
---@field kind "cholesky"|"lu"|"qr"|"none"
---@field shape integer[] of the matrix
---@field dtype damo.Dtype of the matrix
---@field analyses integer done since the factor was made
---@field factorizations integer done since the factor was made
---@field nbytes integer held by the back end
local Factor = {}

---x with A x = b; of a Variable b a Variable.
---@param b any a vector, a matrix or a sparse matrix
---@return any
function Factor:solve(b) end
---x with A.T x = b.
---@param b any
---@return any
function Factor:solve_t(b) end
---log|det A|, and the sign of det A.
---@return number log_abs
---@return number sign
function Factor:logdet() end
---The determinant of the matrix.
---@return number
function Factor:det() end
---An estimate of the reciprocal condition number.
---@return number
function Factor:rcond() end
---Lets the factor go now; uses of it are state errors from here on.
function Factor:free() end

---@alias damo.Format "csr"|"csc"

---Sparse matrices: makers of values, Types, Variables; the op functions are declared below.
---@class damo.sparse
---@field sparse_formats damo.Format[] the names of the formats
---@field CSM any class: CSM{format=} makes a matrix from data, indices, indptr, shape
local sparse = {}

---From the three vectors (0-based), all in one table, or of a dense or sparse matrix. An Array of values is shared, and a
---matrix given back itself where it is as wanted already, unless copy is true.
---@param from { data: any, indices: any, indptr: any, shape?: integer[], itype?: string, dtype?: damo.Dtype, copy?: boolean }|damo.Array|damo.Sparse|table
---@param options? { dtype?: damo.Dtype, itype?: string, shape?: integer[], copy?: boolean } of a matrix only
---@return damo.Sparse
function sparse.csr(from, options) end
---From the three vectors (0-based), all in one table, or of a dense or sparse matrix. An Array of values is shared, and a
---matrix given back itself where it is as wanted already, unless copy is true.
---@param from { data: any, indices: any, indptr: any, shape?: integer[], itype?: string, dtype?: damo.Dtype, copy?: boolean }|damo.Array|damo.Sparse|table
---@param options? { dtype?: damo.Dtype, itype?: string, shape?: integer[], copy?: boolean } of a matrix only
---@return damo.Sparse
function sparse.csc(from, options) end
---From 1-based coordinates; duplicates are summed. One number as values is the value of each. The values are always
---copied: copy may be true.
---@param parts { rows: any, cols: any, values: any, shape?: integer[], format?: damo.Format, dtype?: damo.Dtype, itype?: string, copy?: true }
---@return damo.Sparse
function sparse.coo(parts) end
---The entries of a dense matrix that are not 0.
---@param a damo.Array|table
---@param format? damo.Format|{ format?: damo.Format, dtype?: damo.Dtype, itype?: string }
---@return damo.Sparse
function sparse.from_dense(a, format) end
---Ones on the k-th diagonal.
---@param m integer
---@param n? integer
---@param options? { k?: integer, dtype?: damo.Dtype, format?: damo.Format, itype?: string }
---@return damo.Sparse
function sparse.eye(m, n, options) end
---Diagonals by their offsets.
---@param diagonals table
---@param offsets? integer[]
---@param options? { shape?: integer[], dtype?: damo.Dtype, format?: damo.Format, itype?: string }
---@return damo.Sparse
function sparse.diags(diagonals, offsets, options) end
---A random matrix with exactly density*m*n entries.
---@param m integer
---@param n integer
---@param options? { density?: number, format?: damo.Format, dtype?: damo.Dtype, itype?: string }
---@return damo.Sparse
function sparse.random(m, n, options) end
---The Type of sparse matrices of that format and dtype.
---@param format damo.Format
---@param dtype? damo.Dtype
---@param options? { itype?: string, shape?: (integer|false)[], pattern?: damo.Sparse }
---@return damo.Type
function sparse.SparseTensorType(format, dtype, options) end
---The Type of factors of matrices with that dtype and shape.
---@param dtype? damo.Dtype
---@param options? { shape?: (integer|false)[], least_squares?: boolean }
---@return damo.Type
function sparse.FactorType(dtype, options) end
---A sparse input.
---@param format damo.Format
---@param name? string
---@param options? { dtype?: damo.Dtype, itype?: string, shape?: (integer|false)[], pattern?: damo.Sparse, name?: string }
---@return damo.Variable
function sparse.matrix(format, name, options) end
---A sparse Variable itself, of a sparse matrix a constant.
---@param x damo.Variable|damo.Sparse
---@param name? string
---@return damo.Variable
function sparse.as_sparse_variable(x, name) end
---The same as as_sparse_variable.
---@param x damo.Variable|damo.Sparse
---@param name? string
---@return damo.Variable
function sparse.as_sparse(x, name) end
---Sparse things as as_sparse_variable, all others as as_tensor_variable.
---@param x any
---@param name? string
---@return damo.Variable
function sparse.as_sparse_or_tensor_variable(x, name) end
---Whether x is a sparse matrix or Variable.
---@param x any
---@return boolean
function sparse.is_sparse(x) end
---A structured function of any function of a tensor, which is applied to the vector of stored values alone.
---@generic F: function
---@param fn F
---@return F
function sparse.structured_monoid(fn) end
---Random operands for tests: n sparse Variables, and as many matrices for them.
---@param format damo.Format
---@param shape integer[]
---@param options? { n?: integer, p?: number, explicit_zero?: boolean, unsorted_indices?: boolean, dtype?: damo.Dtype }
---@return damo.Variable[], damo.Sparse[]
function sparse.sparse_random_inputs(format, shape, options) end
---Checks gradients against finite differences, at the stored positions alone when structured; a numeric error names the worst.
---@param fn function of Variables, giving one
---@param values any[] sparse matrices, Arrays, numbers
---@param options? { structured?: boolean, eps?: number, abs_tol?: number, rel_tol?: number }
function sparse.verify_grad_sparse(fn, values, options) end


---@class damo.random
local random = {}
---@class damo.graph
local graph = {}
---@class damo.rewrite
local rewrite = {}
---@class damo.printing
local printing = {}
---@class damo.io
local io = {}
---The structure of a tree; equal for equal keys.
---@class damo.Treedef
---@field n integer the number of leaves
---@class damo.tree
local tree = {}

---An Array of a number, boolean, nested table or Array.
---@param value any
---@param dtype? damo.Dtype
---@return damo.Array
function damo.array(value, dtype) end
---Entries are 0.
---@param shape damo.Shape
---@param dtype? damo.Dtype|{ dtype?: damo.Dtype, out?: damo.Array }
---@return damo.Array
function damo.zeros(shape, dtype) end
---Entries are 1.
---@param shape damo.Shape
---@param dtype? damo.Dtype|{ dtype?: damo.Dtype, out?: damo.Array }
---@return damo.Array
function damo.ones(shape, dtype) end
---Entries are not set.
---@param shape damo.Shape
---@param dtype? damo.Dtype|{ dtype?: damo.Dtype, out?: damo.Array }
---@return damo.Array
function damo.empty(shape, dtype) end
---Entries are value.
---@param shape damo.Shape
---@param value damo.Operand
---@param dtype? damo.Dtype|{ dtype?: damo.Dtype, out?: damo.Array }
---@return damo.Array
function damo.full(shape, value, dtype) end
---As Lua's for: from start (1) to stop, which is included.
---@param start number
---@param stop? number
---@param step? number
---@return damo.Array
function damo.range(start, stop, step) end
---An Array of the bytes of its entries in C order.
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
---An Array over memory of the host: a light userdata, a cdata, or an object with getPointer and getSize. In bytes:
---strides, offset, size.
---@param source any
---@param options? { dtype?: string, shape?: damo.Shape, strides?: integer[], offset?: integer, size?: integer, readonly?: boolean, owner?: any }
---@return damo.Array
function damo.view(source, options) end
---A Function over the program of that name (f:token()), with a frame and shared Variables of its own.
---@param token string
---@return damo.Function
function damo.from_token(token) end
---The entry of the registry for a name, a function or an object; several words search. With file = "str" the text is
---returned.
---@param x any
---@param options? { file?: any }
---@return string?
function damo.help(x, options) end
---Writes a graph as a file: a Function's, or that of Variables.
---@param path string
---@param graph damo.Function|{ inputs: table, outputs: table, updates?: table }
---@param options? { lines?: boolean }
---@return boolean
function damo.save_graph(path, graph, options) end
---The graph of such a file. ops: the Ops of a script that it has, by name.
---@param path string
---@param options? { ops?: table<string, damo.Op|damo.OpClass> }
---@return { inputs: damo.Variable[], outputs: damo.Variable[], updates: damo.Variable[][], shared: damo.Variable[] }
function damo.load_graph(path, options) end
---What an error means, why it is raised, and for a common mistake what to write instead.
---@param err damo.Error|string
---@return string
function damo.explain(err) end
---Nanoseconds of a clock that never goes back.
---@return integer
function damo.clock() end
---Equal in shape and in every entry, whatever the dtypes; a sparse matrix equals the dense one with its values.
---@param a any
---@param b any
---@param options? { equal_nan?: boolean }
---@return boolean
function damo.array_equal(a, b, options) end
---A list of positions for an index table.
---@param positions integer[]
---@return userdata
function damo.idx(positions) end

---An input of a graph with that many dimensions, or that static shape.
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
---A Variable with a fixed value.
---@param value any
---@param options? { dtype?: damo.Dtype, name?: string, type?: damo.Type }
---@return damo.Variable
function damo.constant(value, options) end
---A Variable itself, of a value a constant.
---@param value any
---@param options? { name?: string, ndim?: integer, dtype?: damo.Dtype }
---@return damo.Variable
function damo.as_tensor_variable(value, options) end
---The same as as_tensor_variable.
---@param value any
---@param options? { name?: string, ndim?: integer, dtype?: damo.Dtype }
---@return damo.Variable
function damo.as_tensor(value, options) end
---A Variable itself, of a value a constant.
---@param value any
---@return damo.Variable
function damo.as_variable(value) end
---Whether x is a Variable.
---@param value any
---@return boolean
function damo.is_variable(value) end

---The Type of arrays of a dtype and a static shape, false where a length is not known.
---@param dtype damo.Dtype
---@param options? { shape?: (integer|false)[], ndim?: integer }
---@return damo.Type
function damo.TensorType(dtype, options) end
---The Type of a gradient that does not exist, with the reason.
---@param why string
---@return damo.Type
function damo.NullType(why) end
---The Type of a gradient along no path.
---@return damo.Type
function damo.DisconnectedType() end
---The Type of any Lua value.
---@return damo.Type
function damo.GenericType() end
---The Type of a generator's state.
---@return damo.Type
function damo.RandomType() end
---An Op class, or an Op where the definition has no props.
---@param definition damo.OpDefinition
---@return damo.OpClass|damo.Op
function damo.Op(definition) end
---A node: an Op applied to inputs, with new outputs of these Types.
---@param op damo.Op
---@param inputs damo.Variable[]
---@param outputs damo.Variable[]
---@return damo.Apply
function damo.Apply(op, inputs, outputs) end

---@class damo.CompileOptions
---@field updates? table {[shared]=new} or {{shared, new}, …}
---@field givens? table {[variable]=replacement} or a list of pairs; no replacement may depend on such a variable
---@field mode? string|damo.Mode "FAST_RUN", "FAST_COMPILE", "DEBUG", "NANGUARD", or what damo.Mode gives
---@field on_unused_input? "raise"|"warn"|"ignore"
---@field allow_input_downcast? boolean
---@field name? string
---@field borrow? boolean
---@field no_default_updates? boolean
---@field threads? integer how many threads a call may use
---@field profile? boolean f.profile then says what calls and compilation have cost

---Compiles a graph to a Function.
---@param inputs any[] Variables and damo.In, and nested tables of these
---@param outputs? any a Variable, a list, a table of names, a nested table, or nil
---@param options? damo.CompileOptions
---@return damo.Function
function damo.compile(inputs, outputs, options) end
---What damo.In gives.
---@class damo.In
---@field variable damo.Variable

---What damo.Out gives.
---@class damo.Out
---@field variable damo.Variable

---What damo.Mode gives.
---@class damo.Mode

---An input of compile with options: a name, a default value, an update, whether it may be overwritten.
---@param variable damo.Variable
---@param options? { name?: string, value?: any, update?: damo.Variable, mutable?: boolean, borrow?: boolean, strict?: boolean }
---@return damo.In
function damo.In(variable, options) end
---An output of compile with options.
---@param variable damo.Variable
---@param options? { borrow?: boolean }
---@return damo.Out
function damo.Out(variable, options) end
---How a graph is compiled: linker, optimizer, rules by tag, machine code.
---@param options { linker?: "vm"|"c"|"cvm"|"nanguard"|"debug", optimizer?: "fast_run"|"fast_compile"|"none", jit?: boolean, reproducible?: boolean, include?: string[], exclude?: string[], require?: string[] }
---@return damo.Mode
function damo.Mode(options) end

---A Variable, a list of them, or a table of them by name, nested or not.
---@alias damo.Variables damo.Variable|damo.Variable[]|table<string, any>|any[]

---@class damo.GradOptions
---@field known_grads? table<damo.Variable, damo.Variable>
---@field consider_constant? damo.Variable[]
---@field disconnected_inputs? "raise"|"warn"|"ignore"
---@field null_gradients? "raise"|"return"
---@field return_disconnected? "zero"|"none"|"disconnected"

---The derivative of a scalar: a Variable for one wrt, a list for a list, a table by name for such a table.
---@generic T: damo.Variables
---@param cost? damo.Variable
---@param wrt T
---@param options? damo.GradOptions
---@return T
function damo.grad(cost, wrt, options) end
---Row vector times Jacobian.
---@generic T: damo.Variables
---@param f damo.Variables
---@param wrt T
---@param output_grads damo.Variables
---@param options? { consider_constant?: damo.Variable[], disconnected_inputs?: "raise"|"warn"|"ignore" }
---@return T
function damo.Lop(f, wrt, output_grads, options) end
---Jacobian times vector: zeros where f is connected to wrt and does not move.
---@generic T: damo.Variables
---@param f T
---@param wrt damo.Variables
---@param eval_points damo.Variables
---@param options? { disconnected_outputs?: "raise"|"warn"|"ignore", return_disconnected?: "zero"|"none"|"disconnected" }
---@return T
function damo.Rop(f, wrt, eval_points, options) end

---@class damo.JacobianOptions: damo.GradOptions
---@field chunk? integer how many entries one pass takes

---The derivatives of each entry of f by each of wrt, of f's shape followed by wrt's.
---@generic T: damo.Variables
---@param f damo.Variable
---@param wrt T
---@param options? damo.JacobianOptions
---@return T
function damo.jacobian(f, wrt, options) end
---The matrices of second derivatives of a cost.
---@generic T: damo.Variables
---@param cost damo.Variable
---@param wrt T
---@param options? damo.JacobianOptions
---@return T
function damo.hessian(cost, wrt, options) end
---The Hessian times a vector, without the Hessian.
---@generic T: damo.Variables
---@param cost damo.Variable
---@param wrt T
---@param p damo.Variables directions
---@return T
function damo.hessian_vector_product(cost, wrt, p) end

---@class damo.ScanOptions
---@field sequences? any a Variable, a value, {input=, taps=}, or a list of these
---@field outputs_info? any an initial state, {initial=, taps=}, false, or a list of these
---@field non_sequences? any
---@field n_steps? integer|damo.Variable
---@field go_backwards? boolean
---@field truncate_gradient? integer steps through which gradients go back; -1: all
---@field strict? boolean fn may use nothing of outside but non_sequences
---@field name? string
---@field mode? string|damo.Mode
---@field return_updates? boolean
---@field return_list? boolean
---@field checkpoint? "all"|"log"|integer
---@field progress? boolean|fun(step: integer, total: integer|nil)

---A loop over time: fn gets slices, past values and non_sequences, and returns outputs, then optionally updates, then
---optionally until_(cond). The results are stacked.
---@param fn function
---@param options? damo.ScanOptions
---@return any ...
function damo.scan(fn, options) end
---A function that applies f along leading axes, which broadcast.
---@generic F: function
---@param f F
---@param signature string dimensions of operands and results, as "(m,n),(n)->(m)"
---@return F
function damo.vectorize(f, signature) end
---Ends a scan after the step in which cond is true; fn returns it last.
---@param cond damo.Variable|boolean
---@return any
function damo.until_(cond) end
---The function on each slice of the sequences, without a state: scan without outputs_info.
---@param fn function
---@param options? damo.ScanOptions
---@return any ...
function damo.map(fn, options) end
---The last values of a loop over the sequences.
---@param fn function
---@param options? damo.ScanOptions
---@return any ...
function damo.reduce(fn, options) end
---reduce from the first slice to the last.
---@param fn function
---@param options? damo.ScanOptions
---@return any ...
function damo.foldl(fn, options) end
---As foldl, from the last slice to the first.
---@param fn function
---@param options? damo.ScanOptions
---@return any ...
function damo.foldr(fn, options) end
---The state after state = body(state) as often as cond(state) holds.
---@param cond function
---@param body function
---@param init any a value, or a list of values
---@param options? { max_steps?: integer|damo.Variable, name?: string, mode?: string|damo.Mode, return_list?: boolean, checkpoint?: "all"|"log"|integer }
---@return any ...
function damo.while_loop(cond, body, init, options) end
---Entry by entry of the function whose condition is the last that holds.
---@param x damo.Operand
---@param conditions damo.Operand[]
---@param functions (damo.Operand|fun(x: damo.Operand, ...: any): damo.Operand)[] one more: where no condition holds
---@param ... any further arguments of the functions
---@return damo.Result
function damo.piecewise(x, conditions, functions, ...) end
---The tensors of a nested list stacked: the lists of the outermost level along the first axis, and so on.
---@param list table
---@return damo.Result
function damo.stacklists(list) end
---A tensor of blocks: the innermost lists are joined along the last axis, those around them along the one before it.
---@param blocks table
---@return damo.Result
function damo.block(blocks) end
---Coordinates of a grid, a tensor an axis: from start in steps to before stop.
---@param options { slices: { start?: number, stop: number, step?: number }[] }
---@return damo.Array ...
function damo.mgrid(options) end
---The same, each of length 1 along the other axes.
---@param options { slices: { start?: number, stop: number, step?: number }[] }
---@return damo.Array ...
function damo.ogrid(options) end
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
---What an Op gives for a gradient that it lacks.
---@param op damo.Op
---@param i integer
---@param x damo.Variable
---@param why? string
---@return damo.Variable
function damo.grad_not_implemented(op, i, x, why) end

---Versions, libraries, kernels. `licence` is what a program with this build falls under as a whole: MIT without GPL code.
---@return { version: string, lua: string, blas: string, core: string, kernels: string, gpl: boolean, licence: string, threads: integer, libraries: table, backends: string[], memo: { graphs: integer, hits: integer, bytes: integer }, jit: { enabled: boolean, target?: string, why?: string, loops: boolean, bytes: integer } }
function damo.info() end
---Bytes in use, their peak, the cap, and the number of objects.
---@return { bytes: integer, peak: integer, cap: integer, objects: integer }
function damo.memory() end
---Every op function: the rows that docs/functions.md is made from.
---@return damo.Row[]
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

---A source of random Variables: each draw is new at each call of a Function.
---@param seed? integer
---@return damo.RandomStream
function random.RandomStream(seed) end
---Seeds the eager draws.
---@param n integer
function random.seed(n) end
---Draws at once from the context's own stream.
---@param draw fun(state: damo.Array, ...): damo.Array, any gives the next state and the draw
---@param ... any further arguments of draw
---@return any
function random.eager(draw, ...) end
---A generator's state, for a draw's rng.
---@param seed integer
---@return damo.Array
function random.state(seed) end

---A graph from inputs to outputs that can be changed.
---@param inputs damo.Variable[]
---@param outputs damo.Variable[]
---@param options? { clone?: boolean }
---@return damo.FunctionGraph
function graph.FunctionGraph(inputs, outputs, options) end
---The feature that finds values read after they were overwritten.
---@return table feature
function graph.DestroyHandler() end
---The Variables that these depend on, and themselves.
---@param outputs damo.Variable[]
---@return damo.Variable[]
function graph.ancestors(outputs) end
---The Variables among the ancestors that no node computes.
---@param outputs damo.Variable[]
---@return damo.Variable[]
function graph.graph_inputs(outputs) end
---The nodes that compute these, in an order of dependence.
---@param outputs damo.Variable[]
---@return damo.Apply[]
function graph.toposort(outputs) end
---The Variables of a graph from inputs to outputs.
---@param inputs damo.Variable[]
---@param outputs damo.Variable[]
---@return damo.Variable[]
function graph.variables(inputs, outputs) end
---The outputs as they are with other Variables in the place of some.
---@param outputs damo.Variable[]
---@param replace table<damo.Variable, damo.Variable>
---@return damo.Variable[]
function graph.clone_replace(outputs, replace) end
---The outputs over a batch: Variables are replaced by ones with further leading axes.
---@generic T: damo.Variable|damo.Variable[]
---@param outputs T
---@param replace table<damo.Variable, damo.Variable|any>
---@return T
function graph.vectorize_graph(outputs, replace) end

---A tree of the same structure with fn(leaf, …).
---@generic T
---@param fn fun(leaf: any, ...: any): any
---@param value T
---@param ... any trees that have the structure of value at least
---@return T
function tree.map(fn, value, ...) end
---The leaves of a tree, and its structure.
---@param value any
---@return any[]
---@return damo.Treedef
function tree.flatten(value) end
---The tree of that structure with these leaves.
---@param treedef damo.Treedef
---@param list any[]
---@return any
function tree.unflatten(treedef, list) end
---The leaves of a nested table, in order.
---@param value any
---@return any[]
function tree.leaves(value) end
---Whether two lists of Variables are the same computations.
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
---Whether x is an Op with an inner graph: an OpFromGraph, a loop.
---@param op any
---@return boolean
function graph.HasInnerGraph(op) end
---Whether x is a thunk.
---@param x any
---@return boolean
function graph.ThunkType(x) end
---Puts the user's lines into `thing.tag.trace`.
---@generic T: damo.Variable|damo.Apply
---@param thing T
---@param limit? integer
---@return T
function graph.add_tag_trace(thing, limit) end
---Computes the test values of a node.
---@param node damo.Apply
function graph.compute_test_value(node) end
---The test value of a Variable.
---@param v any
---@return any
function graph.get_test_value(v) end
---The test values of several Variables.
---@param ... damo.Variable
---@return fun(): ...
function graph.get_test_values(...) end
---What is said where a test value is missing, by the setting compute_test_value.
---@param msg string
function graph.missing_test_message(msg) end

---Adds a rule that `damo.compile` rewrites graphs by.
---@param name string one word
---@param rewriter fun(fgraph: damo.FunctionGraph, node: damo.Apply): damo.Variable|(damo.Variable|false)[]|false|nil
---@param ... string tags: "fast_run", "fast_compile"; "canonicalize", "stabilize", "specialize", "inplace" say when
function rewrite.register(name, rewriter, ...) end
---Takes a rule of a script away.
---@param name string
function rewrite.unregister(name) end
---Has a function change what each later `damo.compile` is given, before anything else is done with it; nil: none any more.
---@param name string one word; a function of that name that was added before is replaced
---@param prepare? fun(inputs: table, outputs: any, options: table?): table, any, table? it returns the three, changed or not
---@param inner? fun(fgraph: damo.FunctionGraph) changes the graph that a loop or an OpFromGraph holds, before that is compiled
function rewrite.before(name, prepare, inner) end
---The names of all rules, or of those with that tag, in the order in which they were registered.
---@param tag? string
---@return string[]
function rewrite.names(tag) end

---Prints a graph as a tree.
---@param x any
---@param options? { print_type?: boolean, depth?: integer, stop_on_name?: boolean, id_type?: string, print_destroy_map?: boolean, print_view_map?: boolean, print_storage?: boolean, file?: any }
---@return string?
function printing.debugprint(x, options) end
---An Op that passes its input on and writes "message = value" by print when a program computes it.
---@param message? string
---@return damo.Op
function printing.Print(message) end
---A graph as one line, infix.
---@param x damo.Variable
---@return string
function printing.pprint(x) end
---The programs of the Loop nodes, a line for each register.
---@param x damo.Function|damo.FunctionGraph
---@return string
function printing.loop(x) end
---A graph in Graphviz's language, or a picture at a path.
---@param x any
---@param options? { path?: string }
---@return string
function printing.dot(x, options) end

---max_bytes: what a compressed .npz may inflate to, and an image may take (1 GiB).
---@param path string
---@param options? { max_bytes?: integer, mmap?: boolean, on_fail?: "raise"|"return" }
---@return any
function io.load(path, options) end
---Writes values to a file: .npy, .npz, .safetensors by the ending.
---@param path string
---@param value any
---@param options? { metadata?: table<string, string>, compressed?: boolean, on_fail?: "raise"|"return" }
function io.save(path, value, options) end
---Reads numbers from a CSV file.
---@param path string
---@param options? { delimiter?: string, skip?: integer, dtype?: damo.Dtype, text_as_nan?: boolean, missing?: string[], columns?: boolean|string[], on_fail?: "raise"|"return" }
---@return damo.Array|table
---@return string[]?
function io.read_csv(path, options) end
---Writes a matrix or a vector as CSV.
---@param path string
---@param value damo.Array|table
---@param options? { header?: string[], delimiter?: string, on_fail?: "raise"|"return" }
---@return boolean
function io.write_csv(path, value, options) end
---What the readers give of a file of these bytes. format: only CSV needs it.
---@param bytes string
---@param options? { format?: "npy"|"npz"|"safetensors"|"mtx"|"csv"|"png"|"ppm"|"graph", ops?: table<string, any>, max_bytes?: integer, delimiter?: string, skip?: integer, dtype?: damo.Dtype, text_as_nan?: boolean, missing?: string[], columns?: boolean|string[], on_fail?: "raise"|"return" }
---@return any
function io.parse(bytes, options) end
---The bytes that the writers write.
---@param value any
---@param options { format: "npy"|"npz"|"safetensors"|"mtx"|"csv"|"png"|"ppm"|"graph", lines?: boolean, compressed?: boolean, header?: string[], delimiter?: string, comment?: string, pattern?: boolean, symmetry?: "general"|"symmetric"|"skew-symmetric"|"hermitian", on_fail?: "raise"|"return" }
---@return string
function io.format(value, options) end
---A sparse matrix of a coordinate file (entries listed twice are summed, symmetric storage is expanded), an Array of an
---array file. An io error names the line and the reason.
---@param path string
---@param options? { format?: damo.Format, on_fail?: "raise"|"return" }
---@return damo.Sparse|damo.Array
function io.read_mtx(path, options) end
---Matrix Market: a coordinate file of a sparse matrix, an array file of anything else.
---@param path string
---@param value damo.Sparse|damo.Array|table
---@param options? { comment?: string, pattern?: boolean, symmetry?: "general"|"symmetric"|"skew-symmetric"|"hermitian", on_fail?: "raise"|"return" }
---@return boolean
function io.write_mtx(path, value, options) end

---@class damo.optim
local optim = {}
---@class damo.plot
local plot = {}
---@class damo.progress
local progress = {}
---@class damo.dist
local dist = {}
---@class damo.nn.init
local init = {}

---Shows how far a loop is: `for i, v in damo.progress(list, {title = "training"}) do`. A number of steps, a list, an
---Array (its rows), or an iterator, of whose values v is the first.
---@generic T
---@param x T[]|fun(): T|integer|damo.Array
---@param options? damo.ProgressOptions
---@return fun(): integer, T
function damo.progress(x, options) end

---A bar on a terminal, plain lines elsewhere.
---@class damo.Bar
---@field total? integer
---@field title string
---@field done integer
---@field terminal boolean
local Bar = {}

---Reports that step number done is finished.
---@param done integer
---@param figures? table<string, any> shown beside the bar
function Bar:step(done, figures) end
---Ends the bar's line.
function Bar:finish() end
---A bar of that many steps.
---@param total integer
---@param title? string
---@param options? { out?: any, terminal?: boolean } where to write (standard error; in a sandbox by `print`); is that a terminal?
---@return damo.Bar
function progress.new(total, title, options) end

---Gradient descent: p - lr·g.
---@generic T: damo.Variables
---@param params T shared Variables: one, a list or a table by name, nested or not
---@param grads T in the form of params
---@param options? { lr?: damo.Operand, progress?: boolean|fun(step: integer, steps?: integer), steps?: integer }
---@return damo.Variable[][] updates pairs of a shared Variable and its new value
function optim.sgd(params, grads, options) end
---Gradient descent with momentum, or with Nesterov's.
---@generic T: damo.Variables
---@param params T shared Variables: one, a list or a table by name, nested or not
---@param grads T in the form of params
---@param options? { lr?: damo.Operand, momentum?: number, nesterov?: boolean, progress?: boolean|fun(step: integer, steps?: integer), steps?: integer }
---@return damo.Variable[][] updates pairs of a shared Variable and its new value
function optim.momentum(params, grads, options) end
---RMSprop: steps scaled by a running mean of squared gradients.
---@generic T: damo.Variables
---@param params T shared Variables: one, a list or a table by name, nested or not
---@param grads T in the form of params
---@param options? { lr?: damo.Operand, rho?: number, epsilon?: number, progress?: boolean|fun(step: integer, steps?: integer), steps?: integer }
---@return damo.Variable[][] updates pairs of a shared Variable and its new value
function optim.rmsprop(params, grads, options) end
---Adam (Kingma and Ba 2015).
---@generic T: damo.Variables
---@param params T shared Variables: one, a list or a table by name, nested or not
---@param grads T in the form of params
---@param options? { lr?: damo.Operand, beta1?: number, beta2?: number, epsilon?: number, progress?: boolean|fun(step: integer, steps?: integer), steps?: integer }
---@return damo.Variable[][] updates pairs of a shared Variable and its new value
function optim.adam(params, grads, options) end

---x with each entry 0 with probability p (0.5), else divided by 1 - p, so that the mean stays. rng, a RandomStream, is
---needed for a Variable; training = false gives x.
---@generic T: damo.Operand
---@param x T
---@param options? { p?: number, rng?: damo.RandomStream, training?: boolean }
---@return T
function nn.dropout(x, options) end

---Uniform draws in low … high (-1, 1).
---@param rng? damo.RandomStream
---@param shape integer[]
---@param options? { low?: number, high?: number, dtype?: damo.Dtype }
---@return damo.Array
function init.uniform(rng, shape, options) end
---Normal draws of that mean (0) and standard deviation, scale (1).
---@param rng? damo.RandomStream
---@param shape integer[]
---@param options? { mean?: number, scale?: number, dtype?: damo.Dtype }
---@return damo.Array
function init.normal(rng, shape, options) end
---Uniform draws of variance gain²·2/(inputs + outputs) (Glorot and Bengio 2010).
---@param rng? damo.RandomStream
---@param shape integer[]
---@param options? { gain?: number, dtype?: damo.Dtype }
---@return damo.Array
function init.glorot_uniform(rng, shape, options) end
---Normal draws of variance gain²·2/(inputs + outputs) (Glorot and Bengio 2010).
---@param rng? damo.RandomStream
---@param shape integer[]
---@param options? { gain?: number, dtype?: damo.Dtype }
---@return damo.Array
function init.glorot_normal(rng, shape, options) end
---Uniform draws of variance gain²·2/inputs (He et al. 2015).
---@param rng? damo.RandomStream
---@param shape integer[]
---@param options? { gain?: number, dtype?: damo.Dtype }
---@return damo.Array
function init.he_uniform(rng, shape, options) end
---Normal draws of variance gain²·2/inputs (He et al. 2015).
---@param rng? damo.RandomStream
---@param shape integer[]
---@param options? { gain?: number, dtype?: damo.Dtype }
---@return damo.Array
function init.he_normal(rng, shape, options) end
---Uniform draws of variance gain²·1/inputs (LeCun et al. 1998).
---@param rng? damo.RandomStream
---@param shape integer[]
---@param options? { gain?: number, dtype?: damo.Dtype }
---@return damo.Array
function init.lecun_uniform(rng, shape, options) end
---Normal draws of variance gain²·1/inputs (LeCun et al. 1998).
---@param rng? damo.RandomStream
---@param shape integer[]
---@param options? { gain?: number, dtype?: damo.Dtype }
---@return damo.Array
function init.lecun_normal(rng, shape, options) end
---Rows or columns, whichever are fewer, that are orthonormal, times gain (1).
---@param rng? damo.RandomStream
---@param shape integer[]
---@param options? { gain?: number, dtype?: damo.Dtype }
---@return damo.Array
function init.orthogonal(rng, shape, options) end
---All 0; the stream is not read.
---@param rng? damo.RandomStream
---@param shape integer[]
---@param options? { dtype?: damo.Dtype }
---@return damo.Array
function init.zeros(rng, shape, options) end
---All 1; the stream is not read.
---@param rng? damo.RandomStream
---@param shape integer[]
---@param options? { dtype?: damo.Dtype }
---@return damo.Array
function init.ones(rng, shape, options) end

---@class damo.PlotOptions
---@field path? string where the picture is written: .png, .svg or .pdf; without one the text is returned
---@field text? boolean
---@field title? string
---@field width? integer
---@field height? integer
---@field xlabel? string
---@field ylabel? string
---@field xrange? number[]
---@field yrange? number[]
---@field logx? boolean
---@field logy? boolean
---@field labels? string[] of bars and boxes
---@field stacked? boolean of bars
---@field bins? integer|number[] of histograms: their number or edges
---@field density? boolean of histograms: area 1
---@field palette? "viridis"|"gray"|"diverging" of images, heatmaps, contours, surfaces
---@field rows? string[] of heatmaps: names
---@field columns? string[]|integer of heatmaps: names; of figures: how many
---@field values? boolean of heatmaps: writes the numbers
---@field x? damo.Array|number[] coordinates of contours and surfaces
---@field y? damo.Array|number[]
---@field levels? integer|number[] of contours: their number or values
---@field filled? boolean of contours
---@field zlabel? string of surfaces
---@field scale? number of arrows: the length of one of length 1

---Draws lines.
---@param series damo.Array|table list of {name=, y=, x=, low=, high=, error=}: low and high, or error, draw a band about y; or one list or vector y
---@param options? damo.PlotOptions
---@return string what the path of the picture, or the text
function plot.lines(series, options) end
---Draws points.
---@param series damo.Array|table list of {name=, y=, x=, error=, color=}: error draws bars about y, color (numbers) colours points
---@param options? damo.PlotOptions
---@return string what the path of the picture, or the text
function plot.scatter(series, options) end
---Draws bars side by side or stacked.
---@param series damo.Array|table list of {name=, y=, error=}, or one list or vector y
---@param options? damo.PlotOptions
---@return string what the path of the picture, or the text
function plot.bar(series, options) end
---Draws histograms.
---@param series damo.Array|table list of {name=, x=}, or one list or vector of values
---@param options? damo.PlotOptions
---@return string what the path of the picture, or the text
function plot.hist(series, options) end
---Draws a box of quartiles for each series.
---@param series damo.Array|table list of {name=, y=}, or one list or vector of values
---@param options? damo.PlotOptions
---@return string what the path of the picture, or the text
function plot.box(series, options) end
---Draws matrices as pixels.
---@param panels damo.Array|table a matrix (an Array or a list of rows), or a list of {name=, z=}
---@param options? damo.PlotOptions
---@return string what the path of the picture, or the text
function plot.image(panels, options) end
---Draws a matrix as coloured cells.
---@param z damo.Array|table a matrix
---@param options? damo.PlotOptions
---@return string what the path of the picture, or the text
function plot.heatmap(z, options) end
---Draws lines or areas of equal height.
---@param z damo.Array|table a matrix: z[i][j] at y[i] and x[j]
---@param options? damo.PlotOptions
---@return string what the path of the picture, or the text
function plot.contour(z, options) end
---Draws a surface over a plane.
---@param z damo.Array|table a matrix: z[i][j] at y[i] and x[j]
---@param options? damo.PlotOptions
---@return string what the path of the picture, or the text
function plot.surface(z, options) end
---Draws arrows.
---@param field table {x=, y=, u=, v=}: matrices u and v over the columns' x and the rows' y, or lists of the same length
---@param options? damo.PlotOptions
---@return string what the path of the picture, or the text
function plot.quiver(field, options) end
---Draws where a matrix has entries.
---@param a damo.Sparse|damo.Array|table the matrix
---@param options? damo.PlotOptions
---@return string what the path of the picture, or the text
function plot.spy(a, options) end
---Draws several plots in one picture, row by row.
---@param plots table list of {function's name, its first argument, its options}
---@param options? damo.PlotOptions
---@return string what the path of the picture, or the text
function plot.figure(plots, options) end

---A probability distribution: its methods take Variables, which give graph, and values, which are computed at once.
---@class damo.Distribution
---@field name string
---@field params damo.Operand[]
local Distribution = {}

---The logarithm of the density at x, or of the probability of x where the distribution is discrete; -inf outside the support.
---@param x damo.Operand
---@return damo.Result
function Distribution:logp(x) end
---The logarithm of the distribution function at x.
---@param x damo.Operand
---@return damo.Result
function Distribution:logcdf(x) end
---The quantile of q; nan outside [0, 1]; of a discrete distribution int64.
---@param q damo.Operand
---@return damo.Result
function Distribution:icdf(q) end
---The mean, of the shape that the parameters broadcast to.
---@return damo.Result
function Distribution:mean() end
---The variance, of the shape that the parameters broadcast to.
---@return damo.Result
function Distribution:var() end
---Draws from a RandomStream; without one eagerly, from the context's own.
---@param rs? damo.RandomStream
---@param options? { size?: damo.Shape, dtype?: damo.Dtype }
---@return damo.Result
function Distribution:sample(rs, options) end

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

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.AddSD(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.AddSS(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.AddSSData(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.Band(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.Binomial(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.BlockDiag(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.BlockMatrix(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.CSM(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.CSMGrad(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.CSMProperties(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.Cast(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.ColScaleCSC(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.ConstructSparseFromList(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.Coordinates(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.DenseFromSparse(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.Diag(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.Diagonal(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.DivSD(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.Dot(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.EnsureSortedIndices(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.EqualSD(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.EqualSS(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.EyeLike(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.FactorBeside(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.FactorColumns(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.FactorColumnsBack(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.FactorDet(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.FactorGap(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.FactorInverse(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.FactorLeast(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.FactorLeastAdjoint(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.FactorLogdet(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.FactorRcond(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.FactorSandwich(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.FactorSolve(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.Factorize(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.FactorizeQR(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.GatherData(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.GetItem2Lists(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.GetItem2ListsGrad(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.GetItem2d(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.GetItem2dGrad(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.GetItemList(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.GetItemListGrad(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.GetItemScalar(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.GreaterEqualSD(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.GreaterEqualSS(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.GreaterThanSD(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.GreaterThanSS(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.HStack(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.KronPlaces(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.LessEqualSD(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.LessEqualSS(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.LessThanSD(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.LessThanSS(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.MaximumSS(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.MinimumSS(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.MulSD(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.MulSS(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.MulSV(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.Multinomial(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.NarrowMinor(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.Neg(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.NotEqualSD(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.NotEqualSS(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.Permute(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.Poisson(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.PutDiagonal(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.Remove0(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.RowScaleCSC(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.SameShape(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.SamplingDot(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.SpExtremum(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.SpSum(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.SpSumGrad(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.SparseData(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.SparseFromDense(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.SparseSplit(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.SparseZeros(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.SquareDiagonal(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.SquareMatrix(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.StructuredAddSV(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.StructuredDot(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.StructuredDotGrad(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.StructuredDotGradCSC(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.StructuredDotGradCSR(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.SumDuplicates(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.ToFormat(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.Trace(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.Transpose(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.TrueDot(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.Usmm(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.UsmmCscDense(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.UsmmCsrDense(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.VStack(props) end

---The Op class: a table of its properties gives the Op.
---@param props? table<string, any>
---@return damo.Op
function sparse.WithData(props) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function sparse.csc_bmatrix(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function sparse.csc_cmatrix(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function sparse.csc_dmatrix(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function sparse.csc_fmatrix(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function sparse.csc_imatrix(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function sparse.csc_lmatrix(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function sparse.csc_matrix(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function sparse.csc_wmatrix(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function sparse.csc_zmatrix(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function sparse.csr_bmatrix(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function sparse.csr_cmatrix(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function sparse.csr_dmatrix(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function sparse.csr_fmatrix(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function sparse.csr_imatrix(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function sparse.csr_lmatrix(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function sparse.csr_matrix(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function sparse.csr_wmatrix(name, options) end

---@param name? string
---@param options? damo.MakerOptions
---@return damo.Variable
function sparse.csr_zmatrix(name, options) end

---@param p damo.Operand
---@return damo.Distribution
function dist.Bernoulli(p) end

---@param a damo.Operand
---@param b damo.Operand
---@return damo.Distribution
function dist.Beta(a, b) end

---@param n damo.Operand
---@param a damo.Operand
---@param b damo.Operand
---@return damo.Distribution
function dist.BetaBinomial(n, a, b) end

---@param n damo.Operand
---@param p damo.Operand
---@return damo.Distribution
function dist.Binomial(n, p) end

---@param p damo.Operand
---@return damo.Distribution
function dist.Categorical(p) end

---@param loc? damo.Operand
---@param scale? damo.Operand
---@return damo.Distribution
function dist.Cauchy(loc, scale) end

---@param df damo.Operand
---@return damo.Distribution
function dist.ChiSquared(df) end

---@param a damo.Operand
---@return damo.Distribution
function dist.Dirichlet(a) end

---@param scale? damo.Operand
---@return damo.Distribution
function dist.Exponential(scale) end

---@param dfnum damo.Operand
---@param dfden damo.Operand
---@return damo.Distribution
function dist.F(dfnum, dfden) end

---@param shape damo.Operand
---@param scale? damo.Operand
---@return damo.Distribution
function dist.Gamma(shape, scale) end

---@param p damo.Operand
---@return damo.Distribution
function dist.Geometric(p) end

---@param loc? damo.Operand
---@param scale? damo.Operand
---@return damo.Distribution
function dist.Gumbel(loc, scale) end

---@param loc? damo.Operand
---@param scale? damo.Operand
---@return damo.Distribution
function dist.HalfCauchy(loc, scale) end

---@param loc? damo.Operand
---@param scale? damo.Operand
---@return damo.Distribution
function dist.HalfNormal(loc, scale) end

---@param good damo.Operand
---@param bad damo.Operand
---@param draws damo.Operand
---@return damo.Distribution
function dist.HyperGeometric(good, bad, draws) end

---@param shape damo.Operand
---@param scale? damo.Operand
---@return damo.Distribution
function dist.InverseGamma(shape, scale) end

---@param loc? damo.Operand
---@param scale? damo.Operand
---@return damo.Distribution
function dist.Laplace(loc, scale) end

---@param mu? damo.Operand
---@param sigma? damo.Operand
---@return damo.Distribution
function dist.LogNormal(mu, sigma) end

---@param loc? damo.Operand
---@param scale? damo.Operand
---@return damo.Distribution
function dist.Logistic(loc, scale) end

---@param n damo.Operand
---@param p damo.Operand
---@return damo.Distribution
function dist.Multinomial(n, p) end

---@param mean damo.Operand
---@param cov damo.Operand
---@return damo.Distribution
function dist.MvNormal(mean, cov) end

---@param n damo.Operand
---@param p damo.Operand
---@return damo.Distribution
function dist.NegativeBinomial(n, p) end

---@param mu? damo.Operand
---@param sigma? damo.Operand
---@return damo.Distribution
function dist.Normal(mu, sigma) end

---@param b damo.Operand
---@param scale? damo.Operand
---@return damo.Distribution
function dist.Pareto(b, scale) end

---@param rate damo.Operand
---@return damo.Distribution
function dist.Poisson(rate) end

---@param scale? damo.Operand
---@return damo.Distribution
function dist.Rayleigh(scale) end

---@param df damo.Operand
---@param loc? damo.Operand
---@param scale? damo.Operand
---@return damo.Distribution
function dist.StudentT(df, loc, scale) end

---@param left damo.Operand
---@param mode damo.Operand
---@param right damo.Operand
---@return damo.Distribution
function dist.Triangular(left, mode, right) end

---@param b damo.Operand
---@param loc? damo.Operand
---@param scale? damo.Operand
---@return damo.Distribution
function dist.TruncatedExponential(b, loc, scale) end

---@param mu? damo.Operand
---@param sigma? damo.Operand
---@param lower? damo.Operand
---@param upper? damo.Operand
---@return damo.Distribution
function dist.TruncatedNormal(mu, sigma, lower, upper) end

---@param low? damo.Operand
---@param high? damo.Operand
---@return damo.Distribution
function dist.Uniform(low, high) end

---@param mu? damo.Operand
---@param kappa damo.Operand
---@return damo.Distribution
function dist.VonMises(mu, kappa) end

---@param mean? damo.Operand
---@param scale? damo.Operand
---@return damo.Distribution
function dist.Wald(mean, scale) end

---@param shape damo.Operand
---@param scale? damo.Operand
---@return damo.Distribution
function dist.Weibull(shape, scale) end

---@param df damo.Operand
---@param scale damo.Operand
---@return damo.Distribution
function dist.Wishart(df, scale) end

---@param a damo.Operand
---@return damo.Distribution
function dist.Zipf(a) end

---sum
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.add(x, y, options) end

---sum
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:add(y, options) end

---difference
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.sub(x, y, options) end

---difference
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:sub(y, options) end

---product, element by element
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.mul(x, y, options) end

---product, element by element
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:mul(y, options) end

---quotient; of integers a float
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.true_div(x, y, options) end

---quotient; of integers a float
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:true_div(y, options) end

---quotient rounded down
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.floor_div(x, y, options) end

---quotient rounded down
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:floor_div(y, options) end

---remainder, with the divisor's sign
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.mod(x, y, options) end

---remainder, with the divisor's sign
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:mod(y, options) end

---quotient rounded towards 0
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.trunc_div(x, y, options) end

---quotient rounded towards 0
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:trunc_div(y, options) end

---remainder, with the dividend's sign
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.fmod(x, y, options) end

---remainder, with the dividend's sign
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:fmod(y, options) end

---greatest common divisor of integers, not negative
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.gcd(x, y, options) end

---greatest common divisor of integers, not negative
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:gcd(y, options) end

---least common multiple of integers, not negative; 0 of 0
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.lcm(x, y, options) end

---least common multiple of integers, not negative; 0 of 0
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:lcm(y, options) end

---x to the power y
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.pow(x, y, options) end

---x to the power y
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:pow(y, options) end

---the larger; nan where one is nan
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.maximum(x, y, options) end

---the larger; nan where one is nan
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:maximum(y, options) end

---the smaller; nan where one is nan
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.minimum(x, y, options) end

---the smaller; nan where one is nan
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:minimum(y, options) end

---|x| with the sign of y; that of a nan is +
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.copysign(x, y, options) end

---|x| with the sign of y; that of a nan is +
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:copysign(y, options) end

---the float next to x in the direction of y
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.nextafter(x, y, options) end

---the float next to x in the direction of y
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:nextafter(y, options) end

---0 where x < 0, 1 where x > 0, y where x is 0
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.heaviside(x, y, options) end

---0 where x < 0, 1 where x > 0, y where x is 0
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:heaviside(y, options) end

---x times 2 to the power n, an integer
---@param x damo.Operand
---@param n damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, n: damo.Operand, options?: any): damo.Variable
function damo.ldexp(x, n, options) end

---x times 2 to the power n, an integer
---@param n damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, n: damo.Operand, options?: any): damo.Variable
function Tensor:ldexp(n, options) end

---x = y, as bool
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.eq(x, y, options) end

---x = y, as bool
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:eq(y, options) end

---x differs from y, as bool
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.neq(x, y, options) end

---x differs from y, as bool
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:neq(y, options) end

---x < y, as bool
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.lt(x, y, options) end

---x < y, as bool
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:lt(y, options) end

---x <= y, as bool
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.le(x, y, options) end

---x <= y, as bool
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:le(y, options) end

---x > y, as bool
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.gt(x, y, options) end

---x > y, as bool
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:gt(y, options) end

---x >= y, as bool
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.ge(x, y, options) end

---x >= y, as bool
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:ge(y, options) end

---is it nan, as bool
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.isnan(x, options) end

---is it nan, as bool
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:isnan(options) end

---is it an infinity, as bool
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.isinf(x, options) end

---is it an infinity, as bool
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:isinf(options) end

---is it neither nan nor an infinity, as bool
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.isfinite(x, options) end

---is it neither nan nor an infinity, as bool
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:isfinite(options) end

---is it +infinity, as bool
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.isposinf(x, options) end

---is it +infinity, as bool
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:isposinf(options) end

---is it -infinity, as bool
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.isneginf(x, options) end

---is it -infinity, as bool
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:isneginf(options) end

---is its sign negative (-0 too), as bool
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.signbit(x, options) end

---is its sign negative (-0 too), as bool
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:signbit(options) end

---logical and of bool, bitwise and of integers
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.and_(x, y, options) end

---logical and of bool, bitwise and of integers
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:and_(y, options) end

---logical or of bool, bitwise or of integers
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.or_(x, y, options) end

---logical or of bool, bitwise or of integers
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:or_(y, options) end

---exclusive or of bool, bitwise of integers
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.xor(x, y, options) end

---exclusive or of bool, bitwise of integers
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:xor(y, options) end

---logical not of bool, all bits flipped of integers
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.invert(x, options) end

---logical not of bool, all bits flipped of integers
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:invert(options) end

---bits moved left by y places
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.left_shift(x, y, options) end

---bits moved left by y places
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:left_shift(y, options) end

---bits moved right by y places, the sign kept
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.right_shift(x, y, options) end

---bits moved right by y places, the sign kept
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:right_shift(y, options) end

---x where the condition holds, else y
---@param condition damo.Operand
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(condition: damo.Variable, x: damo.Operand, y: damo.Operand, options?: any): damo.Variable
function damo.switch(condition, x, y, options) end

---x where the condition holds, else y
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, x: damo.Operand, y: damo.Operand, options?: any): damo.Variable
function Tensor:switch(x, y, options) end

---min where x < min, else max where x > max, else x
---@param x damo.Operand
---@param min damo.Operand
---@param max damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, min: damo.Operand, max: damo.Operand, options?: any): damo.Variable
function damo.clip(x, min, max, options) end

---min where x < min, else max where x > max, else x
---@param min damo.Operand
---@param max damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, min: damo.Operand, max: damo.Operand, options?: any): damo.Variable
function Tensor:clip(min, max, options) end

---y broadcast to x's shape
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.second(x, y, options) end

---y broadcast to x's shape
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:second(y, options) end

---x itself, as a copy
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.identity(x, options) end

---x itself, as a copy
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:identity(options) end

----x
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.neg(x, options) end

----x
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:neg(options) end

---absolute value; of complex the magnitude
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.abs(x, options) end

---absolute value; of complex the magnitude
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:abs(options) end

----1, 0 or 1; of complex x / |x|; nan of nan
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.sign(x, options) end

----1, 0 or 1; of complex x / |x|; nan of nan
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:sign(options) end

---x*x
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.sqr(x, options) end

---x*x
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:sqr(options) end

---square root
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.sqrt(x, options) end

---square root
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:sqrt(options) end

---cube root
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.cbrt(x, options) end

---cube root
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:cbrt(options) end

---1/x
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.reciprocal(x, options) end

---1/x
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:reciprocal(options) end

---rounded up
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.ceil(x, options) end

---rounded up
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:ceil(options) end

---rounded down
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.floor(x, options) end

---rounded down
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:floor(options) end

---rounded towards 0
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.trunc(x, options) end

---rounded towards 0
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:trunc(options) end

---rounded, halves to even
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.round_half_to_even(x, options) end

---rounded, halves to even
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:round_half_to_even(options) end

---rounded, halves away from 0
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.round_half_away_from_zero(x, options) end

---rounded, halves away from 0
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:round_half_away_from_zero(options) end

---the mantissa of frexp
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.frexp_mantissa(x, options) end

---the mantissa of frexp
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:frexp_mantissa(options) end

---the exponent of frexp, int32
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.frexp_exponent(x, options) end

---the exponent of frexp, int32
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:frexp_exponent(options) end

---complex conjugate
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.conj(x, options) end

---complex conjugate
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:conj(options) end

---real part
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.real(x, options) end

---real part
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:real(options) end

---imaginary part; of real numbers 0 of their dtype
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.imag(x, options) end

---imaginary part; of real numbers 0 of their dtype
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:imag(options) end

---argument of a complex number
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.angle(x, options) end

---argument of a complex number
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:angle(options) end

---complex number of two parts
---@param re damo.Operand
---@param im damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(re: damo.Variable, im: damo.Operand, options?: any): damo.Variable
function damo.complex(re, im, options) end

---complex number of two parts
---@param im damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, im: damo.Operand, options?: any): damo.Variable
function Tensor:complex(im, options) end

---x converted to another dtype
---@param x damo.Operand
---@param options? damo.Dtype|{ dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.cast(x, options) end

---x converted to another dtype
---@param options? damo.Dtype|{ dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:cast(options) end

---angle of a point, its height first
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.arctan2(x, y, options) end

---angle of a point, its height first
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:arctan2(y, options) end

---log(exp(x) + exp(y))
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.logaddexp(x, y, options) end

---log(exp(x) + exp(y))
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:logaddexp(y, options) end

---log2(2**x + 2**y)
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.logaddexp2(x, y, options) end

---log2(2**x + 2**y)
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:logaddexp2(y, options) end

---sqrt(x*x + y*y) without overflow
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.hypot(x, y, options) end

---sqrt(x*x + y*y) without overflow
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:hypot(y, options) end

---e to the power x
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.exp(x, options) end

---e to the power x
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:exp(options) end

---2 to the power x
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.exp2(x, options) end

---2 to the power x
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:exp2(options) end

---10 to the power x
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.exp10(x, options) end

---10 to the power x
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:exp10(options) end

---exp(x) - 1, exact near 0
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.expm1(x, options) end

---exp(x) - 1, exact near 0
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:expm1(options) end

---natural logarithm
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.log(x, options) end

---natural logarithm
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:log(options) end

---logarithm to base 2
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.log2(x, options) end

---logarithm to base 2
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:log2(options) end

---logarithm to base 10
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.log10(x, options) end

---logarithm to base 10
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:log10(options) end

---log(1 + x), exact near 0
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.log1p(x, options) end

---log(1 + x), exact near 0
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:log1p(options) end

---1/(1 + exp(-x))
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.sigmoid(x, options) end

---1/(1 + exp(-x))
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:sigmoid(options) end

---log(1 + exp(x)) without overflow
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.softplus(x, options) end

---log(1 + exp(x)) without overflow
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:softplus(options) end

---log(1 - exp(x)) for x < 0
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.log1mexp(x, options) end

---log(1 - exp(x)) for x < 0
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:log1mexp(options) end

---sine
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.sin(x, options) end

---sine
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:sin(options) end

---cosine
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.cos(x, options) end

---cosine
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:cos(options) end

---tangent
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.tan(x, options) end

---tangent
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:tan(options) end

---inverse sine
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.arcsin(x, options) end

---inverse sine
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:arcsin(options) end

---inverse cosine
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.arccos(x, options) end

---inverse cosine
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:arccos(options) end

---inverse tangent
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.arctan(x, options) end

---inverse tangent
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:arctan(options) end

---hyperbolic sine
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.sinh(x, options) end

---hyperbolic sine
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:sinh(options) end

---hyperbolic cosine
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.cosh(x, options) end

---hyperbolic cosine
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:cosh(options) end

---hyperbolic tangent
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.tanh(x, options) end

---hyperbolic tangent
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:tanh(options) end

---inverse hyperbolic sine
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.arcsinh(x, options) end

---inverse hyperbolic sine
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:arcsinh(options) end

---inverse hyperbolic cosine
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.arccosh(x, options) end

---inverse hyperbolic cosine
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:arccosh(options) end

---inverse hyperbolic tangent
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.arctanh(x, options) end

---inverse hyperbolic tangent
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:arctanh(options) end

---degrees to radians
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.deg2rad(x, options) end

---degrees to radians
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:deg2rad(options) end

---radians to degrees
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.rad2deg(x, options) end

---radians to degrees
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:rad2deg(options) end

---error function
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.erf(x, options) end

---error function
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:erf(options) end

---1 - erf(x)
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.erfc(x, options) end

---1 - erf(x)
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:erfc(options) end

---exp(x*x) erfc(x)
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.erfcx(x, options) end

---exp(x*x) erfc(x)
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:erfcx(options) end

---inverse of erf
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.erfinv(x, options) end

---inverse of erf
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:erfinv(options) end

---inverse of erfc
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.erfcinv(x, options) end

---inverse of erfc
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:erfcinv(options) end

---gamma function
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.gamma(x, options) end

---gamma function
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:gamma(options) end

---log of |gamma(x)|
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.gammaln(x, options) end

---log of |gamma(x)|
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:gammaln(options) end

---derivative of gammaln
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.psi(x, options) end

---derivative of gammaln
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:psi(options) end

---second derivative of gammaln
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.tri_gamma(x, options) end

---second derivative of gammaln
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:tri_gamma(options) end

---third derivative of gammaln
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.tetra_gamma(x, options) end

---third derivative of gammaln
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:tetra_gamma(options) end

---modified Bessel function of order 0
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.i0(x, options) end

---modified Bessel function of order 0
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:i0(options) end

---modified Bessel function of order 1
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.i1(x, options) end

---modified Bessel function of order 1
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:i1(options) end

---Bessel function of order 0
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.j0(x, options) end

---Bessel function of order 0
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:j0(options) end

---Bessel function of order 1
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.j1(x, options) end

---Bessel function of order 1
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:j1(options) end

---regularised lower incomplete gamma function
---@param a damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function damo.gammainc(a, x, options) end

---regularised lower incomplete gamma function
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function Tensor:gammainc(x, options) end

---regularised upper incomplete gamma function
---@param a damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function damo.gammaincc(a, x, options) end

---regularised upper incomplete gamma function
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function Tensor:gammaincc(x, options) end

---derivative of gammainc in a
---@param a damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function damo.gammainc_grad_a(a, x, options) end

---derivative of gammainc in a
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function Tensor:gammainc_grad_a(x, options) end

---second derivative of gammainc in a
---@param a damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function damo.gammainc_grad_aa(a, x, options) end

---second derivative of gammainc in a
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function Tensor:gammainc_grad_aa(x, options) end

---lower incomplete gamma function, gamma(a) gammainc(a, x)
---@param a damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function damo.gammal(a, x, options) end

---lower incomplete gamma function, gamma(a) gammainc(a, x)
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function Tensor:gammal(x, options) end

---upper incomplete gamma function, gamma(a) gammaincc(a, x)
---@param a damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function damo.gammau(a, x, options) end

---upper incomplete gamma function, gamma(a) gammaincc(a, x)
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function Tensor:gammau(x, options) end

---the x with gammainc(a, x) = p
---@param a damo.Operand
---@param p damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, p: damo.Operand, options?: any): damo.Variable
function damo.gammaincinv(a, p, options) end

---the x with gammainc(a, x) = p
---@param p damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, p: damo.Operand, options?: any): damo.Variable
function Tensor:gammaincinv(p, options) end

---the x with gammaincc(a, x) = p
---@param a damo.Operand
---@param p damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, p: damo.Operand, options?: any): damo.Variable
function damo.gammainccinv(a, p, options) end

---the x with gammaincc(a, x) = p
---@param p damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, p: damo.Operand, options?: any): damo.Variable
function Tensor:gammainccinv(p, options) end

---beta function gamma(a) gamma(b) / gamma(a + b)
---@param a damo.Operand
---@param b damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, b: damo.Operand, options?: any): damo.Variable
function damo.beta(a, b, options) end

---beta function gamma(a) gamma(b) / gamma(a + b)
---@param b damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, b: damo.Operand, options?: any): damo.Variable
function Tensor:beta(b, options) end

---log of |beta(a, b)|
---@param a damo.Operand
---@param b damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, b: damo.Operand, options?: any): damo.Variable
function damo.betaln(a, b, options) end

---log of |beta(a, b)|
---@param b damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, b: damo.Operand, options?: any): damo.Variable
function Tensor:betaln(b, options) end

---regularised incomplete beta function
---@param a damo.Operand
---@param b damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, b: damo.Operand, x: damo.Operand, options?: any): damo.Variable
function damo.betainc(a, b, x, options) end

---regularised incomplete beta function
---@param b damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, b: damo.Operand, x: damo.Operand, options?: any): damo.Variable
function Tensor:betainc(b, x, options) end

---derivative of betainc in a
---@param a damo.Operand
---@param b damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, b: damo.Operand, x: damo.Operand, options?: any): damo.Variable
function damo.betainc_grad_a(a, b, x, options) end

---derivative of betainc in a
---@param b damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, b: damo.Operand, x: damo.Operand, options?: any): damo.Variable
function Tensor:betainc_grad_a(b, x, options) end

---derivative of betainc in b
---@param a damo.Operand
---@param b damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, b: damo.Operand, x: damo.Operand, options?: any): damo.Variable
function damo.betainc_grad_b(a, b, x, options) end

---derivative of betainc in b
---@param b damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, b: damo.Operand, x: damo.Operand, options?: any): damo.Variable
function Tensor:betainc_grad_b(b, x, options) end

---second derivative of betainc in a
---@param a damo.Operand
---@param b damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, b: damo.Operand, x: damo.Operand, options?: any): damo.Variable
function damo.betainc_grad_aa(a, b, x, options) end

---second derivative of betainc in a
---@param b damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, b: damo.Operand, x: damo.Operand, options?: any): damo.Variable
function Tensor:betainc_grad_aa(b, x, options) end

---derivative of betainc in a and b
---@param a damo.Operand
---@param b damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, b: damo.Operand, x: damo.Operand, options?: any): damo.Variable
function damo.betainc_grad_ab(a, b, x, options) end

---derivative of betainc in a and b
---@param b damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, b: damo.Operand, x: damo.Operand, options?: any): damo.Variable
function Tensor:betainc_grad_ab(b, x, options) end

---second derivative of betainc in b
---@param a damo.Operand
---@param b damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, b: damo.Operand, x: damo.Operand, options?: any): damo.Variable
function damo.betainc_grad_bb(a, b, x, options) end

---second derivative of betainc in b
---@param b damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, b: damo.Operand, x: damo.Operand, options?: any): damo.Variable
function Tensor:betainc_grad_bb(b, x, options) end

---the x with betainc(a, b, x) = p
---@param a damo.Operand
---@param b damo.Operand
---@param p damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, b: damo.Operand, p: damo.Operand, options?: any): damo.Variable
function damo.betaincinv(a, b, p, options) end

---the x with betainc(a, b, x) = p
---@param b damo.Operand
---@param p damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, b: damo.Operand, p: damo.Operand, options?: any): damo.Variable
function Tensor:betaincinv(b, p, options) end

---rising factorial gamma(x + m) / gamma(x)
---@param x damo.Operand
---@param m damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, m: damo.Operand, options?: any): damo.Variable
function damo.poch(x, m, options) end

---rising factorial gamma(x + m) / gamma(x)
---@param m damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, m: damo.Operand, options?: any): damo.Variable
function Tensor:poch(m, options) end

---binomial coefficient of real numbers
---@param n damo.Operand
---@param k damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(n: damo.Variable, k: damo.Operand, options?: any): damo.Variable
function damo.binom(n, k, options) end

---binomial coefficient of real numbers
---@param k damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, k: damo.Operand, options?: any): damo.Variable
function Tensor:binom(k, options) end

---gamma(x + 1); 0 of negative x
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.factorial(x, options) end

---gamma(x + 1); 0 of negative x
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:factorial(options) end

---distribution function of the standard normal
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.ndtr(x, options) end

---distribution function of the standard normal
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:ndtr(options) end

---log of ndtr(x), far into the tail
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.log_ndtr(x, options) end

---log of ndtr(x), far into the tail
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:log_ndtr(options) end

---inverse of ndtr
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.ndtri(x, options) end

---inverse of ndtr
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:ndtri(options) end

---inverse of log_ndtr
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.ndtri_exp(x, options) end

---inverse of log_ndtr
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:ndtri_exp(options) end

---log(x / (1 - x)), inverse of sigmoid
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.logit(x, options) end

---log(x / (1 - x)), inverse of sigmoid
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:logit(options) end

---sin(pi x) / (pi x)
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.sinc(x, options) end

---sin(pi x) / (pi x)
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:sinc(options) end

---x log(y), 0 where x is 0
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.xlogy(x, y, options) end

---x log(y), 0 where x is 0
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:xlogy(y, options) end

---x log(1 + y), 0 where x is 0
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.xlog1py(x, y, options) end

---x log(1 + y), 0 where x is 0
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:xlog1py(y, options) end

----x log(x), -inf of negative x
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.entr(x, options) end

----x log(x), -inf of negative x
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:entr(options) end

---T function of Owen
---@param h damo.Operand
---@param a damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(h: damo.Variable, a: damo.Operand, options?: any): damo.Variable
function damo.owens_t(h, a, options) end

---T function of Owen
---@param a damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, a: damo.Operand, options?: any): damo.Variable
function Tensor:owens_t(a, options) end

---exp(-|x|) i0(x)
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.i0e(x, options) end

---exp(-|x|) i0(x)
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:i0e(options) end

---exp(-|x|) i1(x)
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.i1e(x, options) end

---exp(-|x|) i1(x)
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:i1e(options) end

---modified Bessel function of the second kind, order 0
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.k0(x, options) end

---modified Bessel function of the second kind, order 0
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:k0(options) end

---modified Bessel function of the second kind, order 1
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.k1(x, options) end

---modified Bessel function of the second kind, order 1
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:k1(options) end

---Bessel function of the second kind, order 0
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.y0(x, options) end

---Bessel function of the second kind, order 0
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:y0(options) end

---Bessel function of the second kind, order 1
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.y1(x, options) end

---Bessel function of the second kind, order 1
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:y1(options) end

---Bessel function of real order
---@param v damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(v: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function damo.jv(v, x, options) end

---Bessel function of real order
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function Tensor:jv(x, options) end

---Bessel function of the second kind, of real order
---@param v damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(v: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function damo.yv(v, x, options) end

---Bessel function of the second kind, of real order
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function Tensor:yv(x, options) end

---modified Bessel function of real order
---@param v damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(v: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function damo.iv(v, x, options) end

---modified Bessel function of real order
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function Tensor:iv(x, options) end

---modified Bessel function of the second kind, of real order
---@param v damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(v: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function damo.kv(v, x, options) end

---modified Bessel function of the second kind, of real order
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function Tensor:kv(x, options) end

---exp(-|x|) iv(v, x)
---@param v damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(v: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function damo.ive(v, x, options) end

---exp(-|x|) iv(v, x)
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function Tensor:ive(x, options) end

---exp(x) kv(v, x)
---@param v damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(v: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function damo.kve(v, x, options) end

---exp(x) kv(v, x)
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function Tensor:kve(x, options) end

---derivative of jv in v
---@param v damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(v: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function damo.jv_grad_v(v, x, options) end

---derivative of jv in v
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function Tensor:jv_grad_v(x, options) end

---derivative of yv in v
---@param v damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(v: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function damo.yv_grad_v(v, x, options) end

---derivative of yv in v
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function Tensor:yv_grad_v(x, options) end

---derivative of ive in v
---@param v damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(v: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function damo.ive_grad_v(v, x, options) end

---derivative of ive in v
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function Tensor:ive_grad_v(x, options) end

---derivative of kve in v
---@param v damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(v: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function damo.kve_grad_v(v, x, options) end

---derivative of kve in v
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function Tensor:kve_grad_v(x, options) end

---second derivative of jv in v
---@param v damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(v: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function damo.jv_grad_vv(v, x, options) end

---second derivative of jv in v
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function Tensor:jv_grad_vv(x, options) end

---second derivative of yv in v
---@param v damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(v: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function damo.yv_grad_vv(v, x, options) end

---second derivative of yv in v
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function Tensor:yv_grad_vv(x, options) end

---second derivative of ive in v
---@param v damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(v: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function damo.ive_grad_vv(v, x, options) end

---second derivative of ive in v
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function Tensor:ive_grad_vv(x, options) end

---second derivative of kve in v
---@param v damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(v: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function damo.kve_grad_vv(v, x, options) end

---second derivative of kve in v
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function Tensor:kve_grad_vv(x, options) end

---spherical Bessel function of whole order
---@param n damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(n: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function damo.spherical_jn(n, x, options) end

---spherical Bessel function of whole order
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function Tensor:spherical_jn(x, options) end

---sum of (q + k)^-s, k >= 0
---@param s damo.Operand
---@param q damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(s: damo.Variable, q: damo.Operand, options?: any): damo.Variable
function damo.hurwitz_zeta(s, q, options) end

---sum of (q + k)^-s, k >= 0
---@param q damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, q: damo.Operand, options?: any): damo.Variable
function Tensor:hurwitz_zeta(q, options) end

---derivative of hurwitz_zeta in s
---@param s damo.Operand
---@param q damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(s: damo.Variable, q: damo.Operand, options?: any): damo.Variable
function damo.zeta_grad_s(s, q, options) end

---derivative of hurwitz_zeta in s
---@param q damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, q: damo.Operand, options?: any): damo.Variable
function Tensor:zeta_grad_s(q, options) end

---second derivative of hurwitz_zeta in s
---@param s damo.Operand
---@param q damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(s: damo.Variable, q: damo.Operand, options?: any): damo.Variable
function damo.zeta_grad_ss(s, q, options) end

---second derivative of hurwitz_zeta in s
---@param q damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, q: damo.Operand, options?: any): damo.Variable
function Tensor:zeta_grad_ss(q, options) end

---zeta function of Riemann, for every real x
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.riemann_zeta(x, options) end

---zeta function of Riemann, for every real x
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:riemann_zeta(options) end

---derivative of riemann_zeta
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.riemann_zeta_grad(x, options) end

---derivative of riemann_zeta
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:riemann_zeta_grad(options) end

---its second derivative
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.riemann_zeta_grad_ss(x, options) end

---its second derivative
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:riemann_zeta_grad_ss(options) end

---n-th derivative of psi, n whole
---@param n damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(n: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function damo.polygamma(n, x, options) end

---n-th derivative of psi, n whole
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function Tensor:polygamma(x, options) end

---exponential integral, of exp(-x t) / t^n from 1 on
---@param n damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(n: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function damo.expn(n, x, options) end

---exponential integral, of exp(-x t) / t^n from 1 on
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function Tensor:expn(x, options) end

---derivative of expn in n
---@param n damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(n: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function damo.expn_grad_n(n, x, options) end

---derivative of expn in n
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function Tensor:expn_grad_n(x, options) end

---second derivative of expn in n
---@param n damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(n: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function damo.expn_grad_nn(n, x, options) end

---second derivative of expn in n
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function Tensor:expn_grad_nn(x, options) end

---exponential integral expn(1, x)
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.exp1(x, options) end

---exponential integral expn(1, x)
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:exp1(options) end

---exponential integral of exp(t) / t up to x, its principal value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.expi(x, options) end

---exponential integral of exp(t) / t up to x, its principal value
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:expi(options) end

---the w >= -1 with w exp(w) = x
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.lambertw_principal(x, options) end

---the w >= -1 with w exp(w) = x
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:lambertw_principal(options) end

---the w <= -1 with w exp(w) = x
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.lambertw_lower(x, options) end

---the w <= -1 with w exp(w) = x
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:lambertw_lower(options) end

---complete elliptic integral of the first kind
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.ellipk(x, options) end

---complete elliptic integral of the first kind
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:ellipk(options) end

---complete elliptic integral of the second kind
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.ellipe(x, options) end

---complete elliptic integral of the second kind
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:ellipe(options) end

---(ellipk(m) - ellipe(m)) / m
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.ellipd(x, options) end

---(ellipk(m) - ellipe(m)) / m
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:ellipd(options) end

---Dawson's integral, exp(-x*x) times that of exp(t*t) from 0 to x
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.dawsn(x, options) end

---Dawson's integral, exp(-x*x) times that of exp(t*t) from 0 to x
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:dawsn(options) end

---sine integral Si
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.sinint(x, options) end

---sine integral Si
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:sinint(options) end

---cosine integral Ci of |x|
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.cosint(x, options) end

---cosine integral Ci of |x|
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:cosint(options) end

---hyperbolic sine integral Shi
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.sinhint(x, options) end

---hyperbolic sine integral Shi
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:sinhint(options) end

---hyperbolic cosine integral Chi of |x|
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.coshint(x, options) end

---hyperbolic cosine integral Chi of |x|
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:coshint(options) end

---integral of sin(pi t*t / 2) from 0 to x
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.fresnels(x, options) end

---integral of sin(pi t*t / 2) from 0 to x
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:fresnels(options) end

---integral of cos(pi t*t / 2) from 0 to x
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.fresnelc(x, options) end

---integral of cos(pi t*t / 2) from 0 to x
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:fresnelc(options) end

---Airy function Ai
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.airy_ai(x, options) end

---Airy function Ai
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:airy_ai(options) end

---derivative of the Airy function Ai
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.airy_ai_prime(x, options) end

---derivative of the Airy function Ai
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:airy_ai_prime(options) end

---Airy function Bi
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.airy_bi(x, options) end

---Airy function Bi
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:airy_bi(options) end

---derivative of the Airy function Bi
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.airy_bi_prime(x, options) end

---derivative of the Airy function Bi
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:airy_bi_prime(options) end

---incomplete elliptic integral of the first kind
---@param phi damo.Operand
---@param m damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(phi: damo.Variable, m: damo.Operand, options?: any): damo.Variable
function damo.ellipkinc(phi, m, options) end

---incomplete elliptic integral of the first kind
---@param m damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, m: damo.Operand, options?: any): damo.Variable
function Tensor:ellipkinc(m, options) end

---incomplete elliptic integral of the second kind
---@param phi damo.Operand
---@param m damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(phi: damo.Variable, m: damo.Operand, options?: any): damo.Variable
function damo.ellipeinc(phi, m, options) end

---incomplete elliptic integral of the second kind
---@param m damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, m: damo.Operand, options?: any): damo.Variable
function Tensor:ellipeinc(m, options) end

---(ellipkinc(phi, m) - ellipeinc(phi, m)) / m
---@param phi damo.Operand
---@param m damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(phi: damo.Variable, m: damo.Operand, options?: any): damo.Variable
function damo.ellipdinc(phi, m, options) end

---(ellipkinc(phi, m) - ellipeinc(phi, m)) / m
---@param m damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, m: damo.Operand, options?: any): damo.Variable
function Tensor:ellipdinc(m, options) end

---derivative of ellipkinc in m
---@param phi damo.Operand
---@param m damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(phi: damo.Variable, m: damo.Operand, options?: any): damo.Variable
function damo.ellipkinc_grad_m(phi, m, options) end

---derivative of ellipkinc in m
---@param m damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, m: damo.Operand, options?: any): damo.Variable
function Tensor:ellipkinc_grad_m(m, options) end

---Jacobi's amplitude, inverse of ellipkinc in phi
---@param u damo.Operand
---@param m damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(u: damo.Variable, m: damo.Operand, options?: any): damo.Variable
function damo.jacobi_am(u, m, options) end

---Jacobi's amplitude, inverse of ellipkinc in phi
---@param m damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, m: damo.Operand, options?: any): damo.Variable
function Tensor:jacobi_am(m, options) end

---Jacobi's sn, the sine of the amplitude
---@param u damo.Operand
---@param m damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(u: damo.Variable, m: damo.Operand, options?: any): damo.Variable
function damo.jacobi_sn(u, m, options) end

---Jacobi's sn, the sine of the amplitude
---@param m damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, m: damo.Operand, options?: any): damo.Variable
function Tensor:jacobi_sn(m, options) end

---Jacobi's cn, the cosine of the amplitude
---@param u damo.Operand
---@param m damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(u: damo.Variable, m: damo.Operand, options?: any): damo.Variable
function damo.jacobi_cn(u, m, options) end

---Jacobi's cn, the cosine of the amplitude
---@param m damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, m: damo.Operand, options?: any): damo.Variable
function Tensor:jacobi_cn(m, options) end

---Jacobi's dn, sqrt(1 - m sn^2)
---@param u damo.Operand
---@param m damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(u: damo.Variable, m: damo.Operand, options?: any): damo.Variable
function damo.jacobi_dn(u, m, options) end

---Jacobi's dn, sqrt(1 - m sn^2)
---@param m damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, m: damo.Operand, options?: any): damo.Variable
function Tensor:jacobi_dn(m, options) end

---confluent hypergeometric function of Kummer
---@param a damo.Operand
---@param b damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, b: damo.Operand, x: damo.Operand, options?: any): damo.Variable
function damo.hyp1f1(a, b, x, options) end

---confluent hypergeometric function of Kummer
---@param b damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, b: damo.Operand, x: damo.Operand, options?: any): damo.Variable
function Tensor:hyp1f1(b, x, options) end

---derivative of hyp1f1 in a
---@param a damo.Operand
---@param b damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, b: damo.Operand, x: damo.Operand, options?: any): damo.Variable
function damo.hyp1f1_grad_a(a, b, x, options) end

---derivative of hyp1f1 in a
---@param b damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, b: damo.Operand, x: damo.Operand, options?: any): damo.Variable
function Tensor:hyp1f1_grad_a(b, x, options) end

---derivative of hyp1f1 in b
---@param a damo.Operand
---@param b damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, b: damo.Operand, x: damo.Operand, options?: any): damo.Variable
function damo.hyp1f1_grad_b(a, b, x, options) end

---derivative of hyp1f1 in b
---@param b damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, b: damo.Operand, x: damo.Operand, options?: any): damo.Variable
function Tensor:hyp1f1_grad_b(b, x, options) end

---hypergeometric function of Gauss
---@param a damo.Operand
---@param b damo.Operand
---@param c damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, b: damo.Operand, c: damo.Operand, x: damo.Operand, options?: any): damo.Variable
function damo.hyp2f1(a, b, c, x, options) end

---hypergeometric function of Gauss
---@param b damo.Operand
---@param c damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, b: damo.Operand, c: damo.Operand, x: damo.Operand, options?: any): damo.Variable
function Tensor:hyp2f1(b, c, x, options) end

---derivative of hyp2f1 in a
---@param a damo.Operand
---@param b damo.Operand
---@param c damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, b: damo.Operand, c: damo.Operand, x: damo.Operand, options?: any): damo.Variable
function damo.hyp2f1_grad_a(a, b, c, x, options) end

---derivative of hyp2f1 in a
---@param b damo.Operand
---@param c damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, b: damo.Operand, c: damo.Operand, x: damo.Operand, options?: any): damo.Variable
function Tensor:hyp2f1_grad_a(b, c, x, options) end

---derivative of hyp2f1 in b
---@param a damo.Operand
---@param b damo.Operand
---@param c damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, b: damo.Operand, c: damo.Operand, x: damo.Operand, options?: any): damo.Variable
function damo.hyp2f1_grad_b(a, b, c, x, options) end

---derivative of hyp2f1 in b
---@param b damo.Operand
---@param c damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, b: damo.Operand, c: damo.Operand, x: damo.Operand, options?: any): damo.Variable
function Tensor:hyp2f1_grad_b(b, c, x, options) end

---derivative of hyp2f1 in c
---@param a damo.Operand
---@param b damo.Operand
---@param c damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, b: damo.Operand, c: damo.Operand, x: damo.Operand, options?: any): damo.Variable
function damo.hyp2f1_grad_c(a, b, c, x, options) end

---derivative of hyp2f1 in c
---@param b damo.Operand
---@param c damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, b: damo.Operand, c: damo.Operand, x: damo.Operand, options?: any): damo.Variable
function Tensor:hyp2f1_grad_c(b, c, x, options) end

---another name of true_div
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.div(x, y, options) end

---another name of true_div
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:div(y, options) end

---another name of floor_div
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.int_div(x, y, options) end

---another name of floor_div
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:int_div(y, options) end

---another name of mod
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.remainder(x, y, options) end

---another name of mod
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:remainder(y, options) end

---another name of and_
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.bitwise_and(x, y, options) end

---another name of and_
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:bitwise_and(y, options) end

---another name of or_
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.bitwise_or(x, y, options) end

---another name of or_
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:bitwise_or(y, options) end

---another name of xor
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.bitwise_xor(x, y, options) end

---another name of xor
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:bitwise_xor(y, options) end

---another name of invert
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.bitwise_not(x, options) end

---another name of invert
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:bitwise_not(options) end

---another name of invert
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.not_(x, options) end

---another name of invert
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:not_(options) end

---another name of switch
---@param condition damo.Operand
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(condition: damo.Variable, x: damo.Operand, y: damo.Operand, options?: any): damo.Variable
function damo.where(condition, x, y, options) end

---another name of switch
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, x: damo.Operand, y: damo.Operand, options?: any): damo.Variable
function Tensor:where(x, y, options) end

---another name of second
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.fill(x, y, options) end

---another name of second
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:fill(y, options) end

---another name of sign
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.sgn(x, options) end

---another name of sign
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:sgn(options) end

---another name of sqr
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.square(x, options) end

---another name of sqr
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:square(options) end

---another name of round_half_to_even
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.rint(x, options) end

---another name of round_half_to_even
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:rint(options) end

---another name of identity
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.positive(x, options) end

---another name of identity
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:positive(options) end

---another name of psi
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.digamma(x, options) end

---another name of psi
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:digamma(options) end

---another name of sigmoid
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.expit(x, options) end

---another name of sigmoid
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:expit(options) end

---another name of kv
---@param n damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(n: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function damo.kn(n, x, options) end

---another name of kv
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function Tensor:kn(x, options) end

---another name of cast
---@param x damo.Operand
---@param options? damo.Dtype|{ dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.astype(x, options) end

---another name of cast
---@param options? damo.Dtype|{ dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:astype(options) end

---zeta function of Riemann; with q that of Hurwitz, the sum of (q + k)^-s
---@param s damo.Operand
---@param q? damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(s: damo.Variable, q?: damo.Operand, options?: any): damo.Variable
function damo.zeta(s, q, options) end

---zeta function of Riemann; with q that of Hurwitz, the sum of (q + k)^-s
---@param q? damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, q?: damo.Operand, options?: any): damo.Variable
function Tensor:zeta(q, options) end

---the w with w exp(w) = x, of branch k = 0 (default) or -1; of real x real, nan where there is none
---@param x damo.Operand
---@param options? integer|{ k?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.lambertw(x, options) end

---the w with w exp(w) = x, of branch k = 0 (default) or -1; of real x real, nan where there is none
---@param options? integer|{ k?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:lambertw(options) end

---max(x, 0); with alpha, alpha*x where x is not positive
---@param x damo.Operand
---@param alpha? damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, alpha?: damo.Operand, options?: any): damo.Variable
function damo.relu(x, alpha, options) end

---max(x, 0); with alpha, alpha*x where x is not positive
---@param alpha? damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, alpha?: damo.Operand, options?: any): damo.Variable
function Tensor:relu(alpha, options) end

---|x - y| <= atol + rtol |y|, as bool
---@param x damo.Operand
---@param y damo.Operand
---@param options? number|{ rtol?: number, atol?: number, equal_nan?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.isclose(x, y, options) end

---|x - y| <= atol + rtol |y|, as bool
---@param y damo.Operand
---@param options? number|{ rtol?: number, atol?: number, equal_nan?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:isclose(y, options) end

---isclose everywhere
---@param x damo.Operand
---@param y damo.Operand
---@param options? number|{ rtol?: number, atol?: number, equal_nan?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.allclose(x, y, options) end

---isclose everywhere
---@param y damo.Operand
---@param options? number|{ rtol?: number, atol?: number, equal_nan?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:allclose(y, options) end

---rounded to decimals (default 0); mode 'half_to_even' (default) or 'half_away_from_zero'
---@param x damo.Operand
---@param options? string|{ mode?: string, decimals?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.round(x, options) end

---rounded to decimals (default 0); mode 'half_to_even' (default) or 'half_away_from_zero'
---@param options? string|{ mode?: string, decimals?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:round(options) end

---nan as 0, infinities as the largest finite numbers, or as the options say
---@param x damo.Operand
---@param options? number|{ nan?: number, posinf?: number, neginf?: number, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.nan_to_num(x, options) end

---nan as 0, infinities as the largest finite numbers, or as the options say
---@param options? number|{ nan?: number, posinf?: number, neginf?: number, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:nan_to_num(options) end

---the mantissa, of magnitude 1/2 to 1, and the exponent of 2, as int32: x = mantissa * 2**exponent
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable, damo.Variable
function damo.frexp(x, options) end

---the mantissa, of magnitude 1/2 to 1, and the exponent of 2, as int32: x = mantissa * 2**exponent
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable, damo.Variable
function Tensor:frexp(options) end

---the largest of the operands, entry by entry; nan where one is nan
---@param xs damo.Operand[]
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(xs: damo.Variable[], options?: any): damo.Variable
function damo.largest(xs, options) end

---the largest of the operands, entry by entry; nan where one is nan
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable[], options?: any): damo.Variable
function Tensor:largest(options) end

---the smallest of the operands, entry by entry; nan where one is nan
---@param xs damo.Operand[]
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(xs: damo.Variable[], options?: any): damo.Variable
function damo.smallest(xs, options) end

---the smallest of the operands, entry by entry; nan where one is nan
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable[], options?: any): damo.Variable
function Tensor:smallest(options) end

---whether both differ from 0, as bool; of any dtype
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.logical_and(x, y, options) end

---whether both differ from 0, as bool; of any dtype
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:logical_and(y, options) end

---whether one differs from 0, as bool; of any dtype
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.logical_or(x, y, options) end

---whether one differs from 0, as bool; of any dtype
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:logical_or(y, options) end

---whether one alone differs from 0, as bool; of any dtype
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.logical_xor(x, y, options) end

---whether one alone differs from 0, as bool; of any dtype
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:logical_xor(y, options) end

---whether x is 0, as bool; of any dtype (nan is not 0)
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.logical_not(x, options) end

---whether x is 0, as bool; of any dtype (nan is not 0)
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:logical_not(options) end

---the larger; the other one where one is nan
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.fmax(x, y, options) end

---the larger; the other one where one is nan
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:fmax(y, options) end

---the smaller; the other one where one is nan
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.fmin(x, y, options) end

---the smaller; the other one where one is nan
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:fmin(y, options) end

---the fraction and the whole part of x, both with its sign, as floats
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable, damo.Variable
function damo.modf(x, options) end

---the fraction and the whole part of x, both with its sign, as floats
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable, damo.Variable
function Tensor:modf(options) end

---the quotient rounded down and the remainder, which has the divisor's sign
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable, damo.Variable
function damo.divmod(x, y, options) end

---the quotient rounded down and the remainder, which has the divisor's sign
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable, damo.Variable
function Tensor:divmod(y, options) end

---the distance to the next float away from 0, with the sign of x
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.spacing(x, options) end

---the distance to the next float away from 0, with the sign of x
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:spacing(options) end

---quotient of integers rounded up
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.ceil_intdiv(x, y, options) end

---quotient of integers rounded up
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:ceil_intdiv(y, options) end

---complex number of a magnitude and an angle
---@param abs damo.Operand
---@param angle damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(abs: damo.Variable, angle: damo.Operand, options?: any): damo.Variable
function damo.complex_from_polar(abs, angle, options) end

---complex number of a magnitude and an angle
---@param angle damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, angle: damo.Operand, options?: any): damo.Variable
function Tensor:complex_from_polar(angle, options) end

---round, as int64
---@param x damo.Operand
---@param options? string|{ mode?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.iround(x, options) end

---round, as int64
---@param options? string|{ mode?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:iround(options) end

---x log(x/y); 0 where x is 0 and y >= 0, infinite outside x, y > 0
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.rel_entr(x, y, options) end

---x log(x/y); 0 where x is 0 and y >= 0, infinite outside x, y > 0
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:rel_entr(y, options) end

---logarithm of the gamma function of d dimensions; nan for a <= (d - 1)/2
---@param a damo.Operand
---@param options? integer|{ d?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, options?: any): damo.Variable
function damo.multigammaln(a, options) end

---logarithm of the gamma function of d dimensions; nan for a <= (d - 1)/2
---@param options? integer|{ d?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:multigammaln(options) end

---probability that a chi-squared number of k degrees of freedom exceeds x
---@param x damo.Operand
---@param k damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, k: damo.Operand, options?: any): damo.Variable
function damo.chi2sf(x, k, options) end

---probability that a chi-squared number of k degrees of freedom exceeds x
---@param k damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, k: damo.Operand, options?: any): damo.Variable
function Tensor:chi2sf(k, options) end

---sine and cosine integrals, sinint(x) and cosint(x)
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable, damo.Variable
function damo.sici(x, options) end

---sine and cosine integrals, sinint(x) and cosint(x)
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable, damo.Variable
function Tensor:sici(options) end

---hyperbolic sine and cosine integrals, sinhint(x) and coshint(x)
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable, damo.Variable
function damo.shichi(x, options) end

---hyperbolic sine and cosine integrals, sinhint(x) and coshint(x)
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable, damo.Variable
function Tensor:shichi(options) end

---Fresnel's integrals S and C, fresnels(x) and fresnelc(x)
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable, damo.Variable
function damo.fresnel(x, options) end

---Fresnel's integrals S and C, fresnels(x) and fresnelc(x)
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable, damo.Variable
function Tensor:fresnel(options) end

---Airy functions: Ai, Ai', Bi and Bi'
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@return damo.Result
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable, damo.Variable, damo.Variable, damo.Variable
function damo.airy(x, options) end

---Airy functions: Ai, Ai', Bi and Bi'
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@return damo.Result
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable, damo.Variable, damo.Variable, damo.Variable
function Tensor:airy(options) end

---Jacobi's elliptic functions sn, cn and dn, and the amplitude; m from 0 to 1
---@param u damo.Operand
---@param m damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@return damo.Result
---@return damo.Result
---@overload fun(u: damo.Variable, m: damo.Operand, options?: any): damo.Variable, damo.Variable, damo.Variable, damo.Variable
function damo.ellipj(u, m, options) end

---Jacobi's elliptic functions sn, cn and dn, and the amplitude; m from 0 to 1
---@param m damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@return damo.Result
---@return damo.Result
---@overload fun(self: damo.Variable, m: damo.Operand, options?: any): damo.Variable, damo.Variable, damo.Variable, damo.Variable
function Tensor:ellipj(m, options) end

---sum over axes; of integers int64 or uint64
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.sum(x, options) end

---sum over axes; of integers int64 or uint64
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:sum(options) end

---product over axes; of integers int64 or uint64
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.prod(x, options) end

---product over axes; of integers int64 or uint64
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:prod(options) end

---largest element over axes; nan where there is one
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.max(x, options) end

---largest element over axes; nan where there is one
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:max(options) end

---smallest element over axes; nan where there is one
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.min(x, options) end

---smallest element over axes; nan where there is one
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:min(options) end

---is any element true, over axes
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.any(x, options) end

---is any element true, over axes
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:any(options) end

---are all elements true, over axes
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.all(x, options) end

---are all elements true, over axes
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:all(options) end

---1-based position of the first largest element over axes
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.argmax(x, options) end

---1-based position of the first largest element over axes
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:argmax(options) end

---1-based position of the first smallest element over axes
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.argmin(x, options) end

---1-based position of the first smallest element over axes
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:argmin(options) end

---log of the sum of exponentials over axes, weighted, without overflow; with return_sign log |sum| and its sign, z / |z| of a complex sum
---@param x damo.Operand
---@param weights? damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, return_sign?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, weights?: damo.Operand, options?: any): damo.Variable
function damo.logsumexp(x, weights, options) end

---log of the sum of exponentials over axes, weighted, without overflow; with return_sign log |sum| and its sign, z / |z| of a complex sum
---@param weights? damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, return_sign?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, weights?: damo.Operand, options?: any): damo.Variable
function Tensor:logsumexp(weights, options) end

---mean over axes; of integers float64
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.mean(x, options) end

---mean over axes; of integers float64
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:mean(options) end

---variance over axes, divided by n - ddof (default 0)
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, ddof?: number, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.var(x, options) end

---variance over axes, divided by n - ddof (default 0)
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, ddof?: number, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:var(options) end

---standard deviation over axes: the root of var
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, ddof?: number, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.std(x, options) end

---standard deviation over axes: the root of var
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, ddof?: number, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:std(options) end

---largest less smallest element over axes
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.ptp(x, options) end

---largest less smallest element over axes
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:ptp(options) end

---max, then argmax
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable, damo.Variable
function damo.max_and_argmax(x, options) end

---max, then argmax
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable, damo.Variable
function Tensor:max_and_argmax(options) end

---sum over axes, nan counted as 0
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.nansum(x, options) end

---sum over axes, nan counted as 0
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:nansum(options) end

---product over axes, nan counted as 1
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.nanprod(x, options) end

---product over axes, nan counted as 1
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:nanprod(options) end

---largest element over axes that is no nan
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.nanmax(x, options) end

---largest element over axes that is no nan
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:nanmax(options) end

---smallest element over axes that is no nan
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.nanmin(x, options) end

---smallest element over axes that is no nan
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:nanmin(options) end

---1-based position of the first largest element over axes that is no nan
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.nanargmax(x, options) end

---1-based position of the first largest element over axes that is no nan
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:nanargmax(options) end

---1-based position of the first smallest element over axes that is no nan
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.nanargmin(x, options) end

---1-based position of the first smallest element over axes that is no nan
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:nanargmin(options) end

---mean over axes of what is no nan
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.nanmean(x, options) end

---mean over axes of what is no nan
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:nanmean(options) end

---variance over axes of what is no nan, divided by n - ddof (default 0)
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, ddof?: number, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.nanvar(x, options) end

---variance over axes of what is no nan, divided by n - ddof (default 0)
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, ddof?: number, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:nanvar(options) end

---standard deviation over axes: the root of nanvar
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, ddof?: number, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.nanstd(x, options) end

---standard deviation over axes: the root of nanvar
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, ddof?: number, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:nanstd(options) end

---weighted mean over axes, weights of x's shape or of the axes' lengths; with returned, their sum too
---@param x damo.Operand
---@param weights? damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, returned?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, weights?: damo.Operand, options?: any): damo.Variable
function damo.average(x, weights, options) end

---weighted mean over axes, weights of x's shape or of the axes' lengths; with returned, their sum too
---@param weights? damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, returned?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, weights?: damo.Operand, options?: any): damo.Variable
function Tensor:average(weights, options) end

---how many elements over axes are not 0 (nan is not)
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.count_nonzero(x, options) end

---how many elements over axes are not 0 (nan is not)
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:count_nonzero(options) end

---the middle element over axes, or the mean of the two in the middle; nan where there is one
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.median(x, options) end

---the middle element over axes, or the mean of the two in the middle; nan where there is one
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:median(options) end

---quantiles over axes for q in 0 … 1, a number or a tensor, whose axes are then the first; nan where there is one
---@param x damo.Operand
---@param q? damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, method?: string, q?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, q?: damo.Operand, options?: any): damo.Variable
function damo.quantile(x, q, options) end

---quantiles over axes for q in 0 … 1, a number or a tensor, whose axes are then the first; nan where there is one
---@param q? damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, method?: string, q?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, q?: damo.Operand, options?: any): damo.Variable
function Tensor:quantile(q, options) end

---quantile for q in 0 … 100
---@param x damo.Operand
---@param q? damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, method?: string, q?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, q?: damo.Operand, options?: any): damo.Variable
function damo.percentile(x, q, options) end

---quantile for q in 0 … 100
---@param q? damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, method?: string, q?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, q?: damo.Operand, options?: any): damo.Variable
function Tensor:percentile(q, options) end

---median of what is no nan; nan where there is nothing else
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.nanmedian(x, options) end

---median of what is no nan; nan where there is nothing else
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:nanmedian(options) end

---quantile of what is no nan; nan where there is nothing else
---@param x damo.Operand
---@param q? damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, method?: string, q?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, q?: damo.Operand, options?: any): damo.Variable
function damo.nanquantile(x, q, options) end

---quantile of what is no nan; nan where there is nothing else
---@param q? damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, method?: string, q?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, q?: damo.Operand, options?: any): damo.Variable
function Tensor:nanquantile(q, options) end

---nanquantile for q in 0 … 100
---@param x damo.Operand
---@param q? damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, method?: string, q?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, q?: damo.Operand, options?: any): damo.Variable
function damo.nanpercentile(x, q, options) end

---nanquantile for q in 0 … 100
---@param q? damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, method?: string, q?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, q?: damo.Operand, options?: any): damo.Variable
function Tensor:nanpercentile(q, options) end

---the most frequent element over axes, of several the smallest, and how often it occurs
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable, damo.Variable
function damo.mode(x, options) end

---the most frequent element over axes, of several the smallest, and how often it occurs
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable, damo.Variable
function Tensor:mode(options) end

---the covariances of the rows of a matrix (rowvar false: of its columns), divided by n - ddof (default 1)
---@param x damo.Operand
---@param options? boolean|{ rowvar?: boolean, ddof?: number, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.cov(x, options) end

---the covariances of the rows of a matrix (rowvar false: of its columns), divided by n - ddof (default 1)
---@param options? boolean|{ rowvar?: boolean, ddof?: number, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:cov(options) end

---the correlations of the rows of a matrix (rowvar false: of its columns)
---@param x damo.Operand
---@param options? boolean|{ rowvar?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.corrcoef(x, options) end

---the correlations of the rows of a matrix (rowvar false: of its columns)
---@param options? boolean|{ rowvar?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:corrcoef(options) end

---running sum along an axis, nan counted as 0; nil: of x flattened
---@param x damo.Operand
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.nancumsum(x, options) end

---running sum along an axis, nan counted as 0; nil: of x flattened
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:nancumsum(options) end

---running product along an axis, nan counted as 1; nil: of x flattened
---@param x damo.Operand
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.nancumprod(x, options) end

---running product along an axis, nan counted as 1; nil: of x flattened
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:nancumprod(options) end

---running sum along an axis; nil: of x flattened
---@param x damo.Operand
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.cumsum(x, options) end

---running sum along an axis; nil: of x flattened
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:cumsum(options) end

---running product along an axis; nil: of x flattened
---@param x damo.Operand
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.cumprod(x, options) end

---running product along an axis; nil: of x flattened
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:cumprod(options) end

---sorted along an axis (default -1), nan last
---@param x damo.Operand
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.sort(x, options) end

---sorted along an axis (default -1), nan last
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:sort(options) end

---1-based positions that sort along an axis (default -1), always stable
---@param x damo.Operand
---@param options? integer|{ axis?: integer, stable?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.argsort(x, options) end

---1-based positions that sort along an axis (default -1), always stable
---@param options? integer|{ axis?: integer, stable?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:argsort(options) end

---differences of neighbours along an axis (default -1), n times; of bools whether they differ
---@param x damo.Operand
---@param options? integer|{ axis?: integer, n?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.diff(x, options) end

---differences of neighbours along an axis (default -1), n times; of bools whether they differ
---@param options? integer|{ axis?: integer, n?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:diff(options) end

---running maximum along an axis, nan from the first nan on; nil: of x flattened
---@param x damo.Operand
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.cummax(x, options) end

---running maximum along an axis, nan from the first nan on; nil: of x flattened
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:cummax(options) end

---running minimum along an axis, nan from the first nan on; nil: of x flattened
---@param x damo.Operand
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.cummin(x, options) end

---running minimum along an axis, nan from the first nan on; nil: of x flattened
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:cummin(options) end

---the shape as an int64 vector
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.shape(x, options) end

---the length of one axis
---@param x damo.Operand
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.shape_i(x, options) end

---the length of one axis
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:shape_i(options) end

---the number of entries
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.size(x, options) end

---the same entries in another shape; -1 may stand once, for what is left
---@param x damo.Operand
---@param options? damo.Shape|{ shape?: damo.Shape, ndim?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.reshape(x, options) end

---the same entries in another shape; -1 may stand once, for what is left
---@param options? damo.Shape|{ shape?: damo.Shape, ndim?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:reshape(options) end

---the last axes made one, so that ndim are left
---@param x damo.Operand
---@param options? integer|{ ndim?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.flatten(x, options) end

---the last axes made one, so that ndim are left
---@param options? integer|{ ndim?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:flatten(options) end

---all entries as a vector
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.ravel(x, options) end

---all entries as a vector
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:ravel(options) end

---axes in another order, reversed by default
---@param x damo.Operand
---@param options? integer|integer[]|{ axes?: integer|integer[], out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.transpose(x, options) end

---axes in another order, reversed by default
---@param options? integer|integer[]|{ axes?: integer|integer[], out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:transpose(options) end

---the last two axes swapped
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.matrix_transpose(x, options) end

---the last two axes swapped
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:matrix_transpose(options) end

---axes in the order of the pattern, "x" for a new one; axes left out must have length 1
---@param x damo.Operand
---@param options? any|{ pattern?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.dimshuffle(x, options) end

---axes in the order of the pattern, "x" for a new one; axes left out must have length 1
---@param options? any|{ pattern?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:dimshuffle(options) end

---new axes of length 1 at these positions of the result
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.expand_dims(x, options) end

---new axes of length 1 at these positions of the result
---@param options? integer|integer[]|{ axis?: integer|integer[], out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:expand_dims(options) end

---axes of length 1 dropped: those named, or all that are known to be
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.squeeze(x, options) end

---axes of length 1 dropped: those named, or all that are known to be
---@param options? integer|integer[]|{ axis?: integer|integer[], out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:squeeze(options) end

---axes moved to other positions, the rest in order
---@param x damo.Operand
---@param options? integer|integer[]|{ source?: integer|integer[], destination?: integer|integer[], out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.moveaxis(x, options) end

---axes moved to other positions, the rest in order
---@param options? integer|integer[]|{ source?: integer|integer[], destination?: integer|integer[], out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:moveaxis(options) end

---two axes swapped
---@param x damo.Operand
---@param options? integer|{ axis1?: integer, axis2?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.swapaxes(x, options) end

---two axes swapped
---@param options? integer|{ axis1?: integer, axis2?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:swapaxes(options) end

---new first axes up to 1
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.atleast_1d(x, options) end

---new first axes up to 1
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:atleast_1d(options) end

---new first axes up to 2
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.atleast_2d(x, options) end

---new first axes up to 2
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:atleast_2d(options) end

---new first axes up to 3
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.atleast_3d(x, options) end

---new first axes up to 3
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:atleast_3d(options) end

---x broadcast to a shape; a read-only view
---@param x damo.Operand
---@param options? damo.Shape|{ shape?: damo.Shape, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.broadcast_to(x, options) end

---x broadcast to a shape; a read-only view
---@param options? damo.Shape|{ shape?: damo.Shape, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:broadcast_to(options) end

---axes in reverse order
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.flip(x, options) end

---axes in reverse order
---@param options? integer|integer[]|{ axis?: integer|integer[], out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:flip(options) end

---a matrix with a vector as its k-th diagonal, or the k-th diagonal of a matrix
---@param x damo.Operand
---@param options? integer|{ k?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.diag(x, options) end

---a matrix with a vector as its k-th diagonal, or the k-th diagonal of a matrix
---@param options? integer|{ k?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:diag(options) end

---a diagonal of two axes, as the last axis; a view
---@param x damo.Operand
---@param options? integer|{ offset?: integer, axis1?: integer, axis2?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.diagonal(x, options) end

---a diagonal of two axes, as the last axis; a view
---@param options? integer|{ offset?: integer, axis1?: integer, axis2?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:diagonal(options) end

---the sum along a diagonal
---@param x damo.Operand
---@param options? integer|{ offset?: integer, axis1?: integer, axis2?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.trace(x, options) end

---the sum along a diagonal
---@param options? integer|{ offset?: integer, axis1?: integer, axis2?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:trace(options) end

---zeros above the k-th diagonal
---@param x damo.Operand
---@param options? integer|{ k?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.tril(x, options) end

---zeros above the k-th diagonal
---@param options? integer|{ k?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:tril(options) end

---zeros below the k-th diagonal
---@param x damo.Operand
---@param options? integer|{ k?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.triu(x, options) end

---zeros below the k-th diagonal
---@param options? integer|{ k?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:triu(options) end

---x, its axes named here known to have length 1
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.specify_broadcastable(x, options) end

---x, its axes named here known to have length 1
---@param options? integer|integer[]|{ axis?: integer|integer[], out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:specify_broadcastable(options) end

---a value broadcast to a shape
---@param value damo.Operand
---@param options? damo.Shape|{ shape?: damo.Shape, dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(value: damo.Variable, options?: any): damo.Variable
function damo.alloc(value, options) end

---zeros of x's shape and dtype
---@param x damo.Operand
---@param options? damo.Dtype|{ dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.zeros_like(x, options) end

---zeros of x's shape and dtype
---@param options? damo.Dtype|{ dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:zeros_like(options) end

---ones of x's shape and dtype
---@param x damo.Operand
---@param options? damo.Dtype|{ dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.ones_like(x, options) end

---ones of x's shape and dtype
---@param options? damo.Dtype|{ dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:ones_like(options) end

---a value in x's shape and dtype
---@param x damo.Operand
---@param value damo.Operand
---@param options? damo.Dtype|{ dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, value: damo.Operand, options?: any): damo.Variable
function damo.full_like(x, value, options) end

---a value in x's shape and dtype
---@param value damo.Operand
---@param options? damo.Dtype|{ dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, value: damo.Operand, options?: any): damo.Variable
function Tensor:full_like(value, options) end

---an array of x's shape and dtype whose entries are not set
---@param x damo.Operand
---@param options? damo.Dtype|{ dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.empty_like(x, options) end

---an array of x's shape and dtype whose entries are not set
---@param options? damo.Dtype|{ dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:empty_like(options) end

---an n by m matrix with ones on its k-th diagonal
---@param n damo.Operand
---@param m? damo.Operand
---@param k? damo.Operand
---@param options? damo.Dtype|{ dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(n: damo.Variable, m?: damo.Operand, k?: damo.Operand, options?: any): damo.Variable
function damo.eye(n, m, k, options) end

---an n by m matrix with ones on and below its k-th diagonal
---@param n damo.Operand
---@param m? damo.Operand
---@param k? damo.Operand
---@param options? damo.Dtype|{ dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(n: damo.Variable, m?: damo.Operand, k?: damo.Operand, options?: any): damo.Variable
function damo.tri(n, m, k, options) end

---start, start + step … before stop; one operand is the stop, from 0
---@param start damo.Operand
---@param stop? damo.Operand
---@param step? damo.Operand
---@param options? damo.Dtype|{ dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(start: damo.Variable, stop?: damo.Operand, step?: damo.Operand, options?: any): damo.Variable
function damo.arange(start, stop, step, options) end

---num evenly spaced values from start to stop, both included
---@param start damo.Operand
---@param stop damo.Operand
---@param options? integer|{ num?: integer, dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(start: damo.Variable, stop: damo.Operand, options?: any): damo.Variable
function damo.linspace(start, stop, options) end

---the triangular window of n values, 0 at its ends
---@param n damo.Operand
---@param options? damo.Dtype|{ dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(n: damo.Variable, options?: any): damo.Variable
function damo.bartlett(n, options) end

---the window 0.42 - 0.5 cos 2πp + 0.08 cos 4πp of n values, p from 0 to 1
---@param n damo.Operand
---@param options? damo.Dtype|{ dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(n: damo.Variable, options?: any): damo.Variable
function damo.blackman(n, options) end

---the window 0.54 - 0.46 cos 2πp of n values
---@param n damo.Operand
---@param options? damo.Dtype|{ dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(n: damo.Variable, options?: any): damo.Variable
function damo.hamming(n, options) end

---the window 0.5 - 0.5 cos 2πp of n values
---@param n damo.Operand
---@param options? damo.Dtype|{ dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(n: damo.Variable, options?: any): damo.Variable
function damo.hanning(n, options) end

---the window I0(beta √(1 - x²)) / I0(beta) of n values, x from -1 to 1
---@param n damo.Operand
---@param beta damo.Operand
---@param options? damo.Dtype|{ dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(n: damo.Variable, beta: damo.Operand, options?: any): damo.Variable
function damo.kaiser(n, beta, options) end

---num (default 50) powers of base (default 10), the exponents evenly spaced from start to stop
---@param start damo.Operand
---@param stop damo.Operand
---@param options? integer|{ num?: integer, base?: number, dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(start: damo.Variable, stop: damo.Operand, options?: any): damo.Variable
function damo.logspace(start, stop, options) end

---num (default 50) values from start to stop, of one sign, each the same multiple of the one before
---@param start damo.Operand
---@param stop damo.Operand
---@param options? integer|{ num?: integer, dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(start: damo.Variable, stop: damo.Operand, options?: any): damo.Variable
function damo.geomspace(start, stop, options) end

---xs one after the other along an axis
---@param axis damo.Operand
---@param xs damo.Operand[]
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(axis: damo.Variable, xs: damo.Operand[], options?: any): damo.Variable
function damo.join(axis, xs, options) end

---xs one after the other along an axis
---@param xs damo.Operand[]
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(xs: damo.Variable[], options?: any): damo.Variable
function damo.concatenate(xs, options) end

---xs along a new axis
---@param xs damo.Operand[]
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(xs: damo.Variable[], options?: any): damo.Variable
function damo.stack(xs, options) end

---xs one above the other
---@param xs damo.Operand[]
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(xs: damo.Variable[], options?: any): damo.Variable
function damo.vstack(xs, options) end

---xs side by side
---@param xs damo.Operand[]
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(xs: damo.Variable[], options?: any): damo.Variable
function damo.hstack(xs, options) end

---the parts of x along an axis, of these sizes; views
---@param x damo.Operand
---@param options? damo.Shape|{ sizes?: damo.Shape, axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.split(x, options) end

---the parts of x along an axis, of these sizes; views
---@param options? damo.Shape|{ sizes?: damo.Shape, axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:split(options) end

---x repeated as a whole, reps times along each axis
---@param x damo.Operand
---@param options? damo.Shape|{ reps?: damo.Shape, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.tile(x, options) end

---x repeated as a whole, reps times along each axis
---@param options? damo.Shape|{ reps?: damo.Shape, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:tile(options) end

---each entry repeated along an axis; of all entries in order without one
---@param x damo.Operand
---@param repeats damo.Operand
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, repeats: damo.Operand, options?: any): damo.Variable
function damo.repeat_(x, repeats, options) end

---each entry repeated along an axis; of all entries in order without one
---@param repeats damo.Operand
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, repeats: damo.Operand, options?: any): damo.Variable
function Tensor:repeat_(repeats, options) end

---the second axis in reverse order
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.fliplr(x, options) end

---the second axis in reverse order
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:fliplr(options) end

---the first axis in reverse order
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.flipud(x, options) end

---the first axis in reverse order
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:flipud(options) end

---vectors as the columns of a matrix; matrices side by side
---@param xs damo.Operand[]
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(xs: damo.Variable[], options?: any): damo.Variable
function damo.column_stack(xs, options) end

---vectors and matrices one behind the other, along a third axis
---@param xs damo.Operand[]
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(xs: damo.Variable[], options?: any): damo.Variable
function damo.dstack(xs, options) end

---x and the values one after the other along an axis; nil: both as vectors
---@param x damo.Operand
---@param values damo.Operand
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, values: damo.Operand, options?: any): damo.Variable
function damo.append(x, values, options) end

---x and the values one after the other along an axis; nil: both as vectors
---@param values damo.Operand
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, values: damo.Operand, options?: any): damo.Variable
function Tensor:append(values, options) end

---the parts of x along an axis (default 1), of these sizes, or so many whose lengths differ by 1 at most; views
---@param x damo.Operand
---@param options? damo.Shape|{ sizes?: damo.Shape, axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.array_split(x, options) end

---the parts of x along an axis (default 1), of these sizes, or so many whose lengths differ by 1 at most; views
---@param options? damo.Shape|{ sizes?: damo.Shape, axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:array_split(options) end

---the parts of x along the first axis, of these sizes, or so many equal ones; views
---@param x damo.Operand
---@param options? any|{ sizes?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.vsplit(x, options) end

---the parts of x along the first axis, of these sizes, or so many equal ones; views
---@param options? any|{ sizes?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:vsplit(options) end

---the same along the second axis; of a vector along its only one
---@param x damo.Operand
---@param options? any|{ sizes?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.hsplit(x, options) end

---the same along the second axis; of a vector along its only one
---@param options? any|{ sizes?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:hsplit(options) end

---the same along the third axis
---@param x damo.Operand
---@param options? any|{ sizes?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.dsplit(x, options) end

---the same along the third axis
---@param options? any|{ sizes?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:dsplit(options) end

---the slices of x along an axis (default 1), whose length must be known, as so many results
---@param x damo.Operand
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.unstack(x, options) end

---the slices of x along an axis (default 1), whose length must be known, as so many results
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:unstack(options) end

---x without these positions along an axis; nil: of x as a vector
---@param x damo.Operand
---@param positions damo.Operand
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, positions: damo.Operand, options?: any): damo.Variable
function damo.delete(x, positions, options) end

---x without these positions along an axis; nil: of x as a vector
---@param positions damo.Operand
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, positions: damo.Operand, options?: any): damo.Variable
function Tensor:delete(positions, options) end

---x with values before a position along an axis: a slice, or a piece of x's rank; nil: both as vectors
---@param x damo.Operand
---@param position damo.Operand
---@param values damo.Operand
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, position: damo.Operand, values: damo.Operand, options?: any): damo.Variable
function damo.insert(x, position, values, options) end

---x with values before a position along an axis: a slice, or a piece of x's rank; nil: both as vectors
---@param position damo.Operand
---@param values damo.Operand
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, position: damo.Operand, values: damo.Operand, options?: any): damo.Variable
function Tensor:insert(position, values, options) end

---a matrix with the entries of x as its k-th diagonal
---@param x damo.Operand
---@param options? integer|{ k?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.diagflat(x, options) end

---a matrix with the entries of x as its k-th diagonal
---@param options? integer|{ k?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:diagflat(options) end

---ones on the diagonal of a matrix of x's shape
---@param x damo.Operand
---@param options? damo.Dtype|{ dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.identity_like(x, options) end

---ones on the diagonal of a matrix of x's shape
---@param options? damo.Dtype|{ dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:identity_like(options) end

---the powers n - 1 … 0 of a vector (n: its length) as columns; increasing: 0 … n - 1
---@param x damo.Operand
---@param options? integer|{ n?: integer, increasing?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.vander(x, options) end

---the powers n - 1 … 0 of a vector (n: its length) as columns; increasing: 0 … n - 1
---@param options? integer|{ n?: integer, increasing?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:vander(options) end

---the matrix whose first column is the last axis of x, and each other one the column before, rotated down
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function linalg.circulant(x, options) end

---differences of neighbours of x as a vector, with these before and behind them
---@param x damo.Operand
---@param to_end? damo.Operand
---@param to_begin? damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, to_end?: damo.Operand, to_begin?: damo.Operand, options?: any): damo.Variable
function damo.ediff1d(x, to_end, to_begin, options) end

---differences of neighbours of x as a vector, with these before and behind them
---@param to_end? damo.Operand
---@param to_begin? damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, to_end?: damo.Operand, to_begin?: damo.Operand, options?: any): damo.Variable
function Tensor:ediff1d(to_end, to_begin, options) end

---x plus multiples of a period (default 2 pi) so that no step along an axis (default -1) exceeds its half, or discont
---@param x damo.Operand
---@param options? integer|{ axis?: integer, discont?: number, period?: number, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.unwrap(x, options) end

---x plus multiples of a period (default 2 pi) so that no step along an axis (default -1) exceeds its half, or discont
---@param options? integer|{ axis?: integer, discont?: number, period?: number, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:unwrap(options) end

---new axes up to n (default 1), first ones; with left false last ones
---@param x damo.Operand
---@param options? integer|{ n?: integer, left?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.atleast_Nd(x, options) end

---new axes up to n (default 1), first ones; with left false last ones
---@param options? integer|{ n?: integer, left?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:atleast_Nd(options) end

---entries shifted along axes, around their ends: by one shift, or by a list with one for each axis
---@param x damo.Operand
---@param shift damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, shift: damo.Operand, options?: any): damo.Variable
function damo.roll(x, shift, options) end

---entries shifted along axes, around their ends: by one shift, or by a list with one for each axis
---@param shift damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, shift: damo.Operand, options?: any): damo.Variable
function Tensor:roll(shift, options) end

---a border around x: constant, edge, wrap, reflect or symmetric
---@param x damo.Operand
---@param options? any|{ pad_width?: any, mode?: string, constant_values?: number, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.pad(x, options) end

---a border around x: constant, edge, wrap, reflect or symmetric
---@param options? any|{ pad_width?: any, mode?: string, constant_values?: number, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:pad(options) end

---x at an index: x[{2, {1, 3}}] is subtensor(x, {2, 1, 3}, {spec="is110"}); spec has for each item i (position), s and three digits (range: 1 where idx has its start, stop, step), n (newaxis), e (ellipsis) or l (list or mask)
---@param x damo.Operand
---@param idx damo.Operand[]
---@param options? string|{ spec?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, idx: damo.Operand[], options?: any): damo.Variable
function damo.subtensor(x, idx, options) end

---x at an index: x[{2, {1, 3}}] is subtensor(x, {2, 1, 3}, {spec="is110"}); spec has for each item i (position), s and three digits (range: 1 where idx has its start, stop, step), n (newaxis), e (ellipsis) or l (list or mask)
---@param idx damo.Operand[]
---@param options? string|{ spec?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, idx: damo.Operand[], options?: any): damo.Variable
function Tensor:subtensor(idx, options) end

---x with y set at an index; spec as subtensor's
---@param x damo.Operand
---@param y damo.Operand
---@param idx damo.Operand[]
---@param options? string|{ spec?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, idx: damo.Operand[], options?: any): damo.Variable
function damo.set_subtensor_at(x, y, idx, options) end

---x with y set at an index; spec as subtensor's
---@param y damo.Operand
---@param idx damo.Operand[]
---@param options? string|{ spec?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, idx: damo.Operand[], options?: any): damo.Variable
function Tensor:set_subtensor_at(y, idx, options) end

---x with y added at an index, repeated positions adding up; spec as subtensor's
---@param x damo.Operand
---@param y damo.Operand
---@param idx damo.Operand[]
---@param options? string|{ spec?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, idx: damo.Operand[], options?: any): damo.Variable
function damo.inc_subtensor_at(x, y, idx, options) end

---x with y added at an index, repeated positions adding up; spec as subtensor's
---@param y damo.Operand
---@param idx damo.Operand[]
---@param options? string|{ spec?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, idx: damo.Operand[], options?: any): damo.Variable
function Tensor:inc_subtensor_at(y, idx, options) end

---the tensor that x is a part of, with y in that part
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.set_subtensor(x, y, options) end

---the tensor that x is a part of, with y in that part
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:set_subtensor(y, options) end

---the tensor that x is a part of, with y added to that part
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.inc_subtensor(x, y, options) end

---the tensor that x is a part of, with y added to that part
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:inc_subtensor(y, options) end

---entries of x at 1-based positions along an axis; of all entries in order without one; mode: positions outside "raise" an error, "wrap" around, "clip" to the ends
---@param x damo.Operand
---@param indices damo.Operand
---@param options? integer|{ axis?: integer, mode?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, indices: damo.Operand, options?: any): damo.Variable
function damo.take(x, indices, options) end

---entries of x at 1-based positions along an axis; of all entries in order without one; mode: positions outside "raise" an error, "wrap" around, "clip" to the ends
---@param indices damo.Operand
---@param options? integer|{ axis?: integer, mode?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, indices: damo.Operand, options?: any): damo.Variable
function Tensor:take(indices, options) end

---entries of x at positions along one axis, chosen for each index of the other axes
---@param x damo.Operand
---@param indices damo.Operand
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, indices: damo.Operand, options?: any): damo.Variable
function damo.take_along_axis(x, indices, options) end

---entries of x at positions along one axis, chosen for each index of the other axes
---@param indices damo.Operand
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, indices: damo.Operand, options?: any): damo.Variable
function Tensor:take_along_axis(indices, options) end

---a last axis of n classes, one at the 1-based class that x names
---@param x damo.Operand
---@param n damo.Operand
---@param options? damo.Dtype|{ dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, n: damo.Operand, options?: any): damo.Variable
function damo.one_hot(x, n, options) end

---a last axis of n classes, one at the 1-based class that x names
---@param n damo.Operand
---@param options? damo.Dtype|{ dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, n: damo.Operand, options?: any): damo.Variable
function Tensor:one_hot(n, options) end

---a last axis of n classes, one at the 1-based class that x names
---@param x damo.Operand
---@param n damo.Operand
---@param options? damo.Dtype|{ dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, n: damo.Operand, options?: any): damo.Variable
function damo.to_one_hot(x, n, options) end

---a last axis of n classes, one at the 1-based class that x names
---@param n damo.Operand
---@param options? damo.Dtype|{ dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, n: damo.Operand, options?: any): damo.Variable
function Tensor:to_one_hot(n, options) end

---the positions of entries that are not zero, a vector for each axis
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable, damo.Variable
function damo.nonzero(x, options) end

---the positions of entries that are not zero, a vector for each axis
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable, damo.Variable
function Tensor:nonzero(options) end

---the positions of entries that are not zero among all entries in order
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.flatnonzero(x, options) end

---the positions of entries that are not zero among all entries in order
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:flatnonzero(options) end

---the entries that are not zero, in order, as a vector
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.nonzero_values(x, options) end

---the entries that are not zero, in order, as a vector
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:nonzero_values(options) end

---the positions of entries that are not zero, a row for each
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.argwhere(x, options) end

---the positions of entries that are not zero, a row for each
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:argwhere(options) end

---the slices along an axis where a bool vector is true; of all entries in order without one
---@param condition damo.Operand
---@param x damo.Operand
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(condition: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function damo.compress(condition, x, options) end

---the slices along an axis where a bool vector is true; of all entries in order without one
---@param x damo.Operand
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function Tensor:compress(x, options) end

---the entries of x where the condition is not zero, in order
---@param condition damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(condition: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function damo.extract(condition, x, options) end

---the entries of x where the condition is not zero, in order
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function Tensor:extract(x, options) end

---entry by entry of the choice whose number x has; mode as take's
---@param x damo.Operand
---@param choices damo.Operand[]
---@param options? string|{ mode?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, choices: damo.Operand[], options?: any): damo.Variable
function damo.choose(x, choices, options) end

---conditions, then as many choices: entry by entry of the choice whose condition is the first that holds, else the default, 0; damo.select(conditions, choices, default) calls it
---@param items damo.Operand[]
---@param options? damo.Operand|{ default?: damo.Operand, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(items: damo.Variable[], options?: any): damo.Variable
function damo.select(items, options) end

---x with values at positions among all entries in order, repeated where there are fewer; mode as take's
---@param x damo.Operand
---@param indices damo.Operand
---@param values damo.Operand
---@param options? string|{ mode?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, indices: damo.Operand, values: damo.Operand, options?: any): damo.Variable
function damo.put(x, indices, values, options) end

---x with values at positions among all entries in order, repeated where there are fewer; mode as take's
---@param indices damo.Operand
---@param values damo.Operand
---@param options? string|{ mode?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, indices: damo.Operand, values: damo.Operand, options?: any): damo.Variable
function Tensor:put(indices, values, options) end

---x with values at positions along one axis (default -1), chosen for each index of the other axes
---@param x damo.Operand
---@param indices damo.Operand
---@param values damo.Operand
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, indices: damo.Operand, values: damo.Operand, options?: any): damo.Variable
function damo.put_along_axis(x, indices, values, options) end

---x with values at positions along one axis (default -1), chosen for each index of the other axes
---@param indices damo.Operand
---@param values damo.Operand
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, indices: damo.Operand, values: damo.Operand, options?: any): damo.Variable
function Tensor:put_along_axis(indices, values, options) end

---x with a value on its diagonal; wrap: which begins again below the last column of a tall matrix
---@param x damo.Operand
---@param value damo.Operand
---@param options? boolean|{ wrap?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, value: damo.Operand, options?: any): damo.Variable
function damo.fill_diagonal(x, value, options) end

---x with a value on its diagonal; wrap: which begins again below the last column of a tall matrix
---@param value damo.Operand
---@param options? boolean|{ wrap?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, value: damo.Operand, options?: any): damo.Variable
function Tensor:fill_diagonal(value, options) end

---values over a grid with these points of each axis, interpolated at queries (…, axes); method 'linear' (default), 'nearest', 'pchip', 'cubic'; outside 'error' (default), 'clip', 'extrapolate' or a number
---@param points damo.Operand[]
---@param values damo.Operand
---@param xi damo.Operand
---@param options? string|{ method?: string, outside?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(points: damo.Variable[], values: damo.Operand, xi: damo.Operand, options?: any): damo.Variable
function damo.interpn(points, values, xi, options) end

---a tensor of coordinates for each vector, on the grid of all; indexing "xy" swaps the first two axes, "ij" does not; sparse: of length 1 along the other axes
---@param xs damo.Operand[]
---@param options? string|{ indexing?: string, sparse?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(xs: damo.Variable[], options?: any): damo.Variable
function damo.meshgrid(xs, options) end

---the tensors broadcast to one shape; read-only views
---@param xs damo.Operand[]
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(xs: damo.Variable[], options?: any): damo.Variable
function damo.broadcast_arrays(xs, options) end

---the shape to which the tensors broadcast, a vector; arrays_are_shapes: the operands are shapes themselves
---@param xs damo.Operand[]
---@param options? boolean|{ arrays_are_shapes?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(xs: damo.Variable[], options?: any): damo.Variable
function damo.broadcast_shape(xs, options) end

---the tensors joined along an axis (default 1), after their other axes were broadcast
---@param xs damo.Operand[]
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(xs: damo.Variable[], options?: any): damo.Variable
function damo.concat_with_broadcast(xs, options) end

---the positions along each axis of a tensor of that shape, with a first axis for them; sparse: a tensor an axis, of length 1 along the others
---@param options? damo.Shape|{ shape?: damo.Shape, sparse?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
function damo.indices(options) end

---the vectors of positions, or masks, each along an axis of its own: x[{ix_(rows, columns)}] is a block
---@param positions damo.Operand[]
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(positions: damo.Variable[], options?: any): damo.Variable
function damo.ix_(positions, options) end

---the rows and columns of the entries on and below the k-th diagonal of an n by m matrix
---@param n? damo.Operand
---@param options? integer|{ k?: integer, m?: damo.Shape, n?: damo.Shape, out?: damo.Array|damo.Array[] }
---@return damo.Result
function damo.tril_indices(n, options) end

---the rows and columns of the entries on and above the k-th diagonal of an n by m matrix
---@param n? damo.Operand
---@param options? integer|{ k?: integer, m?: damo.Shape, n?: damo.Shape, out?: damo.Array|damo.Array[] }
---@return damo.Result
function damo.triu_indices(n, options) end

---the rows and columns of the entries of a matrix on and below its k-th diagonal
---@param x damo.Operand
---@param options? integer|{ k?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable, damo.Variable
function damo.tril_indices_from(x, options) end

---the rows and columns of the entries of a matrix on and above its k-th diagonal
---@param x damo.Operand
---@param options? integer|{ k?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable, damo.Variable
function damo.triu_indices_from(x, options) end

---the positions of the diagonal of a tensor of ndim axes (default 2) of length n
---@param n? damo.Operand
---@param options? integer|{ ndim?: integer, n?: damo.Shape, out?: damo.Array|damo.Array[] }
---@return damo.Result
function damo.diag_indices(n, options) end

---positions among all entries of a tensor of that shape as positions along each axis; order "C": the last axis changes fastest, "F": the first
---@param positions damo.Operand
---@param options? damo.Shape|{ shape?: damo.Shape, order?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(positions: damo.Variable, options?: any): damo.Variable
function damo.unravel_index(positions, options) end

---positions among all entries of a tensor of that shape as positions along each axis; order "C": the last axis changes fastest, "F": the first
---@param options? damo.Shape|{ shape?: damo.Shape, order?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:unravel_index(options) end

---the permutation, of the positions along the last axis, that undoes p: p[q] and q[p] are 1, 2, 3 …
---@param p damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(p: damo.Variable, options?: any): damo.Variable
function damo.inverse_permutation(p, options) end

---the permutation, of the positions along the last axis, that undoes p: p[q] and q[p] are 1, 2, 3 …
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:inverse_permutation(options) end

---positions along each axis as positions among all entries of a tensor of that shape; mode, or one an axis: as take's
---@param positions damo.Operand[]
---@param options? damo.Shape|{ shape?: damo.Shape, mode?: any, order?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(positions: damo.Variable[], options?: any): damo.Variable
function damo.ravel_multi_index(positions, options) end

---x rotated k times by 90 degrees, from the first of two axes (default 1, 2) to the second
---@param x damo.Operand
---@param options? integer|{ k?: integer, axes?: integer|integer[], out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.rot90(x, options) end

---x rotated k times by 90 degrees, from the first of two axes (default 1, 2) to the second
---@param options? integer|{ k?: integer, axes?: integer|integer[], out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:rot90(options) end

---the entries of several tensors as one vector; damo.pack(x, y) gives the list of shapes for unpack, too
---@param xs damo.Operand[]
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@overload fun(xs: damo.Variable[], options?: any): damo.Variable, damo.Variable
function damo.pack(xs, options) end

---the tensors of these shapes that a vector holds one after the other
---@param x damo.Operand
---@param options? any|{ shapes?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.unpack(x, options) end

---the tensors of these shapes that a vector holds one after the other
---@param options? any|{ shapes?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:unpack(options) end

---1/(1 + exp(-x))
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function nn.sigmoid(x, options) end

---hyperbolic tangent
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function nn.tanh(x, options) end

---log(1 + exp(x)) without overflow
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function nn.softplus(x, options) end

---log(sigmoid(x)) without overflow
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function nn.log_sigmoid(x, options) end

---max(x, 0)
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function nn.relu(x, options) end

---x clipped to 0 … 6
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function nn.relu6(x, options) end

---x where it is positive, else alpha*x (0.01)
---@param x damo.Operand
---@param options? number|{ alpha?: number, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function nn.leaky_relu(x, options) end

---x where it is positive, else alpha*(exp(x) - 1) (alpha 1)
---@param x damo.Operand
---@param options? number|{ alpha?: number, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function nn.elu(x, options) end

---x where it is positive, else alpha*(exp(x/alpha) - 1) (alpha 1)
---@param x damo.Operand
---@param options? number|{ alpha?: number, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function nn.celu(x, options) end

---elu, scaled so that mean 0 and variance 1 are kept
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function nn.selu(x, options) end

---x times the normal distribution function; approximate: by tanh
---@param x damo.Operand
---@param options? boolean|{ approximate?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function nn.gelu(x, options) end

---x*sigmoid(x)
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function nn.silu(x, options) end

---x*tanh(softplus(x))
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function nn.mish(x, options) end

---x/(1 + |x|)
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function nn.softsign(x, options) end

---x clipped to -1 … 1
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function nn.hard_tanh(x, options) end

---(x + 3)/6 clipped to 0 … 1
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function nn.hard_sigmoid(x, options) end

---x*hard_sigmoid(x)
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function nn.hard_swish(x, options) end

---the first half along an axis (the last) times the sigmoid of the second
---@param x damo.Operand
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function nn.glu(x, options) end

---exp(x) divided by its sum along an axis or over several (nil: over all entries)
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function nn.softmax(x, options) end

---logarithm of softmax, without overflow
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function nn.log_softmax(x, options) end

----sum(true_dist * log(coding_dist)) along the last axis; true_dist may be integer positions, 1-based
---@param coding_dist damo.Operand
---@param true_dist damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(coding_dist: damo.Variable, true_dist: damo.Operand, options?: any): damo.Variable
function nn.categorical_crossentropy(coding_dist, true_dist, options) end

----(target*log(output) + (1 - target)*log(1 - output))
---@param output damo.Operand
---@param target damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(output: damo.Variable, target: damo.Operand, options?: any): damo.Variable
function nn.binary_crossentropy(output, target, options) end

---binary_crossentropy of sigmoid(output), without overflow
---@param output damo.Operand
---@param target damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(output: damo.Variable, target: damo.Operand, options?: any): damo.Variable
function nn.sigmoid_binary_crossentropy(output, target, options) end

----log_probs at the position (1-based) that target names on the last axis
---@param log_probs damo.Operand
---@param target damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(log_probs: damo.Variable, target: damo.Operand, options?: any): damo.Variable
function nn.nll(log_probs, target, options) end

---sum of p*log(p/q) along an axis (the last)
---@param p damo.Operand
---@param q damo.Operand
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(p: damo.Variable, q: damo.Operand, options?: any): damo.Variable
function nn.kl_divergence(p, q, options) end

---mean of (x - y)^2
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function nn.mean_squared_error(x, y, options) end

---mean of |x - y|
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function nn.mean_absolute_error(x, y, options) end

---mean of d^2/2 where d = |x - y| is at most delta (1), else of delta*(d - delta/2)
---@param x damo.Operand
---@param y damo.Operand
---@param options? number|{ delta?: number, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function nn.huber(x, y, options) end

---mean of max(0, 1 - target*output); targets are -1 or 1
---@param output damo.Operand
---@param target damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(output: damo.Variable, target: damo.Operand, options?: any): damo.Variable
function nn.hinge(output, target, options) end

---sum(x*y)/(|x| |y|) along an axis (the last); norms below eps (1e-8) count as eps
---@param x damo.Operand
---@param y damo.Operand
---@param options? integer|{ axis?: integer, eps?: number, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function nn.cosine_similarity(x, y, options) end

---(x - mean)/sqrt(var + eps)*gamma + beta for each channel (axis 2); mean and var are the batch's where not given; eps 1e-5
---@param x damo.Operand
---@param gamma damo.Operand
---@param beta damo.Operand
---@param mean? damo.Operand
---@param var? damo.Operand
---@param options? number|{ eps?: number, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, gamma: damo.Operand, beta: damo.Operand, mean?: damo.Operand, var?: damo.Operand, options?: any): damo.Variable
function nn.batch_norm(x, gamma, beta, mean, var, options) end

---x with mean 0 and variance 1 over the axes (the last), times gamma plus beta; eps 1e-5
---@param x damo.Operand
---@param gamma damo.Operand
---@param beta damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], eps?: number, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, gamma: damo.Operand, beta: damo.Operand, options?: any): damo.Variable
function nn.layer_norm(x, gamma, beta, options) end

---x divided by the root of its mean square over the axes (the last), times gamma; eps 1e-5
---@param x damo.Operand
---@param gamma damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], eps?: number, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, gamma: damo.Operand, options?: any): damo.Variable
function nn.rms_norm(x, gamma, options) end

---x with mean 0 and variance 1 over each group of channels (axis 2) of each example, times gamma plus beta
---@param x damo.Operand
---@param gamma damo.Operand
---@param beta damo.Operand
---@param options? integer|{ num_groups?: integer, eps?: number, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, gamma: damo.Operand, beta: damo.Operand, options?: any): damo.Variable
function nn.group_norm(x, gamma, beta, options) end

---the table's row for each id, a 1-based position
---@param ids damo.Operand
---@param table damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(ids: damo.Variable, table: damo.Operand, options?: any): damo.Variable
function nn.embedding(ids, table, options) end

---softmax(q k^T*scale) v over the last two axes; scale 1/sqrt of q's last length; a bool mask is true where a key may be looked at, a float one is added; causal: keys up to the query's place
---@param q damo.Operand
---@param k damo.Operand
---@param v damo.Operand
---@param mask? damo.Operand
---@param options? boolean|{ causal?: boolean, scale?: number, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(q: damo.Variable, k: damo.Operand, v: damo.Operand, mask?: damo.Operand, options?: any): damo.Variable
function nn.scaled_dot_product_attention(q, k, v, mask, options) end

---scaled_dot_product_attention of q*wq, k*wk, v*wv in num_heads parts of their last axis, joined, times wo
---@param q damo.Operand
---@param k damo.Operand
---@param v damo.Operand
---@param wq damo.Operand
---@param wk damo.Operand
---@param wv damo.Operand
---@param wo damo.Operand
---@param mask? damo.Operand
---@param options? integer|{ num_heads?: integer, causal?: boolean, scale?: number, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(q: damo.Variable, k: damo.Operand, v: damo.Operand, wq: damo.Operand, wk: damo.Operand, wv: damo.Operand, wo: damo.Operand, mask?: damo.Operand, options?: any): damo.Variable
function nn.multi_head_attention(q, k, v, wq, wk, wv, wo, mask, options) end

---the largest entry of each window of the axes after the second; stride: the size; pad: 0
---@param x damo.Operand
---@param options? any|{ size?: any, stride?: any, pad?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function nn.max_pool1d(x, options) end

---the largest entry of each window of the axes after the second; stride: the size; pad: 0
---@param x damo.Operand
---@param options? any|{ size?: any, stride?: any, pad?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function nn.max_pool2d(x, options) end

---the largest entry of each window of the axes after the second; stride: the size; pad: 0
---@param x damo.Operand
---@param options? any|{ size?: any, stride?: any, pad?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function nn.max_pool3d(x, options) end

---the mean of each window of the axes after the second; count_include_pad (true): padding counts as zeros
---@param x damo.Operand
---@param options? any|{ size?: any, stride?: any, pad?: any, count_include_pad?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function nn.avg_pool1d(x, options) end

---the mean of each window of the axes after the second; count_include_pad (true): padding counts as zeros
---@param x damo.Operand
---@param options? any|{ size?: any, stride?: any, pad?: any, count_include_pad?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function nn.avg_pool2d(x, options) end

---the mean of each window of the axes after the second; count_include_pad (true): padding counts as zeros
---@param x damo.Operand
---@param options? any|{ size?: any, stride?: any, pad?: any, count_include_pad?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function nn.avg_pool3d(x, options) end

---the largest entry over every axis after the second
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function nn.global_max_pool(x, options) end

---the mean over every axis after the second
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function nn.global_avg_pool(x, options) end

---convolution of x (N, C, …) with filters w (K, C/num_groups, …); border_mode 'valid', 'half', 'full', padding or pairs; filter_flip (true): as a convolution, else a correlation
---@param x damo.Operand
---@param w damo.Operand
---@param options? any|{ border_mode?: any, subsample?: any, filter_dilation?: any, num_groups?: integer, filter_flip?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, w: damo.Operand, options?: any): damo.Variable
function nn.conv1d(x, w, options) end

---convolution of x (N, C, …) with filters w (K, C/num_groups, …); border_mode 'valid', 'half', 'full', padding or pairs; filter_flip (true): as a convolution, else a correlation
---@param x damo.Operand
---@param w damo.Operand
---@param options? any|{ border_mode?: any, subsample?: any, filter_dilation?: any, num_groups?: integer, filter_flip?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, w: damo.Operand, options?: any): damo.Variable
function nn.conv2d(x, w, options) end

---convolution of x (N, C, …) with filters w (K, C/num_groups, …); border_mode 'valid', 'half', 'full', padding or pairs; filter_flip (true): as a convolution, else a correlation
---@param x damo.Operand
---@param w damo.Operand
---@param options? any|{ border_mode?: any, subsample?: any, filter_dilation?: any, num_groups?: integer, filter_flip?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, w: damo.Operand, options?: any): damo.Variable
function nn.conv3d(x, w, options) end

---the transpose of the convolution with filters w as a linear map; output_shape: its lengths after the second axis, the least by themselves
---@param x damo.Operand
---@param w damo.Operand
---@param options? any|{ border_mode?: any, subsample?: any, filter_dilation?: any, num_groups?: integer, filter_flip?: boolean, output_shape?: damo.Shape, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, w: damo.Operand, options?: any): damo.Variable
function nn.conv1d_transpose(x, w, options) end

---the transpose of the convolution with filters w as a linear map; output_shape: its lengths after the second axis, the least by themselves
---@param x damo.Operand
---@param w damo.Operand
---@param options? any|{ border_mode?: any, subsample?: any, filter_dilation?: any, num_groups?: integer, filter_flip?: boolean, output_shape?: damo.Shape, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, w: damo.Operand, options?: any): damo.Variable
function nn.conv2d_transpose(x, w, options) end

---the transpose of the convolution with filters w as a linear map; output_shape: its lengths after the second axis, the least by themselves
---@param x damo.Operand
---@param w damo.Operand
---@param options? any|{ border_mode?: any, subsample?: any, filter_dilation?: any, num_groups?: integer, filter_flip?: boolean, output_shape?: damo.Shape, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, w: damo.Operand, options?: any): damo.Variable
function nn.conv3d_transpose(x, w, options) end

---the sum of the entries with each id along the first axis; ids from 1 to num_segments (default: the greatest)
---@param x damo.Operand
---@param ids damo.Operand
---@param options? damo.Shape|{ num_segments?: damo.Shape, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, ids: damo.Operand, options?: any): damo.Variable
function damo.segment_sum(x, ids, options) end

---the sum of the entries with each id along the first axis; ids from 1 to num_segments (default: the greatest)
---@param ids damo.Operand
---@param options? damo.Shape|{ num_segments?: damo.Shape, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, ids: damo.Operand, options?: any): damo.Variable
function Tensor:segment_sum(ids, options) end

---the product of the entries with each id along the first axis; ids from 1 to num_segments (default: the greatest)
---@param x damo.Operand
---@param ids damo.Operand
---@param options? damo.Shape|{ num_segments?: damo.Shape, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, ids: damo.Operand, options?: any): damo.Variable
function damo.segment_prod(x, ids, options) end

---the product of the entries with each id along the first axis; ids from 1 to num_segments (default: the greatest)
---@param ids damo.Operand
---@param options? damo.Shape|{ num_segments?: damo.Shape, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, ids: damo.Operand, options?: any): damo.Variable
function Tensor:segment_prod(ids, options) end

---the greatest of the entries with each id along the first axis; ids from 1 to num_segments (default: the greatest)
---@param x damo.Operand
---@param ids damo.Operand
---@param options? damo.Shape|{ num_segments?: damo.Shape, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, ids: damo.Operand, options?: any): damo.Variable
function damo.segment_max(x, ids, options) end

---the greatest of the entries with each id along the first axis; ids from 1 to num_segments (default: the greatest)
---@param ids damo.Operand
---@param options? damo.Shape|{ num_segments?: damo.Shape, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, ids: damo.Operand, options?: any): damo.Variable
function Tensor:segment_max(ids, options) end

---the least of the entries with each id along the first axis; ids from 1 to num_segments (default: the greatest)
---@param x damo.Operand
---@param ids damo.Operand
---@param options? damo.Shape|{ num_segments?: damo.Shape, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, ids: damo.Operand, options?: any): damo.Variable
function damo.segment_min(x, ids, options) end

---the least of the entries with each id along the first axis; ids from 1 to num_segments (default: the greatest)
---@param ids damo.Operand
---@param options? damo.Shape|{ num_segments?: damo.Shape, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, ids: damo.Operand, options?: any): damo.Variable
function Tensor:segment_min(ids, options) end

---the mean of the entries with each id, 0 of none, along the first axis; ids from 1 to num_segments (default: the greatest)
---@param x damo.Operand
---@param ids damo.Operand
---@param options? damo.Shape|{ num_segments?: damo.Shape, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, ids: damo.Operand, options?: any): damo.Variable
function damo.segment_mean(x, ids, options) end

---the mean of the entries with each id, 0 of none, along the first axis; ids from 1 to num_segments (default: the greatest)
---@param ids damo.Operand
---@param options? damo.Shape|{ num_segments?: damo.Shape, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, ids: damo.Operand, options?: any): damo.Variable
function Tensor:segment_mean(ids, options) end

---how often each of 1, 2 … occurs in a vector, or the sum of the weights at its places
---@param x damo.Operand
---@param weights? damo.Operand
---@param options? integer|{ minlength?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, weights?: damo.Operand, options?: any): damo.Variable
function damo.bincount(x, weights, options) end

---how often each of 1, 2 … occurs in a vector, or the sum of the weights at its places
---@param weights? damo.Operand
---@param options? integer|{ minlength?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, weights?: damo.Operand, options?: any): damo.Variable
function Tensor:bincount(weights, options) end

---x with values added at positions along its first axis, repeated ones adding up
---@param x damo.Operand
---@param ids damo.Operand
---@param values damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, ids: damo.Operand, values: damo.Operand, options?: any): damo.Variable
function damo.scatter_add(x, ids, values, options) end

---x with values added at positions along its first axis, repeated ones adding up
---@param ids damo.Operand
---@param values damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, ids: damo.Operand, values: damo.Operand, options?: any): damo.Variable
function Tensor:scatter_add(ids, values, options) end

---the maximum of x and of the values at positions along its first axis
---@param x damo.Operand
---@param ids damo.Operand
---@param values damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, ids: damo.Operand, values: damo.Operand, options?: any): damo.Variable
function damo.scatter_max(x, ids, values, options) end

---the maximum of x and of the values at positions along its first axis
---@param ids damo.Operand
---@param values damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, ids: damo.Operand, values: damo.Operand, options?: any): damo.Variable
function Tensor:scatter_max(ids, values, options) end

---the minimum of x and of the values at positions along its first axis
---@param x damo.Operand
---@param ids damo.Operand
---@param values damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, ids: damo.Operand, values: damo.Operand, options?: any): damo.Variable
function damo.scatter_min(x, ids, values, options) end

---the minimum of x and of the values at positions along its first axis
---@param ids damo.Operand
---@param values damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, ids: damo.Operand, values: damo.Operand, options?: any): damo.Variable
function Tensor:scatter_min(ids, values, options) end

---the positions at which v would be inserted into a sorted vector: before equal entries, or behind them with side "right"; sorter: the positions that sort a
---@param a damo.Operand
---@param v damo.Operand
---@param sorter? damo.Operand
---@param options? string|{ side?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, v: damo.Operand, sorter?: damo.Operand, options?: any): damo.Variable
function damo.searchsorted(a, v, sorter, options) end

---the positions at which v would be inserted into a sorted vector: before equal entries, or behind them with side "right"; sorter: the positions that sort a
---@param v damo.Operand
---@param sorter? damo.Operand
---@param options? string|{ side?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, v: damo.Operand, sorter?: damo.Operand, options?: any): damo.Variable
function Tensor:searchsorted(v, sorter, options) end

---where x would stand in bins, which rise or fall; right: a bin holds its upper end
---@param x damo.Operand
---@param bins damo.Operand
---@param options? boolean|{ right?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, bins: damo.Operand, options?: any): damo.Variable
function damo.digitize(x, bins, options) end

---where x would stand in bins, which rise or fall; right: a bin holds its upper end
---@param bins damo.Operand
---@param options? boolean|{ right?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, bins: damo.Operand, options?: any): damo.Variable
function Tensor:digitize(bins, options) end

---linear interpolation between the points (xp, fp), xp rising; left and right: the values outside
---@param x damo.Operand
---@param xp damo.Operand
---@param fp damo.Operand
---@param options? number|{ left?: number, right?: number, period?: number, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, xp: damo.Operand, fp: damo.Operand, options?: any): damo.Variable
function damo.interp(x, xp, fp, options) end

---linear interpolation between the points (xp, fp), xp rising; left and right: the values outside
---@param xp damo.Operand
---@param fp damo.Operand
---@param options? number|{ left?: number, right?: number, period?: number, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, xp: damo.Operand, fp: damo.Operand, options?: any): damo.Variable
function Tensor:interp(xp, fp, options) end

---the different entries, sorted (axis: the different slices along it); where each stands first, the number of the one that each entry of x is, how often each occurs
---@param x damo.Operand
---@param options? integer|{ axis?: integer, return_index?: boolean, return_inverse?: boolean, return_counts?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.unique(x, options) end

---the different entries, sorted (axis: the different slices along it); where each stands first, the number of the one that each entry of x is, how often each occurs
---@param options? integer|{ axis?: integer, return_index?: boolean, return_inverse?: boolean, return_counts?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:unique(options) end

---whether each entry is among those of test; invert: whether it is not
---@param x damo.Operand
---@param test damo.Operand
---@param options? boolean|{ invert?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, test: damo.Operand, options?: any): damo.Variable
function damo.isin(x, test, options) end

---whether each entry is among those of test; invert: whether it is not
---@param test damo.Operand
---@param options? boolean|{ invert?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, test: damo.Operand, options?: any): damo.Variable
function Tensor:isin(test, options) end

---the different entries of both, sorted
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.union1d(x, y, options) end

---the different entries of both, sorted
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:union1d(y, options) end

---the different entries that both have, sorted; return_indices: and where they stand first in x and in y
---@param x damo.Operand
---@param y damo.Operand
---@param options? boolean|{ return_indices?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.intersect1d(x, y, options) end

---the different entries that both have, sorted; return_indices: and where they stand first in x and in y
---@param y damo.Operand
---@param options? boolean|{ return_indices?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:intersect1d(y, options) end

---the different entries of x that y lacks, sorted
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.setdiff1d(x, y, options) end

---the different entries of x that y lacks, sorted
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:setdiff1d(y, options) end

---the different entries that one of both has alone, sorted
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.setxor1d(x, y, options) end

---the different entries that one of both has alone, sorted
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:setxor1d(y, options) end

---the k greatest entries along an axis (default -1), greatest first; k < 0: the -k least, least first
---@param x damo.Operand
---@param options? integer|{ k?: integer, axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.topk(x, options) end

---the k greatest entries along an axis (default -1), greatest first; k < 0: the -k least, least first
---@param options? integer|{ k?: integer, axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:topk(options) end

---the positions of topk's entries
---@param x damo.Operand
---@param options? integer|{ k?: integer, axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.argtopk(x, options) end

---the positions of topk's entries
---@param options? integer|{ k?: integer, axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:argtopk(options) end

---the entries along an axis (default -1) with those at the places kth as sorting would have them, smaller ones before, greater ones behind
---@param x damo.Operand
---@param options? integer[]|{ kth?: integer[], axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.partition(x, options) end

---the entries along an axis (default -1) with those at the places kth as sorting would have them, smaller ones before, greater ones behind
---@param options? integer[]|{ kth?: integer[], axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:partition(options) end

---the positions of partition's entries
---@param x damo.Operand
---@param options? integer[]|{ kth?: integer[], axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.argpartition(x, options) end

---the positions of partition's entries
---@param options? integer[]|{ kth?: integer[], axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:argpartition(options) end

---the positions that sort by the last key, where it is equal by the one before, … along an axis (default -1)
---@param keys damo.Operand[]
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(keys: damo.Variable[], options?: any): damo.Variable
function damo.lexsort(keys, options) end

---how many entries (or what weight) lie in each of the bins, a number (default 10) or their edges; the edges. density: divided by the sum and the widths
---@param x damo.Operand
---@param weights? damo.Operand
---@param options? any|{ bins?: any, range?: any, density?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@overload fun(x: damo.Variable, weights?: damo.Operand, options?: any): damo.Variable, damo.Variable
function damo.histogram(x, weights, options) end

---how many entries (or what weight) lie in each of the bins, a number (default 10) or their edges; the edges. density: divided by the sum and the widths
---@param weights? damo.Operand
---@param options? any|{ bins?: any, range?: any, density?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@overload fun(self: damo.Variable, weights?: damo.Operand, options?: any): damo.Variable, damo.Variable
function Tensor:histogram(weights, options) end

---the same of pairs: a matrix of sums, the edges for x, those for y; bins and range: one for both, or one each
---@param x damo.Operand
---@param y damo.Operand
---@param weights? damo.Operand
---@param options? any|{ bins?: any, range?: any, density?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, weights?: damo.Operand, options?: any): damo.Variable, damo.Variable, damo.Variable
function damo.histogram2d(x, y, weights, options) end

---the same of pairs: a matrix of sums, the edges for x, those for y; bins and range: one for both, or one each
---@param y damo.Operand
---@param weights? damo.Operand
---@param options? any|{ bins?: any, range?: any, density?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, weights?: damo.Operand, options?: any): damo.Variable, damo.Variable, damo.Variable
function Tensor:histogram2d(y, weights, options) end

---the same of points, the rows of a matrix: an array of sums with an axis for each column, then the edges of each; bins and range: one for all, or one each
---@param points damo.Operand
---@param weights? damo.Operand
---@param options? any|{ bins?: any, range?: any, density?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(points: damo.Variable, weights?: damo.Operand, options?: any): damo.Variable
function damo.histogramdd(points, weights, options) end

---the same of points, the rows of a matrix: an array of sums with an axis for each column, then the edges of each; bins and range: one for all, or one each
---@param weights? damo.Operand
---@param options? any|{ bins?: any, range?: any, density?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, weights?: damo.Operand, options?: any): damo.Variable
function Tensor:histogramdd(weights, options) end

---the vector product along an axis (default -1) of 3 entries; of 2 and 2 entries the third component alone
---@param x damo.Operand
---@param y damo.Operand
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.cross(x, y, options) end

---the vector product along an axis (default -1) of 3 entries; of 2 and 2 entries the third component alone
---@param y damo.Operand
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:cross(y, options) end

---products summed over the last axes; of a scalar the product
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.inner(x, y, options) end

---products summed over the last axes; of a scalar the product
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:inner(y, options) end

---the sum of the products of all entries, those of x conjugated
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.vdot(x, y, options) end

---the sum of the products of all entries, those of x conjugated
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:vdot(y, options) end

---the convolution of two vectors: "full" (the default), "same": as long as the longer one, or "valid": where they overlap whole
---@param x damo.Operand
---@param y damo.Operand
---@param options? string|{ mode?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.convolve(x, y, options) end

---the convolution of two vectors: "full" (the default), "same": as long as the longer one, or "valid": where they overlap whole
---@param y damo.Operand
---@param options? string|{ mode?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:convolve(y, options) end

---the cross-correlation of two vectors, y conjugated; mode as convolve's, "valid" by default
---@param x damo.Operand
---@param y damo.Operand
---@param options? string|{ mode?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.correlate(x, y, options) end

---the cross-correlation of two vectors, y conjugated; mode as convolve's, "valid" by default
---@param y damo.Operand
---@param options? string|{ mode?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:correlate(y, options) end

---the polynomial with coefficients p, the highest power first, at each entry of x
---@param p damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(p: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function damo.polyval(p, x, options) end

---the polynomial with coefficients p, the highest power first, at each entry of x
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function Tensor:polyval(x, options) end

---the coefficients, the highest power first, of the polynomial of degree deg that fits the values y, or each of their columns, at x by least squares; w: weights of the residuals
---@param x damo.Operand
---@param y damo.Operand
---@param options? integer|{ deg?: integer, rcond?: number, w?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.polyfit(x, y, options) end

---the coefficients, the highest power first, of the polynomial of degree deg that fits the values y, or each of their columns, at x by least squares; w: weights of the residuals
---@param y damo.Operand
---@param options? integer|{ deg?: integer, rcond?: number, w?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:polyfit(y, options) end

---the zeros, complex, of the polynomial with coefficients p, the highest power first
---@param p damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(p: damo.Variable, options?: any): damo.Variable
function damo.roots(p, options) end

---the zeros, complex, of the polynomial with coefficients p, the highest power first
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:roots(options) end

---the sum of two polynomials by their coefficients, the highest power first; leading zeros stay
---@param p damo.Operand
---@param q damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(p: damo.Variable, q: damo.Operand, options?: any): damo.Variable
function damo.polyadd(p, q, options) end

---the sum of two polynomials by their coefficients, the highest power first; leading zeros stay
---@param q damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, q: damo.Operand, options?: any): damo.Variable
function Tensor:polyadd(q, options) end

---the difference of two polynomials by their coefficients, the highest power first
---@param p damo.Operand
---@param q damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(p: damo.Variable, q: damo.Operand, options?: any): damo.Variable
function damo.polysub(p, q, options) end

---the difference of two polynomials by their coefficients, the highest power first
---@param q damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, q: damo.Operand, options?: any): damo.Variable
function Tensor:polysub(q, options) end

---the product of two polynomials by their coefficients, the highest power first
---@param p damo.Operand
---@param q damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(p: damo.Variable, q: damo.Operand, options?: any): damo.Variable
function damo.polymul(p, q, options) end

---the product of two polynomials by their coefficients, the highest power first
---@param q damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, q: damo.Operand, options?: any): damo.Variable
function Tensor:polymul(q, options) end

---the coefficients of a polynomial's derivative of order m (default 1), the highest power first
---@param p damo.Operand
---@param options? integer|{ m?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(p: damo.Variable, options?: any): damo.Variable
function damo.polyder(p, options) end

---the coefficients of a polynomial's derivative of order m (default 1), the highest power first
---@param options? integer|{ m?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:polyder(options) end

---the coefficients of a polynomial's integral of order m (default 1), the highest power first; k: the constant of each integration (default 0)
---@param p damo.Operand
---@param options? integer|{ m?: integer, k?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(p: damo.Variable, options?: any): damo.Variable
function damo.polyint(p, options) end

---the coefficients of a polynomial's integral of order m (default 1), the highest power first; k: the constant of each integration (default 0)
---@param options? integer|{ m?: integer, k?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:polyint(options) end

---the integral of samples along an axis (default -1) by the trapezoidal rule, at the points x, or dx apart
---@param y damo.Operand
---@param x? damo.Operand
---@param options? number|{ dx?: number, axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(y: damo.Variable, x?: damo.Operand, options?: any): damo.Variable
function damo.trapezoid(y, x, options) end

---the integral of samples along an axis (default -1) by the trapezoidal rule, at the points x, or dx apart
---@param x? damo.Operand
---@param options? number|{ dx?: number, axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, x?: damo.Operand, options?: any): damo.Variable
function Tensor:trapezoid(x, options) end

---the derivatives of samples by finite differences, one result an axis; spacing: their distance or coordinates, or a list of one each. (Of a graph it is damo.grad.)
---@param f damo.Operand
---@param options? any|{ spacing?: any, axis?: integer|integer[], edge_order?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@overload fun(f: damo.Variable, options?: any): damo.Variable, damo.Variable
function damo.gradient(f, options) end

---product: the last axis of x with the last but one of y (its only one when y is a vector)
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.dot(x, y, options) end

---product: the last axis of x with the last but one of y (its only one when y is a vector)
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:dot(y, options) end

---matrix product over the last two axes; leading axes broadcast
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.matmul(x, y, options) end

---matrix product over the last two axes; leading axes broadcast
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:matmul(y, options) end

---outer product of two vectors (flattened)
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.outer(x, y, options) end

---outer product of two vectors (flattened)
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:outer(y, options) end

---sum of products over axes: a number n (the last n of x, the first n of y; 2 if not given), or {axes of x, axes of y}
---@param x damo.Operand
---@param y damo.Operand
---@param options? any|{ axes?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.tensordot(x, y, options) end

---sum of products over axes: a number n (the last n of x, the first n of y; 2 if not given), or {axes of x, axes of y}
---@param y damo.Operand
---@param options? any|{ axes?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:tensordot(y, options) end

---product of vectors along the last axes, x conjugated; leading axes broadcast
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.vecdot(x, y, options) end

---product of vectors along the last axes, x conjugated; leading axes broadcast
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:vecdot(y, options) end

---matrices times vectors; leading axes broadcast
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.matvec(x, y, options) end

---matrices times vectors; leading axes broadcast
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:matvec(y, options) end

---vectors, conjugated, times matrices; leading axes broadcast
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.vecmat(x, y, options) end

---vectors, conjugated, times matrices; leading axes broadcast
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:vecmat(y, options) end

---one dot for each entry of the first axis, which x and y share
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.batched_dot(x, y, options) end

---one dot for each entry of the first axis, which x and y share
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:batched_dot(y, options) end

---Kronecker product
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.kron(x, y, options) end

---Kronecker product
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:kron(y, options) end

---sum of products by Einstein's convention: einsum({x, y}, "ij,jk->ik")
---@param xs damo.Operand[]
---@param options? string|{ subscripts?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(xs: damo.Variable[], options?: any): damo.Variable
function damo.einsum(xs, options) end

---discrete Fourier transform of n points along an axis (default -1); norm "backward", "ortho", "forward": which direction is scaled
---@param x damo.Operand
---@param options? damo.Shape|{ n?: damo.Shape, axis?: integer, norm?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function fft.fft(x, options) end

---inverse of fft
---@param x damo.Operand
---@param options? damo.Shape|{ n?: damo.Shape, axis?: integer, norm?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function fft.ifft(x, options) end

---the first n/2 + 1 entries of the transform of n real points, which determine the others
---@param x damo.Operand
---@param options? damo.Shape|{ n?: damo.Shape, axis?: integer, norm?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function fft.rfft(x, options) end

---inverse of rfft: n real points (default: an even number, twice the entries less 2)
---@param x damo.Operand
---@param options? damo.Shape|{ n?: damo.Shape, axis?: integer, norm?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function fft.irfft(x, options) end

---transform of n points of which half are given, the others being their conjugates: real
---@param x damo.Operand
---@param options? damo.Shape|{ n?: damo.Shape, axis?: integer, norm?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function fft.hfft(x, options) end

---inverse of hfft
---@param x damo.Operand
---@param options? damo.Shape|{ n?: damo.Shape, axis?: integer, norm?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function fft.ihfft(x, options) end

---discrete Fourier transform along two axes (default: the last ones), s points
---@param x damo.Operand
---@param options? damo.Shape|{ s?: damo.Shape, axes?: integer|integer[], norm?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function fft.fft2(x, options) end

---inverse of fft2
---@param x damo.Operand
---@param options? damo.Shape|{ s?: damo.Shape, axes?: integer|integer[], norm?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function fft.ifft2(x, options) end

---transform of real points along two axes; half of it, as rfft, along the last of them
---@param x damo.Operand
---@param options? damo.Shape|{ s?: damo.Shape, axes?: integer|integer[], norm?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function fft.rfft2(x, options) end

---inverse of rfft2
---@param x damo.Operand
---@param options? damo.Shape|{ s?: damo.Shape, axes?: integer|integer[], norm?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function fft.irfft2(x, options) end

---discrete Fourier transform along axes (default: all, or the last ones of s), s points
---@param x damo.Operand
---@param options? damo.Shape|{ s?: damo.Shape, axes?: integer|integer[], norm?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function fft.fftn(x, options) end

---inverse of fftn
---@param x damo.Operand
---@param options? damo.Shape|{ s?: damo.Shape, axes?: integer|integer[], norm?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function fft.ifftn(x, options) end

---transform of real points along axes; half of it, as rfft, along the last of them
---@param x damo.Operand
---@param options? damo.Shape|{ s?: damo.Shape, axes?: integer|integer[], norm?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function fft.rfftn(x, options) end

---inverse of rfftn
---@param x damo.Operand
---@param options? damo.Shape|{ s?: damo.Shape, axes?: integer|integer[], norm?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function fft.irfftn(x, options) end

---moves frequency 0 to the middle of axes (default: all)
---@param x damo.Operand
---@param options? integer|integer[]|{ axes?: integer|integer[], out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function fft.fftshift(x, options) end

---inverse of fftshift
---@param x damo.Operand
---@param options? integer|integer[]|{ axes?: integer|integer[], out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function fft.ifftshift(x, options) end

---frequencies of a transform's n entries, for points at a distance of d (default 1)
---@param options? integer|{ n?: integer, d?: number, out?: damo.Array|damo.Array[] }
---@return damo.Result
function fft.fftfreq(options) end

---frequencies of rfft's n/2 + 1 entries, for points at a distance of d (default 1)
---@param options? integer|{ n?: integer, d?: number, out?: damo.Array|damo.Array[] }
---@return damo.Result
function fft.rfftfreq(options) end

---cosine transform of type 1 to 4 (default 2) of n points along an axis (default -1); norm as fft's; orthogonalize: the ends are weighed so that norm "ortho", where it is the default, is orthogonal
---@param x damo.Operand
---@param options? integer|{ type?: integer, n?: damo.Shape, axis?: integer, norm?: string, orthogonalize?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function fft.dct(x, options) end

---inverse of dct
---@param x damo.Operand
---@param options? integer|{ type?: integer, n?: damo.Shape, axis?: integer, norm?: string, orthogonalize?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function fft.idct(x, options) end

---sine transform of type 1 to 4 (default 2) of n points along an axis (default -1); options as dct's
---@param x damo.Operand
---@param options? integer|{ type?: integer, n?: damo.Shape, axis?: integer, norm?: string, orthogonalize?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function fft.dst(x, options) end

---inverse of dst
---@param x damo.Operand
---@param options? integer|{ type?: integer, n?: damo.Shape, axis?: integer, norm?: string, orthogonalize?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function fft.idst(x, options) end

---cosine transform along axes (default: all, or the last ones of s), s points
---@param x damo.Operand
---@param options? integer|{ type?: integer, s?: damo.Shape, axes?: integer|integer[], norm?: string, orthogonalize?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function fft.dctn(x, options) end

---inverse of dctn
---@param x damo.Operand
---@param options? integer|{ type?: integer, s?: damo.Shape, axes?: integer|integer[], norm?: string, orthogonalize?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function fft.idctn(x, options) end

---sine transform along axes (default: all, or the last ones of s), s points
---@param x damo.Operand
---@param options? integer|{ type?: integer, s?: damo.Shape, axes?: integer|integer[], norm?: string, orthogonalize?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function fft.dstn(x, options) end

---inverse of dstn
---@param x damo.Operand
---@param options? integer|{ type?: integer, s?: damo.Shape, axes?: integer|integer[], norm?: string, orthogonalize?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function fft.idstn(x, options) end

---exp(x) divided by its sum along an axis or over several (nil: over all entries)
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.softmax(x, options) end

---exp(x) divided by its sum along an axis or over several (nil: over all entries)
---@param options? integer|integer[]|{ axis?: integer|integer[], out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:softmax(options) end

---logarithm of softmax, without overflow
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.log_softmax(x, options) end

---logarithm of softmax, without overflow
---@param options? integer|integer[]|{ axis?: integer|integer[], out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:log_softmax(options) end

----sum(true_dist * log(coding_dist)) along the last axis; true_dist may be integer positions, 1-based
---@param coding_dist damo.Operand
---@param true_dist damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(coding_dist: damo.Variable, true_dist: damo.Operand, options?: any): damo.Variable
function damo.categorical_crossentropy(coding_dist, true_dist, options) end

----sum(true_dist * log(coding_dist)) along the last axis; true_dist may be integer positions, 1-based
---@param true_dist damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, true_dist: damo.Operand, options?: any): damo.Variable
function Tensor:categorical_crossentropy(true_dist, options) end

----(target*log(output) + (1 - target)*log(1 - output))
---@param output damo.Operand
---@param target damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(output: damo.Variable, target: damo.Operand, options?: any): damo.Variable
function damo.binary_crossentropy(output, target, options) end

----(target*log(output) + (1 - target)*log(1 - output))
---@param target damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, target: damo.Operand, options?: any): damo.Variable
function Tensor:binary_crossentropy(target, options) end

---binary_crossentropy of sigmoid(output), without overflow
---@param output damo.Operand
---@param target damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(output: damo.Variable, target: damo.Operand, options?: any): damo.Variable
function damo.sigmoid_binary_crossentropy(output, target, options) end

---binary_crossentropy of sigmoid(output), without overflow
---@param target damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, target: damo.Operand, options?: any): damo.Variable
function Tensor:sigmoid_binary_crossentropy(target, options) end

---mean of (x - y)^2
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function damo.mean_squared_error(x, y, options) end

---mean of (x - y)^2
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:mean_squared_error(y, options) end

---tanh(dot(x, w) + b)
---@param x damo.Operand
---@param w damo.Operand
---@param b damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, w: damo.Operand, b: damo.Operand, options?: any): damo.Variable
function damo.dense_layer(x, w, b, options) end

---tanh(dot(x, w) + b)
---@param w damo.Operand
---@param b damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, w: damo.Operand, b: damo.Operand, options?: any): damo.Variable
function Tensor:dense_layer(w, b, options) end

---normal draws: mean loc (0), standard deviation scale (1); gives the next state and the draw
---@param loc? damo.Operand
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.normal(loc, scale, options) end

---normal draws: mean loc (0), standard deviation scale (1); gives the next state and the draw
---@param loc? damo.Operand
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:normal(loc, scale, options) end

---uniform draws from low (0) to high (1), high left out; gives the next state and the draw
---@param low? damo.Operand
---@param high? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.uniform(low, high, options) end

---uniform draws from low (0) to high (1), high left out; gives the next state and the draw
---@param low? damo.Operand
---@param high? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:uniform(low, high, options) end

---true with probability p (0.5); gives the next state and the draw, bool
---@param p? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.bernoulli(p, options) end

---true with probability p (0.5); gives the next state and the draw, bool
---@param p? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:bernoulli(p, options) end

---exponential draws with mean scale (1); gives the next state and the draw
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.exponential(scale, options) end

---exponential draws with mean scale (1); gives the next state and the draw
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:exponential(scale, options) end

---Gumbel draws of location loc (0) and scale (1); gives the next state and the draw
---@param loc? damo.Operand
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.gumbel(loc, scale, options) end

---Gumbel draws of location loc (0) and scale (1); gives the next state and the draw
---@param loc? damo.Operand
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:gumbel(loc, scale, options) end

---integers from low to high, both included; gives the next state and the draw, int64
---@param low damo.Operand
---@param high damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.integers(low, high, options) end

---integers from low to high, both included; gives the next state and the draw, int64
---@param low damo.Operand
---@param high damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:integers(low, high, options) end

---exp of normal draws with mean mu (0) and standard deviation sigma (1); gives the next state and the draw
---@param mu? damo.Operand
---@param sigma? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.lognormal(mu, sigma, options) end

---exp of normal draws with mean mu (0) and standard deviation sigma (1); gives the next state and the draw
---@param mu? damo.Operand
---@param sigma? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:lognormal(mu, sigma, options) end

---loc (0) and the modulus of normal draws of standard deviation scale (1); gives the next state and the draw
---@param loc? damo.Operand
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.halfnormal(loc, scale, options) end

---loc (0) and the modulus of normal draws of standard deviation scale (1); gives the next state and the draw
---@param loc? damo.Operand
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:halfnormal(loc, scale, options) end

---Laplace draws of location loc (0) and scale (1); gives the next state and the draw
---@param loc? damo.Operand
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.laplace(loc, scale, options) end

---Laplace draws of location loc (0) and scale (1); gives the next state and the draw
---@param loc? damo.Operand
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:laplace(loc, scale, options) end

---logistic draws of location loc (0) and scale (1); gives the next state and the draw
---@param loc? damo.Operand
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.logistic(loc, scale, options) end

---logistic draws of location loc (0) and scale (1); gives the next state and the draw
---@param loc? damo.Operand
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:logistic(loc, scale, options) end

---Cauchy draws of location loc (0) and scale (1); gives the next state and the draw
---@param loc? damo.Operand
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.cauchy(loc, scale, options) end

---Cauchy draws of location loc (0) and scale (1); gives the next state and the draw
---@param loc? damo.Operand
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:cauchy(loc, scale, options) end

---loc (0) and the modulus of Cauchy draws of that scale (1); gives the next state and the draw
---@param loc? damo.Operand
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.halfcauchy(loc, scale, options) end

---loc (0) and the modulus of Cauchy draws of that scale (1); gives the next state and the draw
---@param loc? damo.Operand
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:halfcauchy(loc, scale, options) end

---Weibull draws of that shape and scale (1); gives the next state and the draw
---@param shape damo.Operand
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.weibull(shape, scale, options) end

---Weibull draws of that shape and scale (1); gives the next state and the draw
---@param shape damo.Operand
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:weibull(shape, scale, options) end

---Pareto draws of exponent b, not less than scale (1); gives the next state and the draw
---@param b damo.Operand
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.pareto(b, scale, options) end

---Pareto draws of exponent b, not less than scale (1); gives the next state and the draw
---@param b damo.Operand
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:pareto(b, scale, options) end

---Rayleigh draws of that scale (1); gives the next state and the draw
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.rayleigh(scale, options) end

---Rayleigh draws of that scale (1); gives the next state and the draw
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:rayleigh(scale, options) end

---triangular draws between left and right; gives the next state and the draw
---@param left damo.Operand
---@param mode damo.Operand
---@param right damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.triangular(left, mode, right, options) end

---triangular draws between left and right; gives the next state and the draw
---@param left damo.Operand
---@param mode damo.Operand
---@param right damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:triangular(left, mode, right, options) end

---exponential draws up to b, times scale (1), plus loc (0); gives the next state and the draw
---@param b damo.Operand
---@param loc? damo.Operand
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.truncexpon(b, loc, scale, options) end

---exponential draws up to b, times scale (1), plus loc (0); gives the next state and the draw
---@param b damo.Operand
---@param loc? damo.Operand
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:truncexpon(b, loc, scale, options) end

---gamma draws of that shape and scale (1); gives the next state and the draw
---@param shape damo.Operand
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.gamma(shape, scale, options) end

---gamma draws of that shape and scale (1); gives the next state and the draw
---@param shape damo.Operand
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:gamma(shape, scale, options) end

---scale (1) over gamma draws of that shape; gives the next state and the draw
---@param shape damo.Operand
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.invgamma(shape, scale, options) end

---scale (1) over gamma draws of that shape; gives the next state and the draw
---@param shape damo.Operand
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:invgamma(shape, scale, options) end

---scale (1) times the power 1/p of gamma draws of shape alpha/p; gives the next state and the draw
---@param alpha damo.Operand
---@param p damo.Operand
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.gengamma(alpha, p, scale, options) end

---scale (1) times the power 1/p of gamma draws of shape alpha/p; gives the next state and the draw
---@param alpha damo.Operand
---@param p damo.Operand
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:gengamma(alpha, p, scale, options) end

---chi-squared draws of df degrees of freedom; gives the next state and the draw
---@param df damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.chisquare(df, options) end

---chi-squared draws of df degrees of freedom; gives the next state and the draw
---@param df damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:chisquare(df, options) end

---beta draws; gives the next state and the draw
---@param a damo.Operand
---@param b damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.beta(a, b, options) end

---beta draws; gives the next state and the draw
---@param a damo.Operand
---@param b damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:beta(a, b, options) end

---Fisher's F draws: the quotient of two chi-squared draws over their degrees of freedom; gives the next state and the draw
---@param dfnum damo.Operand
---@param dfden damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.f(dfnum, dfden, options) end

---Fisher's F draws: the quotient of two chi-squared draws over their degrees of freedom; gives the next state and the draw
---@param dfnum damo.Operand
---@param dfden damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:f(dfnum, dfden, options) end

---Zipf draws, integers k from 1 on with probabilities k^-a / zeta(a), a > 1; gives the next state and the draw
---@param a damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.zipf(a, options) end

---Zipf draws, integers k from 1 on with probabilities k^-a / zeta(a), a > 1; gives the next state and the draw
---@param a damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:zipf(a, options) end

---Student's t draws of df degrees of freedom, location loc (0) and scale (1); gives the next state and the draw
---@param df damo.Operand
---@param loc? damo.Operand
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.t(df, loc, scale, options) end

---Student's t draws of df degrees of freedom, location loc (0) and scale (1); gives the next state and the draw
---@param df damo.Operand
---@param loc? damo.Operand
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:t(df, loc, scale, options) end

---Wald (inverse Gaussian) draws of that mean (1) and scale (1); gives the next state and the draw
---@param mean? damo.Operand
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.wald(mean, scale, options) end

---Wald (inverse Gaussian) draws of that mean (1) and scale (1); gives the next state and the draw
---@param mean? damo.Operand
---@param scale? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:wald(mean, scale, options) end

---von Mises draws, angles between -pi and pi about mu (0), of concentration kappa (1); gives the next state and the draw
---@param mu? damo.Operand
---@param kappa? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.vonmises(mu, kappa, options) end

---von Mises draws, angles between -pi and pi about mu (0), of concentration kappa (1); gives the next state and the draw
---@param mu? damo.Operand
---@param kappa? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:vonmises(mu, kappa, options) end

---normal draws (0, 1) between lower (-inf) and upper (inf); gives the next state and the draw
---@param mu? damo.Operand
---@param sigma? damo.Operand
---@param lower? damo.Operand
---@param upper? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.truncated_normal(mu, sigma, lower, upper, options) end

---normal draws (0, 1) between lower (-inf) and upper (inf); gives the next state and the draw
---@param mu? damo.Operand
---@param sigma? damo.Operand
---@param lower? damo.Operand
---@param upper? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:truncated_normal(mu, sigma, lower, upper, options) end

---Poisson draws with mean rate (1); gives the next state and the draw, int64
---@param rate? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.poisson(rate, options) end

---Poisson draws with mean rate (1); gives the next state and the draw, int64
---@param rate? damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:poisson(rate, options) end

---successes among n trials of probability p; gives the next state and the draw, int64
---@param n damo.Operand
---@param p damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.binomial(n, p, options) end

---successes among n trials of probability p; gives the next state and the draw, int64
---@param n damo.Operand
---@param p damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:binomial(n, p, options) end

---failures before the n-th success of probability p; gives the next state and the draw, int64
---@param n damo.Operand
---@param p damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.nbinom(n, p, options) end

---failures before the n-th success of probability p; gives the next state and the draw, int64
---@param n damo.Operand
---@param p damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:nbinom(n, p, options) end

---successes among n trials whose probability is a beta draw; gives the next state and the draw, int64
---@param n damo.Operand
---@param a damo.Operand
---@param b damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.betabinom(n, a, b, options) end

---successes among n trials whose probability is a beta draw; gives the next state and the draw, int64
---@param n damo.Operand
---@param a damo.Operand
---@param b damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:betabinom(n, a, b, options) end

---trials up to the first success of probability p, from 1; gives the next state and the draw, int64
---@param p damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.geometric(p, options) end

---trials up to the first success of probability p, from 1; gives the next state and the draw, int64
---@param p damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:geometric(p, options) end

---good ones among that many draws, without replacement, from good and bad; gives the next state and the draw, int64
---@param good damo.Operand
---@param bad damo.Operand
---@param draws damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.hypergeometric(good, bad, draws, options) end

---good ones among that many draws, without replacement, from good and bad; gives the next state and the draw, int64
---@param good damo.Operand
---@param bad damo.Operand
---@param draws damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:hypergeometric(good, bad, draws, options) end

---a random order of 1…x, or of an array's entries along its first axis; gives the next state and the result
---@param x damo.Operand
---@param options? { rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.permutation(x, options) end

---a random order of 1…x, or of an array's entries along its first axis; gives the next state and the result
---@param x damo.Operand
---@param options? { rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:permutation(x, options) end

---positions from 1, drawn with probabilities p along the last axis; gives the next state and the draw, int64
---@param p damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.categorical(p, options) end

---positions from 1, drawn with probabilities p along the last axis; gives the next state and the draw, int64
---@param p damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:categorical(p, options) end

---how many of n draws fall into each category of p; gives the next state and the draw, int64
---@param n damo.Operand
---@param p damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.multinomial(n, p, options) end

---how many of n draws fall into each category of p; gives the next state and the draw, int64
---@param n damo.Operand
---@param p damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:multinomial(n, p, options) end

---Dirichlet draws, a along the last axis; gives the next state and the draw
---@param a damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.dirichlet(a, options) end

---Dirichlet draws, a along the last axis; gives the next state and the draw
---@param a damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:dirichlet(a, options) end

---normal vectors of that mean and covariance, which may be singular; gives the next state and the draw
---@param mean damo.Operand
---@param cov damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.multivariate_normal(mean, cov, options) end

---normal vectors of that mean and covariance, which may be singular; gives the next state and the draw
---@param mean damo.Operand
---@param cov damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:multivariate_normal(mean, cov, options) end

---Wishart matrices of df degrees of freedom and that scale; gives the next state and the draw
---@param df damo.Operand
---@param scale damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.wishart(df, scale, options) end

---Wishart matrices of df degrees of freedom and that scale; gives the next state and the draw
---@param df damo.Operand
---@param scale damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, dtype?: damo.Dtype, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:wishart(df, scale, options) end

---positions 1…a, or rows of a, with or without replacement (replace), drawn with probabilities p; gives the next state and the draw
---@param a damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, replace?: boolean, p?: damo.Operand, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result? draw where rng is given, after its state
function random.choice(a, options) end

---positions 1…a, or rows of a, with or without replacement (replace), drawn with probabilities p; gives the next state and the draw
---@param a damo.Operand
---@param options? damo.Shape|{ size?: damo.Shape, replace?: boolean, p?: damo.Operand, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Variable
function RandomStream:choice(a, options) end

---the quantile of q of the distribution named by dist, with parameters a, b, c, by search
---@param q damo.Operand
---@param a damo.Operand
---@param b? damo.Operand
---@param c? damo.Operand
---@param options? string|{ dist?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(q: damo.Variable, a: damo.Operand, b?: damo.Operand, c?: damo.Operand, options?: any): damo.Variable
function dist.quantile(q, a, b, c, options) end

---x, through which no gradient passes: as if nothing were connected
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.disconnected_grad(x, options) end

---x, through which no gradient passes: as if nothing were connected
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:disconnected_grad(options) end

---x, whose gradient is zero
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.zero_grad(x, options) end

---x, whose gradient is zero
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:zero_grad(options) end

---x, whose gradient is zero
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.consider_constant(x, options) end

---x, whose gradient is zero
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:consider_constant(options) end

---x, whose gradient is clipped to lower … upper
---@param x damo.Operand
---@param options? number|{ lower?: number, upper?: number, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.grad_clip(x, options) end

---x, whose gradient is clipped to lower … upper
---@param options? number|{ lower?: number, upper?: number, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:grad_clip(options) end

---x, whose gradient is scaled
---@param x damo.Operand
---@param options? number|{ multiplier?: number, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.grad_scale(x, options) end

---x, whose gradient is scaled
---@param options? number|{ multiplier?: number, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:grad_scale(options) end

---x where cond is true everywhere, else a value error with the message
---@param x damo.Operand
---@param cond damo.Operand
---@param options? string|{ message?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, cond: damo.Operand, options?: any): damo.Variable
function damo.assert_op(x, cond, options) end

---x where cond is true everywhere, else a value error with the message
---@param cond damo.Operand
---@param options? string|{ message?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, cond: damo.Operand, options?: any): damo.Variable
function Tensor:assert_op(cond, options) end

---x, whose shape must be this (false: any length), known to the graph and checked when it runs; the error begins with the message
---@param x damo.Operand
---@param options? any|{ shape?: any, message?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.specify_shape(x, options) end

---x, whose shape must be this (false: any length), known to the graph and checked when it runs; the error begins with the message
---@param options? any|{ shape?: any, message?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:specify_shape(options) end

---x, its axes named here no longer known to have length 1
---@param x damo.Operand
---@param options? integer|integer[]|{ axes?: integer|integer[], out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function damo.unbroadcast(x, options) end

---x, its axes named here no longer known to have length 1
---@param options? integer|integer[]|{ axes?: integer|integer[], out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:unbroadcast(options) end

---a where the scalar cond is true, else b: only that branch is computed when a compiled function runs. The branches may be lists of one length, which give several results, or a list of them with {return_list=true}
---@param cond damo.Operand
---@param a damo.Operand
---@param b damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(cond: damo.Variable, a: damo.Operand, b: damo.Operand, options?: any): damo.Variable
function damo.ifelse(cond, a, b, options) end

---ifelse over a flat list: cond, the values of the first branch, those of the second
---@param operands damo.Operand[]
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(operands: damo.Variable[], options?: any): damo.Variable
function damo.ifelse_list(operands, options) end

---the lower triangular L of a = L·Lᴴ, or with lower=false the upper U of a = Uᴴ·U
---@param a damo.Operand
---@param options? boolean|{ lower?: boolean, on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, options?: any): damo.Variable
function linalg.cholesky(a, options) end

---w, d, p with a = w·d·wᴴ of a Hermitian a (hermitian=false: w·d·wᵀ of a symmetric one), one triangle of which is read: d has blocks of order 1 and 2 on its diagonal, w[p] is a triangle with ones on its diagonal
---@param a damo.Operand
---@param options? boolean|{ lower?: boolean, hermitian?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@return damo.Result
---@overload fun(a: damo.Variable, options?: any): damo.Variable, damo.Variable, damo.Variable
function linalg.ldl(a, options) end

---x of a·x = b, where only the upper triangle of a counts, or with lower=true the lower one
---@param a damo.Operand
---@param b damo.Operand
---@param options? boolean|{ lower?: boolean, trans?: any, unit_diagonal?: boolean, b_ndim?: integer, on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, b: damo.Operand, options?: any): damo.Variable
function linalg.solve_triangular(a, b, options) end

---x of a·x = b, given the Cholesky factor c of a: upper, or with lower=true lower
---@param c damo.Operand
---@param b damo.Operand
---@param options? boolean|{ lower?: boolean, b_ndim?: integer, on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(c: damo.Variable, b: damo.Operand, options?: any): damo.Variable
function linalg.cho_solve(c, b, options) end

---p, l, u with a = p·l·u; with permute_l p·l and u; with p_indices a = (l·u)[p]
---@param a damo.Operand
---@param options? boolean|{ permute_l?: boolean, p_indices?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@return damo.Result
---@overload fun(a: damo.Variable, options?: any): damo.Variable, damo.Variable, damo.Variable
function linalg.lu(a, options) end

---the factors L and U of a square matrix in one matrix, and the pivots: row i was swapped with row pivots[i]
---@param a damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@overload fun(a: damo.Variable, options?: any): damo.Variable, damo.Variable
function linalg.lu_factor(a, options) end

---x of a·x = b from what lu_factor gives of a
---@param lu damo.Operand
---@param pivots damo.Operand
---@param b damo.Operand
---@param options? any|{ trans?: any, b_ndim?: integer, on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(lu: damo.Variable, pivots: damo.Operand, b: damo.Operand, options?: any): damo.Variable
function linalg.lu_solve(lu, pivots, b, options) end

---x of a·x = b
---@param a damo.Operand
---@param b damo.Operand
---@param options? string|{ assume_a?: string, trans?: any, lower?: boolean, b_ndim?: integer, on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, b: damo.Operand, options?: any): damo.Variable
function linalg.solve(a, b, options) end

---the inverse
---@param a damo.Operand
---@param options? string|{ on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, options?: any): damo.Variable
function linalg.inv(a, options) end

---the determinant
---@param a damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, options?: any): damo.Variable
function linalg.det(a, options) end

---the sign of the determinant, of a complex one its phase, and the logarithm of its modulus
---@param a damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@overload fun(a: damo.Variable, options?: any): damo.Variable, damo.Variable
function linalg.slogdet(a, options) end

---the n-th power of square matrices, by squaring; of their inverses where n < 0
---@param x damo.Operand
---@param options? integer|{ n?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function linalg.matrix_power(x, options) end

---the product of matrices from left to right
---@param xs damo.Operand[]
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(xs: damo.Variable[], options?: any): damo.Variable
function linalg.matrix_dot(xs, options) end

---the product of matrices in the order that takes the fewest multiplications; the ends may be vectors
---@param xs damo.Operand[]
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(xs: damo.Variable[], options?: any): damo.Variable
function linalg.multi_dot(xs, options) end

---the sum along a diagonal
---@param x damo.Operand
---@param options? integer|{ offset?: integer, axis1?: integer, axis2?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function linalg.trace(x, options) end

---Kronecker product
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function linalg.kron(x, y, options) end

---the Kronecker product of each column of a with that of b: (m, k), (n, k) give (m n, k)
---@param a damo.Operand
---@param b damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, b: damo.Operand, options?: any): damo.Variable
function linalg.khatri_rao(a, b, options) end

---matrices along the diagonal of a matrix of zeros
---@param xs damo.Operand[]
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(xs: damo.Variable[], options?: any): damo.Variable
function linalg.block_diag(xs, options) end

---the inverse of a for tensordot over ind axes: the first ind axes of a are the rows of a matrix
---@param a damo.Operand
---@param options? integer|{ ind?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, options?: any): damo.Variable
function linalg.tensorinv(a, options) end

---x of tensordot(a, x) = b over all axes of x; axes names those of a that come last
---@param a damo.Operand
---@param b damo.Operand
---@param options? integer|integer[]|{ axes?: integer|integer[], out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, b: damo.Operand, options?: any): damo.Variable
function linalg.tensorsolve(a, b, options) end

---the matrix with constant diagonals whose first column is c and whose first row is r (conj(c))
---@param c damo.Operand
---@param r? damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(c: damo.Variable, r?: damo.Operand, options?: any): damo.Variable
function linalg.toeplitz(c, r, options) end

---the matrix with constant antidiagonals whose first column is c and whose last row is r (zeros)
---@param c damo.Operand
---@param r? damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(c: damo.Variable, r?: damo.Operand, options?: any): damo.Variable
function linalg.hankel(c, r, options) end

---the norm of all entries, of vectors along one axis, or of matrices along two; orders as NumPy's
---@param x damo.Operand
---@param options? any|{ ord?: any, axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function linalg.norm(x, options) end

---the norm of order ord (default 2) of the entries along any number of axes, all without axis, as of a vector
---@param x damo.Operand
---@param options? any|{ ord?: any, axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function linalg.vector_norm(x, options) end

---the norms of a stack of matrices, the last two axes; orders as norm's, "fro" by default
---@param x damo.Operand
---@param options? any|{ ord?: any, keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function linalg.matrix_norm(x, options) end

---condition numbers of matrices for a norm of that order; by singular values where none is given
---@param a damo.Operand
---@param options? any|{ p?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, options?: any): damo.Variable
function linalg.cond(a, options) end

---the number of singular values above a tolerance
---@param a damo.Operand
---@param options? number|{ tol?: number, rtol?: number, hermitian?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, options?: any): damo.Variable
function linalg.matrix_rank(a, options) end

---u, s, vh with a = u·diag(s)·vh, s descending; with full_matrices=false u and vh are reduced; with compute_uv=false s alone
---@param a damo.Operand
---@param options? boolean|{ full_matrices?: boolean, compute_uv?: boolean, on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@return damo.Result
---@overload fun(a: damo.Variable, options?: any): damo.Variable, damo.Variable, damo.Variable
function linalg.svd(a, options) end

---singular values, greatest first
---@param a damo.Operand
---@param options? string|{ on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, options?: any): damo.Variable
function linalg.svdvals(a, options) end

---u and p of a = u·p, with orthonormal rows or columns in u and p positive semidefinite; side "left": of a = p·u
---@param a damo.Operand
---@param options? string|{ side?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@overload fun(a: damo.Variable, options?: any): damo.Variable, damo.Variable
function linalg.polar(a, options) end

---orthonormal columns that span the range of a matrix; singular values up to rcond times the greatest count as 0
---@param a damo.Operand
---@param options? number|{ rcond?: number, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, options?: any): damo.Variable
function linalg.orth(a, options) end

---orthonormal columns that span what a matrix maps to 0; singular values up to rcond times the greatest count as 0
---@param a damo.Operand
---@param options? number|{ rcond?: number, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, options?: any): damo.Variable
function linalg.null_space(a, options) end

---the angles between the ranges of two matrices with as many rows, from the greatest to the least
---@param a damo.Operand
---@param b damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, b: damo.Operand, options?: any): damo.Variable
function linalg.subspace_angles(a, b, options) end

---eigenvalues, ascending, and eigenvectors of Hermitian matrices, of which one triangle is read; with b those of a·v = w·b·v
---@param a damo.Operand
---@param b? damo.Operand
---@param options? boolean|{ lower?: boolean, eigvals_only?: boolean, on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@overload fun(a: damo.Variable, b?: damo.Operand, options?: any): damo.Variable, damo.Variable
function linalg.eigh(a, b, options) end

---eigenvalues, ascending, of Hermitian matrices, of which one triangle is read
---@param a damo.Operand
---@param b? damo.Operand
---@param options? boolean|{ lower?: boolean, on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, b?: damo.Operand, options?: any): damo.Variable
function linalg.eigvalsh(a, b, options) end

---eigenvalues and eigenvectors of square matrices, complex
---@param a damo.Operand
---@param options? string|{ on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@overload fun(a: damo.Variable, options?: any): damo.Variable, damo.Variable
function linalg.eig(a, options) end

---eigenvalues of square matrices, complex
---@param a damo.Operand
---@param options? string|{ on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, options?: any): damo.Variable
function linalg.eigvals(a, options) end

---t, z with a = z·t·zᴴ, t upper triangular; of real matrices with 2 × 2 blocks, unless output="complex"
---@param a damo.Operand
---@param options? string|{ output?: string, on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@overload fun(a: damo.Variable, options?: any): damo.Variable, damo.Variable
function linalg.schur(a, options) end

---x of a·x + x·b = q
---@param a damo.Operand
---@param b damo.Operand
---@param q damo.Operand
---@param options? string|{ on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, b: damo.Operand, q: damo.Operand, options?: any): damo.Variable
function linalg.solve_sylvester(a, b, q, options) end

---x of a·x + x·aᴴ = q
---@param a damo.Operand
---@param q damo.Operand
---@param options? string|{ on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, q: damo.Operand, options?: any): damo.Variable
function linalg.solve_continuous_lyapunov(a, q, options) end

---x of a·x·aᴴ - x + q = 0
---@param a damo.Operand
---@param q damo.Operand
---@param options? string|{ on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, q: damo.Operand, options?: any): damo.Variable
function linalg.solve_discrete_lyapunov(a, q, options) end

---the stabilising x of x = aᴴ·x·a - aᴴ·x·b·(r + bᴴ·x·b)⁻¹·bᴴ·x·a + q
---@param a damo.Operand
---@param b damo.Operand
---@param q damo.Operand
---@param r damo.Operand
---@param options? string|{ on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, b: damo.Operand, q: damo.Operand, r: damo.Operand, options?: any): damo.Variable
function linalg.solve_discrete_are(a, b, q, r, options) end

---the stabilising x of aᴴ·x + x·a - x·b·r⁻¹·bᴴ·x + q = 0
---@param a damo.Operand
---@param b damo.Operand
---@param q damo.Operand
---@param r damo.Operand
---@param options? string|{ on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, b: damo.Operand, q: damo.Operand, r: damo.Operand, options?: any): damo.Variable
function linalg.solve_continuous_are(a, b, q, r, options) end

---the exponential of square matrices, and its derivative in the direction e
---@param a damo.Operand
---@param e damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@overload fun(a: damo.Variable, e: damo.Operand, options?: any): damo.Variable, damo.Variable
function linalg.expm_frechet(a, e, options) end

---the exponential of square matrices
---@param a damo.Operand
---@param options? string|{ on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, options?: any): damo.Variable
function linalg.expm(a, options) end

---the principal logarithm of square matrices; real for a real one, whose eigenvalues must not be negative
---@param a damo.Operand
---@param options? string|{ on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, options?: any): damo.Variable
function linalg.logm(a, options) end

---the principal square root of square matrices; real for a real one, whose eigenvalues must not be negative
---@param a damo.Operand
---@param options? string|{ on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, options?: any): damo.Variable
function linalg.sqrtm(a, options) end

---the cosine of square matrices
---@param a damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, options?: any): damo.Variable
function linalg.cosm(a, options) end

---the sine of square matrices
---@param a damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, options?: any): damo.Variable
function linalg.sinm(a, options) end

---the tangent of square matrices, cos(a)⁻¹·sin(a)
---@param a damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, options?: any): damo.Variable
function linalg.tanm(a, options) end

---the hyperbolic cosine of square matrices
---@param a damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, options?: any): damo.Variable
function linalg.coshm(a, options) end

---the hyperbolic sine of square matrices
---@param a damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, options?: any): damo.Variable
function linalg.sinhm(a, options) end

---the hyperbolic tangent of square matrices, cosh(a)⁻¹·sinh(a)
---@param a damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, options?: any): damo.Variable
function linalg.tanhm(a, options) end

---the sign of square matrices: the eigenvalues' real parts become 1 or -1; none may be 0
---@param a damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, options?: any): damo.Variable
function linalg.signm(a, options) end

---h of a = q·h·qᴴ, which is 0 below its first subdiagonal, and with calc_q=true the unitary q
---@param a damo.Operand
---@param options? boolean|{ calc_q?: boolean, on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, options?: any): damo.Variable
function linalg.hessenberg(a, options) end

---x of a·x = b, where the columns of a are c and its cyclic shifts, by Fourier transforms
---@param c damo.Operand
---@param b damo.Operand
---@param options? integer|{ b_ndim?: integer, on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(c: damo.Variable, b: damo.Operand, options?: any): damo.Variable
function linalg.solve_circulant(c, b, options) end

---x of a·x = b, where a has constant diagonals, the first column c and the first row r (conj(c)), by Levinson's recursion
---@param c damo.Operand
---@param b damo.Operand
---@param r? damo.Operand
---@param options? integer|{ b_ndim?: integer, on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(c: damo.Variable, b: damo.Operand, r?: damo.Operand, options?: any): damo.Variable
function linalg.solve_toeplitz(c, b, r, options) end

---the Cholesky factor, in the form of ab, of Hermitian matrices whose upper (or lower) diagonals are the rows of ab, the main one last (first)
---@param ab damo.Operand
---@param options? boolean|{ lower?: boolean, on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(ab: damo.Variable, options?: any): damo.Variable
function linalg.cholesky_banded(ab, options) end

---x of a·x = b, given the factor cb that cholesky_banded gives of a
---@param cb damo.Operand
---@param b damo.Operand
---@param options? boolean|{ lower?: boolean, bands?: integer, b_ndim?: integer, on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(cb: damo.Variable, b: damo.Operand, options?: any): damo.Variable
function linalg.cho_solve_banded(cb, b, options) end

---x of a·x = b of positive definite matrices whose upper (or lower) diagonals are the rows of ab, by Cholesky
---@param ab damo.Operand
---@param b damo.Operand
---@param options? boolean|{ lower?: boolean, bands?: integer, b_ndim?: integer, on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(ab: damo.Variable, b: damo.Operand, options?: any): damo.Variable
function linalg.solveh_banded(ab, b, options) end

---x of a·x = b, where the rows of ab are a's diagonals: u above the main one, and l below it
---@param ab damo.Operand
---@param b damo.Operand
---@param options? integer|{ l?: integer, u?: integer, trans?: any, b_ndim?: integer, on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(ab: damo.Variable, b: damo.Operand, options?: any): damo.Variable
function linalg.solve_banded(ab, b, options) end

---q and r with a = q·r; mode "full", "economic" or "r" (r alone); with pivoting also p, and a's columns p are q·r
---@param a damo.Operand
---@param options? string|{ mode?: string, pivoting?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@return damo.Result
---@overload fun(a: damo.Variable, options?: any): damo.Variable, damo.Variable
function linalg.qr(a, options) end

---the x of least norm among those for which the norm of b - a·x is least
---@param a damo.Operand
---@param b damo.Operand
---@param options? number|{ rcond?: number, b_ndim?: integer, on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, b: damo.Operand, options?: any): damo.Variable
function linalg.lstsq(a, b, options) end

---the pseudo-inverse, by singular values
---@param a damo.Operand
---@param options? number|{ rcond?: number, hermitian?: boolean, on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(a: damo.Variable, options?: any): damo.Variable
function linalg.pinv(a, options) end

---dense; its gradient is read at the stored positions, or everywhere with structured=false
---@param x damo.Operand
---@param options? boolean|{ structured?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.dense_from_sparse(x, options) end

---dense; its gradient is read at the stored positions, or everywhere with structured=false
---@param options? boolean|{ structured?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:dense_from_sparse(options) end

---dense_from_sparse; a dense matrix is itself
---@param x damo.Operand
---@param options? boolean|{ structured?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.toarray(x, options) end

---dense_from_sparse; a dense matrix is itself
---@param options? boolean|{ structured?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:toarray(options) end

---the entries that are not 0, as csr; the gradient is dense
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.csr_from_dense(x, options) end

---the entries that are not 0, as csr; the gradient is dense
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:csr_from_dense(options) end

---the entries that are not 0, as csc; the gradient is dense
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.csc_from_dense(x, options) end

---the entries that are not 0, as csc; the gradient is dense
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:csc_from_dense(options) end

---the same matrix in csr
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.tocsr(x, options) end

---the same matrix in csr
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:tocsr(options) end

---the same matrix in csc
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.tocsc(x, options) end

---the same matrix in csc
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:tocsc(options) end

---the same matrix with sorted indices and every position stored once, with the sum of what was stored there
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.sum_duplicates(x, options) end

---the same matrix with sorted indices and every position stored once, with the sum of what was stored there
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:sum_duplicates(options) end

---a sparse matrix converted to another dtype
---@param x damo.Operand
---@param options? damo.Dtype|{ dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.cast(x, options) end

---another name of cast
---@param x damo.Operand
---@param options? damo.Dtype|{ dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.astype(x, options) end

---a sparse matrix converted to int8
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.bcast(x, options) end

---a sparse matrix converted to int8
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:bcast(options) end

---a sparse matrix converted to int16
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.wcast(x, options) end

---a sparse matrix converted to int16
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:wcast(options) end

---a sparse matrix converted to int32
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.icast(x, options) end

---a sparse matrix converted to int32
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:icast(options) end

---a sparse matrix converted to int64
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.lcast(x, options) end

---a sparse matrix converted to int64
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:lcast(options) end

---a sparse matrix converted to float32
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.fcast(x, options) end

---a sparse matrix converted to float32
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:fcast(options) end

---a sparse matrix converted to float64
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.dcast(x, options) end

---a sparse matrix converted to float64
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:dcast(options) end

---a sparse matrix converted to complex64
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.ccast(x, options) end

---a sparse matrix converted to complex64
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:ccast(options) end

---a sparse matrix converted to complex128
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.zcast(x, options) end

---a sparse matrix converted to complex128
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:zcast(options) end

---the transpose, in the other format
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.transpose(x, options) end

----x, entry by entry
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.neg(x, options) end

---a csc matrix from its vectors (indices and indptr 0-based)
---@param data damo.Operand
---@param indices damo.Operand
---@param indptr damo.Operand
---@param shape damo.Operand
---@param options? string|{ itype?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(data: damo.Variable, indices: damo.Operand, indptr: damo.Operand, shape: damo.Operand, options?: any): damo.Variable
function sparse.CSC(data, indices, indptr, shape, options) end

---a csr matrix from its vectors (indices and indptr 0-based)
---@param data damo.Operand
---@param indices damo.Operand
---@param indptr damo.Operand
---@param shape damo.Operand
---@param options? string|{ itype?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(data: damo.Variable, indices: damo.Operand, indptr: damo.Operand, shape: damo.Operand, options?: any): damo.Variable
function sparse.CSR(data, indices, indptr, shape, options) end

---data, indices, indptr and shape of a sparse matrix
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.csm_properties(x, options) end

---data, indices, indptr and shape of a sparse matrix
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:csm_properties(options) end

---the vector of stored values
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.csm_data(x, options) end

---the vector of stored values
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:csm_data(options) end

---the 0-based indices of the entries
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.csm_indices(x, options) end

---the 0-based indices of the entries
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:csm_indices(options) end

---where the entries of each row (csr) or column (csc) start, from 0
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.csm_indptr(x, options) end

---where the entries of each row (csr) or column (csc) start, from 0
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:csm_indptr(options) end

---the shape as a vector of the indices' dtype
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.csm_shape(x, options) end

---the shape as a vector of the indices' dtype
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:csm_shape(options) end

---the shape as an int64 vector
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.get_shape(x, options) end

---the shape as an int64 vector
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:get_shape(options) end

---the number of stored entries
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.size(x, options) end

---the number of stored entries
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.nnz(x, options) end

---ones at x's stored positions
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.sp_ones_like(x, options) end

---ones at x's stored positions
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:sp_ones_like(options) end

---x's shape, with nothing stored
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.sp_zeros_like(x, options) end

---x's shape, with nothing stored
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:sp_zeros_like(options) end

---x's shape, with nothing stored
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.zeros_like(x, options) end

---x's pattern with the values of a vector, in the order in which x's are stored
---@param x damo.Operand
---@param data damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, data: damo.Operand, options?: any): damo.Variable
function sparse.with_data(x, data, options) end

---x's pattern with the values of a vector, in the order in which x's are stored
---@param data damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, data: damo.Operand, options?: any): damo.Variable
function Tensor:with_data(data, options) end

---the values of g, sparse or dense, at the stored positions of x, in their order
---@param g damo.Operand
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(g: damo.Variable, x: damo.Operand, options?: any): damo.Variable
function sparse.gather(g, x, options) end

---x + y, one of them sparse: sparse when both are, else dense
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function sparse.add(x, y, options) end

---x - y, one of them sparse: sparse when both are, else dense
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function sparse.sub(x, y, options) end

---the sum of two sparse matrices
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function sparse.add_s_s(x, y, options) end

---the sum of two sparse matrices
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:add_s_s(y, options) end

---the sum of a sparse and a dense matrix: dense
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function sparse.add_s_d(x, y, options) end

---the sum of a sparse and a dense matrix: dense
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:add_s_d(y, options) end

---the sum of two sparse matrices that store the same positions in the same order
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function sparse.add_s_s_data(x, y, options) end

---the sum of two sparse matrices that store the same positions in the same order
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:add_s_s_data(y, options) end

---v[j] added to the entries of column j that are not 0
---@param x damo.Operand
---@param v damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, v: damo.Operand, options?: any): damo.Variable
function sparse.structured_add_s_v(x, v, options) end

---v[j] added to the entries of column j that are not 0
---@param v damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, v: damo.Operand, options?: any): damo.Variable
function Tensor:structured_add_s_v(v, options) end

---x * y entry by entry, one of them sparse: sparse; the other sparse, a number or a dense matrix; damo.mul and * stretch a dense row or column too
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function sparse.mul(x, y, options) end

---the stored entries of x divided by a number, or by a dense matrix, row or column at their positions
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function sparse.true_div(x, y, options) end

---the product of two sparse matrices entry by entry
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function sparse.mul_s_s(x, y, options) end

---the product of two sparse matrices entry by entry
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:mul_s_s(y, options) end

---a sparse matrix times a dense one or a number, entry by entry: sparse
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function sparse.mul_s_d(x, y, options) end

---a sparse matrix times a dense one or a number, entry by entry: sparse
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:mul_s_d(y, options) end

---column j times v[j]; products that are 0 are not stored
---@param x damo.Operand
---@param v damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, v: damo.Operand, options?: any): damo.Variable
function sparse.mul_s_v(x, v, options) end

---column j times v[j]; products that are 0 are not stored
---@param v damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, v: damo.Operand, options?: any): damo.Variable
function Tensor:mul_s_v(v, options) end

---column j times s[j], on x's pattern
---@param x damo.Operand
---@param s damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, s: damo.Operand, options?: any): damo.Variable
function sparse.col_scale(x, s, options) end

---column j times s[j], on x's pattern
---@param s damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, s: damo.Operand, options?: any): damo.Variable
function Tensor:col_scale(s, options) end

---row i times s[i], on x's pattern
---@param x damo.Operand
---@param s damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, s: damo.Operand, options?: any): damo.Variable
function sparse.row_scale(x, s, options) end

---row i times s[i], on x's pattern
---@param s damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, s: damo.Operand, options?: any): damo.Variable
function Tensor:row_scale(s, options) end

---x == y: sparse bool; dense bool with a dense matrix; absent entries count as 0
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function sparse.eq(x, y, options) end

---x ~= y: sparse bool; dense bool with a dense matrix; absent entries count as 0
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function sparse.neq(x, y, options) end

---x < y: sparse bool; dense bool with a dense matrix; absent entries count as 0
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function sparse.lt(x, y, options) end

---x <= y: sparse bool; dense bool with a dense matrix; absent entries count as 0
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function sparse.le(x, y, options) end

---x > y: sparse bool; dense bool with a dense matrix; absent entries count as 0
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function sparse.gt(x, y, options) end

---x >= y: sparse bool; dense bool with a dense matrix; absent entries count as 0
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function sparse.ge(x, y, options) end

---|x - y| <= atol + rtol |y|: sparse bool; dense bool with a dense matrix; absent entries count as 0
---@param x damo.Operand
---@param y damo.Operand
---@param options? number|{ rtol?: number, atol?: number, equal_nan?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function sparse.isclose(x, y, options) end

---isclose at every position, in memory for the stored entries; the other matrix may be dense
---@param x damo.Operand
---@param y damo.Operand
---@param options? number|{ rtol?: number, atol?: number, equal_nan?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function sparse.allclose(x, y, options) end

---the larger of x and y entry by entry, both sparse, or one a constant number of 0 or less; absent entries count as 0
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function sparse.maximum(x, y, options) end

---the smaller of x and y entry by entry, both sparse, or one a constant number of 0 or more; absent entries count as 0
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function sparse.minimum(x, y, options) end

---the dense product of two matrices, or a matrix and a vector, one of them sparse; regular gradient
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function sparse.dot(x, y, options) end

---the dense product of two matrices, or a matrix and a vector, one of them sparse: dot
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function sparse.matmul(x, y, options) end

---the product of two matrices, one of them sparse, as a sparse one; regular gradient, dense for a dense operand unless grad_preserves_dense=false
---@param x damo.Operand
---@param y damo.Operand
---@param options? boolean|{ grad_preserves_dense?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function sparse.true_dot(x, y, options) end

---the product of two matrices, one of them sparse, as a sparse one; regular gradient, dense for a dense operand unless grad_preserves_dense=false
---@param y damo.Operand
---@param options? boolean|{ grad_preserves_dense?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:true_dot(y, options) end

---the product of two matrices, one of them sparse: dense, or sparse where both are; the gradient of a sparse first operand stays on its pattern
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function sparse.structured_dot(x, y, options) end

---the product of two matrices, one of them sparse: dense, or sparse where both are; the gradient of a sparse first operand stays on its pattern
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:structured_dot(y, options) end

---p * dot(x, y.T), computed at the stored positions of the sparse p alone; x and y are dense
---@param x damo.Operand
---@param y damo.Operand
---@param p damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, p: damo.Operand, options?: any): damo.Variable
function sparse.sampling_dot(x, y, p, options) end

---p * dot(x, y.T), computed at the stored positions of the sparse p alone; x and y are dense
---@param y damo.Operand
---@param p damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, p: damo.Operand, options?: any): damo.Variable
function Tensor:sampling_dot(y, p, options) end

---alpha * dot(x, y) + z, dense; alpha a scalar, x or y sparse, z a dense matrix
---@param alpha damo.Operand
---@param x damo.Operand
---@param y damo.Operand
---@param z damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(alpha: damo.Variable, x: damo.Operand, y: damo.Operand, z: damo.Operand, options?: any): damo.Variable
function sparse.usmm(alpha, x, y, z, options) end

---an element or a block of a sparse matrix; spec and idx as subtensor's
---@param x damo.Operand
---@param idx damo.Operand[]
---@param options? string|{ spec?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, idx: damo.Operand[], options?: any): damo.Variable
function sparse.subtensor(x, idx, options) end

---the block of a range {start, stop, step} of rows and one of columns: x[{ {a, b}, {c, d} }]
---@param x damo.Operand
---@param ranges damo.Operand[]
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, ranges: damo.Operand[], options?: any): damo.Variable
function sparse.get_item_2d(x, ranges, options) end

---the block of a range {start, stop, step} of rows and one of columns: x[{ {a, b}, {c, d} }]
---@param ranges damo.Operand[]
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, ranges: damo.Operand[], options?: any): damo.Variable
function Tensor:get_item_2d(ranges, options) end

---the element in a row and a column: x[{i, j}]
---@param x damo.Operand
---@param positions damo.Operand[]
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, positions: damo.Operand[], options?: any): damo.Variable
function sparse.get_item_scalar(x, positions, options) end

---the element in a row and a column: x[{i, j}]
---@param positions damo.Operand[]
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, positions: damo.Operand[], options?: any): damo.Variable
function Tensor:get_item_scalar(positions, options) end

---the rows (axis 1, the default) or columns (2) of a sparse matrix at a list of positions, repeats included
---@param x damo.Operand
---@param list damo.Operand
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, list: damo.Operand, options?: any): damo.Variable
function sparse.get_item_list(x, list, options) end

---the rows (axis 1, the default) or columns (2) of a sparse matrix at a list of positions, repeats included
---@param list damo.Operand
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, list: damo.Operand, options?: any): damo.Variable
function Tensor:get_item_list(list, options) end

---the elements of a sparse matrix at pairs of positions, as a dense vector
---@param x damo.Operand
---@param rows damo.Operand
---@param cols damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, rows: damo.Operand, cols: damo.Operand, options?: any): damo.Variable
function sparse.get_item_2lists(x, rows, cols, options) end

---the elements of a sparse matrix at pairs of positions, as a dense vector
---@param rows damo.Operand
---@param cols damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, rows: damo.Operand, cols: damo.Operand, options?: any): damo.Variable
function Tensor:get_item_2lists(rows, cols, options) end

---a csc matrix with a vector on its diagonal
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.square_diagonal(x, options) end

---a csc matrix with a vector on its diagonal
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:square_diagonal(options) end

---the diagonal of a square sparse matrix, as a dense vector
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.diag(x, options) end

---the k-th diagonal of a sparse matrix of any shape, as a dense vector; offset is another name of k
---@param x damo.Operand
---@param options? integer|{ k?: integer, offset?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.diagonal(x, options) end

---a csc matrix of the shape of a dense x, row ilist[k] of it row k of values; what meets adds up
---@param x damo.Operand
---@param values damo.Operand
---@param ilist damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, values: damo.Operand, ilist: damo.Operand, options?: any): damo.Variable
function sparse.construct_sparse_from_list(x, values, ilist, options) end

---sparse matrices side by side, as csc unless format says else
---@param blocks damo.Operand[]
---@param options? string|{ format?: string, dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(blocks: damo.Variable[], options?: any): damo.Variable
function sparse.hstack(blocks, options) end

---sparse matrices one above the other, as csc unless format says else
---@param blocks damo.Operand[]
---@param options? string|{ format?: string, dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(blocks: damo.Variable[], options?: any): damo.Variable
function sparse.vstack(blocks, options) end

---sparse matrices one after the other along an axis, in the first one's format
---@param xs damo.Operand[]
---@param options? integer|{ axis?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(xs: damo.Variable[], options?: any): damo.Variable
function sparse.concatenate(xs, options) end

---sparse matrices one after the other along an axis, in the first one's format
---@param axis damo.Operand
---@param xs damo.Operand[]
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(axis: damo.Variable, xs: damo.Operand[], options?: any): damo.Variable
function sparse.join(axis, xs, options) end

---sums of a sparse matrix: of each column (axis 1), of each row (2), of all; gradient at every position, with sparse_grad at the stored ones
---@param x damo.Operand
---@param options? integer|{ axis?: integer, sparse_grad?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.sp_sum(x, options) end

---sums of a sparse matrix: of each column (axis 1), of each row (2), of all; gradient at every position, with sparse_grad at the stored ones
---@param options? integer|{ axis?: integer, sparse_grad?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:sp_sum(options) end

---sum over axes, dense; of integers int64 or uint64
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, dtype?: damo.Dtype, sparse_grad?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.sum(x, options) end

---mean over axes, absent entries counted as 0, dense; of integers float64
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, dtype?: damo.Dtype, sparse_grad?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.mean(x, options) end

---the same matrix with the indices of each row (csr) or column (csc) in ascending order; duplicates stay separate entries
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.ensure_sorted_indices(x, options) end

---the same matrix with the indices of each row (csr) or column (csc) in ascending order; duplicates stay separate entries
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:ensure_sorted_indices(options) end

---the same matrix without stored entries that are 0
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.remove0(x, options) end

---the same matrix without stored entries that are 0
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:remove0(options) end

---the same matrix with sorted indices and without stored zeros; duplicates stay separate entries
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.clean(x, options) end

---the same matrix with sorted indices and without stored zeros; duplicates stay separate entries
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:clean(options) end

---the entries on and below the k-th diagonal
---@param x damo.Operand
---@param options? integer|{ k?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.tril(x, options) end

---the entries on and above the k-th diagonal
---@param x damo.Operand
---@param options? integer|{ k?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.triu(x, options) end

---the sum of the main diagonal, or of the one `offset` above it
---@param x damo.Operand
---@param options? integer|{ offset?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.trace(x, options) end

---Kronecker product of two sparse matrices, in the first one's format
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function sparse.kron(x, y, options) end

---norm of a sparse matrix: 'fro' (default), 1 (largest column sum), 'inf' (largest row sum); with axis of each column (1) or row (2), as vectors: 2 (default), 1, 'inf', '-inf', 0 (how many are not 0), any number above 0
---@param x damo.Operand
---@param options? any|{ ord?: any, axis?: integer, keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.norm(x, options) end

---norm of a sparse matrix: 'fro' (default), 1 (largest column sum), 'inf' (largest row sum); with axis of each column (1) or row (2), as vectors: 2 (default), 1, 'inf', '-inf', 0 (how many are not 0), any number above 0
---@param options? any|{ ord?: any, axis?: integer, keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:norm(options) end

---sparse matrices along the diagonal, in the first one's format unless format says else
---@param blocks damo.Operand[]
---@param options? string|{ format?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(blocks: damo.Variable[], options?: any): damo.Variable
function sparse.block_diag(blocks, options) end

---a matrix of sparse blocks, in the first one's format: a table of rows {{A, B}, {false, C}}, false where there is none; or a list, with the block row and block column of each
---@param blocks damo.Operand[]
---@param options? integer[]|{ rows?: integer[], cols?: integer[], format?: string, dtype?: damo.Dtype, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(blocks: damo.Variable[], options?: any): damo.Variable
function sparse.bmat(blocks, options) end

---rows, columns and values of the elements that are not 0, in the order of storage: what coo takes
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.find(x, options) end

---rows, columns and values of the elements that are not 0, in the order of storage: what coo takes
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:find(options) end

---rows and columns of the elements that are not 0
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.nonzero(x, options) end

---rows and columns in another order, 1-based permutations: row i is row rows[i] of x
---@param x damo.Operand
---@param rows damo.Operand
---@param cols damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, rows: damo.Operand, cols: damo.Operand, options?: any): damo.Variable
function sparse.permute(x, rows, cols, options) end

---rows and columns in another order, 1-based permutations: row i is row rows[i] of x
---@param rows damo.Operand
---@param cols damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, rows: damo.Operand, cols: damo.Operand, options?: any): damo.Variable
function Tensor:permute(rows, cols, options) end

---a square matrix times itself, n factors; n = 0: the identity
---@param x damo.Operand
---@param options? integer|{ n?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.power(x, options) end

---a square matrix times itself, n factors; n = 0: the identity
---@param options? integer|{ n?: integer, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:power(options) end

---largest element over axes, absent entries counted as 0; dense
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.max(x, options) end

---smallest element over axes, absent entries counted as 0; dense
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.min(x, options) end

---1-based position of the first largest element over axes, absent entries counted as 0
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.argmax(x, options) end

---1-based position of the first smallest element over axes, absent entries counted as 0
---@param x damo.Operand
---@param options? integer|integer[]|{ axis?: integer|integer[], keepdims?: boolean, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.argmin(x, options) end

---1/(1 + exp(-x)) of each stored value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.structured_sigmoid(x, options) end

---1/(1 + exp(-x)) of each stored value
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:structured_sigmoid(options) end

---exponential of each stored value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.structured_exp(x, options) end

---exponential of each stored value
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:structured_exp(options) end

---natural logarithm of each stored value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.structured_log(x, options) end

---natural logarithm of each stored value
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:structured_log(options) end

---x to the power y, a scalar; stored values alone
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function sparse.structured_pow(x, y, options) end

---x to the power y, a scalar; stored values alone
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:structured_pow(y, options) end

---the smaller of x and y, a scalar; stored values alone
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function sparse.structured_minimum(x, y, options) end

---the smaller of x and y, a scalar; stored values alone
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:structured_minimum(y, options) end

---the larger of x and y, a scalar; stored values alone
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function sparse.structured_maximum(x, y, options) end

---the larger of x and y, a scalar; stored values alone
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:structured_maximum(y, options) end

---x plus y, a scalar; stored values alone
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function sparse.structured_add(x, y, options) end

---x plus y, a scalar; stored values alone
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function Tensor:structured_add(y, options) end

---sine of each stored value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.sin(x, options) end

---inverse sine of each stored value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.arcsin(x, options) end

---tangent of each stored value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.tan(x, options) end

---inverse tangent of each stored value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.arctan(x, options) end

---hyperbolic sine of each stored value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.sinh(x, options) end

---inverse hyperbolic sine of each stored value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.arcsinh(x, options) end

---hyperbolic tangent of each stored value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.tanh(x, options) end

---inverse hyperbolic tangent of each stored value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.arctanh(x, options) end

---degrees of each stored value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.rad2deg(x, options) end

---radians of each stored value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.deg2rad(x, options) end

---each stored value rounded, halves to even; integers are refused
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.rint(x, options) end

---rounding up of each stored value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.ceil(x, options) end

---rounding down of each stored value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.floor(x, options) end

---each stored value rounded towards 0; of integers a float
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.trunc(x, options) end

---sign of each stored value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.sgn(x, options) end

---sign of each stored value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.sign(x, options) end

---log(1 + x) of each stored value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.log1p(x, options) end

---exp(x) - 1 of each stored value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.expm1(x, options) end

---square of each stored value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.square(x, options) end

---square of each stored value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.sqr(x, options) end

---square root of each stored value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.sqrt(x, options) end

---complex conjugate of each stored value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.conjugate(x, options) end

---complex conjugate of each stored value
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:conjugate(options) end

---complex conjugate of each stored value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.conj(x, options) end

---absolute value of each stored value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.abs(x, options) end

---real part of each stored value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.real(x, options) end

---imaginary part of each stored value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.imag(x, options) end

---argument of each stored value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.angle(x, options) end

---error function of each stored value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.erf(x, options) end

---inverse error function of each stored value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.erfinv(x, options) end

---modified Bessel function of order 1 of each stored value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.i1(x, options) end

---Bessel function of order 1 of each stored value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.j1(x, options) end

---whether nan of each stored value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.isnan(x, options) end

---whether infinite of each stored value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.isinf(x, options) end

---copy of each stored value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.identity(x, options) end

---rounding, halves to even, of each stored value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.round_half_to_even(x, options) end

---rounding, halves away from 0, of each stored value
---@param x damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.round_half_away_from_zero(x, options) end

---each stored value rounded; mode 'half_to_even' (default) or 'half_away_from_zero'
---@param x damo.Operand
---@param options? string|{ mode?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, options?: any): damo.Variable
function sparse.round(x, options) end

---each stored value to a constant power above 0
---@param x damo.Operand
---@param y damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, y: damo.Operand, options?: any): damo.Variable
function sparse.pow(x, y, options) end

---max(x, 0); with alpha, alpha*x where x is not positive
---@param x damo.Operand
---@param alpha? damo.Operand
---@param options? { out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(x: damo.Variable, alpha?: damo.Operand, options?: any): damo.Variable
function sparse.relu(x, alpha, options) end

---Poisson draws whose means are x's stored values; with rng it gives the next state and the draw
---@param x damo.Operand
---@param options? { rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
function sparse.poisson(x, options) end

---n draws (a number, or one for each row) over the stored probabilities of each row of p, csr; with rng it gives the next state and the counts
---@param n damo.Operand
---@param p damo.Operand
---@param options? { rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
function sparse.multinomial(n, p, options) end

---binomial draws over a shape as csr, float32; with rng it gives the next state and the draw
---@param n damo.Operand
---@param p damo.Operand
---@param options? damo.Shape|{ shape?: damo.Shape, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
function sparse.csr_fbinomial(n, p, options) end

---binomial draws over a shape as csr, float64; with rng it gives the next state and the draw
---@param n damo.Operand
---@param p damo.Operand
---@param options? damo.Shape|{ shape?: damo.Shape, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
function sparse.csr_dbinomial(n, p, options) end

---binomial draws over a shape as csc, float32; with rng it gives the next state and the draw
---@param n damo.Operand
---@param p damo.Operand
---@param options? damo.Shape|{ shape?: damo.Shape, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
function sparse.csc_fbinomial(n, p, options) end

---binomial draws over a shape as csc, float64; with rng it gives the next state and the draw
---@param n damo.Operand
---@param p damo.Operand
---@param options? damo.Shape|{ shape?: damo.Shape, rng?: any, out?: damo.Array|damo.Array[] }
---@return damo.Result
function sparse.csc_dbinomial(n, p, options) end

---the factor of a sparse matrix, for many systems (QR of a rectangular one); assume: 'pos', 'sym' or 'gen'; the function takes progress of values: true, or what is called with the stage and the number of stages
---@param A damo.Operand
---@param options? string|{ assume?: string, on_fail?: string, progress?: boolean|fun(step: integer, steps: integer), out?: damo.Array|damo.Array[] }
---@return damo.Factor
---@overload fun(A: damo.Variable, options?: any): damo.Variable
function sparse.factorize(A, options) end

---the factor of a sparse matrix, for many systems (QR of a rectangular one); assume: 'pos', 'sym' or 'gen'; the function takes progress of values: true, or what is called with the stage and the number of stages
---@param options? string|{ assume?: string, on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Factor
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:factorize(options) end

---an estimate of the reciprocal condition number of a sparse matrix or its factor
---@param A damo.Operand
---@param options? string|{ assume?: string, on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(A: damo.Variable, options?: any): damo.Variable
function sparse.rcond(A, options) end

---an estimate of the reciprocal condition number of a sparse matrix or its factor
---@param options? string|{ assume?: string, on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:rcond(options) end

---x with A x = b for a sparse matrix or its factor and a dense or sparse b (least squares or minimum norm where A is rectangular); assume: 'pos', 'sym' or 'gen'
---@param A damo.Operand
---@param b damo.Operand
---@param options? string|{ assume?: string, on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(A: damo.Variable, b: damo.Operand, options?: any): damo.Variable
function sparse.solve(A, b, options) end

---x with A x = b for a sparse matrix or its factor and a dense or sparse b (least squares or minimum norm where A is rectangular); assume: 'pos', 'sym' or 'gen'
---@param b damo.Operand
---@param options? string|{ assume?: string, on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, b: damo.Operand, options?: any): damo.Variable
function Tensor:solve(b, options) end

---x with A.T x = b for a sparse matrix or its factor and a dense or sparse b
---@param A damo.Operand
---@param b damo.Operand
---@param options? string|{ assume?: string, on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(A: damo.Variable, b: damo.Operand, options?: any): damo.Variable
function sparse.solve_t(A, b, options) end

---x with A.T x = b for a sparse matrix or its factor and a dense or sparse b
---@param b damo.Operand
---@param options? string|{ assume?: string, on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, b: damo.Operand, options?: any): damo.Variable
function Tensor:solve_t(b, options) end

---the logarithm of a sparse matrix's determinant, which must be positive; of a factor log|det| and the sign
---@param A damo.Operand
---@param options? string|{ assume?: string, on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(A: damo.Variable, options?: any): damo.Variable
function sparse.logdet(A, options) end

---the logarithm of a sparse matrix's determinant, which must be positive; of a factor log|det| and the sign
---@param options? string|{ assume?: string, on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:logdet(options) end

---log|det| and the sign of the determinant of a sparse matrix or its factor
---@param A damo.Operand
---@param options? string|{ assume?: string, on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(A: damo.Variable, options?: any): damo.Variable
function sparse.slogdet(A, options) end

---log|det| and the sign of the determinant of a sparse matrix or its factor
---@param options? string|{ assume?: string, on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:slogdet(options) end

---the determinant of a sparse matrix or its factor
---@param A damo.Operand
---@param options? string|{ assume?: string, on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(A: damo.Variable, options?: any): damo.Variable
function sparse.det(A, options) end

---the determinant of a sparse matrix or its factor
---@param options? string|{ assume?: string, on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, options?: any): damo.Variable
function Tensor:det(options) end

---the least-squares solution of A x = b for a sparse A of any shape (of minimum norm where it has more columns than rows), the residual b - A x, and A's rank
---@param A damo.Operand
---@param b damo.Operand
---@param options? string|{ on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(A: damo.Variable, b: damo.Operand, options?: any): damo.Variable
function sparse.lstsq(A, b, options) end

---the least-squares solution of A x = b for a sparse A of any shape (of minimum norm where it has more columns than rows), the residual b - A x, and A's rank
---@param b damo.Operand
---@param options? string|{ on_fail?: string, out?: damo.Array|damo.Array[] }
---@return damo.Result
---@overload fun(self: damo.Variable, b: damo.Operand, options?: any): damo.Variable
function Tensor:lstsq(b, options) end

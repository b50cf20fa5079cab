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

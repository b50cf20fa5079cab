--- What an error means, and what to write instead.
-- @module damo.explain

local core = require "damo.core"
local hint = require "damo.hint"
local nil_names = require "damo.nil_names"

-- What errors of a kind have in common, where no mistake is known.
local kinds = {
  type = "A value or a Variable is of another sort than the call takes: another Lua type, dtype, number of axes " ..
    "or format.",
  shape = "Lengths of axes do not fit. Print the operands' shapes (x.shape) before the line that the error names.",
  value = "An argument or an option has a value that the call cannot use.",
  index = "A position or an axis is not there. Both count from 1, and from the end from -1.",
  missing_input = "The graph needs a value that nobody gives: an input that is not listed, or an argument left out.",
  unused_input = "An input that no output needs is most often the wrong Variable; on_unused_input = \"ignore\" " ..
    "allows it.",
  null_gradient = "An Op says that it has no gradient where one is needed. damo.disconnected_grad leaves it out.",
  disconnected_input = "The cost does not depend on what it is differentiated by.",
  missing_test_value = "config.compute_test_value asks for values of all inputs: x.tag.test_value.",
  not_implemented = "This build, or damo, does not have what the message names.",
  inconsistency = "A rewrite, an Op's perform or a check in DEBUG mode broke a rule: the message names it.",
  numeric = "The numbers themselves have no answer: singular, indefinite, nan, or no convergence.",
  memory = "An allocation failed, or config.memory_cap was reached. damo.memory() shows what is used.",
  io = "A file or a program outside failed; the message has the path and the system's reason.",
  state = "The object is in no state for this call: freed, read-only, in use, or of another context or build.",
  callback = "A function of the script's that damo called raised the error in err.cause.",
}

local function indented(code) return "    " .. code:gsub("\n", "\n    ") end

--- What an error means: its message, why it is raised, and for a common mistake what to write instead.
---@param err any an error object of damo, or a message as text
---@return string
return function(err)
  local is_error = type(err) == "table" and type(err.message) == "string" and type(err.kind) == "string"
  local message, kind = is_error and err.message or err, is_error and err.kind or nil
  if type(message) ~= "string" then
    core.raise("type", "explain: argument 1 (err) must be an error or its message, got " .. core.system.typename(err))
  end
  local rest = message
  if not kind then -- tostring of an error: "shape error in add at file:1: add: …"
    kind, rest = message:match "^([%w_]+) error[^\n]- at [^\n]-: ([^\n]*)"
    rest = rest or message
  end
  local lines = { (kind and kind .. " error: " or "") .. rest:match "[^\n]*" }
  if is_error and err.trace and err.trace[1] then lines[#lines + 1] = "raised at " .. err.trace[1] end
  local m = hint.find(rest)
  if m then
    lines[#lines + 1] = m[1] .. ". " .. m[4]
    lines[#lines + 1] = "Instead of\n" .. indented(m[2]) .. "\nwrite\n" .. indented(m[5])
  else
    lines[#lines + 1] = kinds[kind] or "This is no error of damo's: Lua's own message says what happened."
    if not kinds[kind] then
      lines[#lines + 1] = nil_names.why(rest)
      lines[#lines + 1] = nil_names.hint(rest)
    end
  end
  return table.concat(lines, "\n\n")
end

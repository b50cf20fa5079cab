-- What specs assert of results and of errors.
local damo = require "damo"
local mpi = require "damo.mpi"

local assert = require "luassert"

local check = {}

--- Asserts that two results are equal but for rounding; tolerance: relative and absolute, 1e-7 if not given.
function check.close(want, got, tolerance)
  tolerance = tolerance or 1e-7
  assert.is_true(damo.allclose(got, want, { rtol = tolerance, atol = tolerance }), tostring(got) .. " is not "
    .. tostring(want))
end

--- Calls fn(...), which must fail with an error of that kind, and of that text if there is one; gives its message.
function check.refused(kind, text, fn, ...)
  local ok, err = pcall(fn, ...)
  assert.is_false(ok)
  if type(err) == "string" then err = { message = err } end
  assert.are.equal(kind, err.kind, tostring(err.message))
  if text then assert.is_truthy(err.message:find(text, 1, true), err.message) end
  return err.message
end

--- The same on every rank, after which the ranks still meet.
function check.shared_error(...)
  check.refused(...)
  mpi.barrier()
end

return check

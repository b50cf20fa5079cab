--- Matrix Market files of which each rank has a block of rows.
-- @module damo.mpi.mtx

local damo = require "damo"
local core = require "damo.mpi.core"
local agree = require "damo.mpi.agree"
local files = require "damo.mpi.files"
local typename = require("damo.core").system.typename

local mtx = {}

local BUFFER = 65536

-- ---- Reading --------------------------------------------------------------------------------------------------------

-- The head of a coordinate file: its first line, rows, columns, and where the entries begin and end.
local function read_head(path)
  local size = agree.made(core.file_size(path))
  local text, at, banner = "", 1, nil
  while true do
    local line_end = text:find("\n", at, true)
    if line_end then
      local line = text:sub(at, line_end - 1):gsub("\r$", "")
      if not banner then
        banner = line
      elseif line:find "^%s*[^%%%s]" then
        local rows, cols = line:match "^%s*(%d+)%s+(%d+)%s+%d+%s*$"
        if not rows then break end
        rows, cols = tonumber(rows), tonumber(cols)
        return { path = path, banner = banner, rows = rows, cols = cols, from = line_end, to = size }
      end
      at = line_end + 1
    else
      if #text >= size then break end
      text = text .. agree.made(core.file_get(path, #text, math.min(BUFFER, size - #text)))
    end
  end
  if banner and banner:lower():find "%sarray%s" then
    damo.raise("type", path .. " holds a dense array; damo.io.read_mtx reads it whole")
  end
  damo.io.read_mtx(path) -- its error tells what is wrong
  damo.raise("io", path .. " has no line of sizes")
end

-- The beginning of the first line that begins at or behind a place.
local function line_from(head, place)
  if place <= head.from then return head.from end
  local at = place - 1
  while at < head.to do
    local text = agree.made(core.file_get(head.path, at, math.min(BUFFER, head.to - at)))
    local found = text:find("\n", 1, true)
    if found then return at + found end
    at = at + #text
  end
  return head.to
end

-- The entries whose lines begin in this rank's share of the bytes, as a matrix of all rows.
local function read_share(head)
  local bytes = head.to - head.from
  local from = line_from(head, head.from + math.floor(bytes * core.rank / core.size))
  local to = line_from(head, head.from + math.floor(bytes * (core.rank + 1) / core.size))
  local text = agree.made(core.file_get(head.path, from, to - from))
  local entries, at = 0, 1
  while true do
    local begin, line_end = text:find("%S[^\n]*", at)
    if not begin then break end
    if text:byte(begin) ~= 37 then entries = entries + 1 end -- %, a comment
    at = line_end + 1
  end
  local sizes = ("\n%d %d %d\n"):format(head.rows, head.cols, entries)
  return damo.io.parse(head.banner .. sizes .. text, { format = "mtx" }), entries
end

-- The entries of a matrix as three vectors, with rows counted from 1.
local function entries_of(A)
  local rows = A.shape[1]
  local lengths = A.indptr[{ { 2, rows + 1 } }] - A.indptr[{ { 1, rows } }]
  return damo.repeat_(damo.arange(1, rows + 1), lengths), damo.cast(A.indices, "int64") + 1, A.data
end

-- One matrix of those that the ranks sent, all with the same rows and columns.
local function joined(parts, shape)
  local rows, cols, values = {}, {}, {}
  for i, part in ipairs(parts) do rows[i], cols[i], values[i] = entries_of(part) end
  if #parts == 1 then return parts[1] end
  return damo.sparse.coo {
    rows = damo.concatenate(rows), cols = damo.concatenate(cols), values = damo.concatenate(values), shape = shape,
    format = "csr",
  }
end

--- Reads this rank's rows of a Matrix Market file as CSR: rows are dealt out as by `range`, columns are those of the
-- whole. Each rank reads and parses a share of the file's bytes, and the entries then go to the ranks of their rows.
-- @tparam string path a coordinate file; its symmetry is expanded, entries listed twice are summed
-- @treturn Sparse
-- @treturn integer first the row of the whole that is row 1 of the result
-- @treturn integer rows of the whole
function mtx.read_mtx(path)
  local func, head, listed = "mpi.read_mtx", nil, nil
  local share, all = agree.try(func, function()
    head = read_head(path)
    local A
    A, listed = read_share(head)
    return A, ("%s %d %d %d %d"):format(head.banner, head.rows, head.cols, head.to, listed)
  end)
  local total = 0
  for rank = 1, core.size do
    if all[rank]:match "^(.*) " ~= all[1]:match "^(.*) " then
      damo.raise("io", ("%s: ranks 0 and %d read different files: %s"):format(func, rank - 1, path))
    end
    total = total + tonumber(all[rank]:match "%d+$")
  end
  local parts, out = {}, {}
  agree.try(func, function()
    local said = tonumber(core.file_get(path, 0, head.from):match "(%d+)%s*$")
    if said ~= total then
      damo.raise("io", ("%s says that it has %d entries, and lists %d"):format(path, said, total))
    end
    for rank = 1, core.size do
      local first, last = files.range(head.rows, rank - 1)
      out[rank] = last < first and "" or damo.io.format(share[{ { first, last }, {} }], { format = "npz" })
    end
  end)
  local first, last = files.range(head.rows)
  local shape = { last - first + 1, head.cols }
  local came = core.exchange_strings(out, func)
  local A = agree.try(func, function()
    if last < first then
      return damo.sparse.csr { data = damo.zeros({ 0 }, { dtype = share.dtype }), indices = damo.array({}, "int64"),
        indptr = damo.array({ 0 }, "int64"), shape = shape }
    end
    for rank = 1, core.size do parts[rank] = damo.io.parse(came[rank]) end
    return joined(parts, shape)
  end)
  return A, first, head.rows
end

-- ---- Writing --------------------------------------------------------------------------------------------------------

-- The lines of a block's entries, whose first row is row `start` of a matrix of so many rows, and the first line of
-- such a file.
local function lines_of(A, start, rows)
  local before = damo.zeros({ start - 1 }, { dtype = "int64" })
  local ends = damo.cast(A.indptr, "int64")
  local after = damo.full({ rows - (start - 1) - A.shape[1] }, A.nnz, { dtype = "int64" })
  local whole = damo.sparse.csr { data = A.data, indices = A.indices, indptr = damo.concatenate { before, ends, after },
    shape = { rows, A.shape[2] } }
  local text = damo.io.format(whole, { format = "mtx" })
  local banner, _, entries = text:match "^([^\n]*\n)([^\n]*\n)(.*)$"
  return entries, banner
end

--- Writes the matrix whose blocks of rows the ranks have, one after another, as one Matrix Market file.
-- @tparam string path
-- @tparam Sparse A this rank's rows; the ranks agree in the number of columns and the dtype
function mtx.write_mtx(path, A)
  local func = "mpi.write_mtx"
  A = agree.try(func, function()
    if typename(A) ~= "Sparse" then damo.raise("type", "argument 2 must be a sparse matrix, got " .. typename(A)) end
    return A.format == "csr" and A or A:tocsr()
  end)
  local shape, start = files.whole_of(func, A, 1)
  local lines, all = agree.try(func, function()
    local entries, banner = lines_of(A, start, shape[1])
    return { entries = entries, banner = banner }, ("%d %d"):format(#entries, A.nnz)
  end)
  local bytes, before, stored = 0, 0, 0
  for rank = 1, core.size do
    local length, nnz = all[rank]:match "(%d+) (%d+)"
    if rank - 1 < core.rank then before = before + tonumber(length) end
    bytes, stored = bytes + tonumber(length), stored + tonumber(nnz)
  end
  local head = lines.banner .. ("%d %d %d\n"):format(shape[1], shape[2], stored)
  files.write_together(func, path, #head + bytes, function(part)
    if core.rank == 0 then agree.made(core.file_put(part, 0, head)) end
    agree.made(core.file_put(part, #head + before, lines.entries))
  end)
end

return mtx

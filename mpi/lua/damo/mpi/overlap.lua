--- What a Function computes between the begin and the end of a sum that mpi.iallreduce has begun.
-- @module damo.mpi.overlap

local core = require "damo.mpi.core"

local overlap = {}

-- Numbers of the nodes by which iallreduce begins. Those of buckets of gradients are not among them: distribute has an
-- order of its own for them.
local begun = {}

--- Notes that work may go on meanwhile. start: the Variable that iallreduce's node gives.
function overlap.note(start) begun[core.number(start.owner.op)] = true end

local function begins(node) return node.op.name == "MpiBucketStart" and begun[core.number(node.op)] or false end

-- The node that begins what this one waits for; nil of other nodes.
local function start_of(node)
  local start = node.op.name == "MpiBucketWait" and node.inputs[2].owner
  return start and begins(start) and start or nil
end

-- What is computed in a branch that is taken stays there.
local function has_branches(nodes)
  for _, node in ipairs(nodes) do
    if node.op.name:find "^IfElse" then return true end
  end
  return false
end

-- The nodes that come after collective k, and those that come before the begin of its sum, as sets.
local function later_and_earlier(nodes, found, k, start)
  local later, earlier = {}, {}
  for i = k, #found do later[found[i].node] = true end
  for _, node in ipairs(nodes) do
    for i = 1, #node.inputs do
      local owner = node.inputs[i].owner
      if owner and later[owner] then later[node] = true end
    end
  end
  for i = 1, k - 1 do
    earlier[found[i].node] = true
    if found[i].node == start then break end
  end
  for n = #nodes, 1, -1 do
    local node = nodes[n]
    for i = 1, earlier[node] and #node.inputs or 0 do
      local owner = node.inputs[i].owner
      if owner then earlier[owner] = true end
    end
  end
  return later, earlier
end

-- Indices and lengths take no time, so they are left where they are.
local function is_work(v) return (v.dtype:find "^float" or v.dtype:find "^complex") ~= nil end

-- Values that neither the begin of the sum needs nor its end gives, where what comes after the end takes them.
local function work_of(fg, nodes, found, k, start, seen)
  local later, earlier = later_and_earlier(nodes, found, k, start)
  local work = {}
  local function take(v)
    local node = v.owner
    if node and not later[node] and not earlier[node] and not core.number(node.op) and not seen[v] and is_work(v) then
      seen[v] = true
      work[#work + 1] = v
    end
  end
  for _, node in ipairs(nodes) do
    for i = 1, later[node] and #node.inputs or 0 do take(node.inputs[i]) end
  end
  for i = 1, #fg.outputs do take(fg.outputs[i]) end
  return work
end

--- Finds what is to be computed before each end of a sum, and sets it as the list `work` of its entry.
-- @param fg the graph, @param found its collectives in their order, entries with a field `node`
-- @treturn boolean whether there is any
function overlap.plan(fg, found)
  local any = false
  for _, entry in ipairs(found) do any = any or begins(entry.node) end
  local nodes = any and fg:toposort() or {}
  if not any or has_branches(nodes) then return false end
  local seen, has_work = {}, false
  for k, entry in ipairs(found) do
    local start = start_of(entry.node)
    if start then
      entry.work = work_of(fg, nodes, found, k, start, seen)
      has_work = has_work or #entry.work > 0
    end
  end
  return has_work
end

return overlap

-- How many nodes of each Op class a Function's program has: { Loop = 1, Dot = 2 }.
return function(f)
  local count = {}
  for _, node in ipairs(f.fgraph.apply_nodes) do
    local name = tostring(node.op):match "^%w+"
    count[name] = (count[name] or 0) + 1
  end
  return count
end

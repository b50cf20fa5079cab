-- kmeans: the sum of squared distances of points to their nearest centroid, and the Newton step: the gradient divided
-- by the diagonal of the Hessian, which is the Hessian times ones, since it has nothing beside the diagonal.

local damo = require "damo"

local points, centroids = damo.dmatrix "points", damo.dmatrix "centroids"
local near = damo.sum(centroids ^ 2, { axis = 2 }) - 2 * damo.dot(points, centroids.T)
local cost = damo.sum(points ^ 2) + damo.sum(damo.min(near, { axis = 2 }))
-- For derivatives the choice of a centroid is a constant, and the cost reads one centroid a point.
local chosen = damo.sum((points - centroids[damo.argmin(near, { axis = 2 })]) ^ 2)
local slope = damo.grad(chosen, centroids)
local diagonal = damo.Rop(slope, centroids, damo.ones_like(centroids))
local cost_of = damo.compile({ points, centroids }, cost)
local step_of = damo.compile({ points, centroids }, slope / diagonal)

return {
  cost = function(input)
    local p, c = damo.array(input.points), damo.array(input.centroids)
    return function() return cost_of(p, c) end
  end,
  dir = function(input)
    local p, c = damo.array(input.points), damo.array(input.centroids)
    local step = damo.zeros_like(c)
    local into = step_of:into(step)
    return function() into(p, c) end, function() return step end
  end,
}

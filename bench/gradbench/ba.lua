-- ba: bundle adjustment: how far the projections of points by cameras are from where pictures show them, and the
-- Jacobian as a sparse matrix: an observation depends on one camera (11 numbers), one point (3) and its own weight.

local damo = require "damo"
local unpack = table.unpack or unpack -- luacheck: ignore

local cameras, points = damo.dmatrix "cameras", damo.dmatrix "points"
local weights, features = damo.dvector "weights", damo.dmatrix "features"
local camera, point = damo.lvector "camera", damo.lvector "point" -- which of them an observation has, from 1

--- The column of each observation's row of a matrix.
local function columns(matrix, rows, count)
  local result = {}
  for i = 1, count do result[i] = matrix[{ {}, i }][rows] end
  return result
end

local c, x = columns(cameras, camera, 11), columns(points, point, 3)

--- The vector v turned by the angle |r| about r (Rodrigues).
local function rotated(r, v)
  local square = r[1] ^ 2 + r[2] ^ 2 + r[3] ^ 2
  local still = damo.eq(square, 0)
  local angle = damo.sqrt(damo.where(still, 1.0, square))
  local cosine, sine = damo.cos(angle), damo.sin(angle)
  local along, axis = 0, {}
  for i = 1, 3 do
    axis[i] = r[i] / angle
    along = along + axis[i] * v[i]
  end
  local result = {}
  for i = 1, 3 do
    local j, k = i % 3 + 1, (i + 1) % 3 + 1
    local turned = v[i] * cosine + (axis[j] * v[k] - axis[k] * v[j]) * sine + axis[i] * along * (1 - cosine)
    result[i] = damo.where(still, v[i] + r[j] * v[k] - r[k] * v[j], turned)
  end
  return result
end

-- A camera: rotation (3), centre (3), focal length, principal point (2), radial distortion (2).
local seen = rotated({ c[1], c[2], c[3] }, { x[1] - c[4], x[2] - c[5], x[3] - c[6] })
local u, v = seen[1] / seen[3], seen[2] / seen[3]
local square = u ^ 2 + v ^ 2
local distortion = 1 + c[10] * square + c[11] * square ^ 2
local across = weights * (u * distortion * c[7] + c[8] - features[{ {}, 1 }])
local down = weights * (v * distortion * c[7] + c[9] - features[{ {}, 2 }])
local weight_errors = 1 - weights ^ 2

-- Each error depends on the variables of its own observation alone: the gradient of their sum has them all.
local variables = { unpack(c) }
for i = 1, 3 do variables[11 + i] = x[i] end
variables[15] = weights
local function slopes(errors)
  return damo.grad(damo.sum(errors), variables, { disconnected_inputs = "ignore" })
end
local p, first_point = weights.shape[1], 11 * cameras.shape[1]
local first_weight = first_point + 3 * points.shape[1]
local places, values = {}, {}
for i = 1, 11 do places[i] = (camera - 1) * 11 + (i - 1) end
for i = 1, 3 do places[11 + i] = first_point + (point - 1) * 3 + (i - 1) end
places[15] = first_weight + damo.arange(p)
for _, errors in ipairs { across, down } do
  for _, slope in ipairs(slopes(errors)) do values[#values + 1] = slope end
end
for i = 1, 15 do places[15 + i] = places[i] end
local cols = damo.concatenate { damo.stack(places, { axis = 2 }):flatten(), places[15] }
local vals = damo.concatenate { damo.stack(values, { axis = 2 }):flatten(), -2 * weights }
local rows = damo.concatenate { damo.arange(2 * p) * 15, 30 * p + damo.arange(p + 1) }

local inputs = { cameras, points, weights, features, camera, point }
local objective = damo.compile(inputs, { damo.stack({ across, down }, { axis = 2 }), weight_errors })
local jacobian = damo.compile(inputs, { rows, cols, vals })

--- The arguments that the input stands for: one camera, point, weight and feature, repeated.
local function arguments(input)
  local function repeated(values_of_one, count)
    return damo.tile(damo.array(values_of_one):reshape { 1, #values_of_one }, { count, 1 })
  end
  local function counted(count) return damo.cast(damo.arange(input.p) % count + 1, "int64") end
  return { repeated(input.cam, input.n), repeated(input.x, input.m), damo.full({ input.p }, input.w),
    repeated(input.feat, input.p), counted(input.n), counted(input.m) }
end

return {
  objective = function(input)
    local a = arguments(input)
    return function() return objective(unpack(a)) end, function(reprojection, weight)
      return { reproj_error = { elements = reprojection[1]:totable(), repeated = input.p },
        w_err = { element = weight[1], repeated = input.p } }
    end
  end,
  -- The answer has the first 30 entries and the last.
  jacobian = function(input)
    local a = arguments(input)
    return function() return jacobian(unpack(a)) end, function(row, col, val)
      local function ends(list) return damo.concatenate { list[{ { 1, 30 } }], list[{ { -1, -1 } }] }:totable() end
      return { rows = ends(row), cols = ends(col), vals = ends(val) }
    end
  end,
}

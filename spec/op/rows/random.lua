-- The rows of the distributions: for each draw the operands, the moments of the distribution and its dtype; for a
-- uniform
-- or bounded distribution also the interval of its draws.
local euler = 0.57721566490153286

return {
  normal = { { 1.5, 2.0 }, mean = 1.5, variance = 4.0, dtype = "float64" },
  uniform = { { -1.0, 3.0 }, mean = 1.0, variance = 16 / 12, dtype = "float64", from = -1, below = 3 },
  bernoulli = { { 0.3 }, mean = 0.3, variance = 0.21, dtype = "bool" },
  exponential = { { 2.0 }, mean = 2.0, variance = 4.0, dtype = "float64", from = 0 },
  gumbel = { { 0.5, 2.0 }, mean = 0.5 + 2 * euler, variance = math.pi ^ 2 / 6 * 4, dtype = "float64" },
  integers = { { -2, 5 }, mean = 1.5, variance = (8 ^ 2 - 1) / 12, dtype = "int64", from = -2, to = 5 },
  permutation = { { 100 }, dtype = "int64" },
}

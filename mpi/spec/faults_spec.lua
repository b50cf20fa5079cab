-- Errors and early ends of a rank: every rank hears of them, the launcher's exit status tells, and nothing hangs.
local mpi = require "damo.mpi"
if mpi.size > 1 then return end -- the jobs are started here, on ranks of their own
local jobs = dofile "mpi/spec/support/jobs.lua"

-- How often a text stands in another.
local function times(text, what)
  local n, at = 0, 1
  while true do
    at = text:find(what, at, true)
    if not at then return n end
    n, at = n + 1, at + #what
  end
end

local HEAD = "local damo, mpi = require 'damo', require 'damo.mpi'\n"

-- Runs fn's text by mpi.run on every rank; each prints what it got.
local function caught(ranks, body)
  return jobs.run(ranks, HEAD .. ([[
    local ok, err = pcall(mpi.run, function()
      %s
    end)
    io.stdout:write(("<%%d %%s %%s %%s %%s | %%s>\n"):format(mpi.rank, tostring(ok), tostring(err.kind),
      tostring(err.rank), tostring(err.message), table.concat(err.trace, ", ")))]]):format(body))
end

describe("an error of one rank", function()
  for ranks = 2, 4 do
    it("is raised by each of " .. ranks, function()
      local status, out = caught(ranks, "if mpi.rank == 1 then error 'boom' end mpi.barrier()")
      assert.is_truthy(status)
      for r = 0, ranks - 1 do
        local line = ("<%d false callback 1 rank 1: [^\n]*script.lua:%%d+: boom | [^\n]*script.lua:%%d+"):format(r)
        assert.is_truthy(out:find(line), out)
      end
    end)
  end

  it("has its kind, and the place in the script", function()
    local status, out = caught(3, "if mpi.rank == 2 then damo.raise('numeric', 'too far') end\nmpi.barrier()")
    assert.is_truthy(status)
    for r = 0, 2 do
      assert.is_truthy(out:find(("<%d false numeric 2 rank 2: too far | [^\n]*script.lua:3"):format(r)), out)
    end
  end)

  it("is heard by those who wait for nothing", function()
    local _, out = caught(3, "if mpi.rank == 2 then error 'alone' end")
    assert.are.equal(3, times(out, "rank 2: "), out)
  end)

  it("reaches who waits while a node of a compiled Function fails", function()
    local _, out = caught(2, [[
      local x = damo.dvector "x"
      local f = damo.compile({ x }, x + damo.constant(damo.array { 1, 2 }))
      if mpi.rank == 1 then f { 1, 2, 3 } end
      mpi.barrier()]])
    assert.are.equal(2, times(out, "false shape 1 rank 1: "), out)
  end)

  it("reaches who waits for sums that go on meanwhile", function()
    local _, out = caught(3, [[
      local x, w = damo.dvector "x", damo.shared(damo.ones { 2 }, "w")
      local v = damo.shared(damo.ones { 2 }, "v")
      local cost = damo.sum(w * x) * damo.sum(v)
      local stumble = damo.Op { name = "Stumble", itypes = { w.type }, otypes = { w.type },
        perform = function(_, _, inputs, out)
          if mpi.rank == 1 then error "stumbled" end
          out[1][1] = inputs[1]:copy()
        end }
      local grads = damo.grad(cost, { w, v })
      grads[1] = stumble(grads[1])
      local sgd = mpi.distribute(damo.optim.sgd, { bucket = 1 })
      local f = damo.compile({ x }, cost, { updates = sgd({ w, v }, grads) })
      for _ = 1, 3 do f { 1, 2 } end]])
    assert.are.equal(3, times(out, "rank 1: Stumble: perform failed"), out)
  end)

  it("that MPI itself reports is one of all ranks", function()
    local _, out = caught(3, [[
      mpi.allreduce(damo.ones { 2 })
      mpi.allreduce(damo.ones { 1000 })
      mpi.allreduce(damo.ones { mpi.rank == 1 and 1000 or 2 })]])
    assert.are.equal(3, times(out, " false "), out)
    assert.are.equal(0, times(out, "FATAL"), out)
  end)

  it("is that of the lowest rank where several fail at once", function()
    local _, out = jobs.run(4, HEAD .. [[
      local core = require "damo.mpi.core" -- mpi.run would listen before it tells
      if mpi.rank >= 1 then core.raise("value", "mine " .. mpi.rank, "") end
      local ok, err = pcall(mpi.barrier)
      io.stdout:write(("<%d %s>\n"):format(core.fault(), mpi.fault().message))]])
    assert.are.equal(4, times(out, "<1 mine 1>"), out)
  end)

  it("may be any value, of any length", function()
    local _, out = caught(2, "if mpi.rank == 1 then error {} end mpi.barrier()")
    assert.are.equal(2, times(out, "rank 1: table: "), out)
    local _, long = caught(2, "if mpi.rank == 1 then error(('x'):rep(100000)) end mpi.barrier()")
    assert.are.equal(2, times(long, "rank 1: "), long)
  end)

  it("leaves a world that can't communicate", function()
    local _, out = jobs.run(2, HEAD .. [[
      pcall(mpi.run, function() if mpi.rank == 1 then error "boom" end end)
      local ok, err = pcall(mpi.barrier)
      io.stdout:write(("<%s %s>\n"):format(tostring(ok), err.kind))]])
    assert.are.equal(2, times(out, "<false state>"), out)
  end)

  it("does not wait long for a rank that does not listen", function()
    local before = os.time()
    local status = jobs.run(2, HEAD .. [[
      mpi.config.grace = 0.5
      if mpi.rank == 1 then os.execute "exec sleep 60" end
      mpi.run(function() error "boom" end)]])
    assert.is_truthy(status and status ~= 0)
    assert.is_true(os.time() - before < 30)
  end)
end)

describe("mpi.run", function()
  it("gives what the function gives", function()
    assert.are.same({ 1, nil, 3 }, { mpi.run(function(...) return ... end, 1, nil, 3) })
    local script = "io.stdout:write('<', mpi.run(function(x) return x + mpi.rank end, 5), '>\\n')"
    local status, out = jobs.run(3, HEAD .. script)
    assert.are.equal(0, status)
    for r = 0, 2 do assert.are.equal(1, times(out, "<" .. 5 + r .. ">"), out) end
  end)

  it("refuses what is no function", function()
    local ok, err = pcall(mpi.run, 3)
    assert.is_false(ok)
    assert.are.equal("type", err.kind)
  end)

  it("raises an error as it is in a world of one rank", function()
    local thrown = {}
    local ok, err = pcall(mpi.run, function() error(thrown) end)
    assert.is_false(ok)
    assert.are.equal(thrown, err)
  end)
end)

describe("damo.mpi.launch", function()
  it("prints an error once, and ends with status 1", function()
    local status, out = jobs.run(4, HEAD .. "if mpi.rank == 3 then damo.raise('value', 'no') end\nmpi.barrier()", true)
    assert.are.equal(1, status)
    assert.are.equal(1, times(out, "rank 3: no"), out)
    assert.is_truthy(out:find "script.lua: value error at [^\n]*script.lua:2: rank 3: no", out)
  end)

  it("gives the script its arguments, and status 0", function()
    local status, out = jobs.run(2, HEAD .. "mpi.barrier() if mpi.rank == 0 then print(#arg, ...) end", true, "x y")
    assert.are.equal(0, status)
    assert.is_truthy(out:find("^2\tx\ty"), out)
  end)

  it("tells of a script that does not compile", function()
    local status, out = jobs.run(2, "x = = 1", true)
    assert.are.equal(1, status)
    assert.are.equal(1, times(out, "near '='"), out)
  end)

  it("works without mpirun", function()
    local status, out = jobs.run(0, "error 'boom'", true)
    assert.are.equal(1, status)
    assert.are.equal(1, times(out, "boom"), out)
  end)
end)

describe("a rank that ends", function()
  local ENDED = "it has ended while others wait for it"

  it("by an error that nobody spreads makes those who wait raise one", function()
    local status, out = jobs.run(3, HEAD .. "if mpi.rank == 1 then error 'boom' end mpi.barrier()")
    assert.are.equal(1, status)
    assert.are.equal(2, times(out, "rank 1: " .. ENDED), out)
    assert.are.equal(1, times(out, "boom"), out)
  end)

  it("by os.exit does too", function()
    for _, call in ipairs { "os.exit(0)", "os.exit(0, true)", "do return end" } do
      local status, out = jobs.run(3, HEAD .. ("if mpi.rank == 2 then %s end mpi.barrier()"):format(call))
      assert.is_truthy(status and status ~= 0, call)
      assert.are.equal(2, times(out, "rank 2: " .. ENDED), out)
    end
  end)

  it("after its part harms nobody", function()
    local status = jobs.run(3, HEAD .. [[
      if mpi.rank == 2 then os.execute "sleep 1" end
      mpi.barrier()
      if mpi.rank == 1 then os.execute "sleep 1" end]])
    assert.are.equal(0, status)
  end)

  it("is missed by the members of its groups", function()
    local status, out = jobs.run(4, HEAD .. [[
      local part = mpi.split(mpi.rank % 2)
      if mpi.rank == 3 then os.exit(0) end
      mpi.allreduce(1, { group = part })]])
    assert.is_truthy(status and status ~= 0)
    assert.is_truthy(out:find("rank 3: " .. ENDED, 1, true), out)
  end)

  it("is not missed by other groups, however much they do", function()
    local status, out = jobs.run(4, HEAD .. [[
      local part = mpi.split(mpi.rank % 2)
      for _ = 1, mpi.rank % 2 == 0 and 1 or 50 do mpi.allreduce(1, { group = part }) end
      if mpi.rank == 1 then os.execute "sleep 1" end
      for _ = 1, mpi.rank % 2 == 0 and 0 or 50 do mpi.allreduce(1, { group = part }) end]])
    assert.are.equal(0, status, out)
  end)

  it("with a status of its own gives it to the launcher", function()
    assert.are.equal(3, (jobs.run(2, HEAD .. "mpi.barrier() if mpi.rank == 1 then os.exit(3) end")))
  end)

  it("by kill -9 ends the job", function()
    local before = os.time()
    local status = jobs.run(3, HEAD .. [[
      if mpi.rank == 1 then
        local file = io.open "/proc/self/stat"
        os.execute("kill -9 " .. file:read "*n")
      end
      mpi.barrier()]])
    assert.is_truthy(status and status ~= 0)
    assert.is_true(os.time() - before < 20)
  end)
end)

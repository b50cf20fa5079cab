-- Files that damo writes are complete or absent, also with concurrent writers; no other file of the user is changed.
local child = require "spec.support.child"
local damo = require "damo"
local failure = require "spec.support.failure"
local with_folder = require "spec.support.folder"

local function output(command)
  local pipe = assert(io.popen(command))
  local text = pipe:read("a"):gsub("\n$", "")
  pipe:close()
  return text
end

local function put(path, text)
  local file = assert(io.open(path, "wb"))
  file:write(text)
  file:close()
end

local function get(path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "a"
  file:close()
  return text
end

local function list(dir) return output("ls -A " .. dir) end

local A = damo.sparse.eye(2)
-- Every function that writes a file, with the extension of its paths.
local writers = {
  { "x.npy", function(path) damo.io.save(path, { 1, 2 }) end },
  { "x.npz", function(path) damo.io.save(path, { a = { 1, 2 } }) end },
  { "s.npz", function(path) damo.io.save(path, A) end },
  { "x.mtx", function(path) damo.io.write_mtx(path, A) end },
  { "x.gv", function(path) damo.printing.dot(damo.dvector "x", { path = path }) end },
}
if os.execute "command -v gnuplot >/dev/null 2>&1" then
  writers[#writers + 1] = { "x.svg", function(path) damo.plot.lines({ { y = { 1, 2 } } }, { path = path }) end }
end

describe("a file that is saved", function()
  for _, writer in ipairs(writers) do
    local name, write = writer[1], writer[2]

    it(name .. ": takes no name of the user's on the way", function()
      with_folder(function(dir)
        for _, other in ipairs { ".part", ".tmp", ".gv", "~" } do put(dir .. "/" .. name .. other, "mine") end
        local before = list(dir)
        write(dir .. "/" .. name)
        for _, other in ipairs { ".part", ".tmp", ".gv", "~" } do
          assert.equal("mine", get(dir .. "/" .. name .. other))
        end
        os.remove(dir .. "/" .. name)
        assert.equal(before, list(dir))
      end)
    end)

    it(name .. ": keeps the mode of what it replaces", function()
      with_folder(function(dir)
        local path = dir .. "/" .. name
        write(path)
        local text = get(path)
        put(path, "old")
        os.execute("chmod 640 " .. path)
        write(path)
        assert.equal("640", output("stat -c %a " .. path))
        assert.equal(#text, #get(path))
      end)
    end)

    it(name .. ": follows a symbolic link", function()
      with_folder(function(dir)
        assert(os.execute(("cd %s && mkdir in && ln -s in/%s a && ln -s ../a in/%s.b && ln -s in/%s.b %s"):format(
          dir, name, name, name, name)))
        write(dir .. "/" .. name)
        local files = output(("cd %s && find . -type f"):format(dir))
        assert.equal("./in/" .. name, files)
        assert.equal("l", output(("stat -c %%F %s/%s"):format(dir, name)):match "^symbolic (l)ink$")
        write(dir .. "/" .. name) -- and again, over the existing file
        assert.equal(files, output(("cd %s && find . -type f"):format(dir)))
      end)
    end)

    it(name .. ": leaves nothing behind where it can't be written", function()
      with_folder(function(dir)
        failure("io", write, dir .. "/none/" .. name)
        assert.equal("", list(dir))
        assert(os.execute(("mkdir %s/%s"):format(dir, name)))
        local e = failure("io", write, dir .. "/" .. name)
        assert.matches("can't be written: Is a directory", e.message, 1, true)
        assert.equal(name, list(dir))
        assert.equal("", list(dir .. "/" .. name))
        assert(os.execute(("rmdir %s/%s && ln -s %s %s/%s"):format(dir, name, name, dir, name)))
        e = failure("io", write, dir .. "/" .. name)
        assert.matches("Too many levels of symbolic links", e.message, 1, true)
        assert.equal(name, list(dir))
      end)
    end)

    it(name .. ": never replaces a device", function()
      with_folder(function(dir)
        assert(os.execute(("ln -s /dev/null %s/%s"):format(dir, name)))
        write(dir .. "/" .. name)
        assert.equal("character special file", output "stat -c %F /dev/null")
        assert(os.execute(("ln -sf /dev/full %s/%s"):format(dir, name)))
        failure("io", write, dir .. "/" .. name)
        assert.equal("character special file", output "stat -c %F /dev/full")
        assert.equal(name, list(dir))
      end)
    end)

    it(name .. ": goes through a pipe", function()
      with_folder(function(dir)
        local path = dir .. "/" .. name
        assert(os.execute(("mkfifo %s; (timeout 20 cat %s >%s/got) &"):format(path, path, dir)))
        write(path)
        assert.equal("fifo", output("stat -c %F " .. path))
        os.execute(("i=0; while [ ! -s %s/got ] && [ $i -lt 100 ]; do sleep 0.05; i=$((i + 1)); done"):format(dir))
        os.remove(path)
        write(path)
        assert.equal(#get(path), #get(dir .. "/got"))
      end)
    end)
  end

  it("survives a reader that closes its pipe", function()
    with_folder(function(dir)
      local path = dir .. "/x.npy"
      assert(os.execute(("mkfifo %s; (timeout 20 head -c 1 %s >/dev/null) &"):format(path, path)))
      local out, ok = child(([[
        local damo = require "damo"
        local ok, e = pcall(damo.io.save, %q, damo.zeros { 1000000 })
        io.write(tostring(ok), " ", e.kind, " ", e.message:match "writing failed: (.*)")
      ]]):format(path))
      assert.equal("false io Broken pipe", out)
      assert.is_true(ok)
    end)
  end)

  it("is complete at every moment while several write it", function()
    with_folder(function(dir)
      local script = [[
        local damo = require "damo"
        local dir, kind, me = %q, %q, %d
        local path = dir .. "/x." .. kind
        local bad = 0
        for k = 1, 40 do
          local n = 1000 * me + 17 * k
          local value = damo.full({ n }, n)
          if kind == "npy" then damo.io.save(path, value) end
          if kind == "npz" then damo.io.save(path, { a = value }) end
          local ok, got = pcall(damo.io.load, path)
          if ok and kind == "npz" then got = got.a end
          if not ok or got[1] ~= got.shape[1] or got[-1] ~= got[1] then bad = bad + 1 end
        end
        local file = io.open(dir .. "/ended" .. me .. kind, "w")
        file:write(bad == 0 and "fine" or bad .. " bad")
        file:close()
      ]]
      for _, kind in ipairs { "npy", "npz" } do
        local commands = {}
        for me = 1, 3 do
          local path = ("%s/script%d%s.lua"):format(dir, me, kind)
          put(path, script:format(dir, kind, me))
          commands[me] = ("timeout 60 '%s' %s &"):format(arg and arg[-1] or "lua5.4", path)
        end
        os.execute(table.concat(commands, " ") .. " wait")
        for me = 1, 3 do assert.equal("fine", get(("%s/ended%d%s"):format(dir, me, kind))) end
      end
      os.execute(("rm %s/ended* %s/script*"):format(dir, dir))
      assert.equal("x.npy\nx.npz", list(dir))
    end)
  end)

  -- A child writes one file after the other, of equal numbers each, and is killed at some time.
  it("leaves the old file or the new one where a process is killed", function()
    with_folder(function(dir)
      for _, name in ipairs { "x.npy", "x.npz", "x.safetensors", "x.graph" } do
        local path = dir .. "/" .. name
        local graph = name == "x.graph"
        local script = ([[
          local damo = require "damo"
          local path, name = %q, %q
          local k = 0
          while true do
            k = k + 1
            local a = damo.ones { 200000 } * k
            if name == "x.graph" then
              damo.save_graph(path, { inputs = {}, outputs = { damo.constant(a) + 1 } })
            else
              damo.io.save(path, name == "x.npy" and a or { a = a })
            end
            if k == 1 then io.open(path .. ".begun", "w"):close() end
          end
        ]]):format(path, name)
        put(dir .. "/script.lua", script)
        local seen = {}
        for round = 1, 6 do
          local lua = arg and arg[-1] or "lua5.4"
          os.execute(("rm -f %s.begun; %s %s/script.lua & pid=$!; n=0; " ..
            "while [ ! -e %s.begun ] && [ $n -lt 400 ]; do sleep 0.05; n=$((n + 1)); done; " ..
            "sleep 0.0%d; kill -9 $pid; wait $pid 2>/dev/null"):format(path, lua, dir, path, 1 + 13 * round % 90))
          local a
          if graph then
            a = damo.load_graph(path).outputs[1]:eval() - 1
          else
            a = damo.io.load(path)
            if name ~= "x.npy" then a = a.a end
          end
          assert.same({ 200000 }, damo.shape(a):totable())
          assert.equal(damo.min(a), damo.max(a))
          seen[damo.max(a)] = true
        end
        assert.is_truthy(next(seen))
      end
    end)
  end)
end)

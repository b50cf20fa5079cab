-- picture.lua: throughput by threads, from the lines that server prints.
--
--     build/hosts/server examples/hosts/server | lua5.4 examples/hosts/server/picture.lua [folder for the picture]

local damo = require "damo"

local results = arg[1] or io.popen("mktemp -d"):read "*l"
local threads, rates = {}, {}
for line in io.lines() do
  local n, rate = line:match "^(%d+) (%d+)$"
  if n then
    threads[#threads + 1], rates[#rates + 1] = n, tonumber(rate)
  else
    print(line)
  end
end
print("server: picture " .. damo.plot.bar({ { name = "requests a second", y = rates } },
  { labels = threads, title = "server: one model, a Lua state a thread", xlabel = "threads",
    ylabel = "requests a second", path = results .. "/server.png" }))

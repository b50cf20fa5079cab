-- A describe with setup(usual_pace.set) and teardown(usual_pace.restore) runs with the collector's usual pace, also
-- where `make test GC=aggressive` has a pause of 0, by which Lua collects everything at each allocation, among 200,000
-- objects too.
local pause, multiplier

return {
  set = function() pause, multiplier = collectgarbage("setpause", 200), collectgarbage("setstepmul", 100) end,
  restore = function()
    collectgarbage("setpause", pause)
    collectgarbage("setstepmul", multiplier)
  end,
}

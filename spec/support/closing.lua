-- closing(value, fn): calls fn(value) while a to-be-closed variable holds the value. A Lua without such variables
-- frees it afterwards.
local load_text = loadstring or load -- luacheck: ignore

return load_text "local value, fn = ...; local held <close> = value; fn(held)"
  or function(value, fn)
    fn(value)
    value:free()
  end

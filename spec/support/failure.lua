-- failure(kind, fn, ...): calls fn, which must raise damo's error object of that kind, and returns it.

return function(kind, fn, ...)
  local ok, err = pcall(fn, ...)
  assert(not ok, "expected an error of kind " .. kind .. ", got none")
  assert(type(err) == "table" and err.kind == kind, "expected an error of kind " .. kind .. ", got: " .. tostring(err))
  return err
end

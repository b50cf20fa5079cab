-- The promises of the Makefile and the rockspecs to those who build and install damo.

local core = os.getenv "DAMO_BUILT_CORE"

--- Runs a shell command without the environment that only this process needs; returns its output and whether it
--- succeeded.
local function sh(command)
  local pipe = assert(io.popen("unset LD_PRELOAD MAKEFLAGS MAKELEVEL MFLAGS; { " .. command .. "\n} 2>&1"))
  local out = pipe:read "a"
  return out, (pipe:close())
end

local function rockspec(name)
  local found = {}
  assert(loadfile("rocks/" .. name .. "-scm-1.rockspec", "t", found))()
  return found
end

local function header_version()
  for line in io.lines "src/damo.h" do
    local version = line:match '^#define DAMO_VERSION "(.*)"'
    if version then return version end
  end
end

describe("a build", function()
  it("of the shared library has a soname, and exports names with the version alone", function()
    local file = "build/release/libdamo.so.1"
    local out, ok = sh(("make -s MODE=release shared && readelf -d %s && nm -D --defined-only %s"):format(file, file))
    assert.is_true(ok, out)
    assert.matches("SONAME.-%[libdamo%.so%.1%]", out)
    local n = 0
    for name in out:gmatch "\n%x+ %a (%S+)" do
      n = n + 1
      assert.matches("^damo_v1_", name)
    end
    assert.is_true(n > 100)
  end)

  -- The settings of the make that runs this spec are inherited through the environment; `settings` overrides some.
  local function folder(settings) return (sh("make -s print-lua-env " .. settings):match "CPATH='(.-)/lua/%?%.so") end

  it("for each Lua, with and without GPL code, and in each mode has a folder of its own", function()
    local seen = {}
    for _, lua in ipairs { "5.4", "5.3", "5.1", "jit" } do
      for _, gpl in ipairs { "0", "1" } do
        for _, mode in ipairs { "release", "asan" } do
          local at = folder(("LUA=%s GPL=%s MODE=%s"):format(lua, gpl, mode))
          assert.is_string(at)
          assert.is_nil(seen[at], at)
          seen[at] = true
        end
      end
    end
  end)

  it("refuses unknown values of LUA and GPL", function()
    assert.matches("LUA is 5.4, 5.3, 5.1 or jit, not '5.2'", sh "make -s print-libs LUA=5.2", 1, true)
    assert.matches("GPL is 0 or 1, not 'no'", sh "make -s print-libs GPL=no", 1, true)
  end)
end)

describe("the rock", function()
  -- Names in external_dependencies whose library has another name than the lower-case one.
  local by_library = { z = "ZLIB" }

  for name, gpl in pairs { damo = "1", ["damo-free"] = "0" } do
    it(name .. " names every library that its build links, and no other", function()
      local linked, named = {}, {}
      for library in (" " .. sh("make -s print-libs GPL=" .. gpl)):gmatch "%s%-l(%S+)" do
        if library ~= "m" then linked[by_library[library] or library:upper()] = library end
      end
      for key, dependency in pairs(rockspec(name).external_dependencies) do named[key] = dependency.library end
      assert.same(linked, named)
    end)

    it(name .. " passes only variables that luarocks has", function()
      local known = { CC = true, CFLAGS = true, LUA_INCDIR = true, LUADIR = true, LIBDIR = true }
      for key in pairs(rockspec(name).external_dependencies) do
        known[key .. "_INCDIR"], known[key .. "_LIBDIR"] = true, true
      end
      local build = rockspec(name).build
      for _, variables in ipairs { build.build_variables, build.install_variables } do
        assert.equal(gpl, variables.GPL)
        for _, value in pairs(variables) do
          local variable = value:match "^%$%((.*)%)$"
          assert.is_true(variable == nil or known[variable], value)
        end
      end
    end)
  end

  it("without GPL code differs from the other only in that", function()
    local full, free = rockspec "damo", rockspec "damo-free"
    for _, gone in ipairs { "CHOLMOD", "UMFPACK", "SPQR" } do full.external_dependencies[gone] = nil end
    for _, spec in ipairs { full, free } do
      spec.package, spec.description.detailed = nil, nil
      for _, variables in ipairs { spec.build.build_variables, spec.build.install_variables } do
        variables.GPL = nil
        for _, gone in ipairs { "CHOLMOD", "UMFPACK", "SPQR" } do
          variables[gone .. "_INCDIR"], variables[gone .. "_LIBDIR"] = nil, nil
        end
      end
    end
    assert.same(full, free)
  end)

  it("of a version has that of damo.h, and is the same otherwise", function()
    local version = header_version()
    local scm, versioned = rockspec "damo", {}
    assert(loadfile(("rocks/damo-%s-1.rockspec"):format(version), "t", versioned))()
    assert.equal(version .. "-1", versioned.version)
    assert.equal("v" .. version, versioned.source.tag)
    versioned.version, versioned.source.tag = scm.version, nil
    assert.same(scm, versioned)
  end)

  it("has the version of the Debian packages and of the manual page", function()
    local version = header_version()
    local changelog, manual = assert(io.open "debian/changelog"), assert(io.open "debian/damo.1")
    assert.equal(("damo (%s)"):format(version), changelog:read("*l"):match "^damo %b()")
    assert.is_truthy(manual:read("*l"):find("damo " .. version, 1, true))
    changelog:close()
    manual:close()
  end)

  it("takes libraries from other folders", function()
    local folders = "OPENBLAS_DIR=/opt/blas SUITESPARSE_LIBDIR=/opt/sparse ZLIB_LIBDIR=/usr/lib"
    local flags = sh("make -s print-libs " .. folders)
    assert.matches("^%-L/opt/blas/lib +%-L/opt/sparse ", flags)
    assert.is_nil(flags:find("-L/usr/lib", 1, true))
  end)
end)

describe("make install", function()
  local folder
  setup(function()
    folder = os.tmpname()
    os.remove(folder)
    assert(os.execute("mkdir '" .. folder .. "'"))
  end)
  teardown(function() os.execute("rm -r '" .. folder .. "'") end)

  it("installs a stripped library and modules that load, and uninstall leaves nothing", function()
    assert(core, "DAMO_BUILT_CORE must name the built damo/core.so")
    local version = _VERSION:match "%d.%d"
    local settings = ("DESTDIR='%s' PREFIX=/opt/damo LUA=%s"):format(folder, jit and "jit" or version) -- luacheck: ignore
    local out, ok = sh("make -s install " .. settings)
    assert.is_true(ok, out)
    local at = folder .. "/opt/damo"
    local files = sh("cd '" .. at .. "' && find . -type f | sort")
    for _, name in ipairs { "include/damo.h", "include/damo/array.h", "lib/libdamo.a", "lib/pkgconfig/damo.pc",
      "lib/lua/" .. version .. "/damo/core.so", "share/lua/" .. version .. "/damo/init.lua" } do
      assert.is_truthy(files:find("./" .. name .. "\n", 1, true), name .. " is not among\n" .. files)
    end
    local sections = sh(("objdump -h '%s/lib/lua/%s/damo/core.so' '%s/lib/libdamo.a'"):format(at, version, at))
    assert.is_nil(sections:find(".debug_info", 1, true))
    if os.getenv "DAMO_MODE" ~= "asan" then
      local load = ("cd / && LUA_PATH='%s/share/lua/V/?.lua;%s/share/lua/V/?/init.lua' "
        .. "LUA_CPATH='%s/lib/lua/V/?.so' '%s' -e 'print(require(\"damo\").sum({ 1, 2 }))'")
        :gsub("/V/", "/" .. version .. "/")
      assert.equal(tostring(3.0) .. "\n", (sh(load:format(at, at, at, arg[-1] or "lua"))))
    end
    out, ok = sh("make -s uninstall " .. settings)
    assert.is_true(ok, out)
    assert.equal("", (sh("find '" .. at .. "' -type f")))
    assert.equal("", (sh("find '" .. at .. "' -mindepth 1 -name damo")))
  end)

  it("advises another prefix if this one cannot be written to", function()
    local out, ok = sh "make -s install PREFIX=/dev/null/damo"
    assert.is_falsy(ok)
    assert.matches("may not write to /dev/null; install under a prefix of your own", out, 1, true)
    assert.matches("make install PREFIX=$HOME/.local", out, 1, true)
  end)
end)

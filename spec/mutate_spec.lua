-- make/mutate.lua mutates the lines of C that it should, and no others.

package.path = "make/?.lua;" .. package.path
local mutate = require "mutate"

--- The mutated lines of the text, without trailing spaces, and what was changed.
local function broken(text, first, last)
  local list = {}
  for _, m in ipairs(mutate.mutants(text, first, last)) do
    list[#list + 1] = m.line .. ": " .. m.new:match "^%s*(.-)%s*$" .. " | " .. m.what
  end
  return list
end

local function body(line) return "static int f(int a, int b) {\n  " .. line .. "\n}\n" end

describe("a mutant", function()
  it("swaps an operator for its neighbour", function()
    assert.same({ "2: return a <= b && b != c; | < becomes <=", "2: return a < b && b == c; | != becomes ==",
      "2: return a < b || b != c; | && becomes ||" }, broken(body "return a < b && b != c;"))
    assert.same({ "2: return a - b; | + becomes -" }, broken(body "return a + b;"))
  end)

  it("negates a condition, drops an early return, a statement", function()
    assert.same({ "2: if (!(g(a))) return b; | the condition is negated", "2: ; | the early return is dropped" },
      broken(body "if (g(a)) return b;"))
    assert.same({ "2: ; | the statement is dropped" }, broken(body "g(a);"))
    assert.same({ "2: ; | the statement is dropped" }, broken(body "p->x = a;"))
  end)

  it("is off by one, returns the negation", function()
    assert.same({ "2: return p[1]; | 0 becomes 1" }, broken(body "return p[0];"))
    assert.same({ "2: return false; | returns false" }, broken(body "return true;"))
  end)

  it("is found in a function of one line, and in one with parameters on several lines", function()
    assert.same({ "1: static int f(int a) { return a - b; } | + becomes -" },
      broken "static int f(int a) { return a + b; }\n")
    assert.same({ "3: return a - b; | + becomes -" },
      broken "static int f(int a,\n             int b) {\n  return a + b;\n}\n")
  end)

  it("does not change comments, strings, declarations, data and preprocessor lines", function()
    assert.same({}, broken(body 'return "a + b"; /* a + b */'))
    assert.same({}, broken(body "const char *at;"))
    assert.same({}, broken(body "int c = a;"))
    assert.same({}, broken "static const int t[] = {1, 2};\n")
    assert.same({}, broken "#define SUM(a, b) \\\n  (a + b)\n")
    assert.same({}, broken(body "case 3: break;"))
    assert.same({}, broken(body "char c = '+', d = '\\'' ; /* a\n + b */"))
  end)

  it("stays within the given lines", function()
    local text = body "return a + b;" .. body "return a - b;"
    assert.same({ "5: return a + b; | - becomes +" }, broken(text, 4, 6))
  end)

  it("changes only its line", function()
    local text = body "return a + b;"
    local mutant = mutate.mutants(text)[1]
    assert.equal((text:gsub("+", "-")), mutate.apply(text, mutant))
  end)
end)

-- The texts of a picture in SVG and where they stand, to see that none overlap.
local svg_text = {}

-- The width of a letter of gnuplot's fonts in its size, a little less than the average: texts that touch are no fault.
local LETTER = 0.5

local function length_of(text)
  local _, count = text:gsub("&%w+;", "."):gsub("[^\128-\191]", "")
  return count
end

--- The box of a text at x, y, turned by `angle` degrees about that point, as the box that holds it.
local function box_of(text, x, y, size, anchor, angle)
  local width = LETTER * size * length_of(text)
  local left = anchor == "middle" and -width / 2 or anchor == "end" and -width or 0
  local c, s = math.cos(math.rad(angle)), math.sin(math.rad(angle))
  local box = { text = text, angle = angle, x0 = math.huge, x1 = -math.huge, y0 = math.huge, y1 = -math.huge }
  for _, corner in ipairs { { left, 0 }, { left + width, 0 }, { left, -0.7 * size }, { left + width, -0.7 * size } } do
    local px, py = x + c * corner[1] - s * corner[2], y + s * corner[1] + c * corner[2]
    box.x0, box.x1 = math.min(box.x0, px), math.max(box.x1, px)
    box.y0, box.y1 = math.min(box.y0, py), math.max(box.y1, py)
  end
  return box
end

--- The boxes of all texts of a picture.
function svg_text.boxes(picture)
  local boxes = {}
  for head, body in picture:gmatch '<g transform="(translate[^>]*)>%s*<text>(.-)</text>' do
    local text = body:gsub("<[^>]*>", ""):gsub("^%s+", ""):gsub("%s+$", "")
    local x, y = head:match "translate%(([-%d.]+),([-%d.]+)%)"
    if text ~= "" then
      boxes[#boxes + 1] = box_of(text, tonumber(x), tonumber(y), tonumber(head:match 'font%-size="([%d.]+)"'),
        head:match 'text%-anchor="(%w+)"', tonumber(head:match "rotate%(([-%d.]+)%)" or 0))
    end
  end
  return boxes
end

local function is_straight(box) return box.angle % 90 == 0 end

--- The pairs of texts that overlap, as lines; slanted texts, whose boxes are larger than they are, are left out.
function svg_text.overlaps(picture)
  local boxes, found = svg_text.boxes(picture), {}
  for i, a in ipairs(boxes) do
    for j = i + 1, #boxes do
      local b = boxes[j]
      local both = is_straight(a) and is_straight(b)
      if both and a.x0 < b.x1 and b.x0 < a.x1 and a.y0 < b.y1 and b.y0 < a.y1 then
        found[#found + 1] = ("%s / %s"):format(a.text, b.text)
      end
    end
  end
  return found
end

--- The texts that stand partly outside of a picture of the size in its head.
function svg_text.cut(picture)
  local width, height = picture:match '<svg%s+width="(%d+)" height="(%d+)"'
  local found = {}
  for _, box in ipairs(svg_text.boxes(picture)) do
    if is_straight(box) and (box.x0 < 0 or box.y0 < 0 or box.x1 > tonumber(width) or box.y1 > tonumber(height)) then
      found[#found + 1] = box.text
    end
  end
  return found
end

return svg_text

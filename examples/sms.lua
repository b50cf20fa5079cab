-- sms.lua: which text messages are spam? Logistic regression on counts of words, held in a sparse matrix.
--
--     lua5.4 examples/sms.lua [folder for results]
--
-- 5574 messages (SMS Spam Collection) are the rows; words that occur in at least two training messages are the columns.
-- More than 99 % of the counts are 0: the matrix stores the others, and the gradient of structured_dot touches only
-- those.
-- Picture: pictures/sms.png, the loss by step.

local damo = require "damo"
local sparse = damo.sparse

local here = arg[0]:match("^(.*)/") or "."
local results = arg[1] or io.popen("mktemp -d"):read "*l" -- a new, private folder

-- ---- Messages -----------------------------------------------------------------------------------------------------

-- The words of a message are runs of letters and digits, ASCII letters in lower case.
local messages, is_spam = {}, {}
for line in io.lines(here .. "/data/sms_spam.txt") do
  local kind, message = line:match "^(%a+)\t(.*)$"
  local words = {}
  for word in message:lower():gmatch "[a-z0-9]+" do words[#words + 1] = word end
  messages[#messages + 1], is_spam[#is_spam + 1] = words, kind == "spam" and 1.0 or 0.0
end

--- Every fifth message is for testing.
local function is_test(row) return row % 5 == 0 end

-- ---- The matrix of counts -----------------------------------------------------------------------------------------

--- The words that occur in at least two training messages, each with its column.
local function vocabulary()
  local seen_in, column, names = {}, {}, {}
  for row, list in ipairs(messages) do
    local here_already = {}
    for _, word in ipairs(is_test(row) and {} or list) do
      if not here_already[word] then seen_in[word] = (seen_in[word] or 0) + 1 end
      here_already[word] = true
    end
  end
  for word, n in pairs(seen_in) do names[#names + 1] = n >= 2 and word or nil end
  table.sort(names)
  for i, word in ipairs(names) do column[word] = i end
  return column, names
end

local column, names = vocabulary()

--- The messages `keep` as a csr matrix of counts (coo sums repeated words), and their labels.
local function counts(keep)
  local rows, cols, labels = {}, {}, {}
  for row, list in ipairs(messages) do
    if keep(row) then
      labels[#labels + 1] = is_spam[row]
      for _, word in ipairs(list) do
        if column[word] then rows[#rows + 1], cols[#cols + 1] = #labels, column[word] end
      end
    end
  end
  local entries = { rows = rows, cols = cols, values = damo.ones(#rows), shape = { #labels, #names } }
  return sparse.coo(entries), damo.array(labels)
end

local train_x, train_y = counts(function(row) return not is_test(row) end)
local test_x, test_y = counts(is_test)
print(("sms: %d messages to train on, %d to test on, %d words, %d counts stored"):format(
  #train_y, #test_y, #names, train_x.nnz))

-- ---- The model: negative log-likelihood of the labels, and half the squared weights --------------------------------

local x, y = sparse.csr_matrix "x", damo.dvector "y"
local w, b = damo.shared(damo.zeros { #names, 1 }, "w"), damo.shared(0.0, "b")
local logits = sparse.structured_dot(x, w)[{ {}, 1 }] + b
local loss = damo.sum(damo.softplus(logits) - y * logits) + damo.sum(damo.sqr(w)) / 2
local right = damo.mean(damo.eq(damo.gt(logits, 0), damo.gt(y, 0.5)):cast "float64")

local rate = damo.dscalar "rate"
local updates = damo.optim.adam({ w, b }, damo.grad(loss, { w, b }), { lr = rate })
local step = damo.compile({ x, y, rate }, loss, { updates = updates })

-- ---- Training -----------------------------------------------------------------------------------------------------

local steps, losses = 400, {}
for k in damo.progress(steps, { title = "sms" }) do
  losses[k] = step(train_x, train_y, 0.1 * (1 - (k - 1) / steps))
end
print(("sms: loss %.2f to %.2f"):format(losses[1], losses[steps]))
local accuracy = damo.compile({ x, y }, right)(test_x, test_y)
local count = math.floor(accuracy * #test_y + 0.5)
print(("sms: %d of %d test messages right, accuracy %.4f"):format(count, #test_y, accuracy))

-- ---- The learned weights ------------------------------------------------------------------------------------------

local order, most = damo.argsort(w:get_value():reshape { -1 }), {}
for k = 1, 8 do most[k] = names[order[-k]] end
print("sms: the words that say spam most: " .. table.concat(most, " "))

print("loss curve: " .. damo.plot.lines({ { name = "training", y = losses } },
  { title = "sms: loss", xlabel = "step", ylabel = "loss", logy = true, path = results .. "/sms.png" }))

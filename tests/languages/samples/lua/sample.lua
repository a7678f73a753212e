-- A small job queue with retries.

local uv = require("luv")
local log = require "queue.log"

local MAX_RETRIES = 3
local default_name = "jobs"

--- The module table.
local M = {}

M.version = "1.2.0"

-- Options that a caller may override.
M.defaults = {
  concurrency = 4,
  on_error = function(err)
    log.error(err)
  end,
}

local Queue = {}
Queue.__index = Queue

--- Creates a queue.
--- @param opts table|nil
--- @return Queue
function M.new(opts)
  local settings = vim.tbl_extend("force", M.defaults, opts or {})
  local pending = {}
  return setmetatable({ settings = settings, pending = pending }, Queue)
end

--[[
  Adds a job to the end of the queue.
  Jobs run in the order they were added.
]]
function Queue:push(job)
  table.insert(self.pending, job)
  self:run()
end

function Queue:run()
  local function step()
    local job = table.remove(self.pending, 1)
    if job then
      job()
    end
  end
  step()
end

-- Wraps a function so that it is tried again.
local function with_retries(fn, attempts)
  local tries = 0
  return function(...)
    repeat
      tries = tries + 1
      local ok, err = pcall(fn, ...)
      if ok then
        return true
      end
    until tries >= attempts
    return false, err
  end
end

local backoff = function(n)
  return 2 ^ n * 100
end

M.retry = function(fn)
  return with_retries(fn, MAX_RETRIES)
end

is_empty = function(queue)
  return #queue.pending == 0
end

local handlers = {
  start = function(queue)
    queue:run()
  end,
  stop = function() end,
  name = default_name,
}

function M.handle(event, queue)
  local handler = handlers[event]
  if not handler then
    return nil, "unknown event"
  end
  uv.sleep(backoff(1))
  return handler(queue)
end

return M

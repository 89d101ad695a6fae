-- Shows the frames of frisbee and frpc in Wireshark and tshark. Written by `frpc decode --wireshark`.
--
-- Put this file into the folder of personal Lua plugins (Help, About, Folders), or name it to tshark by
-- `-X lua_script:frpc.lua`. Connections are recognised by their first frame if it is in the current form of headers;
-- for others use Decode As, or `-d tcp.port==PORT,frpc`.

-- The methods, by operation.
local METHODS = {
--@METHODS@
}

local OPERATIONS = {
  [0] = "PING", [1] = "PONG", [2] = "STREAM", [3] = "EXTENSION", [4] = "GOING_AWAY", [5] = "CREDIT", [6] = "CANCEL",
  [7] = "END", [8] = "HAND_OFF", [9] = "BATCH",
}

-- The types of packets of operation 3, which are their ids.
local EXTENSIONS = {
  [0] = "HELLO", "ASK", "LAYOUT", "CALLS", "CLOSE", "HEADERS", "TRAILERS", "FRAGMENT",
}

local CODES = {
  [0] = "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
  "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
  "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
}

-- A longer body is taken for bytes that are no frames.
local BODY_MAX = 64 * 1024 * 1024

local frpc = Proto("frpc", "Frisbee RPC")
local f = frpc.fields
f.id = ProtoField.uint16("frpc.id", "Id")
f.operation = ProtoField.uint16("frpc.operation", "Operation", base.DEC)
f.name = ProtoField.string("frpc.name", "Name")
f.method = ProtoField.string("frpc.method", "Method")
f.kind = ProtoField.string("frpc.kind", "Kind")
f.length = ProtoField.uint32("frpc.length", "Length of the body")
f.form = ProtoField.string("frpc.form", "Form of the header")
f.body = ProtoField.bytes("frpc.body", "Body")
f.status = ProtoField.string("frpc.status", "Status")
f.error = ProtoField.string("frpc.error", "Error")
f.compressed = ProtoField.uint64("frpc.compressed", "Bytes when decompressed")
f.timeout = ProtoField.uint64("frpc.timeout_us", "Timeout in microseconds")
f.metadata = ProtoField.string("frpc.metadata", "Key of metadata")
f.trace = ProtoField.bytes("frpc.trace", "Trace")
f.span = ProtoField.bytes("frpc.span", "Span of the caller")
f.sampled = ProtoField.bool("frpc.sampled", "Trace is recorded", 8, nil, 1)
f.credit = ProtoField.uint64("frpc.credit", "Credit")
f.version = ProtoField.uint8("frpc.hello.version", "Version")
f.body_max = ProtoField.uint64("frpc.hello.body_max", "Longest body")
f.streams = ProtoField.uint64("frpc.hello.streams", "Streams")
f.calls = ProtoField.uint64("frpc.hello.calls", "Calls")
f.hello_credit = ProtoField.uint64("frpc.hello.credit", "Credit of a new stream")
f.offers = ProtoField.string("frpc.hello.offers", "Offers the service")
f.uses = ProtoField.string("frpc.hello.calls_service", "Calls the service")

local malformed = ProtoExpert.new("frpc.malformed", "Not a frame", expert.group.MALFORMED, expert.severity.ERROR)
local short = ProtoExpert.new("frpc.short", "Cut short in the capture", expert.group.UNDECODED, expert.severity.NOTE)
frpc.experts = { malformed, short }

local tcp_stream = Field.new("tcp.stream")

-- What is known of each connection: the form of headers, the port of the end that sent first, and the methods of its
-- streams. `told` keeps what was found in the first pass by the place of a frame, since later passes jump.
local connections, told = {}, {}

function frpc.init()
  connections, told = {}, {}
end

-- A varint at a place, and the place behind it; nil if it is cut short.
local function varint(tvb, at, stop)
  local value, factor = 0, 1
  for _ = 1, 10 do
    if at >= stop then return nil end
    local byte = tvb(at, 1):uint()
    at = at + 1
    value = value + (byte % 128) * factor
    if byte < 128 then return value, at end
    factor = factor * 128
  end
  return nil
end

-- Calls `each(type, from, to)` for items of a type, a length and a value.
local function items(tvb, at, stop, each)
  while at < stop do
    local kind = tvb(at, 1):uint()
    local length, from = varint(tvb, at + 1, stop)
    if not length or from + length > stop then return end
    each(kind, from, from + length)
    at = from + length
  end
end

local function text(tvb, from, to)
  if to <= from then return "" end
  return tvb(from, to - from):string(ENC_UTF_8)
end

-- Adds a number that is a varint.
local function add_number(tree, field, tvb, from, to)
  local value = varint(tvb, from, to)
  if value then tree:add(field, tvb(from, to - from), UInt64(value % 4294967296, math.floor(value / 4294967296))) end
end

local function hello(tvb, at, stop, tree)
  if stop - at < 5 or tvb(at, 4):string() ~= "fris" then return end
  tree:add(f.version, tvb(at + 4, 1))
  local numbers = { [1] = f.body_max, [2] = f.streams, [3] = f.calls, [4] = f.hello_credit }
  items(tvb, at + 5, stop, function(kind, from, to)
    if numbers[kind] and to > from then
      add_number(tree, numbers[kind], tvb, from, to)
    elseif kind == 32 or kind == 33 then
      local length, first = varint(tvb, from, to)
      if length and first + length <= to then
        tree:add(kind == 32 and f.offers or f.uses, tvb(from, to - from), text(tvb, first, first + length))
      end
    end
  end)
end

local function code(value)
  return CODES[value or 2] or ("code " .. tostring(value))
end

-- Shows the items of a prefix, of HEADERS or of TRAILERS. Returns the status in them.
local function prefix_items(tvb, at, stop, tree)
  local status = nil
  items(tvb, at, stop, function(kind, first, last)
    if kind == 1 and last > first then
      add_number(tree, f.timeout, tvb, first, last)
    elseif kind == 2 then
      local size, key = varint(tvb, first, last)
      -- Values may be secrets.
      if size and key + size <= last then tree:add(f.metadata, tvb(first, last - first), text(tvb, key, key + size)) end
    elseif kind == 3 then
      status = code(varint(tvb, first, last))
      tree:add(f.status, tvb(first, last - first), status)
    elseif kind == 6 and last - first >= 25 then
      tree:add(f.trace, tvb(first, 16))
      tree:add(f.span, tvb(first + 16, 8))
      tree:add(f.sampled, tvb(first + 24, 1))
    elseif kind == 8 and last > first then
      tree:add(f.error, tvb(first, last - first), text(tvb, first, last))
    end
  end)
  return status
end

-- Shows the prefix of a body. Returns the place behind it, and the status in it.
local function prefix(tvb, at, stop, tree)
  if at >= stop or tvb(at, 1):uint() ~= 0x10 then return at, nil end
  local length, from = varint(tvb, at + 1, stop)
  if not length or from + length > stop then return at, nil end
  return from + length, prefix_items(tvb, from, from + length, tree)
end

-- Shows that a message is compressed, and how long it is otherwise.
local function compressed(tvb, at, stop, tree)
  if at >= stop or tvb(at, 1):uint() ~= 0x11 then return end
  local _, frame = varint(tvb, at + 1, stop)
  if frame then add_number(tree, f.compressed, tvb, at + 1, frame) end
end

-- Shows the text of an error reply.
local function failure(tvb, at, stop, tree)
  if at >= stop or tvb(at, 1):uint() ~= 0x06 then return end
  -- A string, whose length is a number with its kind in front.
  if at + 3 >= stop or tvb(at + 1, 2):uint() ~= 0x050a then return end
  local length, from = varint(tvb, at + 3, stop)
  if length and length > 0 and from + length <= stop then
    tree:add(f.error, tvb(from, length), text(tvb, from, from + length))
  end
end

local function method_of(operation)
  return METHODS[operation] or ("operation " .. operation)
end

-- Finds out, in the first pass, and remembers what a frame is about.
local function remembered(pinfo, key, find)
  if told[key] == nil or not pinfo.visited then told[key] = find() end
  return told[key]
end

-- Shows a whole frame; its body is from `at` to `stop`. Returns what the list of packets says.
local function frame(tvb, pinfo, tree, connection, frame_at, at, stop, id, operation)
  local key = pinfo.number .. ":" .. frame_at
  if stop > at then tree:add(f.body, tvb(at, stop - at)) end
  local is_client = pinfo.src_port == connection.client
  if operation >= 10 then
    local behind, status = prefix(tvb, at, stop, tree)
    -- Between native peers the half of its id states the end that makes a call.
    local is_of_server = connection.is_native == true and id >= 0x8000
    local kind = (is_client ~= is_of_server) and "request" or "reply"
    tree:add(f.kind, kind):set_generated()
    tree:add(f.method, method_of(operation)):set_generated()
    failure(tvb, behind, stop, tree)
    compressed(tvb, behind, stop, tree)
    return kind .. " " .. id .. " " .. method_of(operation) .. (status and (" " .. status) or "")
  end
  local name = OPERATIONS[operation]
  if operation == 3 then
    if id == 0 then
      hello(tvb, at, stop, tree)
      if not is_client then connection.is_native = true end
    elseif id == 5 or id == 6 then
      local stream, from = varint(tvb, at, stop)
      if stream then
        local status = prefix_items(tvb, from, stop, tree)
        return EXTENSIONS[id] .. " " .. stream .. (status and (" " .. status) or "")
      end
    end
    return EXTENSIONS[id] or (name .. " " .. id)
  elseif operation == 5 and stop > at then
    add_number(tree, f.credit, tvb, at, stop)
  elseif operation == 6 then
    local called = varint(tvb, at, stop)
    if called then
      tree:add(f.method, method_of(called)):set_generated()
      return name .. " " .. id .. " " .. method_of(called)
    end
  elseif operation == 7 and stop > at then
    local value = varint(tvb, at, stop)
    tree:add(f.status, tvb(at, stop - at), code(value))
  elseif operation == 2 then
    local behind = prefix(tvb, at, stop, tree)
    compressed(tvb, behind, stop, tree)
    local method = remembered(pinfo, key, function()
      local opened = nil
      if behind < stop and tvb(behind, 1):uint() == 0x09 and not connection.streams[id] then
        opened = varint(tvb, behind + 1, stop)
        if opened then connection.streams[id] = method_of(opened) end
      end
      local method = connection.streams[id] or false
      if stop == at then connection.streams[id] = nil end
      return method
    end)
    if method then
      tree:add(f.method, method):set_generated()
      return name .. " " .. id .. " " .. method
    end
  end
  if operation == 2 or operation == 5 or operation == 7 or operation == 9 then return name .. " " .. id end
  return name
end

-- The state of the connection of this segment, and its form of headers if that is known or can be told by the bytes.
local function connection_of(tvb, pinfo, offset)
  local stream = tcp_stream().value
  local connection = connections[stream]
  if not connection then
    connection = { client = pinfo.src_port, streams = {} }
    connections[stream] = connection
  end
  if not connection.header and tvb:len() - offset >= 2 then
    connection.header = tvb(offset, 2):uint() == 0x000f and 10 or 8
  end
  return connection
end

function frpc.dissector(tvb, pinfo, tree)
  local length, offset, infos = tvb:len(), 0, {}
  local is_short = tvb:reported_len() > length
  pinfo.cols.protocol = "frpc"
  while offset < length do
    local connection = connection_of(tvb, pinfo, offset)
    local head = connection.header
    local missing = nil
    if not head or length - offset < head then
      missing = DESEGMENT_ONE_MORE_SEGMENT
    else
      local from = head == 10 and offset + 2 or offset
      local size = tvb(from + 4, 4):uint()
      if (head == 10 and tvb(offset, 2):uint() ~= 0x000f) or size > BODY_MAX then
        tree:add(frpc, tvb(offset)):add_proto_expert_info(malformed)
        table.insert(infos, "not a frame")
        break
      end
      if length - offset < head + size then
        missing = head + size - (length - offset)
      else
        local id, operation = tvb(from, 2):uint(), tvb(from + 2, 2):uint()
        local branch = tree:add(frpc, tvb(offset, head + size))
        branch:add(f.form, head == 10 and "current" or "old"):set_generated()
        branch:add(f.id, tvb(from, 2))
        branch:add(f.operation, tvb(from + 2, 2))
        branch:add(f.length, tvb(from + 4, 4))
        local ok, info = pcall(frame, tvb, pinfo, branch, connection, offset, offset + head, offset + head + size, id, operation)
        info = ok and info or "a body that cannot be read"
        if not ok then branch:add_proto_expert_info(malformed) end
        branch:add(f.name, info):set_generated()
        branch:append_text(": " .. info)
        table.insert(infos, info)
        offset = offset + head + size
      end
    end
    if missing then
      if is_short then
        tree:add(frpc, tvb(offset)):add_proto_expert_info(short)
        break
      end
      pinfo.desegment_offset = offset
      pinfo.desegment_len = missing
      break
    end
  end
  if #infos > 0 then pinfo.cols.info = table.concat(infos, ", ") end
  return length
end

-- Whether the bytes begin with a frame in the current form, as far as there are bytes.
local function is_frpc(tvb)
  if tvb:len() < 10 or tvb(0, 2):uint() ~= 0x000f then return false end
  local operation = tvb(4, 2):uint()
  return tvb(6, 4):uint() <= BODY_MAX and (operation < 9 or METHODS[operation] ~= nil)
end

frpc:register_heuristic("tcp", function(tvb, pinfo, tree)
  if not is_frpc(tvb) then return false end
  pinfo.conversation = frpc
  frpc.dissector(tvb, pinfo, tree)
  return true
end)

DissectorTable.get("tcp.port"):add_for_decode_as(frpc)

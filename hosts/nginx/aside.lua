-- Splits the answers of a model's server on their way through nginx (lua-nginx-module over LuaJIT, or OpenResty).
--
--     local aside = require("aside").load("/usr/local")     the prefix of the installed library
--     aside.header_filter{dialect = "qwen3"}                 in header_filter_by_lua_block
--     aside.body_filter()                                    in body_filter_by_lua_block
--
-- README.md beside this file has the rest of the configuration.
local ffi = require "ffi"

local M = {}
local C
-- Headers of the body as it came.
local OF_THE_BODY = {"Content-Length", "ETag", "Content-MD5", "Digest", "Repr-Digest"}

function M.load(prefix)
    if C then return M end
    local file = assert(io.open(prefix .. "/include/aside_cdef.h"))
    ffi.cdef(file:read("*a"))
    file:close()
    C = ffi.load(prefix .. "/lib/libaside.so")
    return M
end

-- The text must live as long as what is returned.
local function bytes(text) return {text, #text} end

local function failed(what)
    ngx.log(ngx.ERR, "aside: ", what, ": ", ffi.string(C.aside_last_error()))
    return ngx.ERROR
end

-- Makes a rewriter for the answer, if it is one to split. `by` is a function that returns the dialect's name, or nil to pass.
function M.header_filter(options)
    if ngx.is_subrequest or ngx.req.get_method() ~= "POST" then return end
    local header = ngx.header
    local path, kind = ngx.var.request_uri, header["Content-Type"] or ""
    local encoding = header["Content-Encoding"] or ""
    local exchange = ffi.new("aside_exchange", {ffi.sizeof("aside_exchange"), ngx.status, 0, bytes("POST"), bytes(path),
        bytes(kind), bytes(type(encoding) == "table" and table.concat(encoding, ", ") or encoding)})
    local made = ffi.new("aside_rewriter_options", {size = ffi.sizeof("aside_rewriter_options")})
    local body = ffi.new("aside_body[1]")
    if C.aside_rewriter_wants(exchange, body) ~= C.ASIDE_OK then return end
    local name = options.by and options.by() or options.dialect
    if not name then return end
    made.comments = C["ASIDE_COMMENTS_" .. (options.comments or "keep"):upper()]
    made.body, made.repair, made.merge = body[0], options.repair and 1 or 0, options.merge and 1 or 0
    local dialect = C.aside_dialect_find(name, #name)
    local rewriter = dialect ~= nil and C.aside_rewriter_new(dialect, made)
    if not rewriter or rewriter == nil then failed(name) return end
    -- A request that dies is forgotten with its context.
    ngx.ctx.aside = ffi.gc(rewriter, C.aside_rewriter_free)
    for _, gone in ipairs(OF_THE_BODY) do header[gone] = nil end
    header["X-Aside-Dialect"] = name
end

function M.body_filter()
    local rewriter = ngx.ctx.aside
    if not rewriter then return end
    local chunk, is_last = ngx.arg[1], ngx.arg[2]
    local out = ffi.new("aside_bytes")
    if C.aside_rewriter_feed(rewriter, chunk, #chunk, out) ~= C.ASIDE_OK then return failed("feed") end
    local text = ffi.string(out.at, out.len)
    if is_last then
        if C.aside_rewriter_finish(rewriter, out) ~= C.ASIDE_OK then return failed("finish") end
        text = text .. ffi.string(out.at, out.len)
        C.aside_rewriter_free(ffi.gc(rewriter, nil))
        ngx.ctx.aside = nil
    end
    ngx.arg[1] = #text > 0 and text or (is_last and "" or nil)
end

return M

"""Scripts and function libraries that the generator sends, and what a script passes on."""

import hashlib

PASS_SCRIPTS = (b'return redis.call(unpack(ARGV))', b'return redis.pcall(unpack(ARGV))',
                b'redis.setresp(3); return redis.call(unpack(ARGV))')
SCRIPT_COMMANDS = (b'EVAL', b'EVAL_RO', b'EVALSHA', b'EVALSHA_RO')


BUSY_SCRIPT = b'for i = 1, 4e9 do end'
BUSY_LIBRARY = b"#!lua name=busy\nredis.register_function('busy', function() %s end)" % BUSY_SCRIPT


def inner_command(args: tuple) -> tuple:
    """The command that a script of PASS_SCRIPTS gets to run, else ()."""
    if args[0].upper() in SCRIPT_COMMANDS and len(args) > 3 and args[2] == b'0' and (
            args[1] in PASS_SCRIPTS or args[1] in PASS_SHAS):
        return args[3:]
    return ()


def sha1(script: bytes) -> bytes:
    return hashlib.sha1(script).hexdigest().encode()


PASS_SHAS = frozenset(map(sha1, PASS_SCRIPTS))

SCRIPTS = [line.replace('\\n', '\n').encode() for line in r'''
return 1
return 3.99
return -3.99
return 'text'
return nil
return
return true
return false
return {1, 2, {3, 'a'}, {}}
return {1, nil, 3}
return {true, false, 2.5, 'x'}
return {ok='fine'}
return {err='BAD thing'}
return {err='nocode'}
return {err='-DASH it'}
return redis.error_reply('My Err')
return redis.error_reply('-CODE x')
return redis.error_reply('ERR two\13\10lines')
return redis.status_reply('ST')
return {double=3.5}
return {map={a=1}}
return {set={a=true}}
return {big_number='12345678901234567890'}
return {verbatim_string={format='txt', string='hi'}}
redis.setresp(3); return {double=3.5}
redis.setresp(3); return true
redis.setresp(3); return {true, false}
redis.setresp(3); return {big_number='12345678901234567890', x=1}
redis.setresp(3); return {map={a={1, 2}}}
redis.setresp(3); return redis.call('zscore', KEYS[1], 'a')
redis.setresp(3); return type(redis.call('hgetall', KEYS[1]))
redis.setresp(3); return redis.call('get', 'missing')
return redis.setresp(4)
return redis.setresp()
return 9007199254740993
return 1e20
return -1e20
return 0/0
return 1/0
return tostring(1e15) .. ' ' .. tostring(0.1) .. ' ' .. tostring(-0)
return tostring(0/0)
return tonumber('0x10')
return tonumber('abc')
return tonumber('12', 3)
return tostring(3 / 2)
return 7 % 3 .. ' ' .. -7 % 3 .. ' ' .. 2 ^ 10
return redis.call('set', KEYS[1], ARGV[1])
return redis.call('get', KEYS[1])
return redis.call('set', KEYS[1], 12.5)
return redis.call('set', KEYS[1], 1e15)
return redis.call('set', KEYS[1], true)
return redis.call('incr', KEYS[1])
return redis.call('lrange', KEYS[1], 0, -1)
return #redis.call('lrange', KEYS[1], 0, -1)
return redis.pcall('incr', KEYS[1])
return redis.pcall('incr', KEYS[1]).err
local r = redis.pcall('nosuch'); return r.err
return redis.call('nosuch')
return redis.call('get')
return redis.call()
return redis.call({})
return redis.call('get', {})
return redis.call('subscribe', 'a')
return redis.call('blpop', KEYS[1], 0)
return redis.call('multi')
return redis.call('select', 1)
return redis.call('type', KEYS[1]).ok
return redis.call('exists', KEYS[1]) == 1
return {redis.call('set', KEYS[1], 'x'), redis.call('append', KEYS[1], 'y'), redis.call('get', KEYS[1])}
redis.call('set', KEYS[1], 'before'); return redis.call('lpush', KEYS[1], 'x')
redis.call('rpush', KEYS[1], 'a'); error('boom')
error('boom')
error({err='MY table error'})
error()
return pcall(error, 'x')
local ok, e = pcall(function() error('inner') end) return e
local ok, e = pcall(redis.call, 'nosuch') return tostring(ok)
return {pcall(redis.call, 'lpush', KEYS[1], 'x')}
return redis.sha1hex('')
return redis.sha1hex('foo')
return redis.sha1hex()
return redis.sha1hex(1, 2)
return cjson.encode({1, 2, 3})
return cjson.encode({a=1})
return cjson.encode({})
return cjson.encode({[1]=1, [3]=3})
return cjson.encode({[1]=1, [100]=3})
return cjson.encode(1e20)
return cjson.encode(0.1)
return cjson.encode(1/3)
return cjson.encode('\1"\\/é')
return cjson.encode({true, false, cjson.null})
return cjson.encode(0/0)
return cjson.encode(print)
return cjson.decode('{"a": [1, 2, {"b": null}], "c": "d\\u00e9"}').c
return cjson.decode('[1, 2.5, true, "x", [], {}]')
return cjson.decode('[1,')
return cjson.decode('nope')
return cjson.decode('{"b": null}').b == cjson.null
return cjson.decode('1e5')
return cmsgpack.pack({1, 2, 'x', true, -1, 300, 1e10, 0.5})
return cmsgpack.pack({a=1})
return {cmsgpack.unpack(cmsgpack.pack({1, {2, 'x'}}))}
return cmsgpack.unpack('\147\001\002\003')
return cmsgpack.unpack('')
return cmsgpack.unpack('\219')
return cmsgpack.pack()
return struct.pack('>I2h', 1, 2)
return struct.pack('<i4s', 7, 'abc')
return {struct.unpack('>I2h', '\0\1\0\2')}
return struct.size('>I2hd')
return struct.pack('z', 1)
return struct.unpack('>I4', 'a')
return bit.band(255, 15) .. ' ' .. bit.bor(1, 2) .. ' ' .. bit.bxor(7, 2)
return bit.tohex(255) .. bit.tohex(-1, 4)
return {bit.bnot(0), bit.lshift(1, 31), bit.rshift(-1, 28), bit.arshift(-8, 1), bit.rol(1, 33), bit.bswap(1)}
return bit.tobit(4294967296)
return bit.band('x', 1)
return string.format('%5.2f|%s|%d|%q|%x|%c|%e', 1/3, 'x', 42, 'a\10b', 255, 65, 12345.678)
return string.format('%d', 'x')
return {string.byte('abc', 1, -1)}
return string.rep('ab', 5) .. ('x'):upper() .. string.reverse('abc')
return {string.find('hello world', 'o w'), string.find('abc', '(b)(c)'), string.match('k=v', '(%w+)=(%w+)')}
return string.gsub('hello', 'l', {l='L'})
return {string.gsub('abc', '%w', '%0%0')}
return string.gsub('abc', '(', 'x')
local t = {} for w in string.gmatch('one two', '%a+') do t[#t + 1] = w end return t
return table.concat({1, 2, 3}, ',')
local t = {3, 1, 2} table.sort(t) return t
local t = {'b', 'a', 'C'} table.sort(t, function(x, y) return x > y end) return t
local t = {1, 2, 3} table.remove(t, 1) table.insert(t, 1, 9) return t
return {unpack({1, 2, 3}, 2)}
return {math.floor(-3.5), math.ceil(3.2), math.abs(-3), math.max(1, 5, 2), math.fmod(7, 3)}
return tostring(math.pi) .. tostring(math.huge) .. tostring(math.sqrt(2))
return {math.random(100), math.random(100), math.random(5, 10)}
math.randomseed(7) return math.random(1000)
return #ARGV .. #KEYS
return KEYS
return ARGV
return {KEYS[1], ARGV[1], type(KEYS[3])}
x = 1 return x
return nosuch
return type(os.clock())
return os.time
return os.exit
return print ~= nil
return require
return io
return type(loadstring) .. type(load) .. type(dofile) .. type(setfenv)
return loadstring('return 7')()
return loadstring('return +')
return select('#', 1, nil, 3)
return setmetatable({1, 2}, {__index=function() return 9 end})
getmetatable('').__index = 1
redis.x = 1
redis.call = nil
string.foo = 1
return redis.LOG_WARNING .. redis.LOG_DEBUG
return redis.log(redis.LOG_DEBUG, 'x')
return redis.log('x')
return redis.log(99, 'x')
return redis.breakpoint()
return redis.debug('x')
return redis.replicate_commands()
return redis.set_repl(redis.REPL_ALL)
return redis.set_repl(99)
return redis.acl_check_cmd('get', 'x')
return redis.acl_check_cmd('nosuch')
return redis.nosuch
return redis.register_function('f', function() end)
return 1 +
syntax error here
for i = 1, 3 do end return i
local s = 0 for i = 1, 1000 do s = s + i end return s
local function fib(n) if n < 2 then return n end return fib(n - 1) + fib(n - 2) end return fib(12)
local t = {} t.x = t return #t
goto done
return ('x'):rep(3, ',')
return _VERSION
return type(_G) .. type(redis) .. type(KEYS)
return next({})
return {tostring(nil), tostring(true), type(nil)}
return collectgarbage('count') > 0
return rawequal('a', 'a') and rawget({5}, 1)
return 'a' < 'b' and 10 < 9
return 'a' < 1
return 'a' .. {}
return {} + 1
return nil .. 'x'
local a <const> = 1
return #'a\0b' .. '\65\066\t'
return [[long
string]]
#!lua\nreturn redis.call('get', KEYS[1])
#!lua flags=no-writes\nreturn redis.call('set', KEYS[1], '1')
#!lua flags=no-writes\nreturn redis.call('get', KEYS[1])
#!lua flags=allow-stale,no-cluster\nreturn 5
#!lua flags=nosuch\nreturn 1
#!lua name=x\nreturn 1
#!python\nreturn 1
#!lua
'''.strip('\n').split('\n')]

LIBRARIES = [line.replace('\\n', '\n').encode() for line in r'''
#!lua name=lib1\nredis.register_function('f1', function(keys, args) return 1 end)
#!lua name=lib1\nredis.register_function('f1', function(keys, args) return {keys[1] or 'nokey', args[1] or 'noarg'} end)
#!lua name=lib1\nredis.register_function{function_name='f2', callback=function(keys, args) return redis.call('get', keys[1]) end, flags={'no-writes'}}
#!lua name=lib2\nredis.register_function('f3', function(keys, args) return redis.call('set', keys[1], args[1]) end)
#!lua name=lib2\nredis.register_function('f3', function(keys, args) return redis.call('incr', keys[1]) end)\nredis.register_function('f5', function() error('boom') end)
#!lua name=lib2\nredis.register_function{function_name='f2', callback=function() return redis.call('set', 's0', 'x') end, flags={'no-writes'}, description='d'}
#!lua name=lib3\nredis.register_function('f1', function() return 3 end)
#!lua name=lib3\nlocal n = 0\nredis.register_function('f4', function() n = n + 1 return n end)
#!lua name=lib3\nredis.register_function{function_name='f4', callback=function() redis.setresp(3) return {double=1.5} end, flags={'allow-stale', 'no-cluster', 'allow-oom'}}
#!lua name=lib4\nreturn 1
#!lua name=lib4
#!lua name=bad-name\nredis.register_function('f', function() end)
#!lua name=lib4\nredis.register_function('bad name', function() end)
#!lua name=lib4\nredis.register_function('f')
#!lua name=lib4\nredis.register_function()
#!lua name=lib4\nredis.register_function('f', 'notfunction')
#!lua name=lib4\nredis.register_function{function_name='f', callback=function() end, flags={'nosuch'}}
#!lua name=lib4\nredis.register_function{function_name='f', callback=function() end, other=1}
#!lua name=lib4\nredis.register_function{callback=function() end}
#!lua name=lib4\nredis.register_function('g', function() end)\nredis.register_function('g', function() end)
#!lua name=lib4\nredis.call('get', 'x')
#!lua name=lib4\nx = 1
#!lua name=lib4\nreturn nosuch
#!lua name=lib4\nreturn 1 +
#!lua name=lib4 name=lib5\nredis.register_function('f', function() end)
#!lua nosuch=x\nredis.register_function('f', function() end)
#!lua\nredis.register_function('f', function() end)
#!python name=lib4\nx
redis.register_function('f', function() end)
#!lua name=lib4\nredis.setresp(3) redis.register_function('f', function() end)
#!lua name=lib4\nredis.log(redis.LOG_DEBUG, 'x') redis.register_function('f9', function() return redis.sha1hex('a') end)
'''.strip('\n').split('\n')]
FUNCTION_NAMES = [b'f1', b'f2', b'f3', b'f4'] * 3 + [b'f5', b'f9', b'nosuch']

//! A ring buffer and what belongs to it.

const std = @import("std");
const Allocator = std.mem.Allocator;
const config = @import("config.zig");

/// The most items that a buffer may hold.
pub const max_items: usize = 1024;
var created: u32 = 0;

/// What can go wrong.
pub const BufferError = error{
    Full,
    Empty,
};

pub const Mode = enum {
    overwrite,
    reject,

    /// Whether old items may be lost.
    pub fn loses(self: Mode) bool {
        return self == .overwrite;
    }
};

const Value = union(enum) {
    number: i64,
    text: []const u8,
};

const Header = packed struct {
    version: u8,
    flags: u8,
};

const Handle = opaque {};

/// A ring buffer of numbers.
pub const Ring = struct {
    items: []i64,
    head: usize = 0,

    const Self = @This();
    const default_size = 16;

    pub const Iterator = struct {
        ring: *const Ring,

        pub fn next(self: *Iterator) ?i64 {
            return self.ring.peek();
        }
    };

    // Room for `size` items.
    pub fn init(allocator: Allocator, size: usize) !Ring {
        const items = try allocator.alloc(i64, size);
        created += 1;
        return Ring{ .items = items };
    }

    pub fn peek(self: *const Self) ?i64 {
        const Local = struct { at: usize };
        const place = Local{ .at = self.head };
        return self.items[place.at];
    }
};

/// A stack of any type.
pub fn Stack(comptime T: type) type {
    return struct {
        items: []T,

        pub fn push(self: *@This(), item: T) void {
            append(self, item);
        }
    };
}

fn append(stack: anytype, item: anytype) void {
    _ = stack;
    _ = item;
}

extern fn puts(text: [*:0]const u8) c_int;

test "a new ring is empty" {
    var ring = try Ring.init(std.testing.allocator, 4);
    try std.testing.expect(ring.head == 0);
}

test append {
    append(1, 2);
}

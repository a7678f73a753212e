#import <Foundation/Foundation.h>
#import "Store.h"
#include <stdio.h>
@import UIKit;
@class Item;

#define MAX_ITEMS 10

// The name of the change notification.
NSString *const StoreDidChange = @"StoreDidChange";
static NSInteger counter = 0;

typedef void (^Completion)(NSArray *items);
typedef NS_ENUM(NSInteger, StoreState) {
    StoreStateIdle,
    StoreStateBusy,
};

struct Range {
    int start;
    int length;
};

/** Who wants to know. */
@protocol StoreDelegate <NSObject>
@optional
- (void)store:(Store *)store didAdd:(Item *)item;
@property (nonatomic) BOOL active;
@end

/// Keeps items.
@interface Store : NSObject <NSCopying, StoreDelegate> {
    NSMutableArray *_items;
}

/// What it is called.
@property (nonatomic, copy) NSString *name;
@property (readonly) NSUInteger count;

+ (instancetype)shared;
- (void)addItem:(Item *)item atIndex:(NSUInteger)index;
@end

@interface Store ()
@property (strong) Item *last;
@end

@interface Store (Sorting)
- (NSArray *)sorted;
@end

@implementation Store

@synthesize name = _name;

+ (instancetype)shared {
    static Store *instance;
    instance = [[Store alloc] init];
    return instance;
}

// Puts an item in.
- (void)addItem:(Item *)item atIndex:(NSUInteger)index {
    NSInteger local = 1;
    [_items insertObject:item atIndex:index];
    [self.delegate store:self didAdd:item];
    NSLog(@"added %@", item);
}

- (NSUInteger)count {
    return _items.count;
}

@end

@implementation Store (Sorting)
- (NSArray *)sorted {
    return Sort(_items);
}
@end

/* Sorts by name. */
NSArray *Sort(NSArray *items) {
    return [items sortedArrayUsingComparator:^(id a, id b) { return compare(a, b); }];
}

int compare(id a, id b);

int main(int argc, char *argv[]) {
    @autoreleasepool {
        [Store shared];
    }
    return 0;
}

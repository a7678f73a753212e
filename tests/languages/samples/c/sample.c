/* A ring buffer of fixed size. */
#include <stdio.h>
#include "ring.h"

#define RING_SIZE 64
/* The larger of two. */
#define RING_MAX(a, b) \
    ((a) > (b) ? (a) : (b))

#ifdef RING_DEBUG
#include "debug.h"
static int debug_level = 2;
#endif

/* One slot. */
struct ring_slot {
    int value;
    struct ring_slot *next;
    void (*release)(struct ring_slot *slot);
    char name[16];
    unsigned ready : 1, locked : 1;
};

typedef struct ring {
    struct ring_slot slots[RING_SIZE];
    union {
        int head;
        float ratio;
    } u;
} ring_t;

// What went wrong.
enum ring_error {
    RING_OK = 0,
    RING_FULL,
};

typedef enum { RED, GREEN } color_t;
typedef unsigned long ring_index;
typedef int (*ring_visitor)(const struct ring_slot *slot, void *data);

typedef struct {
    int x, y;
} point_t, *point_ptr;

union number {
    long i;
    double d;
};

struct opaque;

/* How many rings there are. */
static int ring_count = 0, ring_peak;
const char *ring_names[] = { "a", "b" };
extern int ring_limit;
static ring_visitor on_visit = NULL;
int (*fallback)(void);

/**
 * Makes an empty ring.
 */
struct ring *ring_new(size_t size);
int ring_push(struct ring *ring, int value), ring_pop(struct ring *ring);

static inline int
ring_wrap(int index)
{
    int local = index;
    static int calls;
    return local % RING_SIZE;
}

/* Finds a slot. */
struct ring_slot *ring_find(struct ring *ring, int value)
{
    for (int i = 0; i < RING_SIZE; i++) {
        if (ring->slots[i].value == value)
            return &ring->slots[ring_wrap(i)];
    }
    ring->slots[0].release(NULL);
    return NULL;
}

char **ring_keys(const struct ring *ring) {
    struct pair { int a; } p = { 1 };
    return (char **) calloc(1, sizeof(char *));
}

int main(int argc, char *argv[])
{
    printf("%d\n", RING_MAX(1, 2));
    return RING_OK;
}
